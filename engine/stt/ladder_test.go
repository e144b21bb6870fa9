package stt

import (
	"context"
	"errors"
	"iter"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/enginetest"
	"github.com/glyphoxa/glyphoxa/secret"
)

// second counts the frames that it is given.
type second struct {
	frames int
	asked  int
}

func (*second) Name() string { return "second" }
func (*second) Basic() bool  { return true }

func (s *second) Hear(_ context.Context, _ engine.Hearing, frames iter.Seq[[]int16]) iter.Seq2[engine.Transcript, error] {
	return func(yield func(engine.Transcript, error) bool) {
		s.asked++
		s.frames = 0
		for range frames {
			s.frames++
		}
		yield(engine.Transcript{Text: "from the second", Final: true}, nil)
	}
}

func ladder(t *testing.T, server *enginetest.Deepgram) (*Ladder, *second, *[]string) {
	t.Helper()
	server.Key = "k"
	server.Transcribe = func(url.Values) []string { return []string{"any", "rooms?"} }
	g, err := NewDeepgram(DeepgramOptions{URL: "http://vendor", Key: secret.New("k"), Client: enginetest.Client(server)})
	if err != nil {
		t.Fatal(err)
	}
	s, fell := &second{}, &[]string{}
	return NewLadder(g, s, 2*time.Second, func(name string, _ error) { *fell = append(*fell, name) }), s, fell
}

func TestR17R18TheSecondEarHearsTheWholeUtteranceAgain(t *testing.T) {
	for _, fault := range []enginetest.Fault{enginetest.Drop, enginetest.BadKey, enginetest.Overloaded, enginetest.Patience, enginetest.HangUp, enginetest.ErrorEnd, enginetest.Hang} {
		t.Run(string(fault), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &enginetest.Deepgram{}
				l, s, _ := ladder(t, server)
				server.Next(fault)
				start := time.Now()
				got, err := hear(t, l, engine.Hearing{}, humming(time.Second))
				if err != nil || got != "from the second" || s.frames != 50 {
					t.Errorf("heard %q (%v) from %d frames, want all 50", got, err, s.frames)
				}
				if took := time.Since(start); took > 3500*time.Millisecond {
					t.Errorf("took %v for a second of sound", took)
				}
				if got, err := hear(t, l, engine.Hearing{}, humming(time.Second)); err != nil || got != "any rooms?" {
					t.Errorf("the next utterance: %q (%v), want the first ear's", got, err)
				}
			})
		})
	}
}

func TestAnEarThatIsDownIsLeftAloneToldOnceAndBackByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &enginetest.Deepgram{}
		l, s, fell := ladder(t, server)
		for range 20 {
			server.Next(enginetest.Drop)
		}
		for range 10 {
			if _, err := hear(t, l, engine.Hearing{}, humming(time.Second)); err != nil {
				t.Fatal(err)
			}
		}
		if server.Requests() != 3 || s.asked != 10 || len(*fell) != 1 {
			t.Errorf("%d connections, the second ear was asked %d times, told %v", server.Requests(), s.asked, *fell)
		}
		server.Faults = enginetest.Faults{}
		time.Sleep(30 * time.Second)
		if got, _ := hear(t, l, engine.Hearing{}, humming(time.Second)); got != "any rooms?" {
			t.Errorf("30 s after it is back: %q", got)
		}
	})
}

func TestAnInterruptedEarIsNotReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &enginetest.Deepgram{}
		l, s, _ := ladder(t, server)
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("left")
		cancel(why)
		for _, err := range l.Hear(ctx, engine.Hearing{}, frames(humming(time.Second))) {
			if !errors.Is(err, why) {
				t.Error(err)
			}
		}
		if s.asked != 0 {
			t.Error("the second ear was asked")
		}
	})
}
