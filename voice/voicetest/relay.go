package voicetest

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/glyphoxa/glyphoxa/voice/rtp"
)

// Faults are what happens to each packet on its way from the server to a member.
// The zero value is a perfect network.
type Faults struct {
	// Loss and Duplicate are shares between 0 and 1.
	Loss, Duplicate float64
	// Jitter delays each packet by a random time up to it, which reorders.
	Jitter time.Duration
	// Dress gives packets what real ones have: header extensions and padding.
	Dress bool
}

// SetFaults changes the network for all calls from now on.
func (s *Server) SetFaults(f Faults) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = f
}

const (
	discoverySize = 74
	keepAliveSize = 8
	maxDatagram   = 2048
	// grace is how many packets may come before the speaking flag: half a second.
	grace = 25
)

// relay passes sound on until the socket is closed.
func (s *Server) relay() {
	b := make([]byte, maxDatagram)
	for {
		n, from, err := s.udp.ReadFromUDPAddrPort(b)
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			continue // refused by somebody who left
		}
		s.mu.Lock()
		if !s.silent {
			s.datagram(b[:n], netip.AddrPortFrom(from.Addr().Unmap(), from.Port()))
		}
		s.mu.Unlock()
	}
}

func (s *Server) datagram(b []byte, from netip.AddrPort) {
	switch {
	case len(b) == discoverySize && binary.BigEndian.Uint16(b) == 1:
		s.discover(b, from)
	case len(b) == keepAliveSize:
		s.send(b, from)
	default:
		m := s.byAddr[from]
		if m == nil || m.cipher == nil {
			return
		}
		h, payload, err := m.cipher.Open(b)
		if err != nil || h.SSRC != m.ssrc {
			return
		}
		if !m.spoke {
			// The announcement is on another way and may be overtaken; who
			// makes none at all is not heard.
			if m.unannounced++; m.unannounced > grace {
				return
			}
		}
		m.packets++
		for _, o := range m.call.members {
			if o != m && o.cipher != nil && o.addr.IsValid() {
				s.pass(o, rtp.Header{Sequence: h.Sequence, Timestamp: h.Timestamp, SSRC: h.SSRC}, payload)
			}
		}
	}
}

// discover tells a member its address. Discord, "IP Discovery".
func (s *Server) discover(b []byte, from netip.AddrPort) {
	m := s.bySSRC[binary.BigEndian.Uint32(b[4:])]
	if m == nil {
		return
	}
	delete(s.byAddr, m.addr)
	m.addr = from
	s.byAddr[from] = m
	answer := slices.Concat([]byte{0, 2}, b[2:8], make([]byte, 66))
	copy(answer[8:72], from.Addr().String())
	binary.BigEndian.PutUint16(answer[72:], from.Port())
	s.send(answer, from)
}

// pass seals a packet for one member and lets the network have its way with it.
func (s *Server) pass(to *member, h rtp.Header, payload []byte) {
	f := s.faults
	if f.Dress {
		h.Extension = make([]byte, 4*rand.IntN(3))
		h.Padding = uint8(rand.IntN(6))
	}
	sealed := to.cipher.Seal(nil, h, payload)
	if rand.Float64() < f.Loss {
		return
	}
	times := 1
	if rand.Float64() < f.Duplicate {
		times = 2
	}
	for range times {
		if f.Jitter > 0 {
			s.delayed.add(time.Now().Add(rand.N(f.Jitter)), sealed, to.addr)
			continue
		}
		s.send(sealed, to.addr)
	}
}

func (s *Server) send(b []byte, to netip.AddrPort) {
	if !s.silent {
		_, _ = s.udp.WriteToUDPAddrPort(b, to) // lost, as on any network
	}
}

// delayed are packets that are on their way, guarded by the server's mutex.
type delayed struct {
	packets []late
	wake    chan struct{} // a token when there is an earlier packet
}

type late struct {
	due time.Time
	b   []byte
	to  netip.AddrPort
}

func (d *delayed) add(due time.Time, b []byte, to netip.AddrPort) {
	i, _ := slices.BinarySearchFunc(d.packets, due, func(l late, t time.Time) int { return l.due.Compare(t) })
	d.packets = slices.Insert(d.packets, i, late{due, b, to})
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// sendDelayed sends each packet when it is due.
func (s *Server) sendDelayed() {
	t := time.NewTimer(time.Hour)
	defer t.Stop()
	for {
		s.mu.Lock()
		now := time.Now()
		for len(s.delayed.packets) > 0 && !s.delayed.packets[0].due.After(now) {
			l := s.delayed.packets[0]
			s.delayed.packets = s.delayed.packets[1:]
			s.send(l.b, l.to)
		}
		next := time.Hour
		if len(s.delayed.packets) > 0 {
			next = s.delayed.packets[0].due.Sub(now)
		}
		s.mu.Unlock()
		t.Reset(next)
		select {
		case <-t.C:
		case <-s.delayed.wake:
		case <-s.ctx.Done():
			return
		}
	}
}
