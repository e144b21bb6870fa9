package engine

import (
	"slices"
	"sync"
	"time"
)

const (
	// paceWindow is how many answers are remembered, and paceLeast how many it takes
	// for their 95th percentile to mean something.
	paceWindow = 50
	paceLeast  = 8
	// usualPace is what is assumed before: the slow end of good models, measured by
	// others on many vendors.
	usualPace = 1200 * time.Millisecond
	// leastPace keeps a quick provider from being raced at every hiccup.
	leastPace = 150 * time.Millisecond
)

// A Pace is how long a provider usually takes to begin. The zero value is ready; it
// is safe for concurrent use.
type Pace struct {
	mu   sync.Mutex // guards what follows
	took []time.Duration
	next int
}

// Began notes how long an answer took to begin.
func (p *Pace) Began(took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.took) < paceWindow {
		p.took = append(p.took, took)
		return
	}
	p.took[p.next] = took
	p.next = (p.next + 1) % paceWindow
}

// Late is when an answer that has not begun is late: the 95th percentile of the last
// fifty.
func (p *Pace) Late() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.took) < paceLeast {
		return usualPace
	}
	sorted := slices.Sorted(slices.Values(p.took))
	return max(leastPace, sorted[len(sorted)*95/100])
}
