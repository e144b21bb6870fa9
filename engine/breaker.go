package engine

import (
	"sync"
	"time"
)

const (
	// breakAfter is how many failures in a row it takes to leave a provider alone:
	// one may be chance, and each costs the table a pause.
	breakAfter = 3
	// restFor is how long it is left alone. A table that has its voices back within
	// half a minute has hardly noticed.
	restFor = 25 * time.Second
)

// A Breaker remembers whether a provider works, so that a table does not wait for
// one that is down at every turn. Closed, all requests go through. After three
// failures in a row it is open for 25 s and none does. Then it is half-open: one
// request tries, and by its result all go through again or none does for as long
// again. It is safe for concurrent use.
type Breaker struct {
	mu     sync.Mutex // guards what follows
	failed int        // in a row
	until  time.Time  // when an open one becomes half-open; zero if closed
	trying time.Time  // when the one request of a half-open one began; zero for none
}

// NewBreaker makes a closed one.
func NewBreaker() *Breaker { return &Breaker{} }

// Allow reports whether a request may be made. Whoever makes it has to call Worked or
// Failed after it; one that is given up is neither.
func (b *Breaker) Allow() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	switch {
	case b.until.IsZero():
		return true
	case now.Before(b.until), !b.trying.IsZero() && now.Sub(b.trying) < restFor:
		return false
	}
	b.trying = now // the next may try when this one has been given up
	return true
}

// Worked closes the breaker, and reports whether it was open: the provider is back.
func (b *Breaker) Worked() (back bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	back = !b.until.IsZero()
	b.failed, b.until, b.trying = 0, time.Time{}, time.Time{}
	return back
}

// Trip opens the breaker at once: a provider that is silent costs a table seconds each
// time. It reports whether it was closed.
func (b *Breaker) Trip() (opened bool) {
	b.mu.Lock()
	b.failed = max(b.failed, breakAfter)
	b.mu.Unlock()
	return b.Failed()
}

// Failed counts a failure, and reports whether the breaker opened because of it: the
// moment to tell somebody. A failed try of a half-open one is no news.
func (b *Breaker) Failed() (opened bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed++
	b.trying = time.Time{}
	was := !b.until.IsZero()
	if b.failed >= breakAfter || was {
		b.until = time.Now().Add(restFor)
	}
	return !was && !b.until.IsZero()
}
