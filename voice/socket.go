package voice

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
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

// socket runs one WebSocket from its opening to its end.
func (h *holding) socket(ctx context.Context) error {
	ws, err := dial(ctx, h.session.server.Endpoint, h.opts.HTTP)
	if err != nil {
		return err
	}
	defer ws.CloseNow()
	ws.SetReadLimit(readLimit)
	h.ws = ws
	h.beat = time.NewTicker(time.Hour) // until the server says how often
	defer h.beat.Stop()
	h.late = time.NewTimer(time.Hour) // until there is something to wait for
	defer h.late.Stop()

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
		case now := <-h.late.C:
			err = h.step(ctx, overdue{now})
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
		if err != nil && ctx.Err() != nil { // left while something else was under way
			_ = ws.Close(websocket.StatusNormalClosure, "")
			return context.Cause(ctx)
		}
		if err != nil {
			return h.end(ws, err, ended)
		}
	}
}

// end closes a socket: so that it can be resumed, if that is what we want. What
// the server said by closing it is the better reason than our failing to write.
func (h *holding) end(ws *websocket.Conn, err error, ended <-chan error) error {
	if _, ok := errors.AsType[*CloseError](err); ok {
		return err
	}
	if after(err) != resume {
		_ = ws.Close(websocket.StatusNormalClosure, "")
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

// dial opens a WebSocket to a voice server.
func dial(ctx context.Context, endpoint string, client *http.Client) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	url := fmt.Sprintf("wss://%s/?v=%d", endpoint, gatewayVersion)
	ws, response, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPClient: client})
	if response != nil && response.Body != nil { // of a refusal
		_ = response.Body.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("voice: connect to %s: %w", endpoint, err)
	}
	return ws, nil
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

func (h *holding) write(ctx context.Context, m message) error {
	b, err := m.bytes()
	if err != nil {
		return err
	}
	// A write that ctx broke off would take the socket with it, and the farewell:
	// the server would keep a session that has been left.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
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
