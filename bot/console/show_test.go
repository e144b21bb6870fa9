package console

import (
	"slices"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/google/go-cmp/cmp"
)

func TestInitialsAreOfTheNameItself(t *testing.T) {
	for name, want := range map[string]string{
		"Bartok the Barkeep": "BB", "Greymantle the Sage": "GS", "Mira": "M", "  ": "?", "": "?", "“Old” Wenna": "OW",
		"élan vital": "É", "von Stein": "VS", "7 of 9": "79", "李 小龙": "李小", "...": "?", "\x00": "?",
	} {
		if got := initials(name); got != want {
			t.Errorf("initials of %q: %q, want %q", name, got, want)
		}
	}
}

func TestFirstTwelvePeopleHaveColoursOfTheirOwn(t *testing.T) {
	var ts tints
	seen := map[string]string{}
	for i := range 12 {
		id := string(rune('a' + i))
		class := ts.class(id)
		if other, taken := seen[class]; taken {
			t.Errorf("%s and %s are both %s", id, other, class)
		}
		seen[class] = id
		if ts.class(id) != class {
			t.Errorf("%s changes colour", id)
		}
	}
	for i := range 3 * maxTints { // ids are chosen by strangers
		ts.class(string(rune(0x4e00 + i)))
	}
	if len(ts.of) > maxTints {
		t.Errorf("%d colours are remembered, at most %d may be", len(ts.of), maxTints)
	}
}

func TestWaterfallAddsUpToTheFirstSound(t *testing.T) {
	ms := time.Millisecond
	got := stages(bot.Turn{Heard: 180 * ms, Routed: 181 * ms, FirstToken: 400 * ms, FirstSound: 500 * ms, Ended: 9 * time.Second})
	want := []bar{
		{"recognised", "hear", 0, 0.36, 180 * ms}, {"routed", "route", 0.36, 0.362, ms},
		{"first word", "think", 0.362, 0.8, 219 * ms}, {"first sound", "speak", 0.8, 1, 100 * ms},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(bar{})); diff != "" {
		t.Errorf("stages (-want +got):\n%s", diff)
	}
	if got := stages(bot.Turn{}); len(got) != 0 {
		t.Errorf("a turn in which nothing happened has the stages %v", got)
	}
	if got := stages(bot.Turn{Heard: 10 * ms, Ended: 20 * ms}); len(got) != 2 || got[1].name != "end" {
		t.Errorf("a silent turn has the stages %v", got)
	}
}

func TestPercentilesAreOfTurnsThatWereHeard(t *testing.T) {
	var turns []bot.Turn
	for i := range 20 {
		turns = append(turns, bot.Turn{FirstSound: time.Duration(20-i) * time.Millisecond}, bot.Turn{})
	}
	for p, want := range map[float64]time.Duration{50: 10, 95: 19, 100: 20, 1: 1} {
		if got := percentile(turns, p); got != want*time.Millisecond {
			t.Errorf("p%g is %v, want %v", p, got, want*time.Millisecond)
		}
	}
	if got := percentile(nil, 50); got != 0 {
		t.Errorf("p50 of nothing is %v", got)
	}
}

func TestWhatATurnTookAndCostIsSaidInWords(t *testing.T) {
	turn := bot.Turn{Used: engine.Usage{In: 1204, CachedIn: 960, Out: 41}, Cost: 0.0021}
	if got := usage(turn); got != "1204 tokens read, 960 of them cached, 41 written · cost 0.0021" {
		t.Errorf("got %q", got)
	}
	if got := usage(bot.Turn{}); got != "" {
		t.Errorf("nothing used is %q", got)
	}
	for want, s := range map[string]bot.Spending{
		"1.20 of 5.00 EUR": {Total: 1.2, Cap: 5, Currency: "EUR"}, "0.35": {Total: 0.35},
	} {
		if got := money(s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestCallsSideBySideHaveALaneEach(t *testing.T) {
	ms := time.Millisecond
	got := lanes(bot.Turn{Ended: 1000 * ms}, []bot.Tool{
		{Name: "roll", Began: 100 * ms, Took: 100 * ms, Done: true}, {Name: "search", Began: 100 * ms, Took: 500 * ms, Done: true}, {Name: "late", Began: 1 * ms},
	})
	want := []bar{{"roll", "tool", 0.1, 0.2, 100 * ms}, {"search", "tool", 0.1, 0.6, 500 * ms}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
