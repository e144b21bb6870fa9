package enginetest

import (
	"bufio"
	"net"
	"net/http"
	"sync/atomic"
)

// pipe is a connection that can become half-open: it stands, and whoever is at the
// other end has gone without a word.
type pipe struct {
	http.ResponseWriter
	deaf atomic.Bool
}

// deafen makes it half-open.
func (p *pipe) deafen() { p.deaf.Store(true) }

// Hijack takes the connection over, as WebSockets do.
func (p *pipe) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(p.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	half := &halfOpen{c, p}
	rw.Reader.Reset(half)
	rw.Writer.Reset(half)
	return half, rw, nil
}

type halfOpen struct {
	net.Conn
	pipe *pipe
}

// Read takes what comes and, once nobody is there, gives none of it away.
func (h *halfOpen) Read(b []byte) (int, error) {
	for {
		n, err := h.Conn.Read(b)
		if err != nil || !h.pipe.deaf.Load() {
			return n, err
		}
	}
}

// Write pretends to send.
func (h *halfOpen) Write(b []byte) (int, error) {
	if h.pipe.deaf.Load() {
		return len(b), nil
	}
	return h.Conn.Write(b)
}
