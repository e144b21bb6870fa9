package engine

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// script is a model that answers round by round from a script and keeps what it
// was asked.
type script struct {
	rounds [][]Delta
	fail   error // after the last delta of the last round, instead of Done
	asked  []Request
}

func (s *script) Name() string { return "script" }

func (s *script) Stream(ctx context.Context, r Request) iter.Seq2[Delta, error] {
	s.asked = append(s.asked, r)
	return func(yield func(Delta, error) bool) {
		round := s.rounds[min(len(s.asked)-1, len(s.rounds)-1)]
		for _, d := range round {
			if ctx.Err() != nil || !yield(d, nil) {
				return
			}
		}
		if s.fail != nil && len(s.asked) >= len(s.rounds) {
			yield(Delta{}, s.fail)
			return
		}
		yield(Delta{Done: true, Usage: Usage{In: 10, Out: 5}}, nil)
	}
}

// tones speaks the word number i (counted over all sentences) as 200 ms of the
// constant sample i+1, so that a recording shows which words were sent.
type tones struct {
	mu   sync.Mutex
	next int16
}

func (s *tones) Name() string { return "tones" }

const toneFrames = 10 // 200 ms a word

func (s *tones) Speak(ctx context.Context, _ Voice, text string) iter.Seq2[Speech, error] {
	return func(yield func(Speech, error) bool) {
		var at time.Duration
		for w := range strings.FieldsSeq(text) {
			s.mu.Lock()
			s.next++
			tone := s.next
			s.mu.Unlock()
			c := pcm.Chunk{Rate: pcm.Rate, Samples: make([]int16, toneFrames*pcm.FrameSize)}
			for i := range c.Samples {
				c.Samples[i] = tone
			}
			if ctx.Err() != nil || !yield(Speech{Chunk: c, Words: []WordTime{{w, at}}}, nil) {
				return
			}
			at += c.Duration()
		}
	}
}

// tape is a mouth in virtual real time that keeps what was sent.
type tape struct {
	mu     sync.Mutex
	frames []int16 // the first sample of each frame
}

func (m *tape) Play(ctx context.Context, f []int16) error {
	m.mu.Lock()
	m.frames = append(m.frames, f[0])
	m.mu.Unlock()
	select {
	case <-time.After(pcm.FrameTime):
		return nil
	case <-ctx.Done():
		return nil // the frame has been sent
	}
}

func (m *tape) Flush() int { return 0 }

func text(s string) []Delta {
	var out []Delta
	for _, w := range strings.SplitAfter(s, " ") {
		out = append(out, Delta{Text: w})
	}
	return out
}

func host(t testing.TB, tools ...mcp.Builtin) *mcp.Host {
	t.Helper()
	h, err := mcp.NewHost(mcp.HostOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Add(tools...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func slowTool(name string, took time.Duration) mcp.Builtin {
	return mcp.Builtin{
		Tool: mcp.Tool{
			Name: name, Description: "answers " + name, Schema: json.RawMessage(`{"type":"object"}`), Category: mcp.Core,
			Estimated: took, Max: 2 * took, ReadOnly: true, Idempotent: true,
		},
		Call: func(ctx context.Context, _ mcp.Caller, _ json.RawMessage) (string, error) {
			select {
			case <-time.After(took):
				return name + " says " + name, nil
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
		},
	}
}

func TestSentencesAreHeardInOrderAndWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &tape{}
		out := Run(t.Context(), Plan{
			Model: &script{rounds: [][]Delta{text("Two left, dear. One has a view. ")}},
			Synth: &tones{}, Mouth: m,
		})
		want := Outcome{Heard: "Two left, dear. One has a view.", Played: 1400 * time.Millisecond, Usage: Usage{In: 10, Out: 5}}
		if diff := cmp.Diff(want, out); diff != "" {
			t.Errorf("outcome (-want +got):\n%s", diff)
		}
		if got, want := len(m.frames), 7*toneFrames; got != want {
			t.Errorf("sent %d frames, want %d", got, want)
		}
	})
}

func TestFirstSentenceIsSpokenBeforeTheSecondIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &tape{}
		slow := func(yield func(Delta, error) bool) {
			if !yield(Delta{Text: "Aye. "}, nil) {
				return
			}
			time.Sleep(3 * time.Second)
			m.mu.Lock()
			sent := len(m.frames)
			m.mu.Unlock()
			if sent != toneFrames {
				t.Errorf("%d frames were sent while the model was writing, want %d", sent, toneFrames)
			}
			_ = yield(Delta{Text: "Sit down."}, nil) && yield(Delta{Done: true}, nil)
		}
		Run(t.Context(), Plan{Model: streamer(slow), Synth: &tones{}, Mouth: m})
	})
}

