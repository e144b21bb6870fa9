package voice

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A Server is where a channel's voice is, and who we are there: what Discord's
// main gateway says in a voice state update and a voice server update.
type Server struct {
	Guild, Channel, User uint64
	// Session is the session_id of our own voice state.
	Session string
	Token   string
	// Endpoint is host and port, as Discord gives it.
	Endpoint string
}

// Options say how to join. The zero value joins with Discord's defaults.
type Options struct {
	// Log receives one line per change of the connection, and at debug level one
	// per message of the gateway, without secrets. Nil discards them.
	Log *slog.Logger
	// HTTP dials the gateway. Nil means http.DefaultClient.
	HTTP *http.Client
	// Pacer sends for several calls. Nil starts one for this call.
	Pacer *Pacer
	// Rejoin asks the main gateway to join the channel anew, for when a session
	// cannot be resumed, and waits for what it says. Nil means that such a call
	// ends.
	Rejoin func(ctx context.Context) (Server, error)
	// AllowPlain permits a call that is not end-to-end encrypted. Leave it off.
	AllowPlain bool

	// dial opens the UDP socket in tests that have a network of their own.
	dial func(to netip.AddrPort) (net.Conn, error)
}

// Why a call ended, besides a [CloseError].
var (
	// ErrLeft: [Conn.Close] was called.
	ErrLeft = errors.New("voice: the call was left")
	// ErrTimeout: the call did not come about in time.
	ErrTimeout = errors.New("voice: the voice server did not answer in time")
)

// errMoved ends a session because the next one is known.
var errMoved = errors.New("voice: moved to another server")

const (
	// followTime is how long after a disconnection a move may be announced.
	followTime = 5 * time.Second
	// rejoinTime is how long the main gateway may take to give us a new server.
	rejoinTime = 10 * time.Second
	// maxRejoins within rejoinWindow end the call: something is wrong that
	// joining again does not mend.
	maxRejoins   = 3
	rejoinWindow = time.Minute
)

// A Conn is one voice call. It follows moves and mends itself until it is closed
// or Discord ends it. Its methods may be used at the same time.
type Conn struct {
	opts     Options
	ownPacer bool
	cancel   context.CancelCauseFunc
	tasks    sync.WaitGroup
	joined   chan struct{} // closed when there is a line for the first time
	done     chan struct{} // closed when the call is over
	err      error         // why; set before done is closed

	sender   *sender
	receiver *receiver
	hearing  *hearing
	totals   totals
	status   atomic.Pointer[Status]

	// nudge has a token when something below changed; more would say the same.
	nudge chan struct{}
	mu    sync.Mutex // guards what follows
	// current is the server of the session that is held, endSession ends it, and
	// next is the server to move to.
	current    Server
	next       *Server
	endSession context.CancelCauseFunc
	// wishes of other goroutines to the one that holds the session.
	speaking bool
	deaf     bool
	present  []uint64
}

// Status is what there is to know about a call's connection.
type Status struct {
	// Live is set while sound can flow, Encrypted while there are others to
	// exchange it with and all of them have the key we send with.
	Live, Encrypted bool
	Endpoint, Mode  string
	// Epoch counts the changes of the group's keys. PrivacyCode is to be
	// compared with what Discord shows in the call's details.
	Epoch       uint64
	PrivacyCode string
	// Ping is how long the last heartbeat took.
	Ping             time.Duration
	Resumes, Rejoins int
}

// Join joins a call and returns once sound can flow; that somebody can be heard
// needs a second member, and keys. When ctx ends before, it gives up; afterwards
// ctx is of no meaning: the call lasts until [Conn.Close] or [Conn.Done].
func Join(ctx context.Context, s Server, opts *Options) (*Conn, error) {
	c := &Conn{
		joined: make(chan struct{}),
		done:   make(chan struct{}),
		nudge:  make(chan struct{}, 1),
	}
	if opts != nil {
		c.opts = *opts
	}
	if c.opts.Log == nil {
		c.opts.Log = slog.New(slog.DiscardHandler)
	}
	if c.opts.HTTP == nil {
		c.opts.HTTP = http.DefaultClient
	}
	if c.opts.Pacer == nil {
		c.opts.Pacer, c.ownPacer = NewPacer(), true
	}
	c.status.Store(&Status{})
	var err error
	if c.sender, err = newSender(c.opts.Pacer, c.setSpeaking); err != nil {
		return nil, err
	}
	c.hearing = newHearing()
	c.receiver = newReceiver(c.hearing.add)
	life, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	c.cancel = cancel
	c.tasks.Go(func() {
		c.err = c.run(life, s)
		c.finish()
	})
	select {
	case <-c.joined:
		return c, nil
	case <-c.done:
		c.tasks.Wait()
		return nil, c.err
	case <-ctx.Done():
		cancel(context.Cause(ctx))
		c.tasks.Wait()
		return nil, fmt.Errorf("%w: %w", ErrTimeout, context.Cause(ctx))
	}
}

