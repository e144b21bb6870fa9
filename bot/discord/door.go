package discord

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// Before each login but the first there is a pause, as Discord asks for after an
// invalid session ("Gateway, Resuming"): 1 to 5 s.
const (
	minPause = time.Second
	maxPause = 5 * time.Second
)

func randomPause() time.Duration { return minPause + rand.N(maxPause-minPause) }

// A door is the way to the main gateway. discordgo answers an invalid session by
// logging in at once, and again for every other answer it does not expect; the
// only place where that can be seen and stopped is the connection itself.
type door struct {
	budget *budget
	tls    *tls.Config
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
	// life ends pauses, and the opening of connections.
	life context.Context
	// leaving is set before we log out.
	leaving atomic.Bool
	// pause is before each login but the first.
	pause func() time.Duration

	mu      sync.Mutex // guards what follows
	before  bool       // there was a login
	refused error      // why the last one was not let through
	last    net.Conn   // the newest connection
}

// dialer is what discordgo dials with.
func (d *door) dialer() *websocket.Dialer {
	return &websocket.Dialer{
		HandshakeTimeout: openTime,
		NetDialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := d.dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return d.open(c)
		},
		NetDialTLSContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := d.dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			cfg := &tls.Config{}
			if d.tls != nil {
				cfg = d.tls.Clone()
			}
			if cfg.ServerName == "" {
				if cfg.ServerName, _, err = net.SplitHostPort(address); err != nil {
					return nil, err
				}
			}
			secure := tls.Client(c, cfg)
			if err := secure.HandshakeContext(ctx); err != nil {
				return nil, err
			}
			return d.open(secure)
		},
	}
}

func (d *door) open(c net.Conn) (net.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.life.Err() != nil {
		return nil, errors.Join(context.Cause(d.life), c.Close())
	}
	d.last = c
	return &passage{Conn: c, door: d}, nil
}

// slam ends the newest connection: discordgo cannot be told to stop opening one.
func (d *door) slam() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.last != nil {
		_ = d.last.Close()
	}
}

// A passage is one connection through the door.
type passage struct {
	net.Conn
	door *door
}

// Write is net.Conn's. A login waits for its pause, and is refused if there have
// been too many. A farewell is only said by who leaves: discordgo also says it of a
// connection that it takes for dead, and Discord would end the session.
func (p *passage) Write(b []byte) (int, error) {
	if isFarewell(b) && !p.door.leaving.Load() {
		return p.Conn.Write(closeFrame(b, closeDead))
	}
	if isLogin(b) {
		if err := p.door.admit(); err != nil {
			_ = p.Close() // discordgo would wait for an answer to what it did not say
			return 0, err
		}
	}
	return p.Conn.Write(b)
}

// Read is net.Conn's. A connection on which nothing comes is dead.
func (p *passage) Read(b []byte) (int, error) {
	if err := p.SetReadDeadline(time.Now().Add(unheard)); err != nil {
		return 0, err
	}
	return p.Conn.Read(b)
}

// admit lets a login through, after a pause, if there were not too many.
func (d *door) admit() error {
	d.mu.Lock()
	before := d.before
	d.before = true
	d.mu.Unlock()
	if before {
		t := time.NewTimer(d.pause())
		defer t.Stop()
		select {
		case <-t.C:
		case <-d.life.Done():
			return context.Cause(d.life)
		}
	}
	err := d.budget.spend()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refused = err
	return err
}

// refusal is why the last login was refused, nil if it was not.
func (d *door) refusal() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.refused
}

// isFarewell reports whether a WebSocket frame is the close frame of who will not
// come back: with the code 1000.
func isFarewell(frame []byte) bool {
	return len(frame) == 8 && frame[0] == 0x88 && frame[1] == 0x82 &&
		binary.BigEndian.Uint16([]byte{frame[6] ^ frame[2], frame[7] ^ frame[3]}) == websocket.CloseNormalClosure
}

// closeFrame is a client's close frame with another code.
func closeFrame(frame []byte, code uint16) []byte {
	b := binary.BigEndian.AppendUint16(bytes.Clone(frame[:6]), code)
	b[6], b[7] = b[6]^b[2], b[7]^b[3]
	return b
}

// isLogin reports whether a WebSocket frame is an identification (opcode 2).
// RFC 6455, section 5.2: a client's frame has a mask behind its length.
//
//	byte 0      0x81: a whole text message
//	byte 1      0x80 | length, or 126 and two bytes of length
//	4 bytes     mask
//	            payload, each byte xored with the mask's
func isLogin(frame []byte) bool {
	const login = `{"op":2,`
	if len(frame) < 2 || frame[0] != 0x81 || frame[1]&0x80 == 0 {
		return false
	}
	mask := frame[2:]
	if frame[1] == 0x80|126 {
		mask = frame[min(4, len(frame)):]
	}
	if len(mask) < 4+len(login) {
		return false
	}
	payload := mask[4:]
	for i := range len(login) {
		if payload[i]^mask[i%4] != login[i] {
			return false
		}
	}
	return true
}
