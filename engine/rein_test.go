package engine

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// loud is a mouth in virtual real time that keeps the last sample of each frame and
// when it was sent.
type loud struct {
	level []int16
	at    []time.Time
}

func (m *loud) Play(_ context.Context, f []int16) error {
	m.level, m.at = append(m.level, f[len(f)-1]), append(m.at, time.Now())
	time.Sleep(pcm.FrameTime)
	return nil
}

func (m *loud) Flush() int { return 0 }

const longTalk = "One two three four five six seven eight nine ten eleven twelve."

func TestHeldVoiceStopsAtAWordAndGoesOnWithTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, rein := &loud{}, NewRein()
		time.AfterFunc(510*time.Millisecond, rein.Hold)
		time.AfterFunc(1200*time.Millisecond, rein.Free)
		out := Run(t.Context(), Plan{Model: &script{rounds: [][]Delta{text(longTalk)}}, Synth: &tones{next: 1000}, Mouth: m, Rein: rein})
		if out.Heard != longTalk || out.Cut {
			t.Errorf("heard %q, cut %v, want all of it", out.Heard, out.Cut)
		}
		gap := -1
		for i := 1; i < len(m.at); i++ {
			if m.at[i].Sub(m.at[i-1]) > 2*pcm.FrameTime {
				gap = i
			}
		}
		if gap < 0 || gap%toneFrames != 0 {
			t.Fatalf("the voice stopped before frame %d, want the beginning of a word of %d frames", gap, toneFrames)
		}
		if silent := m.at[gap-1].Sub(m.at[0]); silent > 510*time.Millisecond+tail {
			t.Errorf("it was silent after %v", silent)
		}
		// Ducked within a frame of the wish, as loud as before behind the gap.
		if soft := m.level[gap-1]; soft > 260 {
			t.Errorf("the held voice is at %d of 1000, want a quarter", soft)
		}
		if again := m.level[gap]; again < 1000 {
			t.Errorf("it went on at %d of 1000", again)
		}
	})
}

func TestDuckedVoiceIsSoftWithinAFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, rein := &loud{}, NewRein()
		time.AfterFunc(500*time.Millisecond, rein.Duck)
		time.AfterFunc(time.Second, rein.Free)
		Run(t.Context(), Plan{Model: &script{rounds: [][]Delta{text(longTalk)}}, Synth: &tones{next: 1000}, Mouth: m, Rein: rein})
		for i, at := range m.at {
			since := at.Sub(m.at[0])
			soft := m.level[i] < 300
			if want := since > 500*time.Millisecond && since < time.Second; soft != want && since != 500*time.Millisecond && since != time.Second {
				t.Fatalf("after %v the level is %d", since, m.level[i])
			}
		}
	})
}

func TestVoiceThatLeavesEndsItsWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, rein := &loud{}, NewRein()
		time.AfterFunc(730*time.Millisecond, rein.Leave)
		out := Run(t.Context(), Plan{Model: &script{rounds: [][]Delta{text(longTalk)}}, Synth: &tones{next: 1000}, Mouth: m, Rein: rein})
		if len(m.level)%toneFrames != 0 || len(m.level) > 60 {
			t.Errorf("%d frames were sent, want whole words of %d", len(m.level), toneFrames)
		}
		if want := strings.Join(strings.Fields(longTalk)[:len(m.level)/toneFrames], " "); out.Heard != want || !out.Cut || !errors.Is(out.Err, ErrInterrupted) {
			t.Errorf("got %+v, want %q, interrupted", out, want)
		}
	})
}

// effects is a tool server that records what was done.
type effects struct{ done, looked atomic.Int32 }

func (e *effects) tools() []mcp.Builtin {
	tool := func(name string, count *atomic.Int32, readOnly, idempotent bool) mcp.Builtin {
		b := slowTool(name, 20*time.Millisecond)
		b.ReadOnly, b.Idempotent = readOnly, idempotent
		call := b.Call
		b.Call = func(ctx context.Context, who mcp.Caller, args json.RawMessage) (string, error) {
			count.Add(1)
			return call(ctx, who, args)
		}
		return b
	}
	destroys := tool("destroy", &e.done, false, true)
	destroys.Destructive = true
	return []mcp.Builtin{tool("look", &e.looked, true, true), tool("give", &e.done, false, false), destroys}
}