// streamer is a model made of one stream.
type streamer iter.Seq2[Delta, error]

func (s streamer) Name() string { return "streamer" }
func (s streamer) Stream(context.Context, Request) iter.Seq2[Delta, error] {
	return iter.Seq2[Delta, error](s)
}

func TestToolsOfOneRoundRunSideBySideAndAnswerInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := host(t, slowTool("alpha", 300*time.Millisecond), slowTool("beta", 200*time.Millisecond))
		model := &script{rounds: [][]Delta{
			{{Text: "Let me see. "}, {Calls: []Call{{ID: "1", Name: "alpha", Args: json.RawMessage(`{}`)}, {ID: "2", Name: "beta", Args: json.RawMessage(`{}`)}}}},
			text("There you are."),
		}}
		start := time.Now()
		belt := h.Belt(mcp.Grant{Allow: []string{"alpha", "beta"}, Tier: mcp.Fast})
		out := Run(t.Context(), Plan{Model: model, Belt: belt})
		if got, want := time.Since(start), 300*time.Millisecond; got != want {
			t.Errorf("the turn took %v, want the slower tool's %v", got, want)
		}
		if got, want := out.Heard, "Let me see. There you are."; got != want {
			t.Errorf("heard %q, want %q", got, want)
		}
		second := model.asked[1]
		if len(second.Messages) != 3 || second.Messages[1].CallID != "1" || second.Messages[2].CallID != "2" {
			t.Errorf("the model was shown %+v, want its calls and both results in order", second.Messages)
		}
		if !strings.Contains(second.Messages[1].Text, "alpha says") {
			t.Errorf("first result is %q, want alpha's", second.Messages[1].Text)
		}
		if second.Tools != nil {
			t.Errorf("after FAST's only round the model was still offered %d tools", len(second.Tools))
		}
	})
}

func TestToolThatWasNotGrantedIsNeverRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := false
		secret := slowTool("secret", time.Millisecond)
		call := secret.Call
		secret.Call = func(ctx context.Context, who mcp.Caller, args json.RawMessage) (string, error) {
			ran = true
			return call(ctx, who, args)
		}
		h := host(t, secret, slowTool("alpha", time.Millisecond))
		model := &script{rounds: [][]Delta{
			{{Calls: []Call{{ID: "1", Name: "secret", Args: json.RawMessage(`{}`)}}}},
			text("No."),
		}}
		Run(t.Context(), Plan{Model: model, Belt: h.Belt(mcp.Grant{Allow: []string{"alpha"}, Tier: mcp.Deep})})
		if ran {
			t.Error("a tool outside the belt was run")
		}
		if got := model.asked[1].Messages; len(got) != 2 || got[1].Text == "" {
			t.Errorf("the model was told %+v, want an error as the call's result", got)
		}
	})
}

