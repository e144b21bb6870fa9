package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

const (
	// ducked is how loud a voice is that somebody talks over: -12 dB.
	ducked = 0.25
	// tail is how much of a word may be finished before a voice is silent: a slow
	// word. Where a word ends is not always known.
	tail = 400 * time.Millisecond
	// hush is the mean level below which a frame is a pause between words.
	hush = 200
)

// A Rein holds back the voice of a turn that is being played. It is safe for
// concurrent use; the zero value is not usable, see [NewRein].
type Rein struct {
	mu      sync.Mutex // guards both
	mode    reinMode
	changed chan struct{} // closed when mode does
}

type reinMode uint8

const (
	reinFree reinMode = iota
	reinDuck
	reinHold
	reinLeave
)

// NewRein makes a rein that lets the voice go.
func NewRein() *Rein { return &Rein{changed: make(chan struct{})} }

// Free lets the voice speak at its own loudness; a held one goes on with the next
// word.
func (r *Rein) Free() { r.set(reinFree) }

// Duck turns the voice down by 12 dB at once.
func (r *Rein) Duck() { r.set(reinDuck) }

// Hold turns the voice down and has it stop at the end of its word, within 400 ms.
// One that has not begun does not begin.
func (r *Rein) Hold() { r.set(reinHold) }

// Leave turns the voice down and ends the turn with [ErrInterrupted] at the end of
// its word, within 400 ms. There is no way back.
func (r *Rein) Leave() { r.set(reinLeave) }

func (r *Rein) set(m reinMode) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mode == m || r.mode == reinLeave {
		return
	}
	r.mode = m
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *Rein) now() (reinMode, <-chan struct{}) {
	if r == nil {
		return reinFree, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mode, r.changed
}

// errLeft is [ErrInterrupted] at the end of a word: there is nothing to fade.
var errLeft = errors.Join(ErrInterrupted)

// reined is a voice under its rein and behind its turn's commit.
type reined struct {
	rein   *Rein
	commit <-chan struct{}
	begun  bool
	gain   float64
	over   time.Duration // played since it was to stop
	silent bool          // it is being held
}

// before waits until the next frame may be sent. wordEnds tells whether a word has
// just ended; it is only asked while that matters.
func (v *reined) before(ctx context.Context, wordEnds func() bool) error {
	if v.commit != nil {
		select {
		case <-v.commit:
			v.commit = nil
		case <-ctx.Done():
			v.silent = true
			return context.Cause(ctx)
		}
	}
	for {
		mode, changed := v.rein.now()
		if mode < reinHold {
			v.over, v.silent = 0, false
			return nil
		}
		if v.begun && !v.silent && v.over < tail && !wordEnds() {
			v.over += pcm.FrameTime
			return nil
		}
		v.silent = true
		if mode == reinLeave {
			return errLeft
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// level brings a frame to the loudness that the rein asks for, over its own length.
func (v *reined) level(frame []int16) {
	mode, _ := v.rein.now()
	want := 1.0
	if mode != reinFree {
		want = ducked
	}
	if !v.begun {
		v.begun, v.gain = true, want
	}
	if v.gain == 1 && want == 1 {
		return
	}
	for i := range frame {
		part := float64(i+1) / float64(len(frame))
		frame[i] = int16(float64(frame[i]) * (v.gain + (want-v.gain)*part))
	}
	v.gain = want
}

// quiet reports whether a frame is a pause between words.
func quiet(frame []int16) bool {
	sum := 0
	for _, s := range frame {
		sum += max(int(s), -int(s))
	}
	return sum < hush*len(frame)
}
