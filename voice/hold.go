package voice

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/glyphoxa/glyphoxa/voice/dave"
	"github.com/glyphoxa/glyphoxa/voice/rtp"
)

// A holding is a session that is being held, with the line that belongs to it.
type holding struct {
	*Conn
	session *session
	log     *slog.Logger
	udp     net.Conn
	line    *line
	// lineTasks use udp, and end when it is closed.
	lineTasks sync.WaitGroup
	stopLine  context.CancelFunc
	// dead says that the way to the server is; it has room for that one error.
	dead chan error
	// found is how the discovery ended. It has room for one: nobody may be
	// there to take it any more.
	found chan found

	ws       *websocket.Conn
	beat     *time.Ticker
	late     *time.Timer // for new keys nobody says when to use
	beatSent time.Time
	attempts int
}

type found struct {
	discovered
	err error
}

// hold keeps one session alive over as many sockets as it takes.
func (c *Conn) hold(ctx context.Context, server Server) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	c.mu.Lock()
	c.endSession, c.current = end, server
	if c.next != nil {
		end(errMoved)
	}
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.endSession, c.current = nil, Server{}
		c.mu.Unlock()
	}()

	s, err := newSession(server, c.opts.AllowPlain)
	if err != nil {
		return err
	}
	h := &holding{Conn: c, session: s, log: c.opts.Log.With("channel", server.Channel)}
	defer h.closeLine()
	for {
		s.opened()
		err := h.socket(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if after(err) != resume {
			return err
		}
		if h.attempts++; h.attempts > maxAttempts {
			return fmt.Errorf("%w: %w", errStuck, err)
		}
		h.log.Info("voice: connection lost, resuming", "error", err, "attempt", h.attempts)
		if h.attempts > 1 {
			wait(ctx, firstBackoff<<(h.attempts-2))
		}
	}
}

// grant tells the session what other goroutines want of it.
func (h *holding) grant(ctx context.Context) error {
	h.mu.Lock()
	speaking, isDeaf, users := h.speaking, h.deaf, h.present
	h.deaf, h.present = false, nil
	h.mu.Unlock()
	if len(users) > 0 {
		if err := h.step(ctx, present{users}); err != nil {
			return err
		}
	}
	if isDeaf {
		if err := h.step(ctx, deaf{time.Now()}); err != nil {
			return err
		}
	}
	return h.flag(ctx, speaking)
}

// flag tells the server whether we speak: it cuts off who sends without.
func (h *holding) flag(ctx context.Context, on bool) error {
	if h.line == nil || h.session.resuming || h.line.flagged == on {
		return nil
	}
	h.line.flagged = on
	bits := 0
	if on {
		bits = speakingMicrophone
	}
	return h.write(ctx, message{op: opSpeaking, data: speakingFlag{Bits: bits, SSRC: h.line.ssrc}})
}

// step lets the session handle an event and does what it says.
func (h *holding) step(ctx context.Context, ev any) error {
	for _, a := range h.session.step(ev, time.Now()) {
		if err := h.do(ctx, a); err != nil {
			return err
		}
	}
	k := h.session.keys
	if due := k.Overdue(); !due.IsZero() {
		h.late.Reset(time.Until(due))
	}
	if epoch, settled := k.Epoch(), k.Settled(); epoch != h.Status().Epoch || settled != h.Status().Encrypted {
		h.change(func(s *Status) { s.Epoch, s.PrivacyCode, s.Encrypted = epoch, k.PrivacyCode(), settled })
		h.log.Debug("voice: keys changed", "epoch", epoch, "settled", settled)
	}
	return nil
}

func (h *holding) do(ctx context.Context, a action) error {
	switch a := a.(type) {
	case send:
		return h.write(ctx, a.message)
	case beatEvery:
		h.beat.Reset(a.interval)
	case discover:
		return h.openUDP(ctx, a)
	case openLine:
		return h.openLine(ctx, a)
	case lineResumed:
		h.attempts = 0
		h.poke()
		if h.line != nil {
			h.line.flagged = false // a new socket does not know
			return h.flag(ctx, true)
		}
	case speaker:
		h.receiver.meet(a.ssrc, a.user)
	case gone:
		h.receiver.part(a.user)
	case reopen:
		return errors.New("voice: " + a.why)
	case fail:
		return a.err
	case note:
		h.log.Log(ctx, a.level, "voice: "+a.err.Error())
	}
	return nil
}

// openUDP starts the discovery of our address, which takes a while.
func (h *holding) openUDP(ctx context.Context, d discover) error {
	h.closeLine()
	udp, err := h.opts.dialUDP(d.ip, d.port)
	if err != nil {
		return err
	}
	h.udp = udp
	living, stop := context.WithCancel(ctx)
	answer := make(chan found, 1)
	h.stopLine, h.found = stop, answer
	h.lineTasks.Go(func() { keepAlive(living, udp) })
	h.lineTasks.Go(func() {
		at, err := runDiscovery(living, udp, d.ssrc)
		answer <- found{at, err}
	})
	return nil
}

// openLine lets sound flow.
func (h *holding) openLine(ctx context.Context, o openLine) error {
	if h.udp == nil {
		return fmt.Errorf("%w: a session description before we know our address", errStuck)
	}
	if h.line != nil {
		return fmt.Errorf("%w: a second session description", errStuck)
	}
	cipher, err := rtp.NewCipher(o.mode, o.key[:])
	if err != nil {
		return err
	}
	h.line = newLine(h.udp, cipher, o.ssrc, h.session.keys)
	h.attempts = 0
	udp, l, dead := h.udp, h.line, make(chan error, 1)
	h.dead = dead
	h.lineTasks.Go(func() {
		if err := h.listen(udp, l); err != nil {
			dead <- err
		}
	})
	// The server cuts off who sends sound without having said so, and tells the
	// others whose sound it is: both before the first packet. What is true is
	// said next.
	flagged := h.flag(ctx, true) // if not, the socket is lost, and the next one is told
	h.poke()
	h.sender.line.Store(h.line)
	h.change(func(s *Status) { s.Live, s.Mode, s.Endpoint = true, o.mode, h.session.server.Endpoint })
	select {
	case <-h.joined:
	default:
		close(h.joined)
	}
	h.log.Info("voice: connected", "endpoint", h.session.server.Endpoint, "mode", o.mode, "dave", dave.Version)
	return flagged
}

// closeLine ends the line and all that uses its socket.
func (h *holding) closeLine() {
	h.sender.line.Store(nil)
	if h.stopLine != nil {
		h.stopLine()
	}
	if h.udp != nil {
		_ = h.udp.Close()
	}
	h.lineTasks.Wait()
	if h.line != nil {
		h.totals.sent.Add(h.line.sent.Load())
		h.totals.unsent.Add(h.line.unsent.Load())
	}
	h.udp, h.line, h.found, h.dead = nil, nil, nil, nil
}
