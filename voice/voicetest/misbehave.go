package voicetest

import (
	crand "crypto/rand"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/glyphoxa/glyphoxa/voice/rtp"
)

// Cut ends a member's socket as a broken network does: without a word.
func (s *Server) Cut(channel, user uint64) { s.end(channel, user, outgoing{cut: true}) }

// CutInstead cuts the next socket that is to be sent a message of an opcode. The
// message is kept for resuming, if it is one of those.
func (s *Server) CutInstead(op uint8) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cutting, s.cutAt = true, op
}

// DelayTransitions executes the transitions that are announced from now on after
// a time of its own, whoever is ready for them; never if it is negative. Zero is
// Discord's way: when all are ready, and after 2 s at the latest.
func (s *Server) DelayTransitions(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delay = d
}

// CloseWith ends it with a close code. What the code means is done too: the
// session is gone, but for those that may be resumed.
func (s *Server) CloseWith(channel, user uint64, code int) {
	s.end(channel, user, outgoing{code: code})
	if code < 4000 || code == 4015 {
		return
	}
	s.Forget(channel, user)
}

func (s *Server) end(channel, user uint64, o outgoing) {
	s.with(channel, user, func(m *member) {
		if m.socket != nil {
			_ = m.socket.enqueue(o)
		}
	})
}

func (s *Server) with(channel, user uint64, f func(*member)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.calls[channel]
	if c == nil || c.members[user] == nil {
		return false
	}
	f(c.members[user])
	return true
}

// Forget ends a member's session without a word: it cannot be resumed.
func (s *Server) Forget(channel, user uint64) {
	s.with(channel, user, func(m *member) {
		if m.socket != nil {
			m.socket.member, m.socket = nil, nil
		}
		m.call.leave(m)
	})
}

// Revoke makes tickets void, as a move does with those that were given before.
func (s *Server) Revoke(tickets ...Ticket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range tickets {
		delete(s.tickets, t.Session)
	}
}

// ForgetHeartbeats makes the server answer none of a member's.
func (s *Server) ForgetHeartbeats(channel, user uint64) {
	s.with(channel, user, func(m *member) { m.mute = true })
}

// Spoil alters the next message of an opcode (29 or 30) to a member, so that it
// is not genuine.
func (s *Server) Spoil(channel, user uint64, op uint8) {
	s.with(channel, user, func(m *member) { m.spoil = op })
}

// SpoilNext alters the next message of an opcode to whoever gets one.
func (s *Server) SpoilNext(channel uint64, op uint8) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.calls[channel]; c != nil {
		c.spoil = op
	}
}

// SilenceUDP makes the server deaf and dumb to datagrams, or ends that.
func (s *Server) SilenceUDP(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent = on
}

// Tell sends the news of all who speak, with [Options.LateSpeaking].
func (s *Server) Tell(channel uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.calls[channel]; c != nil {
		for _, m := range c.members {
			if m.spoke {
				m.tell()
			}
		}
	}
}

// Garbage sends a member n datagrams that are no sound: noise, cut and altered
// packets, genuine packets of sources nobody knows with contents nobody sealed.
//
// It takes a millisecond for ten of them: more at once would fill the kernel's
// buffer, and lose sound that no program could save.
func (s *Server) Garbage(channel, user uint64, n int) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for i := range n {
		if i%10 == 0 {
			<-tick.C
		}
		s.with(channel, user, func(m *member) {
			if m.cipher != nil && m.addr.IsValid() {
				s.send(m.garbage(i), m.addr)
			}
		})
	}
}

func (m *member) garbage(i int) []byte {
	noise := make([]byte, 1+rand.IntN(300))
	crand.Read(noise)
	h := rtp.Header{Sequence: uint16(i), Timestamp: rand.Uint32(), SSRC: rand.Uint32()}
	switch i % 7 {
	case 0: // noise
		return noise
	case 1: // noise behind a good header
		return slices.Concat([]byte{0x80, 0x78}, noise)
	case 2: // all sources, an endless extension
		return slices.Concat([]byte{0x9f, 0x78}, noise, []byte{0xff, 0xff})
	case 3: // altered
		b := m.cipher.Seal(nil, h, noise)
		b[len(b)/2] ^= 0x40
		return b
	case 4: // cut
		b := m.cipher.Seal(nil, h, noise)
		return b[:rand.IntN(len(b))]
	case 5: // genuine, of a stranger
		return m.cipher.Seal(nil, h, noise)
	default: // genuine, and with the marks of an encrypted frame
		return m.cipher.Seal(nil, h, slices.Concat(noise, make([]byte, 8), []byte{5, 12, 0xfa, 0xfa}))
	}
}

// Members are the users of a call, and how many packets each has sent.
func (s *Server) Members(channel uint64) map[uint64]uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := map[uint64]uint64{}
	if c := s.calls[channel]; c != nil {
		for u, m := range c.members {
			list[u] = m.packets
		}
	}
	return list
}

// Unsealed is how many packets came that are not encrypted between the members.
func (s *Server) Unsealed() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unsealed
}

// Epoch is the epoch of a call's encrypted group, 0 without one.
func (s *Server) Epoch(channel uint64) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.calls[channel]; c != nil {
		return c.group.Epoch()
	}
	return 0
}
