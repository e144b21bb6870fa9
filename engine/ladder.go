package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"
)

// A Ladder is a [Model] of several. The best that works is asked first; when it fails
// the next one takes over at once. When it is later than 95 of its last 100 answers,
// the next one is asked, too, and whichever begins first is heard. The last rung is
// only asked when nobody else has begun within the limit: it is the one that always
// answers, and not the one to hear.
//
// What has been said cannot be taken back, so later failures are the stream's own.
type Ladder struct {
	rungs []*rung
	limit time.Duration
	fell  func(from Model, err error)
}

// rung is a model and what is known of it.
type rung struct {
	Model
	breaker *Breaker
	pace    Pace

	mu   sync.Mutex // guards told
	told bool       // that it does not work
}

// NewLadder makes a ladder of at least one model, best first. limit bounds the wait
// for a model's first word; fell is told once when a model stops working, and again
// only after it has worked. It may be nil.
func NewLadder(limit time.Duration, fell func(from Model, err error), models ...Model) *Ladder {
	l := &Ladder{limit: limit, fell: fell}
	for _, m := range models {
		l.rungs = append(l.rungs, &rung{Model: m, breaker: NewBreaker()})
	}
	return l
}

// Name is the best model's.
func (l *Ladder) Name() string { return l.rungs[0].Name() }

// word is something that one of the rungs says.
type word struct {
	from  *climb
	delta Delta
	err   error
	end   bool
}

// climb is one rung being asked.
type climb struct {
	rung   *rung
	cancel context.CancelCauseFunc
	began  time.Time
}

// race is one answer that rungs compete for.
type race struct {
	*Ladder
	ctx     context.Context
	request Request
	said    chan word
	tasks   sync.WaitGroup
	next    int      // the first rung that has not been asked
	running []*climb // without a word so far
}

// Stream answers with the highest rung that does.
func (l *Ladder) Stream(ctx context.Context, r Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		race := &race{Ladder: l, ctx: ctx, request: r, said: make(chan word)}
		defer race.tasks.Wait()
		defer cancel()
		winner, first, err := race.run()
		if err != nil {
			yield(Delta{}, err)
			return
		}
		for p := first; ; {
			switch {
			case p.err != nil:
				yield(Delta{}, p.err)
				return
			case p.end, !yield(p.delta, nil):
				return
			}
			p = race.hear(winner)
		}
	}
}

// run asks rungs until one has begun, and returns its first piece.
func (r *race) run() (*climb, word, error) {
	last := len(r.rungs) - 1
	limit := time.NewTimer(r.limit)
	defer limit.Stop()
	hurry := time.NewTimer(r.climb().pace.Late())
	defer hurry.Stop()
	if r.next > last { // there is nobody behind
		limit.Stop()
	}
	for {
		select {
		case p := <-r.said:
			if p.err == nil && !p.end {
				r.won(p.from)
				return p.from, p, nil
			}
			if p.err == nil {
				p.err = errors.New("the model answered nothing")
			}
			r.lost(p.from, p.err, p.from.rung.breaker.Failed)
			if len(r.running) > 0 {
				continue
			}
			if r.next > last {
				return nil, word{}, p.err
			}
			hurry.Reset(r.climb().pace.Late())
			limit.Reset(r.limit)
			if r.next > last {
				limit.Stop()
			}
		case <-hurry.C:
			if r.next < last {
				hurry.Reset(r.climb().pace.Late())
			}
		case <-limit.C:
			for len(r.running) > 0 {
				c := r.running[0]
				err := fmt.Errorf("%s: no word within %v", c.rung.Name(), r.limit)
				c.cancel(err)
				r.lost(c, err, c.rung.breaker.Trip)
			}
			r.climb()
			if r.next <= last {
				limit.Reset(r.limit)
			}
		case <-r.ctx.Done():
			return nil, word{}, context.Cause(r.ctx)
		}
	}
}

// climb asks the next rung that is allowed to be.
func (r *race) climb() *rung {
	last := len(r.rungs) - 1
	for r.next < last && !r.rungs[r.next].breaker.Allow() {
		r.next++
	}
	ctx, cancel := context.WithCancelCause(r.ctx)
	c := &climb{rung: r.rungs[r.next], cancel: cancel, began: time.Now()}
	r.next++
	r.running = append(r.running, c)
	r.tasks.Go(func() {
		defer cancel(nil)
		say := func(p word) bool {
			select {
			case r.said <- p:
				return true
			case <-ctx.Done():
				return false
			}
		}
		for d, err := range c.rung.Stream(ctx, r.request) {
			if !say(word{from: c, delta: d, err: err}) || err != nil {
				return
			}
		}
		say(word{from: c, end: true})
	})
	return c.rung
}

// won ends the race.
func (r *race) won(c *climb) {
	c.rung.pace.Began(time.Since(c.began))
	c.rung.breaker.Worked()
	c.rung.mu.Lock()
	c.rung.told = false
	c.rung.mu.Unlock()
	for _, other := range r.running {
		if other != c {
			other.cancel(errors.New("another model was quicker"))
		}
	}
}

// lost takes a rung out of the race. note tells its breaker.
func (r *race) lost(c *climb, err error, note func() bool) {
	for i, other := range r.running {
		if other == c {
			r.running = append(r.running[:i:i], r.running[i+1:]...)
			break
		}
	}
	if c.rung == r.rungs[len(r.rungs)-1] || r.ctx.Err() != nil {
		return
	}
	note()
	c.rung.mu.Lock()
	told := c.rung.told
	c.rung.told = true
	c.rung.mu.Unlock()
	if !told && r.fell != nil {
		r.fell(c.rung.Model, err)
	}
}

// hear waits for the winner's next piece.
func (r *race) hear(winner *climb) word {
	for {
		select {
		case p := <-r.said:
			if p.from == winner {
				return p
			}
		case <-r.ctx.Done():
			return word{err: context.Cause(r.ctx)}
		}
	}
}
