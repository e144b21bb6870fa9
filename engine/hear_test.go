package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// counter is a recogniser that says how much it was given.
type counter struct{ fail error }

func (counter) Name() string { return "counter" }
func (counter) Basic() bool  { return false }

func (c counter) Hear(_ context.Context, _ Hearing, frames iter.Seq[[]int16]) iter.Seq2[Transcript, error] {
	return func(yield func(Transcript, error) bool) {
		n := 0
		for f := range frames {
			if len(f) != pcm.HearSize {
				yield(Transcript{}, fmt.Errorf("a frame of %d samples", len(f)))
				return
			}
			if n++; n == 10 && !yield(Transcript{Text: "so far"}, nil) {
				return
			}
		}
		if c.fail != nil {
			yield(Transcript{}, c.fail)
			return
		}
		yield(Transcript{Text: fmt.Sprint(n), Final: true}, nil)
	}
}

// twice is a recording of two utterances: the same sentence twice with a pause.
func twice(t *testing.T) [][]int16 {
	t.Helper()
	f, err := os.Open("../voice/vad/testdata/speech.wav")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	samples, err := pcm.ReadWAV(f, pcm.HearRate, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	samples = slices.Concat(make([]int16, 16000), samples, make([]int16, 32000), samples, make([]int16, 16000))
	return slices.Collect(slices.Chunk(samples[:len(samples)/pcm.HearSize*pcm.HearSize], pcm.HearSize))
}

func TestUtterancesComeInOrderWithTheirSound(t *testing.T) {
	var began []string
	talking, interim := 0, 0
	ear := NewEar(counter{}, "u", EarOptions{
		Began:   func(id string) { began = append(began, id) },
		Talking: func() { talking++ },
		Interim: func(string, string) { interim++ },
	})
	var ids []string
	for u, err := range ear.Listen(t.Context(), slices.Values(twice(t))) {
		if err != nil {
			t.Fatal(err)
		}
		var frames int
		if _, err := fmt.Sscan(u.Text, &frames); err != nil || frames < 25 {
			t.Errorf("utterance %s has %s frames, want at least half a second", u.ID, u.Text)
		}
		ids = append(ids, u.ID)
	}
	if len(ids) < 2 || !slices.Equal(ids, began) {
		t.Errorf("utterances %v ended and %v began, want the same, at least two", ids, began)
	}
	if talking != len(ids) {
		t.Errorf("%d utterances were long enough to interrupt, want all %d", talking, len(ids))
	}
}

func TestFailedRecognitionDoesNotEndListening(t *testing.T) {
	boom := errors.New("boom")
	n := 0
	for _, err := range NewEar(counter{fail: boom}, "u", EarOptions{}).Listen(t.Context(), slices.Values(twice(t))) {
		if n++; !errors.Is(err, boom) {
			t.Errorf("utterance %d: error %v, want %v", n, err, boom)
		}
	}
	if n < 2 {
		t.Errorf("listening ended after %d utterances", n)
	}
}

func TestListeningEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	endless := func(yield func([]int16) bool) {
		for _, f := range twice(t) {
			if !yield(f) {
				return
			}
		}
		cancel()
		for yield(make([]int16, pcm.HearSize)) {
		}
	}
	for _, err := range NewEar(counter{}, "u", EarOptions{}).Listen(ctx, endless) {
		if err != nil && ctx.Err() == nil {
			t.Fatal(err)
		}
	}
}

func TestSenderWhoStopsEndsTheUtteranceAtOnce(t *testing.T) {
	all := twice(t)
	// Cut in the middle of the first sentence: two seconds in.
	frames := append(slices.Clone(all[:100]), nil)
	n := 0
	src := func(yield func([]int16) bool) {
		for _, f := range frames {
			if !yield(f) {
				return
			}
		}
		for range 10 { // 200 ms: far less than a pause would need
			if !yield(make([]int16, pcm.HearSize)) {
				return
			}
		}
	}
	for _, err := range NewEar(counter{}, "u", EarOptions{}).Listen(t.Context(), src) {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	if n != 1 {
		t.Errorf("got %d utterances, want the one that was stopped", n)
	}
}
