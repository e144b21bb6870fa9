package stt

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
)

// A Ladder is a recogniser and another one that stands in: when the first fails, or
// has no last word so long after the sound's end, the second hears the same utterance
// from its beginning. Nobody has to say anything twice.
type Ladder struct {
	first, then engine.Recognizer
	patience    time.Duration
	breaker     *engine.Breaker
	fell        func(name string, err error)
}

// NewLadder makes a ladder. patience bounds the wait for the first one's last word;
// fell is told when utterances begin to be heard by the second one, and may be nil.
func NewLadder(first, then engine.Recognizer, patience time.Duration, fell func(name string, err error)) *Ladder {
	return &Ladder{first, then, patience, engine.NewBreaker(), fell}
}

// Name is the first one's.
func (l *Ladder) Name() string { return l.first.Name() }

// Basic is the first one's.
func (l *Ladder) Basic() bool { return l.first.Basic() }

// Hear hears with the first one that can.
func (l *Ladder) Hear(ctx context.Context, h engine.Hearing, frames iter.Seq[[]int16]) iter.Seq2[engine.Transcript, error] {
	return func(yield func(engine.Transcript, error) bool) {
		if !l.breaker.Allow() {
			l.then.Hear(ctx, h, frames)(yield)
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		var reading sync.WaitGroup // it ends with the utterance, like every recogniser's
		defer reading.Wait()
		defer cancel()
		next := make(chan []int16)
		reading.Go(func() {
			defer close(next)
			for f := range frames {
				select {
				case next <- f:
				case <-ctx.Done(): // the rest is taken, so that nobody waits
				}
			}
		})
		var kept [][]int16
		stopped, err := l.try(ctx, h, next, &kept, yield)
		switch {
		case stopped:
			return
		case err == nil:
			l.breaker.Worked()
			return
		case ctx.Err() != nil:
			yield(engine.Transcript{}, err)
			return
		}
		if l.breaker.Failed() && l.fell != nil {
			l.fell(l.first.Name(), err)
		}
		again := func(yield func([]int16) bool) {
			for _, f := range kept {
				if !yield(f) {
					return
				}
			}
			for f := range next {
				if !yield(f) {
					return
				}
			}
		}
		l.then.Hear(ctx, h, again)(yield)
	}
}

// try hears with the first one, and keeps the sound. A recogniser reads its frames
// before it ends, from one goroutine.
func (l *Ladder) try(ctx context.Context, h engine.Hearing, next <-chan []int16, kept *[][]int16, yield func(engine.Transcript, error) bool) (stopped bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := time.AfterFunc(time.Hour, func() { cancel(fmt.Errorf("%s: no last word within %v", l.first.Name(), l.patience)) })
	ended.Stop()
	defer ended.Stop()
	feed := func(yield func([]int16) bool) {
		for f := range next {
			*kept = append(*kept, f)
			if !yield(f) {
				return
			}
		}
		ended.Reset(l.patience)
	}
	err = fmt.Errorf("%s ended without a result", l.first.Name())
	for t, failed := range l.first.Hear(ctx, h, feed) {
		if failed != nil {
			return false, failed
		}
		if t.Final {
			err = nil
		}
		if !yield(t, nil) {
			return true, nil
		}
	}
	return false, err
}
