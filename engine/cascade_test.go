package engine

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/glyphoxa/glyphoxa/mcp"
)

// tardy is a model that takes its time before each round of its script.
type tardy struct {
	script
	takes time.Duration
}

func (s *tardy) Stream(ctx context.Context, r Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		select {
		case <-time.After(s.takes):
		case <-ctx.Done():
			yield(Delta{}, context.Cause(ctx))
			return
		}
		s.script.Stream(ctx, r)(yield)
	}
}

func asked(text string) Request {
	return Request{Messages: []Message{{Role: User, Name: "Mira", Text: text}}}
}

func TestOpenerSpeaksWhileTheStrongModelAndItsToolsWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := host(t, slowTool("alpha", 400*time.Millisecond))
		fast := &tardy{script{rounds: [][]Delta{text("Ah, the old mill again.")}}, 150 * time.Millisecond}
		strong := &tardy{script{rounds: [][]Delta{
			{{Calls: []Call{{ID: "1", Name: "alpha", Args: json.RawMessage(`{}`)}}}},
			text("Ah, the old mill again. It burnt down in the war."),
		}}, 600 * time.Millisecond}
		m := &loud{}
		start := time.Now()
		out := Run(t.Context(), Plan{
			Model: NewCascade(fast, strong, "en"), Request: asked("What of the old mill?"), Synth: &tones{}, Mouth: m,
			Belt: h.Belt(mcp.Grant{Allow: []string{"alpha"}, Tier: mcp.Standard}),
		})
		if want := "Ah, the old mill again. It burnt down in the war."; out.Heard != want {
			t.Errorf("heard %q, want %q: the opener once", out.Heard, want)
		}
		if first := m.at[0].Sub(start); first != 150*time.Millisecond {
			t.Errorf("the first sound came after %v, want with the fast model's sentence", first)
		}
		if told := strong.asked[0].Messages[0].Text; !strings.Contains(told, "Ah, the old mill again.") {
			t.Errorf("the strong model was shown %q, want what has been said in it", told)
		}
		for _, r := range strong.asked {
			if last := r.Messages[len(r.Messages)-1]; last.Role == Assistant {
				t.Error("the strong model was given words of its own to go on with, which models refuse")
			}
		}
	})
}

func TestOpenerThatIsLateOrSaysSomethingIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, fast := range []Model{
			&tardy{script{rounds: [][]Delta{text("Ah, the mill.")}}, 2 * time.Second},
			&script{rounds: [][]Delta{text("It burnt down 20 years ago.")}},
			&script{rounds: [][]Delta{text("Yes, of course.")}},
			&script{rounds: [][]Delta{text("That was Captain Harrow.")}},
			&script{rounds: [][]Delta{nil}, fail: context.DeadlineExceeded},
			stuck{},
		} {
			start := time.Now()
			out := Run(t.Context(), Plan{Model: NewCascade(fast, &script{rounds: [][]Delta{text("It is gone.")}}, "en"), Request: asked("What of the mill?")})
			if out.Heard != "It is gone." || time.Since(start) > OpenerTime {
				t.Errorf("heard %q after %v, want only the strong model's answer", out.Heard, time.Since(start))
			}
		}
	})
}

func TestJointSaysNothingTwice(t *testing.T) {
	for _, c := range []struct{ opener, next, want string }{
		{"Ah, the old mill.", "Ah, the old mill. ", ""},
		{"Ah, the old mill.", "Ah, the old mill, it burnt down.", "it burnt down."},
		{"Let me think about that.", "Let me think about this one: it burnt down.", "this one: it burnt down."},
		{"Well, that is a long story.", "A long story, that is.", ""},
		{"Ah, the old mill.", "The old king had it torn down.", "The old king had it torn down."},
		{"Hm.", "It burnt down.", "It burnt down."},
	} {
		if diff := cmp.Diff(c.want, join(c.opener, c.next)); diff != "" {
			t.Errorf("%q behind %q (-want +got):\n%s", c.next, c.opener, diff)
		}
	}
}

func TestOpeningIsHeardAtOnceAndRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &loud{}
		clip := &Clip{Text: "Let me think.", Frames: make([][]int16, 20)}
		for i := range clip.Frames {
			clip.Frames[i] = make([]int16, 960)
		}
		start := time.Now()
		out := Run(t.Context(), Plan{Model: &tardy{script{rounds: [][]Delta{text("It is gone.")}}, time.Second}, Synth: &tones{}, Mouth: m, Opening: clip})
		if out.Heard != "Let me think. It is gone." || !m.at[0].Equal(start) {
			t.Errorf("heard %q, the first sound after %v; want the opening at once and the answer", out.Heard, m.at[0].Sub(start))
		}
	})
}

func FuzzJoin(f *testing.F) {
	f.Add("Ah, the old mill.", "Ah, the old mill, it burnt down.")
	f.Fuzz(func(t *testing.T, opener, s string) {
		if got := join(opener, s); !strings.Contains(s, got) {
			t.Errorf("%q is not of %q", got, s)
		}
		factless(s, opener, "en")
	})
}
