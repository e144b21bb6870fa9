package voice_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/voice"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
	"github.com/glyphoxa/glyphoxa/voice/voicetest"
)

// joinWith is join with options of the test's own, and a main gateway that lets
// the user join anew.
func joinWith(t *testing.T, s *voicetest.Server, user uint64, change func(o *voice.Options)) (*voice.Conn, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	o := options(t, s)
	o.Rejoin = func(context.Context) (voice.Server, error) { return admit(s, user), nil }
	if change != nil {
		change(o)
	}
	c, err := voice.Join(ctx, admit(s, user), o)
	if err == nil {
		t.Cleanup(func() { _ = c.Close() })
	}
	return c, err
}

// two are in an encrypted call.
func two(t *testing.T, s *voicetest.Server) (a, b *voice.Conn) {
	t.Helper()
	var err error
	if a, err = joinWith(t, s, 1, nil); err != nil {
		t.Fatal(err)
	}
	if b, err = joinWith(t, s, 2, nil); err != nil {
		t.Fatal(err)
	}
	encrypted(t, a, b)
	return a, b
}

const (
	// A sentence is a tone that rises with every frame, so that one can hear
	// where one is in it.
	lowest, rise = 300.0, 16.0
	sentence     = 150 // frames: 3 s
)

// say speaks the sentence to its end.
func say(t *testing.T, c *voice.Conn) {
	t.Helper()
	v := c.Voice(0)
	defer v.Close()
	phase := 0.0
	frame := make([]int16, pcm.FrameSize)
	for i := range sentence {
		for j := range frame {
			frame[j] = int16(8000 * math.Sin(phase))
			phase += 2 * math.Pi * (lowest + rise*float64(i)) / pcm.Rate
		}
		if err := v.Play(t.Context(), frame); err != nil {
			t.Error(err)
			return
		}
	}
	eventually(t, "the last frame sent", func() bool { return v.Pending() == 0 })
}

// place is which frame of the sentence sounds in 20 ms, by its pitch: exact to
// three frames or so.
func place(samples []int16) float64 {
	first, last, crossings := -1, 0, 0
	for i := 1; i < len(samples); i++ {
		if samples[i-1] < 0 && samples[i] >= 0 {
			if first < 0 {
				first = i
			}
			last = i
			crossings++
		}
	}
	if crossings < 2 {
		return -1
	}
	hz := float64(crossings-1) * pcm.HearRate / float64(last-first)
	return (hz - lowest) / rise
}

// What was heard of a sentence.
type account struct {
	frames int
	// pause is the longest time between two frames.
	pause time.Duration
	// reached is how far the sentence got, repeated how many frames it was set
	// back, at most.
	reached, repeated float64
}

// listenTo keeps account of what is heard of a user until the test ends.
func listenTo(t *testing.T, c *voice.Conn, user uint64) (heard func() account) {
	t.Helper()
	var mu sync.Mutex
	var got account
	var before time.Time
	var places []float64
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		for f := range c.Hear(ctx) {
			if f.User != user || len(f.Samples) == 0 {
				continue
			}
			mu.Lock()
			got.frames++
			if !before.IsZero() {
				got.pause = max(got.pause, time.Since(before))
			}
			before = time.Now()
			// A loud frame tells its place; the median of five hides clicks.
			if pcm.Level(f.Samples) > -25 {
				if places = append(places, place(f.Samples)); len(places) > 5 {
					places = places[1:]
				}
				if len(places) == 5 {
					here := slices.Sorted(slices.Values(places))[2]
					got.reached = max(got.reached, here)
					got.repeated = max(got.repeated, got.reached-here)
				}
			}
			mu.Unlock()
		}
	})
	t.Cleanup(func() {
		cancel()
		done.Wait()
	})
	return func() account {
		mu.Lock()
		defer mu.Unlock()
		return got
	}
}

// disturbed lets the first of two speak a sentence while something happens to
// the call, and says what the second heard of it.
func disturbed(t *testing.T, s *voicetest.Server, disturb func(a, b *voice.Conn)) (a, b *voice.Conn, heard account) {
	t.Helper()
	a, b = two(t, s)
	account := listenTo(t, b, 1)
	var speech sync.WaitGroup
	speech.Go(func() { say(t, a) })
	eventually(t, "the middle of the sentence", func() bool { return account().frames >= sentence/3 })
	disturb(a, b)
	speech.Wait()
	time.Sleep(time.Second) // virtual: whatever is still under way arrives
	return a, b, account()
}

// closedWith reports whether err tells of a close code.
func closedWith(err error, code int) bool {
	e, ok := errors.AsType[*voice.CloseError](err)
	return ok && e.Code == code
}
