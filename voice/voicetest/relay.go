package voicetest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"slices"

	"github.com/glyphoxa/glyphoxa/voice/rtp"
)

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
		if !bytes.HasSuffix(payload, []byte{0xfa, 0xfa}) { // DAVE, "Payload Format"
			s.unsealed++
		}
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

func (s *Server) send(b []byte, to netip.AddrPort) {
	if !s.silent {
		_, _ = s.udp.WriteToUDPAddrPort(b, to) // lost, as on any network
	}
}
