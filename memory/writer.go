package memory

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrBacklog means that a line was not taken because too many wait already: the
// store has not accepted any for a long time.
var ErrBacklog = errors.New("too many lines wait to be remembered")

const (
	// backlog is how many lines wait in memory while the store cannot take them:
	// four evenings of play, about 10 MB.
	backlog = 10_000
	// group is how many lines share one commit at most, so that the first of
	// them does not wait for a thousand others.
	group = 256
	// firstRetry and lastRetry bound the pauses between attempts. The last is
	// short because what waits is written within two seconds of a lock's release.
	firstRetry, lastRetry = 50 * time.Millisecond, time.Second
	// attempt is how long one commit may take before it counts as unknown and
	// is repeated; line ids make that harmless.
	attempt = 10 * time.Second
)

// WriterOptions say how a [Writer] behaves. The zero value works.
type WriterOptions struct {
	// Spool is a file in which lines wait, so that they survive the death of
	// this process before they reach the store. "" keeps them in memory only.
	Spool string
	// Trouble is told once when lines begin to wait because of err, and once
	// with nil when all of them have been written. It is called from the
	// writer's goroutine and must not call the writer.
	Trouble func(err error)
}

// A Writer takes lines without waiting and brings them into a store in the order
// in which they came. It never gives up: what the store refuses waits, in memory
// and in the spool, until the store takes it.
type Writer struct {
	store  Store
	opts   WriterOptions
	spool  *spool
	cancel context.CancelFunc
	tasks  sync.WaitGroup
	// spooled is how many of pending are in the spool, counted from the front.
	// Only the writer's goroutine uses it.
	spooled int
	silent  silent

	mu      sync.Mutex // guards all below
	pending []Line     // in order; the writer takes from the front
	taken   uint64     // lines accepted by Write
	written uint64     // lines that are durable
	dropped uint64
	closing bool
	trouble error
	wake    chan struct{} // holds one token: there is work, or closing
	changed chan struct{} // closed and replaced whenever written or closing changes
}

// NewWriter starts a writer. Lines that a dead process left in the spool are
// brought into the store first.
func NewWriter(store Store, o *WriterOptions) (*Writer, error) {
	w := &Writer{store: store, wake: make(chan struct{}, 1), changed: make(chan struct{})}
	if o != nil {
		w.opts = *o
	}
	if w.opts.Spool != "" {
		sp, left, err := openSpool(w.opts.Spool)
		if err != nil {
			return nil, err
		}
		w.spool, w.spooled = sp, len(left)
		w.pending, w.taken = left, uint64(len(left))
	}
	// The writer outlives whatever call made it: only Close ends it.
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	if len(w.pending) > 0 {
		w.wake <- struct{}{}
	}
	w.tasks.Go(func() { w.run(ctx) })
	return w, nil
}

// Write takes a line. It never waits for the store or a disk. The errors are
// those of [Line.Check], [ErrBacklog] and [ErrClosed].
func (w *Writer) Write(l Line) error {
	if err := l.Check(); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closing:
		return ErrClosed
	case len(w.pending) >= backlog:
		w.dropped++
		if w.trouble != nil {
			return fmt.Errorf("%w: %w", ErrBacklog, w.trouble)
		}
		return ErrBacklog
	}
	w.pending = append(w.pending, l)
	w.taken++
	select {
	case w.wake <- struct{}{}:
	default: // it has been told already
	}
	return nil
}

// Flush returns once every line that was taken before it was called is durable,
// or ctx has ended. The error then says why they wait.
func (w *Writer) Flush(ctx context.Context) error {
	w.mu.Lock()
	want := w.taken
	w.mu.Unlock()
	for {
		w.mu.Lock()
		done, changed, trouble := w.written >= want, w.changed, w.trouble
		w.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), trouble)
		}
	}
}

// Waiting is how many lines are not yet durable, and how many were not taken.
func (w *Writer) Waiting() (waiting int, dropped uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.pending), w.dropped
}

// Close takes no more lines and returns when those it has are durable, or ctx
// has ended. What then still waits is in the spool, if there is one, and will be
// written next time.
func (w *Writer) Close(ctx context.Context) error {
	w.mu.Lock()
	w.closing = true
	w.mu.Unlock()
	err := w.Flush(ctx)
	w.cancel()
	w.tasks.Wait()
	if w.spool != nil {
		err = errors.Join(err, w.spool.close())
	}
	return err
}

// run brings lines into the store until ctx ends.
func (w *Writer) run(ctx context.Context) {
	defer func() { w.save(ctx) }() // what came after the last attempt
	pause := firstRetry
	for {
		n := w.save(ctx)
		if n == 0 {
			select {
			case <-w.wake:
			case <-ctx.Done():
				return
			}
			continue
		}
		if err := w.commit(ctx, min(n, group)); err == nil {
			pause = firstRetry
			continue
		}
		select {
		case <-time.After(pause):
			pause = min(2*pause, lastRetry)
		case <-ctx.Done():
			return
		}
	}
}

// save puts what is new into the spool, except the lines of those who opted out,
// and returns how many lines wait. A spool
// that cannot be written leaves them where they are, in memory; the store may
// still take them.
func (w *Writer) save(ctx context.Context) (waiting int) {
	w.dropSilent(ctx)
	w.mu.Lock()
	n := len(w.pending)
	fresh := w.pending[min(w.spooled, n):n:n]
	w.mu.Unlock()
	if w.spool != nil && len(fresh) > 0 && w.spool.add(fresh) == nil {
		w.spooled = n
	}
	return n
}

// commit writes the first n lines and takes them off the list.
func (w *Writer) commit(ctx context.Context, n int) error {
	w.mu.Lock()
	batch := w.pending[:n:n]
	w.mu.Unlock()
	limited, cancel := context.WithTimeoutCause(ctx, attempt, fmt.Errorf("the store took over %v", attempt))
	err := w.store.Append(limited, batch...)
	cancel()

	w.mu.Lock()
	before := w.trouble
	if err == nil {
		w.pending = w.pending[n:]
		w.spooled = max(0, w.spooled-n)
		w.written += uint64(n)
		if len(w.pending) == 0 {
			w.pending = nil // let go of the memory of a long backlog
			w.trouble = nil
		}
		close(w.changed)
		w.changed = make(chan struct{})
	} else if ctx.Err() == nil {
		w.trouble = err
	}
	after, empty := w.trouble, len(w.pending) == 0
	w.mu.Unlock()

	if err == nil && empty && w.spool != nil {
		// Failing to empty the spool costs only time: its lines are known by id.
		_ = w.spool.clear()
	}
	if w.opts.Trouble != nil && (before == nil) != (after == nil) {
		w.opts.Trouble(after)
	}
	return err
}
