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

const (
	// readLimit is for welcomes: one for 100 members has 26 kB, and the most
	// that package mls reads is 1 MiB.
	readLimit = 1<<20 + 16
	// dialTime, handshakeTime and writeTime end sockets that are open and dead.
	dialTime      = 5 * time.Second
	handshakeTime = 15 * time.Second
	writeTime     = 5 * time.Second
	// maxAttempts to open a socket in a row, 250 ms and then twice as long
	// between them, before the session is given up: 4 s in all.
	maxAttempts  = 5
	firstBackoff = 250 * time.Millisecond
	// lastWords is how long to wait for a close code after a write failed.
	lastWords = 100 * time.Millisecond
	// closeToResume tells the server to keep the session: 1000 and 1001 end it.
	closeToResume = 4900
)

// A holding is a session that is being held, with the line that belongs to it.
type holding struct {
	*Conn
	session *session
	log     *slog.Logger
	udp     *net.UDPConn
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

// socket runs one WebSocket from its opening to its end.
func (h *holding) socket(ctx context.Context) error {
	dialing, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	url := fmt.Sprintf("wss://%s/?v=%d", h.session.server.Endpoint, gatewayVersion)
	ws, response, err := websocket.Dial(dialing, url, &websocket.DialOptions{HTTPClient: h.opts.HTTP})
	if err != nil {
		return fmt.Errorf("voice: connect to %s: %w", h.session.server.Endpoint, err)
	}
	_ = response // its body belongs to the socket
	defer ws.CloseNow()
	ws.SetReadLimit(readLimit)
	h.ws = ws
	h.beat = time.NewTicker(time.Hour) // until the server says how often
	defer h.beat.Stop()

	// Reading ends after the farewell: ending it would end the socket at once.
	reading, stop := context.WithCancel(context.WithoutCancel(ctx))
	var reader sync.WaitGroup
	defer reader.Wait()
	defer stop()
	messages := make(chan received)
	ended := make(chan error, 1) // room for the one error there is
	reader.Go(func() { ended <- read(reading, ws, messages) })

	handshake := time.NewTimer(handshakeTime)
	defer handshake.Stop()
	for {
		var err error
		select {
		case m := <-messages:
			err = h.receive(ctx, m)
		case err = <-ended:
		case now := <-h.beat.C:
			h.beatSent = now
			err = h.step(ctx, beatDue{now})
		case f := <-h.found:
			if err = f.err; err == nil {
				err = h.step(ctx, f.discovered)
			}
		case err = <-h.dead:
		case <-h.nudge:
			err = h.grant(ctx)
		case <-handshake.C:
			if !h.session.live || h.session.resuming {
				err = errors.New("voice: the server stopped answering in the handshake")
			}
		case <-ctx.Done():
			_ = ws.Close(websocket.StatusNormalClosure, "")
			return context.Cause(ctx)
		}
		if err != nil {
			return h.end(ws, err, ended)
		}
	}
}

// end closes a socket so that it can be resumed. What the server said by closing
// it is the better reason than our failing to write to it.
func (h *holding) end(ws *websocket.Conn, err error, ended <-chan error) error {
	if _, ok := errors.AsType[*CloseError](err); ok || after(err) != resume {
		return err
	}
	select {
	case said := <-ended:
		if _, ok := errors.AsType[*CloseError](said); ok {
			return said
		}
	case <-time.After(lastWords):
	}
	_ = ws.Close(closeToResume, "")
	return err
}

// read passes on what comes from a socket, one after the other: the messages of
// a group's encryption make no sense in another order.
func read(ctx context.Context, ws *websocket.Conn, messages chan<- received) error {
	for {
		kind, b, err := ws.Read(ctx)
		if err != nil {
			if ce, ok := errors.AsType[websocket.CloseError](err); ok && ce.Code >= 4000 {
				return &CloseError{Code: int(ce.Code), Reason: ce.Reason}
			}
			return fmt.Errorf("voice: %w", err)
		}
		parse := parseText
		if kind == websocket.MessageBinary {
			parse = parseBinary
		}
		m, err := parse(b)
		if err != nil {
			return err
		}
		select {
		case messages <- m:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (h *holding) receive(ctx context.Context, m received) error {
	if h.log.Enabled(ctx, slog.LevelDebug) {
		attrs := []any{"op", m.op, "seq", m.seq}
		if b, ok := m.ev.(binaryMessage); ok {
			attrs = append(attrs, "bytes", len(b.payload))
		}
		h.log.Debug("voice: received", attrs...)
	}
	if !h.session.numbered(m.seq) || m.ev == nil {
		return nil
	}
	switch m.ev.(type) {
	case ackBeat:
		if !h.beatSent.IsZero() {
			h.change(func(s *Status) { s.Ping = time.Since(h.beatSent) })
		}
	case resumed:
		h.change(func(s *Status) { s.Resumes++ })
		h.log.Info("voice: resumed")
	}
	return h.step(ctx, m.ev)
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

func (h *holding) write(ctx context.Context, m message) error {
	b, err := m.bytes()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	kind := websocket.MessageText
	if m.binary != nil {
		kind = websocket.MessageBinary
	}
	h.log.Debug("voice: sent", "op", m.op, "bytes", len(b))
	if err := h.ws.Write(ctx, kind, b); err != nil {
		return fmt.Errorf("voice: %w", err)
	}
	return nil
}

// openUDP starts the discovery of our address, which takes a while.
func (h *holding) openUDP(ctx context.Context, d discover) error {
	h.closeLine()
	udp, err := dialUDP(d.ip, d.port)
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
	if err := h.flag(ctx, true); err != nil {
		return err
	}
	h.poke()
	h.sender.line.Store(h.line)
	h.change(func(s *Status) { s.Live, s.Mode, s.Endpoint = true, o.mode, h.session.server.Endpoint })
	select {
	case <-h.joined:
	default:
		close(h.joined)
	}
	h.log.Info("voice: connected", "endpoint", h.session.server.Endpoint, "mode", o.mode, "dave", dave.Version)
	return nil
}

// closeLine ends the line and all that uses its socket.
func (h *holding) closeLine() {
	h.sender.line.Store(nil)
	if h.stopLine != nil {
		h.stopLine()
	}
	if h.udp != nil {
		h.udp.Close()
	}
	h.lineTasks.Wait()
	if h.line != nil {
		h.totals.sent.Add(h.line.sent.Load())
		h.totals.unsent.Add(h.line.unsent.Load())
	}
	h.udp, h.line, h.found, h.dead = nil, nil, nil, nil
}
