package voice

import (
	"context"
	"slices"
	"sync"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

const (
	// queued is how many frames of a voice wait to be mixed: enough that the
	// encoder never runs dry, few enough that an interruption cuts at once.
	queued = 2
	// Ducking, per frame of 20 ms: 80 ms down, 300 ms kept, 800 ms up.
	duckDown = 4
	duckHold = 15
	duckUp   = 40
	// ducked is -12 dB.
	ducked = 0.25
)

// A Voice is one source of sound in a call: an NPC, or music. Its methods may be
// called from any goroutine, Play from one at a time.
type Voice struct {
	mix      *mixer
	priority int

	// All below are guarded by mix.mu.
	frames  [queued][pcm.FrameSize]int16
	head, n int
	// generation counts flushes: sound of an older one is not sent any more.
	generation uint32
	pending    int // frames played and neither sent nor flushed
	gain       float32
	closed     bool
	space      chan struct{} // one token when a frame was taken; Play waits for it
}

// Play gives the voice 20 ms: 960 samples at 48 kHz. It blocks until there is
// room, which paces the caller to real time, and copies the frame.
func (v *Voice) Play(ctx context.Context, frame []int16) error {
	for {
		v.mix.mu.Lock()
		switch {
		case v.closed:
			v.mix.mu.Unlock()
			return ErrLeft
		case v.n < queued:
			slot := &v.frames[(v.head+v.n)%queued]
			clear(slot[copy(slot[:], frame):])
			v.n++
			v.pending++
			v.mix.mu.Unlock()
			v.mix.wake()
			return nil
		}
		v.mix.mu.Unlock()
		select {
		case <-v.space:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Flush drops what has been played and not yet sent, and says how many frames
// that was.
func (v *Voice) Flush() int {
	v.mix.mu.Lock()
	defer v.mix.mu.Unlock()
	n := v.pending
	v.pending, v.n = 0, 0
	v.generation++
	v.room()
	return n
}

// Pending is how many frames have been played and neither sent nor flushed.
func (v *Voice) Pending() int {
	v.mix.mu.Lock()
	defer v.mix.mu.Unlock()
	return v.pending
}

// Close drops what is left and takes the voice out of the call.
func (v *Voice) Close() {
	v.Flush()
	v.mix.remove(v)
}

func (v *Voice) room() {
	select {
	case v.space <- struct{}{}:
	default:
	}
}

// mixer sums the voices of one call, frame by frame. A voice is turned down while
// another of higher priority sounds.
type mixer struct {
	mu     sync.Mutex // guards all below and the voices' queues
	voices []*Voice
	hold   int // frames for which the last loudest priority still counts
	top    int // that priority
	over   bool
	sum    [pcm.FrameSize]float32
	// work holds a token when there may be something to mix.
	work chan struct{}
}

func newMixer() *mixer { return &mixer{work: make(chan struct{}, 1)} }

// wake tells the encoder that a voice has sound.
func (m *mixer) wake() {
	select {
	case m.work <- struct{}{}:
	default:
	}
}

// add makes a voice. While voices of a higher priority sound, it is ducked.
func (m *mixer) add(priority int) *Voice {
	v := &Voice{mix: m, priority: priority, gain: 1, space: make(chan struct{}, 1)}
	m.mu.Lock()
	defer m.mu.Unlock()
	if v.closed = m.over; !v.closed {
		m.voices = append(m.voices, v)
	}
	return v
}

// close ends all voices, and those that come later.
func (m *mixer) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.over = true
	for _, v := range m.voices {
		v.closed = true
		v.room()
	}
	m.voices = nil
}

func (m *mixer) remove(v *Voice) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v.closed = true
	m.voices = slices.DeleteFunc(m.voices, func(o *Voice) bool { return o == v })
	v.room()
}

// source says whose sound a mixed frame is, so that a flush can still take it
// back. Frames of several voices belong to nobody.
type source struct {
	voice      *Voice
	generation uint32
	several    bool
}

// next mixes one frame into out. It reports false if no voice has sound.
func (m *mixer) next(out []int16) (of source, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	top, any := 0, false
	for _, v := range m.voices {
		if v.n > 0 && (!any || v.priority > top) {
			top, any = v.priority, true
		}
	}
	if !any {
		return source{}, false
	}
	if top >= m.top || m.hold == 0 {
		m.top, m.hold = top, duckHold
	} else {
		m.hold--
	}
	clear(m.sum[:])
	for _, v := range m.voices {
		if v.n == 0 {
			continue
		}
		from := v.gain
		if v.priority < m.top {
			v.gain = max(ducked, v.gain-(1-ducked)/duckDown)
		} else {
			v.gain = min(1, v.gain+(1-ducked)/duckUp)
		}
		pcm.Add(m.sum[:], v.frames[v.head][:], from, v.gain)
		v.head, v.n = (v.head+1)%queued, v.n-1
		v.room()
		if of.several = of.several || of.voice != nil; !of.several {
			of.voice, of.generation = v, v.generation
		} else {
			// A frame with others in it cannot be taken back.
			v.pending--
			if of.voice != nil {
				of.voice.pending--
				of.voice = nil
			}
		}
	}
	pcm.Clip(out, m.sum[:])
	return of, true
}

// sent settles a frame that is about to leave. It reports false for one that was
// flushed meanwhile and must not.
func (m *mixer) sent(of source) bool {
	if of.voice == nil {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if of.generation != of.voice.generation {
		return false
	}
	of.voice.pending--
	return true
}
