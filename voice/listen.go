package voice

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

const (
	// keepAliveEvery keeps the way open through address translators.
	keepAliveEvery = 5 * time.Second
	keepAliveSize  = 8
	// maxDatagram is more than a network passes in one piece.
	maxDatagram = 2048
	// deafAfter this many frames in a row that nobody's key opens, something is
	// wrong with the keys. discord.js has the same number.
	deafAfter = 36
	// Nothing at all for quietLimit may be a quiet room or a dead way: Discord
	// drops calls without a word. A voice server always answers a discovery, so
	// we ask; no answer within discoveryLimit is an end.
	quietLimit = 30 * time.Second
)

// listen takes in datagrams until the socket is closed. An error says that the
// way to the server is dead.
func (h *holding) listen(udp net.Conn, l *line) error {
	b := make([]byte, maxDatagram)
	watch := watchdog{heard: time.Now()}
	bad := 0
	wake := time.Now()
	for {
		_ = udp.SetReadDeadline(wake) // fails when closed, and then so does Read
		n, err := udp.Read(b)
		now := time.Now()
		switch {
		case err == nil:
			watch.heard = now
			if n == keepAliveSize || n == discoverySize && b[0] == 0 { // an echo, an answer: no sound
				break
			}
			switch h.receiver.take(l.transport, l.opener, b[:n], now) {
			case opened:
				bad = 0
			case unopened:
				if bad++; bad == deafAfter {
					bad = 0
					h.setDeaf()
				}
			}
		case errors.Is(err, net.ErrClosed):
			return nil
		case !errors.Is(err, os.ErrDeadlineExceeded):
			time.Sleep(time.Millisecond) // refused by the other side: it comes back, or the watchdog barks
		}
		ask, dead := watch.look(now)
		if dead {
			return fmt.Errorf("%w: the voice server does not answer on UDP %v any more", errStuck, udp.RemoteAddr())
		}
		if ask {
			_, _ = udp.Write(appendDiscovery(nil, l.ssrc))
		}
		wake = h.receiver.idle(now)
	}
}

// A watchdog finds out whether a way is dead or only quiet.
type watchdog struct {
	heard time.Time // the last datagram
	asked time.Time // the last question, zero if none
}

// look says whether to ask the server for a sign of life, and whether it has
// failed to give one.
func (w *watchdog) look(now time.Time) (ask, dead bool) {
	quiet := now.Sub(w.heard)
	switch {
	case quiet >= quietLimit+discoveryLimit:
		return false, true
	case quiet >= quietLimit && now.Sub(w.asked) >= discoveryEvery:
		w.asked = now
		return true, false
	}
	return false, false
}

// keepAlive sends a counter every five seconds until ctx ends.
func keepAlive(ctx context.Context, udp net.Conn) {
	t := time.NewTicker(keepAliveEvery)
	defer t.Stop()
	b := make([]byte, keepAliveSize)
	for count := uint64(0); ; count++ {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			binary.LittleEndian.PutUint64(b, count)
			_, _ = udp.Write(b) // a lost one does not matter
		}
	}
}
