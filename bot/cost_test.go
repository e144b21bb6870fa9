package bot

import (
	"context"
	"iter"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
)

func TestWhatIsUsedIsPricedByTheFirstPriceThatFits(t *testing.T) {
	prices := Prices{
		{Name: "gpt-5-mini", In: 0.25, CachedIn: 0.025, Out: 2},
		{Name: "gpt", In: 100},
		{Name: "gpt-realtime", In: 4, Out: 16, AudioIn: 32, CachedAudioIn: 0.4, AudioOut: 64},
		{Name: "cartesia", Letters: 50},
		{Name: "nova", Hour: 0.5},
	}
	for _, c := range []struct {
		name string
		used engine.Usage
		want float64
	}{
		{"GPT-5-mini at api.openai.com", engine.Usage{In: 1_000_000, CachedIn: 400_000, Out: 100_000}, 0.6*0.25 + 0.4*0.025 + 0.2},
		{"gpt-realtime", engine.Usage{In: 1_000_000}, 100},
		{"cartesia", engine.Usage{Letters: 2000}, 0.1},
		{"nova-3", engine.Usage{Heard: 90 * time.Minute}, 0.75},
		{"the improviser", engine.Usage{In: 1_000_000}, 0},
	} {
		if got := prices.Cost(c.name, c.used); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	sound := Prices{{Name: "live", In: 4, Out: 16, AudioIn: 32, CachedAudioIn: 0.4, AudioOut: 64}}
	used := engine.Usage{In: 1000, AudioIn: 600, CachedIn: 500, CachedAudioIn: 300, Out: 100, AudioOut: 80}
	want := ((1000-500-600+300)*4.0 + (500-300)*4.0 + 20*16.0 + 300*32.0 + 300*0.4 + 80*64.0) / 1e6
	if got := sound.Cost("live", used); math.Abs(got-want) > 1e-12 {
		t.Errorf("sound costs %v, want %v", got, want)
	}
}

// charging is a model that says how many tokens it took.
type charging struct{}

func (charging) Name() string { return "dear" }

func (m charging) Stream(context.Context, engine.Request) iter.Seq2[engine.Delta, error] {
	return func(yield func(engine.Delta, error) bool) {
		_ = yield(engine.Delta{Text: "That will cost you."}, nil) && yield(engine.Delta{Done: true, Usage: engine.Usage{In: 500_000, Out: 100_000}}, nil)
	}
}

func TestAtItsCapASessionGoesOnWithoutThePaidModel(t *testing.T) {
	table, _ := setup{
		brain: charging{}, synth: hum{}, unpaced: true,
		budget: Budget{Cap: 1.1, Currency: "EUR", FreeVoice: "hum", Prices: Prices{{Name: "dear", In: 1, Out: 1}, {Name: "hum", Letters: 1}}},
	}.open(t)
	var alerts []string
	for n := range 3 {
		if err := table.Say(t.Context(), mira, "Bartok, good evening."); err != nil {
			t.Fatal(err)
		}
		settle(t, table)
		s := table.State()
		turn := s.Turns[len(s.Turns)-1]
		if wantDear := n < 2; (turn.Brain == "dear") != wantDear || (turn.Cost > 0.5) != wantDear {
			t.Errorf("answer %d came from %s and cost %v", n+1, turn.Brain, turn.Cost)
		}
		if n == 1 && (s.Spent.Total < 1.2 || s.Spent.Used.In != 1_000_000 || s.Spent.Used.Letters == 0) {
			t.Errorf("spent: %+v", s.Spent)
		}
		alerts = nil
		for _, a := range s.Alerts {
			if strings.Contains(a.Text, "1.10 EUR") {
				alerts = append(alerts, a.Text)
			}
		}
	}
	if len(alerts) != 1 || !strings.Contains(alerts[0], "cap") {
		t.Errorf("the DM was told %q", alerts)
	}
}

func TestTheDMIsWarnedAtFourFifthsOfTheCap(t *testing.T) {
	table, _ := setup{brain: charging{}, budget: Budget{Cap: 0.7, Prices: Prices{{Name: "dear", In: 1, Out: 1}}}}.open(t)
	if err := table.Say(t.Context(), mira, "Bartok, good evening."); err != nil {
		t.Fatal(err)
	}
	settle(t, table)
	s := table.State()
	for _, a := range s.Alerts {
		if strings.Contains(a.Text, "0.60 of 0.70") && !a.Bad {
			return
		}
	}
	t.Errorf("the alerts are %v", s.Alerts)
}
