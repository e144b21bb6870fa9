package voice

import (
	"io"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/glyphoxa/glyphoxa/voice/dave"
	"github.com/glyphoxa/glyphoxa/voice/rtp"
)

// samplesPerFrame is how far the timestamp moves with 20 ms at 48 kHz.
const samplesPerFrame = 960

// line is everything that the datagrams of one connection need. It is replaced as
// a whole when the connection is.
type line struct {
	conn      io.Writer // the connected UDP socket
	transport *rtp.Cipher
	ssrc      uint32
	sealer    *dave.Sealer
	opener    *dave.Opener

	// flagged is what the gateway was told of our speaking. Owned by the
	// goroutine that holds the session.
	flagged bool

	// Owned by the pacer's thread.
	sequence  uint16
	timestamp uint32
	paused    time.Time // when the last packet left; zero before the first
	sealed    [1400]byte
	packet    [1500]byte

	sent, unsent atomic.Uint64
}

// newLine makes a line that starts where RFC 3550 asks for: anywhere.
func newLine(conn io.Writer, c *rtp.Cipher, ssrc uint32, keys *dave.Session) *line {
	return &line{
		conn: conn, transport: c, ssrc: ssrc, sealer: keys.Sealer(), opener: keys.Opener(),
		sequence: uint16(rand.Uint32()), timestamp: rand.Uint32(),
	}
}

// ready reports whether there is a key: without one, nothing is sent.
func (l *line) ready() bool { return l.sealer.Ready() }

// send seals one Opus packet twice and sends it. What cannot be sent is lost, as
// on any network, and counted.
func (l *line) send(frame []byte) {
	body, err := l.sealer.Seal(l.sealed[:0], frame)
	if err != nil {
		l.unsent.Add(1)
		return
	}
	p := l.transport.Seal(l.packet[:0], rtp.Header{Sequence: l.sequence, Timestamp: l.timestamp, SSRC: l.ssrc}, body)
	l.sequence++
	l.timestamp += samplesPerFrame
	if _, err := l.conn.Write(p); err != nil {
		l.unsent.Add(1)
		return
	}
	l.sent.Add(1)
}

// pause remembers when speech ended.
func (l *line) pause() { l.paused = time.Now() }

// resume moves the timestamp over the pause: if it stood still, listeners'
// buffers would grow with every pause.
func (l *line) resume(now time.Time) {
	if !l.paused.IsZero() {
		frames := max(0, now.Sub(l.paused)/(20*time.Millisecond))
		l.timestamp += uint32(frames) * samplesPerFrame
	}
}
