package voice

import (
	"testing"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

func TestSlowReaderLosesItsOldestFramesAndNobodyElses(t *testing.T) {
	h := newHearing()
	samples := make([]int16, pcm.HearSize)
	for i := range 100 {
		samples[0] = int16(i)
		h.add(Frame{User: 1, Samples: samples})
	}
	samples[0] = 7
	h.add(Frame{User: 2, Samples: samples})
	h.add(Frame{User: 2})
	var out [pcm.HearSize]int16
	got := map[uint64][]int16{}
	stops := map[uint64]int{}
	var order []uint64
	for {
		f, ok := h.next(&out)
		if !ok {
			break
		}
		order = append(order, f.User)
		if len(f.Samples) == 0 {
			stops[f.User]++
			continue
		}
		got[f.User] = append(got[f.User], f.Samples[0])
	}
	if n := len(got[1]); n != heldFrames || got[1][0] != 100-heldFrames || got[1][n-1] != 99 {
		t.Errorf("%d frames of the loud one, from %d; want %d, from %d", n, got[1][0], heldFrames, 100-heldFrames)
	}
	if len(got[2]) != 1 || stops[2] != 1 {
		t.Errorf("of the other %v and %d stops, want all", got[2], stops[2])
	}
	if order[1] != 2 || order[3] != 2 {
		t.Errorf("speakers are not served in turns: %v", order[:6])
	}
	if h.dropped != 100-heldFrames {
		t.Errorf("%d dropped, want %d", h.dropped, 100-heldFrames)
	}
}

func TestSpeakersWhoStoppedMakeRoom(t *testing.T) {
	h := newHearing()
	var out [pcm.HearSize]int16
	samples := make([]int16, pcm.HearSize)
	for user := range uint64(1000) {
		h.add(Frame{User: user, Samples: samples})
		h.add(Frame{User: user})
		for range 2 {
			if _, ok := h.next(&out); !ok {
				t.Fatal("nothing to hear")
			}
		}
	}
	if len(h.ears) != 0 || len(h.spare) != 1 || h.dropped != 0 {
		t.Errorf("%d ears, %d spare, %d dropped; want 0, 1, 0", len(h.ears), len(h.spare), h.dropped)
	}
	for user := range uint64(1000) {
		h.add(Frame{User: user, Samples: samples})
	}
	if len(h.ears) != maxSpeakers {
		t.Errorf("%d ears, want %d", len(h.ears), maxSpeakers)
	}
}

func TestHearingAllocatesNothing(t *testing.T) {
	h := newHearing()
	var out [pcm.HearSize]int16
	samples := make([]int16, pcm.HearSize)
	if n := testing.AllocsPerRun(100, func() {
		h.add(Frame{User: 1, Samples: samples})
		h.add(Frame{User: 1})
		h.next(&out)
		h.next(&out)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
