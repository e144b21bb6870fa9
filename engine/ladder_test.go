package engine

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

func TestLadderTakesTheNextRungWhenAModelIsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fell []string
		dead := stuck{}
		l := NewLadder(time.Second, func(m Model, _ error) { fell = append(fell, m.Name()) },
			dead, &script{rounds: [][]Delta{text("Still here.")}})
		start := time.Now()
		for range 2 {
			if out := Run(t.Context(), Plan{Model: l}); out.Heard != "Still here." {
				t.Errorf("got %+v, want the second model's answer", out)
			}
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("two turns took %v, want the dead model to cost one second once", took)
		}
		if diff := cmp.Diff([]string{"stuck"}, fell); diff != "" {
			t.Errorf("failures told (-want +got):\n%s", diff)
		}
	})
}

type stuck struct{}

func (stuck) Name() string { return "stuck" }
func (stuck) Stream(ctx context.Context, _ Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		<-ctx.Done()
		yield(Delta{}, context.Cause(ctx))
	}
}

// slow is a model that takes its time to begin.
type slow struct {
	name  string
	takes *time.Duration
	asked *int
	fails *error
}

func newSlow(name string, takes time.Duration) slow {
	return slow{name, &takes, new(int), new(error)}
}

func (s slow) Name() string { return s.name }

func (s slow) Stream(ctx context.Context, _ Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		*s.asked++
		select {
		case <-time.After(*s.takes):
		case <-ctx.Done():
			yield(Delta{}, context.Cause(ctx))
			return
		}
		if *s.fails != nil {
			yield(Delta{}, *s.fails)
			return
		}
		_ = yield(Delta{Text: "I am " + s.name + "."}, nil) && yield(Delta{Done: true}, nil)
	}
}

func answer(t *testing.T, l *Ladder) (who string, after time.Duration) {
	t.Helper()
	start := time.Now()
	for d, err := range l.Stream(t.Context(), Request{}) {
		if err != nil {
			t.Fatal(err)
		}
		if who == "" {
			who, after = d.Text, time.Since(start)
		}
	}
	return who, after
}

func TestALadderRacesTheNextModelAtTheLearnedPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second, last := newSlow("first", 100*time.Millisecond), newSlow("second", 200*time.Millisecond), newSlow("last", 0)
		l := NewLadder(3*time.Second, nil, first, second, last)
		for range 20 {
			if who, _ := answer(t, l); who != "I am first." {
				t.Fatal(who)
			}
		}
		*first.takes = 2 * time.Second // the tail that other people's models have
		who, after := answer(t, l)
		if who != "I am second." || after != leastPace+200*time.Millisecond {
			t.Errorf("%q after %v, want the second at its own pace after the first was late", who, after)
		}
		// To be beaten is no failure: the first is asked first again.
		*first.takes = 100 * time.Millisecond
		if who, _ := answer(t, l); who != "I am first." || *second.asked != 1 || *last.asked != 0 {
			t.Errorf("%q; the second was asked %d times and the last %d", who, *second.asked, *last.asked)
		}
	})
}

func TestR17TheNextModelTakesOverWithinHalfASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := newSlow("first", 10*time.Millisecond), newSlow("second", 0)
		*first.fails = errors.New("connection refused")
		if who, after := answer(t, NewLadder(3*time.Second, nil, first, second)); who != "I am second." || after > 500*time.Millisecond {
			t.Errorf("%q after %v", who, after)
		}
	})
}

func TestR24ModelsThatAreDownAreToldOnceLeftAloneAndBackByThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		first, last := newSlow("first", 0), newSlow("last", 0)
		l := NewLadder(3*time.Second, func(m Model, _ error) { told = append(told, m.Name()) }, first, last)
		*first.fails = errors.New("down")
		for range 10 {
			if who, _ := answer(t, l); who != "I am last." {
				t.Fatal(who)
			}
		}
		if *first.asked != breakAfter || !slices.Equal(told, []string{"first"}) {
			t.Errorf("asked %d times and told %v, want %d and once", *first.asked, told, breakAfter)
		}
		*first.fails = nil
		time.Sleep(30 * time.Second)
		if who, _ := answer(t, l); who != "I am first." {
			t.Errorf("30 s later %q answers", who)
		}
		*first.fails = errors.New("down again")
		answer(t, l)
		if len(told) != 2 {
			t.Errorf("told %v, want it told again after it had worked", told)
		}
	})
}

func TestABreakerIsClosedOpenAndHalfOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBreaker()
		for i := range breakAfter {
			if !b.Allow() {
				t.Fatalf("open after %d failures", i)
			}
			if opened := b.Failed(); opened != (i == breakAfter-1) {
				t.Errorf("failure %d opened it: %v", i+1, opened)
			}
		}
		if b.Allow() {
			t.Error("open, and allows a request")
		}
		time.Sleep(restFor)
		if !b.Allow() || b.Allow() {
			t.Error("half-open, it should allow one request and no second")
		}
		if b.Failed() {
			t.Error("a failed try is told as news")
		}
		if b.Allow() {
			t.Error("open again, and allows a request")
		}
		time.Sleep(restFor)
		if !b.Allow() || !b.Worked() || !b.Allow() || b.Worked() {
			t.Error("a try that works should close it, once")
		}
	})
}

// hoarse speaks forty frames of a sentence and then no more.
type hoarse struct{}

func (hoarse) Name() string { return "hoarse" }

func (hoarse) Speak(context.Context, Voice, string) iter.Seq2[Speech, error] {
	return func(yield func(Speech, error) bool) {
		_ = yield(Speech{Chunk: pcm.Chunk{Rate: pcm.Rate, Samples: make([]int16, 40*pcm.FrameSize)}}, nil) &&
			yield(Speech{}, errors.New("stalled"))
	}
}

// nowhere is a mouth in a room without anybody.
type nowhere struct{}

func (nowhere) Play(context.Context, []int16) error { return nil }
func (nowhere) Flush() int                          { return 0 }

func TestR19ASentenceThatStallsIsCutAtTheLastWordHeardAndNotSaidAgain(t *testing.T) {
	m := &script{rounds: [][]Delta{text("There are two rooms left under the roof. Take the one with the window.")}}
	out := Run(t.Context(), Plan{Model: m, Synth: hoarse{}, Mouth: nowhere{}})
	// 800 ms are twelve letters or so.
	if out.Heard != "There are two" || !out.Cut || out.Err == nil || out.Played != 800*time.Millisecond {
		t.Errorf("heard %q in %v, cut %v, %v", out.Heard, out.Played, out.Cut, out.Err)
	}
}
