package music

import (
	"sync"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// How fast things change, in frames of 20 ms.
const (
	crossFade = 100 // 2 s from one piece to the next
	fadeOut   = 50  // 1 s when music stops
	duckDown  = 4   // 80 ms when somebody begins to speak
	duckUp    = 40  // 800 ms when nobody does any more
)

// silent is where fading ends: sums of steps never meet zero exactly.
const silent = 1e-3

// volume is how loud music is beside speech: -10 dB.
const volume = 0.32

// A Deck plays one piece at a time, over and over. It is safe for concurrent use.
type Deck struct {
	mu     sync.Mutex // guards all below
	now    *fading    // nil: nothing plays
	old    []*fading  // fade away; two at most
	duck   float32    // how far it is turned down now, 1 being not at all
	target float32
	frame  [pcm.FrameSize]int16
	sum    [pcm.FrameSize]float32
}

// fading is a loop whose loudness goes up or down.
type fading struct {
	*loop
	gain, step float32
}

// NewDeck returns a deck on which nothing plays.
func NewDeck() *Deck { return &Deck{duck: 1, target: 1} }

// Play fades from what plays to p, or only in if nothing does.
func (d *Deck) Play(p *Piece) error {
	l, err := newLoop(p)
	if err != nil {
		return err
	}
	if err := l.fill(pcm.FrameSize + seam); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.retire(crossFade)
	d.now = &fading{loop: l, step: 1.0 / crossFade}
	return nil
}

// Stop fades the music out within a second.
func (d *Deck) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.retire(fadeOut)
}

func (d *Deck) retire(frames float32) {
	if d.now == nil {
		return
	}
	d.now.step = -1 / frames
	if len(d.old) > 1 { // somebody plays with the button: the oldest goes at once
		d.old = d.old[1:]
	}
	d.old = append(d.old, d.now)
	d.now = nil
}

// Duck turns the music down to a factor, or up again with 1.
func (d *Deck) Duck(factor float32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.target = factor
}

// Next mixes the next 20 ms into out. It reports false if nothing plays. A piece
// that cannot be decoded any further ends, with err.
func (d *Deck) Next(out []int16) (playing bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.now == nil && len(d.old) == 0 {
		return false, nil
	}
	from := d.duck
	if d.target < d.duck {
		d.duck = max(d.target, d.duck-1.0/duckDown)
	} else {
		d.duck = min(d.target, d.duck+1.0/duckUp)
	}
	clear(d.sum[:])
	kept := d.old[:0]
	for _, f := range d.old {
		if f.mix(d, from) == nil && f.gain > silent {
			kept = append(kept, f)
		}
	}
	clear(d.old[len(kept):])
	d.old = kept
	if d.now != nil {
		if err = d.now.mix(d, from); err != nil {
			d.now = nil
		}
	}
	pcm.Clip(out, d.sum[:])
	return true, err
}

// mix adds the next frame to the deck's sum.
func (f *fading) mix(d *Deck, duck float32) error {
	if err := f.next(d.frame[:]); err != nil {
		return err
	}
	from := f.gain
	f.gain = max(0, min(1, f.gain+f.step))
	pcm.Add(d.sum[:], d.frame[:], volume*from*duck, volume*f.gain*d.duck)
	return nil
}
