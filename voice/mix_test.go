package voice

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// level is a frame of one value, so that a gain can be read off it.
func level(v int16) []int16 {
	frame := make([]int16, pcm.FrameSize)
	for i := range frame {
		frame[i] = v
	}
	return frame
}

func playAll(t *testing.T, v *Voice, frames ...[]int16) {
	t.Helper()
	for _, f := range frames {
		if err := v.Play(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
}

func TestVoiceOfLowerPriorityIsTurnedDownAndComesBack(t *testing.T) {
	m := newMixer()
	music, npc := m.add(0), m.add(1)
	out := make([]int16, pcm.FrameSize)
	const loud = 4000
	last := func(speak bool) int16 {
		playAll(t, music, level(loud))
		if speak {
			playAll(t, npc, level(0))
		}
		if of, ok := m.next(out); !ok || !m.sent(of) {
			t.Fatal("nothing to send")
		}
		return out[len(out)-1]
	}
	near := func(got int16, want float64) bool { return math.Abs(float64(got)-want) < loud/50 }
	if got := last(false); !near(got, loud) {
		t.Errorf("alone: %d, want %d", got, loud)
	}
	for range duckDown {
		last(true)
	}
	if got := last(true); !near(got, loud*ducked) {
		t.Errorf("under a voice: %d, want %v", got, loud*ducked)
	}
	for i := range duckHold {
		if got := last(false); !near(got, loud*ducked) {
			t.Errorf("%d frames after it: %d, want %v", i, got, loud*ducked)
		}
	}
	for range duckUp + 1 {
		last(false)
	}
	if got := last(false); !near(got, loud) {
		t.Errorf("long after it: %d, want %d", got, loud)
	}
}

func TestVoicesOfOnePriorityAreAdded(t *testing.T) {
	m := newMixer()
	a, b := m.add(3), m.add(3)
	playAll(t, a, level(1000))
	playAll(t, b, level(500))
	out := make([]int16, pcm.FrameSize)
	if _, ok := m.next(out); !ok || out[0] != 1500 {
		t.Errorf("mixed %d, want 1500", out[0])
	}
	if a.Pending() != 0 || b.Pending() != 0 {
		t.Errorf("%d and %d pending; a mixed frame cannot be taken back", a.Pending(), b.Pending())
	}
}

func TestFlushedFrameIsNotSent(t *testing.T) {
	m := newMixer()
	v := m.add(0)
	playAll(t, v, level(1), level(2))
	out := make([]int16, pcm.FrameSize)
	of, _ := m.next(out)
	if got := v.Flush(); got != 2 {
		t.Errorf("%d frames taken back, want 2", got)
	}
	if m.sent(of) {
		t.Error("a flushed frame may be sent")
	}
	if _, ok := m.next(out); ok {
		t.Error("a flushed frame is mixed")
	}
	playAll(t, v, level(3))
	if of, ok := m.next(out); !ok || !m.sent(of) || out[0] != 3 {
		t.Error("what came after the flush is not sent")
	}
	if got := v.Flush(); got != 0 {
		t.Errorf("%d frames taken back of what was sent", got)
	}
}

func TestPlayWaitsForRoomAndEndsWithItsContext(t *testing.T) {
	m := newMixer()
	v := m.add(0)
	for range queued {
		playAll(t, v, level(1))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := v.Play(ctx, level(1)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a full voice: %v", err)
	}
	played := make(chan error)
	go func() { played <- v.Play(t.Context(), level(1)) }()
	m.next(make([]int16, pcm.FrameSize))
	if err := <-played; err != nil {
		t.Error(err)
	}
	go func() { played <- v.Play(t.Context(), level(1)) }()
	m.close()
	if err := <-played; !errors.Is(err, ErrLeft) {
		t.Errorf("in an ended call: %v, want %v", err, ErrLeft)
	}
	if err := m.add(0).Play(t.Context(), level(1)); !errors.Is(err, ErrLeft) {
		t.Errorf("a voice that came too late: %v, want %v", err, ErrLeft)
	}
}