func TestGuessHasNoEffectBeforeItIsCommitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e effects
		h := host(t, e.tools()...)
		calls := []Call{}
		for _, name := range []string{"look", "give", "destroy"} {
			calls = append(calls, Call{ID: name, Name: name, Args: json.RawMessage(`{}`)})
		}
		plan := func(commit <-chan struct{}, m Mouth) Plan {
			return Plan{
				Model: &script{rounds: [][]Delta{{{Text: "Let me see. "}, {Calls: calls}}, text("There you are.")}},
				Synth: &tones{}, Mouth: m, Commit: commit,
				Belt: h.Belt(mcp.Grant{Allow: []string{"look", "give", "destroy"}, Tier: mcp.Deep, Writes: mcp.WriteFree}),
			}
		}
		m := &loud{}
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(2*time.Second, func() { cancel(errors.New("the speaker went on")) })
		out := Run(ctx, plan(make(chan struct{}), m))
		if e.done.Load() != 0 || len(m.level) != 0 || out.Heard != "" {
			t.Errorf("a guess that was taken back had %d effects, %d frames and %q heard", e.done.Load(), len(m.level), out.Heard)
		}
		if e.looked.Load() != 1 {
			t.Errorf("what changes nothing was called %d times, want once", e.looked.Load())
		}
		if out.Usage == (Usage{}) {
			t.Error("the tokens that it wasted were not counted")
		}

		commit := make(chan struct{})
		var before int32
		time.AfterFunc(2*time.Second, func() { before = e.done.Load(); close(commit) })
		start := time.Now()
		out = Run(t.Context(), plan(commit, m))
		if before != 0 || e.done.Load() != 2 || out.Heard != "Let me see. There you are." {
			t.Errorf("%d effects before the commit, %d in all, heard %q; want 0, 2 and the answer", before, e.done.Load(), out.Heard)
		}
		if first := m.at[0].Sub(start); first != 2*time.Second {
			t.Errorf("the first sound came %v after the start, want it with the commit", first)
		}
	})
}

func TestResultThatComesTooLateIsAbsorbedAndNotSpoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := host(t, slowTool("alpha", time.Second))
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(300*time.Millisecond, func() { cancel(ErrInterrupted) })
		var absorbed []string
		start := time.Now()
		out := Run(ctx, Plan{
			Model:  &script{rounds: [][]Delta{{{Calls: []Call{{ID: "1", Name: "alpha", Args: json.RawMessage(`{}`)}}}}, text("Spoken too late.")}},
			Belt:   h.Belt(mcp.Grant{Allow: []string{"alpha"}, Tier: mcp.Deep}),
			Absorb: func(_ Call, r mcp.Result) { absorbed = append(absorbed, r.Text) },
		})
		if took := time.Since(start); took > 400*time.Millisecond {
			t.Errorf("the turn ended after %v, want at once", took)
		}
		<-out.Late
		if len(absorbed) != 1 || !strings.Contains(absorbed[0], "alpha says") || out.Heard != "" {
			t.Errorf("absorbed %q and said %q, want the result and silence", absorbed, out.Heard)
		}
	})
}

// trickle yields 5 ms of sound every 5 ms.
type trickle struct{}

func (trickle) Name() string { return "trickle" }

func (trickle) Speak(_ context.Context, _ Voice, _ string) iter.Seq2[Speech, error] {
	return func(yield func(Speech, error) bool) {
		for range 200 {
			time.Sleep(5 * time.Millisecond)
			if !yield(Speech{Chunk: pcm.Chunk{Rate: pcm.Rate, Samples: make([]int16, pcm.FrameSize/4)}}, nil) {
				return
			}
		}
	}
}

func TestAtMostOneAndAHalfSecondsAreSynthesisedAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := &tape{}, &tones{}
		worst := 0
		watch := func(any) {
			s.mu.Lock()
			made := int(s.next) * toneFrames
			s.mu.Unlock()
			m.mu.Lock()
			worst = max(worst, made-len(m.frames))
			m.mu.Unlock()
		}
		Run(t.Context(), Plan{Model: &script{rounds: [][]Delta{text(strings.Repeat(longTalk+" ", 5))}}, Synth: s, Mouth: m, Watch: watch})
		// The chunk in the synthesiser's hand comes on top: a word.
		if limit := ahead + 2*toneFrames; worst > limit || worst < ahead/2 {
			t.Errorf("up to %d frames were made ahead, want at most %d", worst, limit)
		}
	})
}

func TestFirstSoundLeavesWithTheFirst20Milliseconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &loud{}
		start := time.Now()
		Run(t.Context(), Plan{Model: &script{rounds: [][]Delta{text("Aye.")}}, Synth: trickle{}, Mouth: m})
		if first := m.at[0].Sub(start); first != 20*time.Millisecond {
			t.Errorf("the first frame was sent after %v, want when 20 ms had come", first)
		}
	})
}
