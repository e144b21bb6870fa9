package voice

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// heldFrames is how many frames of a speaker wait to be heard: 1.3 s. A reader
// that is further behind has stopped listening.
const heldFrames = 64

// hearing keeps the frames of all speakers until they are heard.
type hearing struct {
	mu   sync.Mutex // guards what follows
	ears map[uint64]*ear
	// turns are the speakers who have frames, in the order they are served: one
	// frame each, then the next.
	turns   []uint64
	spare   []*ear
	dropped uint64
	wake    chan struct{} // a token when there may be something to hear
}

// An ear is one speaker's frames, in a ring.
type ear struct {
	frames  [heldFrames]heard
	head, n int
}

type heard struct {
	samples [pcm.HearSize]int16
	stop    bool
}

func newHearing() *hearing {
	return &hearing{ears: map[uint64]*ear{}, wake: make(chan struct{}, 1)}
}

// add takes a frame in, which is copied. It never blocks: the oldest frame of the
// same speaker makes room.
func (h *hearing) add(f Frame) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.ears[f.User]
	if e == nil {
		if len(h.ears) == maxSpeakers {
			h.dropped++
			return
		}
		if n := len(h.spare); n > 0 {
			e, h.spare = h.spare[n-1], h.spare[:n-1]
		} else {
			e = new(ear)
		}
		h.ears[f.User] = e
	}
	if e.n == 0 {
		h.turns = append(h.turns, f.User)
	}
	if e.n == heldFrames {
		e.head, e.n = (e.head+1)%heldFrames, e.n-1
		h.dropped++
	}
	slot := &e.frames[(e.head+e.n)%heldFrames]
	slot.stop = len(f.Samples) == 0
	copy(slot.samples[:], f.Samples)
	e.n++
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// next copies the next frame into samples.
func (h *hearing) next(samples *[pcm.HearSize]int16) (f Frame, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.turns) == 0 {
		return Frame{}, false
	}
	user := h.turns[0]
	h.turns = slices.Delete(h.turns, 0, 1)
	e := h.ears[user]
	slot := &e.frames[e.head]
	f.User = user
	if !slot.stop {
		*samples = slot.samples
		f.Samples = samples[:]
	}
	e.head, e.n = (e.head+1)%heldFrames, e.n-1
	switch {
	case e.n > 0:
		h.turns = append(h.turns, user)
	case slot.stop: // the ear is for whoever speaks next
		delete(h.ears, user)
		h.spare = append(h.spare, e)
	}
	return f, true
}

// Hear yields what the others say, frame by frame, and ends with ctx or the call.
// A frame's samples are valid until the next one. Frames that come while nobody
// hears wait, up to 64 of a speaker. One Hear at a time.
func (c *Conn) Hear(ctx context.Context) iter.Seq[Frame] {
	return func(yield func(Frame) bool) {
		var samples [pcm.HearSize]int16
		for {
			for {
				f, ok := c.hearing.next(&samples)
				if !ok {
					break
				}
				if !yield(f) {
					return
				}
			}
			select {
			case <-c.hearing.wake:
			case <-ctx.Done():
				return
			case <-c.done:
				return
			}
		}
	}
}

// Voice adds a voice to the call. While a voice of higher priority sounds, it is
// turned down by 12 dB. Close it when it is not needed any more.
func (c *Conn) Voice(priority int) *Voice { return c.sender.mix.add(priority) }
