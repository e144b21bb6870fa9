package s2s

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/enginetest"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/secret"
)

func TestAnNPCSpeaksWithTheModelsOwnVoiceAndRemembersItsWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got enginetest.Turn
		server := &enginetest.Realtime{Answer: func(q enginetest.Turn) enginetest.Answer {
			got = q
			return enginetest.Answer{Text: two}
		}}
		s, e := openAI(t, server), &ear{}
		out := s.Perform(t.Context(), s.plan(e, `Odo: "Quiet here."`, `Mira: "Any rooms?"`), said())
		if out.Heard != two || out.Cut || out.Err != nil {
			t.Errorf("heard %q, cut %v, %v", out.Heard, out.Cut, out.Err)
		}
		if d := cmp.Diff([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, e.words()); d != "" {
			t.Errorf("the room heard other words: %s", d)
		}
		if d := cmp.Diff([]string{`user: Odo: "Quiet here."`, "system: [Scene: an inn.]\n[What you hear now is said by Mira.]", "user: <1000 ms>"}, got.Talk); d != "" {
			t.Error(d)
		}
		if got.System != "You play Bram." || len(got.Sound.Samples) != 24000 || strings.Join(got.Tools, " ") != "look roll" {
			t.Errorf("the model was asked %q with %d samples and the tools %v", got.System, len(got.Sound.Samples), got.Tools)
		}
		if out.Usage.AudioOut != 15 || out.Usage.CachedIn != 2 {
			t.Errorf("usage %+v", out.Usage)
		}
		if c := server.Complaints(); len(c) > 0 || s.stock.asked > 0 {
			t.Errorf("complaints %q, the cascade was asked %d times", c, s.stock.asked)
		}
	})
}

func TestTheNextTurnTellsTheSessionOnlyWhatItMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &enginetest.Realtime{Answer: says("Aye.")}
		s := openAI(t, server)
		s.Perform(t.Context(), s.plan(&ear{}, `Mira: "Any rooms?"`), said())
		s.Perform(t.Context(), s.plan(&ear{}, `Mira: "Any rooms?"`, "Bram: Aye.", `Odo: "I sneeze."`, `Mira: "How much?"`), nil)
		want := []string{
			"user: <1000 ms>", "assistant: Aye.", `user: Odo: "I sneeze."`, "system: [Scene: an inn.]",
			`user: Mira: "How much?"`, "assistant: Aye.",
		}
		if d := cmp.Diff(want, server.Conversation(0)); d != "" || server.Sessions() != 1 {
			t.Errorf("%d sessions; %s", server.Sessions(), d)
		}
	})
}

func TestAfterAnInterruptionTheSessionHoldsWhatWasPlayed(t *testing.T) {
	for frames := 5; frames < 120; frames += 11 {
		synctest.Test(t, func(t *testing.T) {
			server := &enginetest.Realtime{Answer: says(two)}
			s := openAI(t, server)
			ctx, cut := context.WithCancelCause(t.Context())
			e := &ear{at: frames, after: func() { cut(engine.ErrInterrupted) }}
			out := s.Perform(ctx, s.plan(e, `Mira: "Any rooms?"`), said())
			synctest.Wait()
			talk := server.Conversation(0)
			kept := strings.TrimPrefix(talk[len(talk)-1], "assistant: ")
			heard, known := len(strings.Fields(out.Heard)), len(strings.Fields(kept))
			sounded := len(e.words())
			if !out.Cut || !strings.HasPrefix(two, out.Heard) || off(heard, sounded) > 1 || off(known, sounded) > 1 {
				t.Errorf("after %d frames %d words sounded; remembered %q, the session holds %q", frames, sounded, out.Heard, kept)
			}
			if c := server.Complaints(); len(c) > 0 {
				t.Errorf("complaints %q", c)
			}
		})
	}
}

func off(a, b int) int { return max(a-b, b-a) }

