package voicetest

import (
	"cmp"
	"math/rand/v2"
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
	// Burst is how long a loss goes on once it began; the share stays the same.
	Burst time.Duration
	// Jitter delays each packet by a random time up to it, which reorders.
	Jitter time.Duration
	// Hold is the share of packets at which the network stops for up to Jitter and
	// then lets everything through at once, in order; zero delays each packet by
	// itself.
	Hold float64
	// Dress gives packets what real ones have: header extensions and padding.
	Dress bool
	// Seed makes the network do the same again. Zero does not.
	Seed uint64
}

// SetFaults changes the network for all calls from now on.
func (s *Server) SetFaults(f Faults) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = f
	s.weather.random = rand.New(rand.NewPCG(cmp.Or(f.Seed, rand.Uint64()), 1))
	clear(s.weather.ways)
}

// weather is the state of the network, guarded by the server's mutex.
type weather struct {
	random *rand.Rand
	ways   map[netip.AddrPort]*way
	// packets are on their way, the next one first.
	packets []late
	wake    chan struct{} // a token when there is an earlier packet
}

// A way is that to one member.
type way struct {
	lostUntil, heldUntil time.Time
}

type late struct {
	due time.Time
	b   []byte
	to  netip.AddrPort
}

func newWeather() weather {
	return weather{
		random: rand.New(rand.NewPCG(rand.Uint64(), 1)), ways: map[netip.AddrPort]*way{}, wake: make(chan struct{}, 1),
	}
}

// pass seals a packet for one member and lets the network have its way with it.
func (s *Server) pass(to *member, h rtp.Header, payload []byte) {
	f, now, random := s.faults, time.Now(), s.weather.random
	if f.Dress {
		h.Extension = make([]byte, 4*random.IntN(3))
		h.Padding = uint8(random.IntN(6))
	}
	sealed := to.cipher.Seal(nil, h, payload)
	w := s.weather.ways[to.addr]
	if w == nil {
		w = &way{}
		s.weather.ways[to.addr] = w
	}
	if w.lost(f, now, random) {
		return
	}
	times := 1
	if random.Float64() < f.Duplicate {
		times = 2
	}
	for range times {
		if delay := w.delay(f, now, random); delay > 0 {
			s.weather.add(now.Add(delay), sealed, to.addr)
			continue
		}
		s.send(sealed, to.addr)
	}
}

// lost decides over a packet. A burst of k packets begins k times less often
// than a single loss, so that their share is the same.
func (w *way) lost(f Faults, now time.Time, random *rand.Rand) bool {
	if now.Before(w.lostUntil) {
		return true
	}
	const packets = 20 * time.Millisecond
	share := f.Loss
	if k := float64(f.Burst / packets); k > 1 {
		share /= k - (k-1)*f.Loss
	}
	if random.Float64() >= share {
		return false
	}
	w.lostUntil = now.Add(f.Burst - packets/2)
	return true
}

func (w *way) delay(f Faults, now time.Time, random *rand.Rand) time.Duration {
	switch {
	case f.Jitter == 0:
		return 0
	case f.Hold == 0:
		return time.Duration(random.Int64N(int64(f.Jitter)))
	case !now.Before(w.heldUntil) && random.Float64() < f.Hold:
		w.heldUntil = now.Add(time.Duration(random.Int64N(int64(f.Jitter))))
	}
	return w.heldUntil.Sub(now)
}

func (w *weather) add(due time.Time, b []byte, to netip.AddrPort) {
	i, _ := slices.BinarySearchFunc(w.packets, due, func(l late, t time.Time) int {
		if l.due.After(t) {
			return 1
		}
		return -1 // those of one moment leave as they came
	})
	w.packets = slices.Insert(w.packets, i, late{due, b, to})
	select {
	case w.wake <- struct{}{}:
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
		for len(s.weather.packets) > 0 && !s.weather.packets[0].due.After(now) {
			l := s.weather.packets[0]
			s.weather.packets = s.weather.packets[1:]
			s.send(l.b, l.to)
		}
		next := time.Hour
		if len(s.weather.packets) > 0 {
			next = s.weather.packets[0].due.Sub(now)
		}
		s.mu.Unlock()
		t.Reset(next)
		select {
		case <-t.C:
		case <-s.weather.wake:
		case <-s.ctx.Done():
			return
		}
	}
}
