package engine

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// Patience says how long a speaker may pause before it counts as the end.
type Patience uint8

// The settings, for somebody whose pauses are of the usual kind, who wants quick
// answers, or who needs time to find words.
const (
	NormalPatience Patience = iota
	QuickPatience
	LongPatience
)

var patienceNames = [...]string{"normal", "quick", "long"}

// factor is what waits are multiplied with.
func (p Patience) factor() float64 { return [...]float64{1, 0.5, 2}[p] }

// String is the setting as it is written in a configuration.
func (p Patience) String() string { return patienceNames[p] }

// ParsePatience reads what [Patience.String] writes; "" is normal.
func ParsePatience(s string) (Patience, error) {
	for i, name := range patienceNames {
		if strings.EqualFold(s, name) || s == "" {
			return Patience(i), nil
		}
	}
	return 0, fmt.Errorf("patience %q: want quick, normal or long", s)
}

// UnmarshalText reads what [ParsePatience] does.
func (p *Patience) UnmarshalText(b []byte) (err error) {
	*p, err = ParsePatience(string(b))
	return err
}

// MarshalText writes the setting's name.
func (p Patience) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// A stop is how it is known that somebody has stopped speaking.
type stop uint8

const (
	silence stop = iota // there is sound, and no speech in it
	ended               // the sender said so
	stops
)

const (
	// learn is how far the first mistakes move a wait, settled the part of it that
	// later ones do: two or three teach that somebody speaks slowly.
	learn   = 150 * time.Millisecond
	settled = 0.2

	// goesOn is the longest pause behind which somebody is taken to go on with what
	// they said, and not to begin something new.
	goesOn = 1200 * time.Millisecond
	// longestPause ends every turn.
	longestPause = 2500 * time.Millisecond
)

// wait is how long to wait after somebody stopped: at first, at least and at most,
// and the share of such stops that may be taken for an end by mistake. All mistakes
// together are to be 5 % of the turns; most of what there is to win is behind whole
// sentences, so the others get little of it.
type wait struct {
	first, least, most time.Duration
	mistaken           float64
}

// waits counts from the end of the speech. Where the sender does not say when it
// stops, 300 ms pass before silence is silence.
var waits = [stops][senses]wait{
	silence: {
		unclear:  {700 * time.Millisecond, 400 * time.Millisecond, 1500 * time.Millisecond, 0.02},
		stated:   {400 * time.Millisecond, pauseEnds, 1200 * time.Millisecond, 0.05},
		finished: {pauseEnds, pauseEnds, 1000 * time.Millisecond, 0.03},
		open:     {1200 * time.Millisecond, 900 * time.Millisecond, 2000 * time.Millisecond, 0.02},
	},
	ended: {
		unclear:  {600 * time.Millisecond, 150 * time.Millisecond, 1200 * time.Millisecond, 0.03},
		stated:   {250 * time.Millisecond, 0, 1000 * time.Millisecond, 0.04},
		finished: {0, 0, 800 * time.Millisecond, 0.03},
		open:     {1200 * time.Millisecond, 700 * time.Millisecond, 2000 * time.Millisecond, 0.02},
	},
}

// Pauses are how one speaker pauses, learned from turn to turn, and the patience
// that was set for them. The zero value knows nothing yet. It is safe for concurrent
// use, and may be kept when a microphone is closed and opened again.
type Pauses struct {
	mu       sync.Mutex // guards all below
	patience Patience
	moved    [stops][senses]time.Duration // what was learned, beyond waits' first
	seen     [stops][senses]float64       // how many stops that was learned from
}

// SetPatience sets how long this speaker may pause.
func (p *Pauses) SetPatience(x Patience) {
	p.mu.Lock()
	p.patience = x
	p.mu.Unlock()
}

// Patience is what was set.
func (p *Pauses) Patience() Patience {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.patience
}

// wait is how long to wait behind a stop before the turn is over.
func (p *Pauses) wait(how stop, s sense) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := waits[how][s]
	d := time.Duration(float64(w.first+p.moved[how][s]) * p.patience.factor())
	return min(max(d, w.least), longestPause)
}

// longest is the longest pause within a turn.
func (p *Pauses) longest() time.Duration { return max(goesOn, p.wait(silence, open)) }

// learned takes in that a pause was followed by more, or, with a pause of zero, by
// nothing. Each mistake makes the wait longer by much and everything else makes it
// shorter by little, in such a proportion that it settles where the intended share
// is mistaken: stochastic approximation (Robbins and Monro, 1951) of that quantile
// of the speaker's pauses.
func (p *Pauses) learned(how stop, s sense, pause, waited time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w, m, n := waits[how][s], &p.moved[how][s], &p.seen[how][s]
	const early = 20 // stops, after which steps are half as long
	step := float64(learn) * max(settled, early/(early+*n))
	*n++
	if pause > waited {
		*m += time.Duration(step * (1 - w.mistaken))
	} else {
		*m -= time.Duration(step * w.mistaken)
	}
	*m = min(max(*m, w.least-w.first), w.most-w.first)
}