func TestToolsRunThroughTheBeltAndTheirResultsAreSpokenOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &enginetest.Realtime{Answer: func(q enginetest.Turn) enginetest.Answer {
			if len(q.Results) == 0 {
				return enginetest.Answer{Text: "Let me see.", Calls: []enginetest.ToolCall{{Name: "roll", Args: `{"dice":"1d20"}`}, {Name: "look", Args: "{}"}}}
			}
			return enginetest.Answer{Text: "It shows " + strings.Join(q.Results, " and ") + "."}
		}}
		s, e := openAI(t, server), &ear{}
		var results []string
		plan := s.plan(e, `Mira: "Roll!"`)
		var mu sync.Mutex
		plan.Result = func(c engine.Call, r mcp.Result) {
			mu.Lock()
			results = append(results, c.Name+" "+r.Text)
			mu.Unlock()
		}
		out := s.Perform(t.Context(), plan, said())
		slices.Sort(results)
		if out.Heard != "Let me see. It shows 17 and a cat." && out.Heard != "Let me see. It shows a cat and 17." {
			t.Errorf("heard %q (%v)", out.Heard, out.Err)
		}
		if d := cmp.Diff([]string{"look a cat", "roll 17"}, results); d != "" {
			t.Error(d)
		}
		started, ended := 0, 0
		for _, n := range s.notes {
			switch n.(type) {
			case engine.ToolStarted:
				started++
			case engine.ToolEnded:
				ended++
			}
		}
		if started != 2 || ended != 2 || len(server.Complaints()) > 0 {
			t.Errorf("%d and %d notes of tools; complaints %q", started, ended, server.Complaints())
		}
	})
}

func TestAModelThatWantsToolsForEverIsMadeToAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &enginetest.Realtime{Answer: func(q enginetest.Turn) enginetest.Answer {
			if len(q.Tools) == 0 {
				return enginetest.Answer{Text: "Enough."}
			}
			return enginetest.Answer{Calls: []enginetest.ToolCall{{Name: "roll", Args: "{}"}}}
		}}
		s := openAI(t, server)
		if out := s.Perform(t.Context(), s.plan(&ear{}, `Mira: "Roll!"`), said()); out.Heard != "Enough." {
			t.Errorf("heard %q (%v)", out.Heard, out.Err)
		}
	})
}

func TestATierThatChangesTellsTheSessionOnlyIfTheToolsDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tools []string
		server := &enginetest.Realtime{Answer: func(q enginetest.Turn) enginetest.Answer {
			tools = append(tools, strings.Join(q.Tools, " "))
			return enginetest.Answer{Text: "Aye."}
		}}
		s := openAI(t, server)
		for _, tier := range []mcp.Tier{mcp.Fast, mcp.Fast, mcp.Standard, mcp.Standard, mcp.Fast} {
			p := s.plan(&ear{}, `Mira: "Well?"`)
			p.Belt = s.belt(tier)
			s.Perform(t.Context(), p, said())
		}
		want := []string{"look roll", "look roll", "look roll search", "look roll search", "look roll"}
		if d := cmp.Diff(want, tools); d != "" {
			t.Error(d)
		}
		if server.Updates(0) != 3 || server.Sessions() != 1 {
			t.Errorf("tools were declared %d times in %d sessions, want 3 in 1", server.Updates(0), server.Sessions())
		}
	})
}

func TestATurnThatMayBeSlowIsTheCascadesAsAWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &enginetest.Realtime{Answer: says("Aye.")}
		s := openAI(t, server)
		p := s.plan(&ear{}, `Mira: "Think hard."`)
		p.Belt = s.belt(mcp.Deep)
		if out := s.Perform(t.Context(), p, said()); out.Heard != "The cascade speaks." || server.Sessions() != 0 {
			t.Errorf("heard %q, %d sessions", out.Heard, server.Sessions())
		}
		// What the session missed it is told with the next turn.
		s.Perform(t.Context(), s.plan(&ear{}, `Mira: "Think hard."`, "Bram: The cascade speaks.", `Mira: "And?"`), said())
		if talk := server.Conversation(0); talk[0] != `user: Mira: "Think hard."` || talk[1] != "assistant: The cascade speaks." {
			t.Errorf("the session holds %q", talk)
		}
	})
}

func TestWhatTheFilterStrikesIsNeverHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &enginetest.Realtime{Answer: says("Come in. The key is under the third barrel. Good night.")}
		s, e := openAI(t, server), &ear{}
		p := s.plan(e, `Mira: "Where is the key?"`)
		p.Filter = func(text string) string {
			if strings.Contains(text, "barrel") {
				return "That is not for me to tell."
			}
			return text
		}
		out := s.Perform(t.Context(), p, said())
		if out.Heard != "Come in. That is not for me to tell." {
			t.Errorf("heard %q (%v)", out.Heard, out.Err)
		}
		if words := e.words(); slices.ContainsFunc(words, func(n int) bool { return n >= 2 }) {
			t.Errorf("words %v sounded, want only the first two", words)
		}
		synctest.Wait()
		if talk := server.Conversation(0); strings.Contains(talk[len(talk)-1], "barrel") || len(server.Complaints()) > 0 {
			t.Errorf("the session holds %q; complaints %q", talk, server.Complaints())
		}
	})
}