// finish closes what sound goes through.
func (c *Conn) finish() {
	c.sender.line.Store(nil)
	c.sender.close()
	if c.ownPacer {
		c.opts.Pacer.Close()
	}
	close(c.done)
}

// Close leaves the call and returns once all that belongs to it has ended.
func (c *Conn) Close() error {
	c.cancel(ErrLeft)
	c.tasks.Wait()
	if errors.Is(c.err, ErrLeft) {
		return nil
	}
	return c.err
}

// Done is closed when the call is over; [Conn.Err] then says why.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err is why the call ended, nil as long as it has not.
func (c *Conn) Err() error {
	select {
	case <-c.done:
		return c.err
	default:
		return nil
	}
}

// Status tells the state of the connection.
func (c *Conn) Status() Status { return *c.status.Load() }

// Move follows the channel to another server, as every voice server update asks
// for, and every update of our own voice state that names another channel or
// session. What the voices were given is kept and sent there. An update that says
// what is known already does nothing.
func (c *Conn) Move(s Server) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s == c.current {
		return
	}
	c.next = &s
	if c.endSession != nil {
		c.endSession(errMoved)
	}
}

// Present says which users are in the channel, by the main gateway: the voice
// server says so too, but sometimes late, and only users whom one of them has
// named are let into the encrypted group.
func (c *Conn) Present(users ...uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.present)+len(users) <= maxPresent {
		c.present = append(c.present, users...)
	}
	c.poke()
}

// maxPresent bounds the users that wait to be told to the session.
const maxPresent = 1024

func (c *Conn) setSpeaking(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.speaking = on
	c.poke()
}

func (c *Conn) setDeaf() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deaf = true
	c.poke()
}

func (c *Conn) poke() {
	select {
	case c.nudge <- struct{}{}:
	default:
	}
}

// run holds one session after the other until the call is over.
func (c *Conn) run(ctx context.Context, s Server) error {
	var rejoins []time.Time
	for {
		err := c.hold(ctx, s)
		c.sender.line.Store(nil)
		c.change(func(st *Status) { st.Live, st.Encrypted, st.PrivacyCode, st.Epoch = false, false, "", 0 })
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if ourMistake(err) {
			c.opts.Log.Error("voice: this is a fault of this program, please report it", "error", err)
		}
		switch d := after(err); {
		case errors.Is(err, errMoved):
			s, _ = c.await(ctx, 0)
		case d == leave:
			next, ok := c.await(ctx, followTime)
			if !ok {
				return err
			}
			s = next
		case d == refuse:
			return err
		default:
			now := time.Now()
			rejoins = slices.DeleteFunc(rejoins, func(t time.Time) bool { return now.Sub(t) >= rejoinWindow })
			if c.opts.Rejoin == nil || len(rejoins) == maxRejoins {
				return err
			}
			rejoins = append(rejoins, now)
			c.opts.Log.Info("voice: joining anew", "because", err)
			next, again := c.rejoin(ctx)
			if again != nil {
				return fmt.Errorf("%w; joining anew: %w", err, again)
			}
			s = next
		}
		c.opts.Log.Info("voice: following", "endpoint", s.Endpoint)
	}
}

// rejoin gets a new session from the main gateway.
func (c *Conn) rejoin(ctx context.Context) (Server, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, rejoinTime, ErrTimeout)
	defer cancel()
	c.change(func(st *Status) { st.Rejoins++ })
	s, err := c.opts.Rejoin(ctx)
	if err != nil {
		return Server{}, err
	}
	// The same news may have come as a move, or newer ones.
	if next, ok := c.await(ctx, 0); ok {
		s = next
	}
	return s, nil
}

// await waits for the server to move to.
func (c *Conn) await(ctx context.Context, limit time.Duration) (Server, bool) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	moved, announce := context.WithCancelCause(ctx)
	defer announce(nil)
	c.mu.Lock()
	c.endSession = announce
	next := c.next
	c.mu.Unlock()
	if next == nil {
		<-moved.Done()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endSession = nil
	if c.next == nil {
		return Server{}, false
	}
	s := *c.next
	c.next = nil
	return s, true
}

// change updates the status. Only the goroutine of run does.
func (c *Conn) change(f func(*Status)) {
	s := *c.status.Load()
	f(&s)
	c.status.Store(&s)
}
