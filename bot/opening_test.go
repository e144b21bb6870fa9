package bot

import (
	"context"
	"encoding/json"
	"iter"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/mcp"
)

// askBartok has Mira say a line by keyboard and waits for the answer.
func askBartok(t *testing.T, table *Table, text string) {
	t.Helper()
	if err := table.Say(t.Context(), mira, text); err != nil {
		t.Fatal(err)
	}
	settle(t, table)
}

func TestNPCThatIsExpectedToBeLateSaysSomethingFirstAndNeverTheSameTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		brain := &thinker{takes: 1500 * time.Millisecond, text: "It is stew."}
		table, _ := setup{brain: brain, synth: hum{}}.open(t)
		for range 6 {
			askBartok(t, table, "Bartok, what is in the pot tonight?")
		}
		said := npcLines(table)
		if said[0] != "It is stew." {
			t.Errorf("the first answer, of which nothing was expected, is %q", said[0])
		}
		for i, line := range said[1:] {
			filler, ok := strings.CutSuffix(line, " It is stew.")
			if !ok || filler == "" {
				t.Errorf("answer %d is %q, want something before the stew", i+1, line)
			}
			if line == said[i] {
				t.Errorf("%q was said twice in a row", line)
			}
		}
		turns := table.State().Turns
		if last := turns[len(turns)-1]; last.FirstSound > 100*time.Millisecond {
			t.Errorf("the first sound came after %v, want at once", last.FirstSound)
		}
		if told := brain.asked[len(brain.asked)-1]; !strings.Contains(told, "already answered aloud") {
			t.Errorf("the model was shown %q, want what had been said", told)
		}
	})
}

func TestQuickNPCNeedsNoFiller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, _ := setup{brain: &thinker{takes: 400 * time.Millisecond, text: "It is stew."}, synth: hum{}}.open(t)
		for range 4 {
			askBartok(t, table, "Bartok, what is in the pot tonight?")
		}
		for _, line := range npcLines(table) {
			if line != "It is stew." {
				t.Errorf("a quick NPC said %q", line)
			}
		}
	})
}

func TestWhatAToolFindsTooLateIsKnownNextTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		search := mcp.Builtin{
			Tool: mcp.Tool{
				Name: "roll", Description: "rolls", Category: mcp.Core, Estimated: 300 * time.Millisecond, Max: 450 * time.Millisecond,
				Schema: json.RawMessage(`{"type":"object"}`), ReadOnly: true,
			},
			Call: func(ctx context.Context, _ mcp.Caller, _ json.RawMessage) (string, error) {
				time.Sleep(400 * time.Millisecond)
				return "the seal is broken", nil
			},
		}
		brain := &absorber{}
		table, _ := setup{brain: brain, synth: hum{}, tools: []mcp.Builtin{search}}.open(t)
		if err := table.Say(t.Context(), mira, "Bartok, what of the seal?"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
		askBartok(t, table, "Bartok, never mind the seal, what is in the pot?")
		time.Sleep(time.Second)
		askBartok(t, table, "Bartok, and what else?")
		for _, line := range npcLines(table) {
			if strings.Contains(line, "seal") {
				t.Errorf("the late result was spoken: %q", line)
			}
		}
		if !strings.Contains(brain.shown, "the seal is broken") {
			t.Errorf("the next answer was made from %q, want the late result in it", brain.shown)
		}
	})
}

// absorber is a model that asks for a tool when the line is of the seal.
type absorber struct {
	thinker
	shown string // of the last request
}

func (m *absorber) Stream(ctx context.Context, r engine.Request) iter.Seq2[engine.Delta, error] {
	m.shown = ""
	for _, msg := range r.Messages {
		m.shown += msg.Text + "\n"
	}
	if last := r.Messages[len(r.Messages)-1].Text; strings.Contains(last, "what of the seal") {
		return reply{call: &engine.Call{ID: "1", Name: "roll", Args: json.RawMessage(`{}`)}}.Stream(ctx, r)
	}
	return reply{text: "It is stew."}.Stream(ctx, r)
}

// TestSixHoursLeaveNothingBehind plays an evening of six hours in virtual time: four
// players speak in turns, with pauses and with talk among themselves. Goroutines,
// memory and the time to the first sound are at its end as they were in its first
// half hour.
func TestSixHoursLeaveNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ear := &script{}
		table, _ := setup{brain: &thinker{takes: 300 * time.Millisecond, text: "It is stew, and there is bread with it."}, synth: hum{}, ear: ear}.open(t)
		people := []Person{mira, odo, {ID: "p-3", Name: "Ilse"}, {ID: "p-4", Name: "Tomas"}}
		p := gather(t, table, ear, people...)
		type state struct {
			goroutines int
			heap       uint64
			slowest    time.Duration
		}
		look := func() (s state) {
			settle(t, table)
			synctest.Wait()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			s.goroutines, s.heap = runtime.NumGoroutine(), m.HeapAlloc
			for _, turn := range table.State().Turns {
				s.slowest = max(s.slowest, turn.FirstSound)
			}
			return s
		}
		start := time.Now()
		var early state
		for n := 0; time.Since(start) < 6*time.Hour; n++ {
			who := people[n%len(people)]
			switch n % 3 {
			case 0:
				p.says(who, "Bartok, what is in the pot tonight?", 600*time.Millisecond)
			case 1:
				p.says(who, "Bartok, what do you know about the", 600*time.Millisecond)
				time.Sleep(500 * time.Millisecond)
				p.says(who, "old mill in the wood?", 600*time.Millisecond)
			case 2:
				p.says(who, "I think the pizza has come to the wrong door", 600*time.Millisecond)
			}
			time.Sleep(2 * time.Minute)
			if early.goroutines == 0 && time.Since(start) > 30*time.Minute {
				early = look()
			}
		}
		late := look()
		t.Logf("after half an hour %+v, after six hours %+v", early, late)
		const growth = 16 << 20 // what the reliability table allows
		if late.goroutines > early.goroutines || late.heap > early.heap+growth || late.slowest > early.slowest+20*time.Millisecond {
			t.Errorf("after half an hour %+v, after six hours %+v, want no growth", early, late)
		}
	})
}