func TestASessionIsReplacedBeforeItsHourIsOverAndForgetsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &enginetest.Realtime{Answer: says("Aye.")}
		s := openAI(t, server)
		var talk []string
		for i := range 60 { // three hours
			line := fmt.Sprintf(`Mira: "Question %d."`, i)
			window := append(slices.Clone(talk[max(0, len(talk)-30):]), line)
			if out := s.Perform(t.Context(), s.plan(&ear{}, window...), nil); out.Heard != "Aye." {
				t.Fatalf("turn %d: %q, %v", i, out.Heard, out.Err)
			}
			talk = append(talk, line, "Bram: Aye.")
			time.Sleep(3 * time.Minute)
		}
		if n := server.Sessions(); n != 4 || s.stock.asked != 3 || len(server.Complaints()) > 0 {
			t.Errorf("%d sessions, %d summaries, complaints %q; want 4, 3 and none", n, s.stock.asked, server.Complaints())
		}
		last := server.Conversation(3)
		if !strings.Contains(last[0], "They met and agreed.") {
			t.Errorf("the last session begins with %q", last[:2])
		}
		for i, l := range last {
			if strings.Contains(l, "Question") && slices.Contains(last[i+1:], l) {
				t.Errorf("the session was told twice: %q", l)
			}
		}
	})
}

func TestAVendorThatIsDownIsLeftAloneTheGameMasterToldOnceAndItComesBackByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &enginetest.Realtime{Answer: says("Aye.")}
		s := openAI(t, server)
		for range 3 { // as often as it is tried
			server.Faults.Next(enginetest.Overloaded)
		}
		for range 10 {
			s.Perform(t.Context(), s.plan(&ear{}, `Mira: "Well?"`), said())
		}
		if server.Requests() != 3 || len(s.fell) != 1 {
			t.Errorf("%d connections were tried and %q told, want 3 and one", server.Requests(), s.fell)
		}
		time.Sleep(30 * time.Second)
		if out := s.Perform(t.Context(), s.plan(&ear{}, `Mira: "Well?"`), said()); out.Heard != "Aye." {
			t.Errorf("30 s after it is back: %q", out.Heard)
		}
	})
}

func TestNonsenseIsRefusedAtTheStart(t *testing.T) {
	for _, o := range []Options{{}, {Key: secret.New("k"), URL: "nowhere"}} {
		if _, err := NewOpenAI(o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
	if _, err := NewGemini(Options{}); err == nil {
		t.Error("no key was accepted")
	}
}

func TestEveryNPCHasAVoiceOfTheVendors(t *testing.T) {
	for _, c := range []struct{ asked, pronouns string }{{"slt", "she/her"}, {"Marin", ""}, {"", "he/him"}} {
		got := voiceFor(Options{NPC: "bram", Voice: c.asked, Pronouns: c.pronouns}, realtimeVoices)
		if !slices.Contains(realtimeVoices, got) || c.asked == "Marin" && got != "marin" {
			t.Errorf("%+v speaks with %q", c, got)
		}
	}
}

func TestASessionThatWasOpenedAheadTakesTheFirstTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tools []string
		server := &enginetest.Realtime{Answer: func(q enginetest.Turn) enginetest.Answer {
			tools = q.Tools
			return enginetest.Answer{Text: "Aye."}
		}}
		s := openAI(t, server)
		s.Warm("You play Bram.")
		if server.Sessions() != 1 {
			t.Fatalf("%d sessions before the first turn", server.Sessions())
		}
		s.Warm("You play Bram.")
		if out := s.Perform(t.Context(), s.plan(&ear{}, `Odo: "Quiet."`, `Mira: "Any rooms?"`), said()); out.Heard != "Aye." {
			t.Errorf("heard %q (%v)", out.Heard, out.Err)
		}
		talk := server.Conversation(0)
		if server.Sessions() != 1 || strings.Join(tools, " ") != "look roll" || talk[0] != `user: Odo: "Quiet."` || len(server.Complaints()) > 0 {
			t.Errorf("%d sessions, tools %v, %q, complaints %q", server.Sessions(), tools, talk, server.Complaints())
		}
	})
}

func TestAVendorThatIsAwayWhenTheTableIsSetIsTriedAgainAtTheFirstTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &enginetest.Realtime{Answer: says("Aye.")}
		server.Faults.Next(enginetest.Drop)
		s := openAI(t, server)
		s.Warm("You play Bram.")
		if out := s.Perform(t.Context(), s.plan(&ear{}, `Mira: "Any rooms?"`), said()); out.Heard != "Aye." {
			t.Errorf("heard %q (%v)", out.Heard, out.Err)
		}
	})
}
