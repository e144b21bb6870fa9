package mcp

import (
	"context"
	"errors"
	"sync"
	"time"
)

// errDeadline ends a call whose time is over.
var errDeadline = errors.New("out of time")

// A deadline is a context that ends at a time, with errDeadline for its cause. It
// is [context.WithDeadlineCause], but its timer is only made when somebody waits
// for it: most tools of our own have answered in less time than that takes.
type deadline struct {
	context.Context // the caller's
	at              time.Time

	mu     sync.Mutex      // guards both
	armed  context.Context // nil until somebody waits
	cancel context.CancelFunc
}

// Deadline is when the call ends.
func (d *deadline) Deadline() (time.Time, bool) { return d.at, true }

// arm returns a context that ends by itself.
func (d *deadline) arm() context.Context {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.armed == nil {
		d.armed, d.cancel = context.WithDeadlineCause(d.Context, d.at, errDeadline)
	}
	return d.armed
}

// Done is closed when the call ends.
func (d *deadline) Done() <-chan struct{} { return d.arm().Done() }

// Err is why the call ended, or nil.
func (d *deadline) Err() error {
	d.mu.Lock()
	armed := d.armed
	d.mu.Unlock()
	if armed == nil {
		armed = d.Context
	}
	if err := armed.Err(); err != nil {
		return err
	}
	if d.cause() != nil {
		return context.DeadlineExceeded
	}
	return nil
}

// Value also answers what package context asks of its own kinds, so that
// [context.Cause] and contexts made from this one see the deadline.
func (d *deadline) Value(key any) any { return d.arm().Value(key) }

// cause is why the call ended, or nil; what the caller ended was ended first.
func (d *deadline) cause() error {
	if cause := context.Cause(d.Context); cause != nil {
		return cause
	}
	if !time.Now().Before(d.at) {
		return errDeadline
	}
	return nil
}

// release stops the timer. The context must not be used any more.
func (d *deadline) release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cancel != nil {
		d.cancel()
	}
}
