package voice

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// IP discovery: the voice server tells us how our packets look from outside.
// Discord, "IP Discovery".
//
//	bytes 0-1    1 in a request, 2 in an answer
//	bytes 2-3    70, the length of the rest
//	bytes 4-7    SSRC
//	bytes 8-71   address as text, filled up with zeros
//	bytes 72-73  port
const (
	discoverySize    = 74
	discoveryRequest = 1
	discoveryAnswer  = 2
	// discoveryEvery repeats the request: datagrams get lost.
	discoveryEvery = 500 * time.Millisecond
	// discoveryLimit is when to say that UDP is blocked.
	discoveryLimit = 5 * time.Second
	// receiveBuffer holds a second of thirty speakers, should we be held up.
	receiveBuffer = 1 << 20
)

// appendDiscovery appends a request.
func appendDiscovery(b []byte, ssrc uint32) []byte {
	b = binary.BigEndian.AppendUint16(b, discoveryRequest)
	b = binary.BigEndian.AppendUint16(b, discoverySize-4)
	b = binary.BigEndian.AppendUint32(b, ssrc)
	return append(b, make([]byte, discoverySize-8)...)
}

// parseDiscovery reads an answer; ok is false for anything else.
func parseDiscovery(b []byte, ssrc uint32) (d discovered, ok bool) {
	if len(b) != discoverySize ||
		binary.BigEndian.Uint16(b) != discoveryAnswer ||
		binary.BigEndian.Uint16(b[2:]) != discoverySize-4 ||
		binary.BigEndian.Uint32(b[4:]) != ssrc {
		return d, false
	}
	text, _, _ := bytes.Cut(b[8:72], []byte{0})
	if _, err := netip.ParseAddr(string(text)); err != nil {
		return d, false
	}
	return discovered{string(text), binary.BigEndian.Uint16(b[72:])}, true
}

// dialUDP opens the socket for sound. It is connected, so that nobody but the
// voice server reaches us.
func (o *Options) dialUDP(ip string, port uint16) (net.Conn, error) {
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return nil, fmt.Errorf("%w: voice server at %.60q", errStuck, ip)
	}
	to := netip.AddrPortFrom(addr, port)
	if o.dial != nil {
		return o.dial(to)
	}
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(to))
	if err != nil {
		return nil, fmt.Errorf("voice: %w", err)
	}
	// The default holds 200 packets or so. It is a wish: some systems cap it.
	_ = c.SetReadBuffer(receiveBuffer)
	return c, nil
}

// runDiscovery asks until there is an answer.
func runDiscovery(ctx context.Context, c net.Conn, ssrc uint32) (discovered, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, discoveryLimit, fmt.Errorf(
		"%w: no answer from the voice server on UDP %v: allow outgoing UDP in the firewall", errStuck, c.RemoteAddr()))
	defer cancel()
	request, b := appendDiscovery(nil, ssrc), make([]byte, 2*discoverySize)
	for {
		if err := context.Cause(ctx); err != nil {
			return discovered{}, err
		}
		// A refused write is told by the next one: ask again.
		_, _ = c.Write(request)
		until := time.Now().Add(discoveryEvery)
		for time.Now().Before(until) {
			if err := c.SetReadDeadline(until); err != nil {
				return discovered{}, err
			}
			n, err := c.Read(b)
			if err != nil {
				if ctx.Err() == nil {
					wait(ctx, time.Until(until)) // refused at once, maybe
				}
				break
			}
			if d, ok := parseDiscovery(b[:n], ssrc); ok {
				return d, c.SetReadDeadline(time.Time{})
			}
		}
	}
}

// wait sleeps for d or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