func TestWhatIsRememberedIsWhatWasSent(t *testing.T) {
	const reply = "One two three four five. Six seven eight nine ten, eleven twelve! Thirteen fourteen."
	words := strings.Fields(reply)
	for range 1000 {
		at := time.Duration(rand.Int64N(int64(3200 * time.Millisecond)))
		synctest.Test(t, func(t *testing.T) {
			m := &tape{}
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(at, func() { cancel(ErrInterrupted) })
			out := Run(ctx, Plan{Model: &script{rounds: [][]Delta{text(reply)}}, Synth: &tones{}, Mouth: m})
			sent := (len(m.frames) + toneFrames - 1) / toneFrames // words of which anything was sent
			got := len(strings.Fields(out.Heard))
			if got < sent-1 || got > sent {
				t.Errorf("cut at %v: %d words were sent and %d remembered (%q)", at, sent, got, out.Heard)
			}
			if want := strings.Join(words[:got], " "); out.Heard != want {
				t.Errorf("cut at %v: heard %q, want %q", at, out.Heard, want)
			}
			if got < len(words) && (!out.Cut || !errors.Is(out.Err, ErrInterrupted)) {
				t.Errorf("cut at %v: outcome %+v, want it cut by the interruption", at, out)
			}
		})
	}
}

func TestInterruptedTurnIsSilentWithin200ms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &tape{}
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(ErrInterrupted) })
		start := time.Now()
		Run(ctx, Plan{Model: &script{rounds: [][]Delta{text("A long story of many many words indeed.")}}, Synth: &tones{}, Mouth: m})
		if over := time.Since(start) - time.Second; over > 200*time.Millisecond {
			t.Errorf("the voice went on for %v", over)
		}
	})
}

func TestModelThatFailsBeforeItsFirstWordFailsTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		boom := errors.New("boom")
		out := Run(t.Context(), Plan{Model: &script{rounds: [][]Delta{nil}, fail: boom}})
		if !errors.Is(out.Err, boom) || out.Heard != "" {
			t.Errorf("got %+v, want the model's error and silence", out)
		}
		out = Run(t.Context(), Plan{Model: &script{rounds: [][]Delta{text("A whole thought. And half")}, fail: boom}})
		if out.Heard != "A whole thought." {
			t.Errorf("heard %q, want the sentence that was complete before the failure", out.Heard)
		}
	})
}

func TestSentenceThatCannotBeSpokenIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var notes []any
		out := Run(t.Context(), Plan{
			Model: &script{rounds: [][]Delta{text("Aye. Nay.")}}, Synth: mute{}, Mouth: &tape{},
			Watch: func(n any) { notes = append(notes, n) },
		})
		if out.Heard != "Aye. Nay." || out.Cut {
			t.Errorf("got %+v, want both sentences shown", out)
		}
		unspoken := 0
		for _, n := range notes {
			if _, ok := n.(Unspoken); ok {
				unspoken++
			}
		}
		if unspoken != 2 {
			t.Errorf("the watcher was told of %d unspoken sentences, want 2", unspoken)
		}
	})
}

type mute struct{}

func (mute) Name() string { return "mute" }
func (mute) Speak(context.Context, Voice, string) iter.Seq2[Speech, error] {
	return func(yield func(Speech, error) bool) { yield(Speech{}, errors.New("hoarse")) }
}

// TestTurnEndsUnderAnyOrderOfEvents drives the bare state machine with random
// events: it must never say anything after hushing, and never outlive a cut.
func TestTurnEndsUnderAnyOrderOfEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &turn{rounds: rapid.IntRange(0, 4).Draw(t, "rounds")}
		todo := m.step(evBegin{})
		hushed, ended := false, false
		look := func() {
			for _, a := range todo {
				switch a := a.(type) {
				case actSay:
					if hushed {
						t.Fatalf("said %q after hushing", a.sentence)
					}
				case actHush:
					hushed = true
				case actOver:
					ended = true
				}
			}
		}
		look()
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			ev := rapid.SampledFrom([]any{
				evText{"Some words. "}, evText{"more"}, evCalls{[]Call{{Name: "x"}}}, evEnd{}, evFail{errors.New("x")},
				evResult{0, "r"}, evResult{3, "r"}, evSpoken{},
			}).Draw(t, "event")
			todo = m.step(ev)
			look()
			if ended != (m.state == over) {
				t.Fatalf("ended is %v in state %v", ended, m.state)
			}
		}
		todo = m.step(evCut{ErrInterrupted})
		look()
		if !ended {
			t.Fatal("a cut did not end the turn")
		}
	})
}
