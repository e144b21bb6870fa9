package engine

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"
)

// rest is how long a model that failed is left alone before it is tried again.
const rest = 30 * time.Second

// A Ladder is a [Model] of several: the first answers, and when it fails or is
// silent for too long before its first word, the next one takes over. What has
// been said cannot be taken back, so later failures are the stream's own.
type Ladder struct {
	models []Model
	limit  time.Duration
	fell   func(from Model, err error)

	mu     sync.Mutex // guards failed
	failed []time.Time
}

// NewLadder makes a ladder of at least one model, best first. limit bounds the
// wait for a model's first word; fell is told of each failure that the next rung
// covers, and may be nil.
func NewLadder(limit time.Duration, fell func(from Model, err error), models ...Model) *Ladder {
	return &Ladder{models: models, limit: limit, fell: fell, failed: make([]time.Time, len(models))}
}

// Name is the best model's.
func (l *Ladder) Name() string { return l.models[0].Name() }

// Stream answers with the highest rung that does.
func (l *Ladder) Stream(ctx context.Context, r Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		last := len(l.models) - 1
		for i, m := range l.models {
			if i < last && l.resting(i) {
				continue
			}
			begun, err := l.try(ctx, m, r, i < last, yield)
			switch {
			case err == nil:
				return
			case begun, i == last, ctx.Err() != nil:
				yield(Delta{}, err)
				return
			}
			l.mark(i)
			if l.fell != nil {
				l.fell(m, err)
			}
		}
	}
}

// try streams one model. begun reports that something has been yielded. The last
// rung is not hurried: there is nobody behind it.
func (l *Ladder) try(ctx context.Context, m Model, r Request, hurry bool, yield func(Delta, error) bool) (begun bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silent := func() { cancel(fmt.Errorf("%s: no word within %v", m.Name(), l.limit)) }
	t := time.AfterFunc(l.limit, silent)
	defer t.Stop()
	if !hurry {
		t.Stop()
	}
	for d, err := range m.Stream(ctx, r) {
		if err != nil {
			return begun, err
		}
		t.Stop()
		begun = true
		if !yield(d, nil) {
			return true, nil
		}
	}
	return begun, context.Cause(ctx)
}

func (l *Ladder) resting(i int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.failed[i].IsZero() && time.Since(l.failed[i]) < rest
}

func (l *Ladder) mark(i int) {
	l.mu.Lock()
	l.failed[i] = time.Now()
	l.mu.Unlock()
}
