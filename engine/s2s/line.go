package s2s

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/glyphoxa/glyphoxa/engine"
)

const (
	// maxMessage bounds a vendor's message: OpenAI's own limit is 15 MiB.
	maxMessage = 16 << 20
	// maxOutbox bounds what waits for a slow socket: four minutes of sound.
	maxOutbox = 16 << 20
	// opening bounds the time until a session is set up.
	opening = 2500 * time.Millisecond
	// pulse is how often a connection is asked whether it still stands, and how long
	// it may take to say so. TCP alone notices a dead peer after minutes.
	pulse = 5 * time.Second
)

// errOpening is a vendor that takes a call and sets nothing up.
var errOpening = fmt.Errorf("no session within %v", opening)

// errHungUp ends a line on our side.
var errHungUp = errors.New("hung up")

// A line is one session over one socket. A goroutine reads, one writes, one asks
// whether anybody is there. Its dialect is called under a lock, so that messages are
// queued in the order in which they were made.
type line struct {
	conn   *websocket.Conn
	events func(l *line, turn int, ev any)
	opened time.Time
	tasks  sync.WaitGroup
	ctx    context.Context // ends with the line; its cause is why
	cancel context.CancelCauseFunc
	set    chan struct{} // closed when the session is set up
	once   sync.Once
	filled chan struct{} // one, when there is something in the outbox

	mu      sync.Mutex // guards what follows
	dialect dialect
	outbox  [][]byte
	waiting int // bytes of it
	turn    int // how often the dialect has asked
}

// dial opens a session and returns when it is set up. events is called by the
// reading goroutine, in order, and must not block; it is told in which turn an event
// was read.
func dial(ctx context.Context, client *http.Client, d dialect, s setup, events func(*line, int, any)) (*line, error) {
	ctx, stop := context.WithTimeoutCause(ctx, opening, errOpening)
	defer stop()
	url, header := d.address()
	conn, err := engine.Dial(ctx, client, url, header)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	conn.SetReadLimit(maxMessage)
	l := &line{
		conn: conn, dialect: d, events: events, opened: time.Now(),
		set: make(chan struct{}), filled: make(chan struct{}, 1),
	}
	l.ctx, l.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	l.tasks.Go(l.read)
	l.tasks.Go(l.write)
	l.tasks.Go(l.check)
	l.do(func(d dialect) [][]byte { return d.begin(s) })
	select {
	case <-l.set:
	case <-l.ctx.Done():
	case <-ctx.Done():
		l.hangUp(context.Cause(ctx))
	}
	if err := context.Cause(l.ctx); err != nil {
		l.close()
		return nil, err
	}
	l.do(func(d dialect) [][]byte { return d.ready(s) })
	return l, nil
}

// do queues the messages that f makes.
func (l *line) do(f func(d dialect) [][]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue(f(l.dialect))
}

// ask begins a turn, and returns its number. What was read before it is of another.
func (l *line) ask(q question) (turn int) {
	l.do(func(d dialect) [][]byte {
		l.turn++
		turn = l.turn
		return d.ask(q)
	})
	return turn
}

// queue is called under the lock.
func (l *line) queue(messages [][]byte) {
	for _, m := range messages {
		l.waiting += len(m)
		l.outbox = append(l.outbox, m)
	}
	if l.waiting > maxOutbox {
		l.hangUp(fmt.Errorf("the vendor takes nothing: %d MB wait for it", l.waiting>>20))
		return
	}
	select {
	case l.filled <- struct{}{}:
	default: // the writer has been told already
	}
}

// hangUp ends the line because of cause.
func (l *line) hangUp(cause error) { l.cancel(cause) }

// close ends the line and returns when its goroutines have.
func (l *line) close() {
	l.hangUp(errHungUp)
	l.tasks.Wait()
}

// alive reports whether the line can still be used.
func (l *line) alive() bool { return l.ctx.Err() == nil }

func (l *line) read() {
	defer context.AfterFunc(l.ctx, func() { _ = l.conn.CloseNow() })()
	for {
		_, message, err := l.conn.Read(l.ctx)
		if err != nil {
			l.hangUp(closed(err))
			_ = l.conn.CloseNow() // there is nobody to tell
			l.events(l, 0, evTrouble{context.Cause(l.ctx), true})
			return
		}
		l.mu.Lock()
		events, answer := l.dialect.read(message)
		l.queue(answer)
		turn := l.turn
		l.mu.Unlock()
		for _, ev := range events {
			switch ev := ev.(type) {
			case evReady:
				l.once.Do(func() { close(l.set) })
				continue
			case evTrouble:
				if ev.fatal {
					l.hangUp(ev.err)
				}
			}
			l.events(l, turn, ev)
		}
	}
}

func (l *line) write() {
	for {
		select {
		case <-l.filled:
		case <-l.ctx.Done():
			return
		}
		for {
			l.mu.Lock()
			out := l.outbox
			l.outbox = nil
			l.mu.Unlock()
			if len(out) == 0 {
				break
			}
			for _, m := range out {
				if err := l.conn.Write(l.ctx, websocket.MessageText, m); err != nil {
					l.hangUp(closed(err))
					return
				}
				l.mu.Lock()
				l.waiting -= len(m)
				l.mu.Unlock()
			}
		}
	}
}

// check asks the other end whether it is there.
func (l *line) check() {
	beat := time.NewTicker(pulse)
	defer beat.Stop()
	for {
		select {
		case <-l.ctx.Done():
			return
		case <-beat.C:
		}
		ctx, stop := context.WithTimeout(l.ctx, pulse)
		err := l.conn.Ping(ctx)
		stop()
		if err != nil {
			l.hangUp(fmt.Errorf("the connection is dead: no answer within %v", pulse))
			return
		}
	}
}

// closed says why a vendor hung up, in its own words where it has any.
func closed(err error) error {
	e, ok := errors.AsType[websocket.CloseError](err)
	if !ok {
		return err
	}
	if e.Reason == "" {
		return fmt.Errorf("the vendor hung up (code %d)", e.Code)
	}
	return fmt.Errorf("the vendor hung up: %s (code %d)", e.Reason, e.Code)
}
