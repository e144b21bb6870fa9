package voice

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/glyphoxa/glyphoxa/voice/dave"
	"github.com/glyphoxa/glyphoxa/voice/opus"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
	"github.com/glyphoxa/glyphoxa/voice/rtp"
)

const (
	// maxSpeakers is how many people are heard at once, and how many SSRCs are
	// remembered; whoever comes after them is not heard until one of them left.
	maxSpeakers = 64
	// stopAfter without a packet means that the speaker has stopped, for clients
	// that do not send silence frames, and when those are lost. Less would cut
	// sentences in two on a network that holds packets back for 200 ms.
	stopAfter = 300 * time.Millisecond
	// forgetAfter frees the decoder of somebody who has not spoken for long.
	forgetAfter = time.Minute
	// maxConceal is how many lost frames in a row are made up for: 100 ms. What
	// is longer is silence.
	maxConceal = 5
	// freshAfter a pause a decoder starts afresh, as the sender's encoder did.
	freshAfter = 48000 // ticks of the timestamp: one second
	// maxFill is the longest pause that is heard as silence: half a second. After
	// a longer one the speaker is taken to begin anew.
	maxFill = 24000
	// ticksPerSample: timestamps count at 48 kHz.
	ticksPerSample = samplesPerFrame / pcm.HearSize
	// flood and burst bound one speaker's packets: 20 ms frames make 50 a second.
	flood = 100
	burst = 50
)

// A Frame is 20 ms of one speaker: 320 samples of 16 kHz mono, made for
// recognition. A Frame without samples says that the speaker has stopped sending.
type Frame struct {
	User    uint64
	Samples []int16
}

// opener is the end-to-end layer: *dave.Opener.
type opener interface {
	Open(dst []byte, user uint64, frame []byte, now time.Time) ([]byte, error)
	Find(dst, frame []byte, now time.Time) (user uint64, plain []byte, err error)
}

// receiver turns datagrams into the frames of their speakers. It is told the time
// and belongs to one goroutine, except for meet and part.
type receiver struct {
	deliver func(Frame) // the samples are valid until it returns

	mu    sync.Mutex        // guards users
	users map[uint32]uint64 // who speaks with which SSRC

	streams map[uint32]*stream
	plain   [maxPacket + 64]byte
	decoded [1920]int16 // 120 ms at 16 kHz: the longest packet

	counts receiverCounts
}

// receiverCounts are counted by the receiver and read by anybody.
type receiverCounts struct {
	received, refused, lost, late, unknown atomic.Uint64
}

// stream is one speaker.
type stream struct {
	user    uint64
	queue   queue
	decoder *opus.Decoder
	held    [pcm.HearSize]int16 // an unfinished frame
	holding int
	heard   time.Time // the last packet
	begun   bool      // something has been decoded
	ended   uint32    // timestamp behind what was last heard
	step    uint32    // how far the last packet moved it
	talking bool
	silence int // silence packets in a row
	missing int // lost packets in a row
	tokens  float64
	refill  time.Time
}

func newReceiver(deliver func(Frame)) *receiver {
	return &receiver{deliver: deliver, users: map[uint32]uint64{}, streams: map[uint32]*stream{}}
}

// meet remembers whose an SSRC is. The gateway says so when somebody first
// speaks, which may be after the first packets.
func (r *receiver) meet(ssrc uint32, user uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.users[ssrc]; known || len(r.users) < maxSpeakers {
		r.users[ssrc] = user
	}
}

// part forgets somebody who left.
func (r *receiver) part(user uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for ssrc, u := range r.users {
		if u == user {
			delete(r.users, ssrc)
		}
	}
}

func (r *receiver) userOf(ssrc uint32) (uint64, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	user, ok := r.users[ssrc]
	return user, ok
}

// An outcome is what became of a datagram.
type outcome uint8

const (
	dropped  outcome = iota // a stranger's doing, or nothing new
	opened                  // sound that somebody in the call has made
	unopened                // genuine, but nobody's key in the call opens it
)

// take handles one datagram; its memory is used as scratch.
func (r *receiver) take(c *rtp.Cipher, e2e opener, datagram []byte, now time.Time) outcome {
	h, sealed, err := c.Open(datagram)
	if err != nil {
		r.counts.refused.Add(1)
		return dropped
	}
	user, known := r.userOf(h.SSRC)
	var frame []byte
	switch {
	case opus.IsSilence(sealed): // the one frame that travels in the clear
		if !known {
			return dropped
		}
		frame = sealed
	case known:
		frame, err = e2e.Open(r.plain[:0], user, sealed, now)
	default:
		if user, frame, err = e2e.Find(r.plain[:0], sealed, now); err == nil {
			r.counts.unknown.Add(1)
			r.meet(h.SSRC, user)
		}
	}
	if err != nil {
		r.counts.refused.Add(1)
		if errors.Is(err, dave.ErrReplay) {
			return dropped
		}
		return unopened
	}
	s := r.stream(h.SSRC, user, now)
	if s == nil || !s.allow(now) {
		r.counts.refused.Add(1)
		return opened
	}
	ok, restarted := s.queue.push(h.Sequence, h.Timestamp, frame, now)
	if restarted {
		s.decoder.Reset()
	}
	if !ok {
		r.counts.late.Add(1)
		return opened
	}
	r.counts.received.Add(1)
	s.heard = now
	r.play(s, now)
	return opened
}

// stream finds or makes the stream of an SSRC. Who comes back with a new SSRC
// takes the place of the old one, so nobody holds more than one.
func (r *receiver) stream(ssrc uint32, user uint64, now time.Time) *stream {
	if s := r.streams[ssrc]; s != nil {
		return s
	}
	for old, s := range r.streams {
		if s.user == user {
			r.stop(s)
			delete(r.streams, old)
		}
	}
	if len(r.streams) >= maxSpeakers {
		return nil
	}
	d, err := opus.NewDecoder(pcm.HearRate)
	if err != nil { // out of memory; the next packet tries again
		return nil
	}
	s := &stream{user: user, decoder: d, tokens: burst, refill: now}
	r.streams[ssrc] = s
	return s
}

// allow lets flood packets a second pass, and short bursts.
func (s *stream) allow(now time.Time) bool {
	s.tokens = min(burst, s.tokens+flood*now.Sub(s.refill).Seconds())
	s.refill = now
	if s.tokens < 1 {
		return false
	}
	s.tokens--
	return true
}

// play decodes everything whose turn it is, and returns when to look again.
func (r *receiver) play(s *stream, now time.Time) (wake time.Time) {
	for {
		v, a, wake := s.queue.pop(now)
		switch v {
		case nothing:
			return wake
		case packet:
			r.decode(s, a)
		case lost:
			r.counts.lost.Add(1)
			r.conceal(s, a)
		}
	}
}

func (r *receiver) decode(s *stream, a *arrival) {
	if opus.IsSilence(a.frame) {
		// The first may be a stray; two in a row mean that the client stopped.
		if s.silence++; s.silence == 2 {
			r.stop(s)
		}
		return
	}
	switch pause := int32(a.timestamp - s.ended); {
	case !s.begun:
	case pause > freshAfter || pause < -freshAfter:
		s.decoder.Reset()
	case pause > 0 && pause <= maxFill:
		r.fill(s, int(pause/ticksPerSample))
	}
	s.silence, s.missing = 0, 0
	n, err := s.decoder.Decode(a.frame, r.decoded[:])
	if err != nil {
		r.counts.refused.Add(1)
		return
	}
	s.step = uint32(n) * ticksPerSample
	s.ended, s.begun = a.timestamp+s.step, true
	s.talking = true
	r.emit(s, r.decoded[:n])
}

// fill keeps a speaker's time over a pause: a recogniser that lost it would run
// two words together.
func (r *receiver) fill(s *stream, samples int) {
	for samples > 0 {
		n := min(samples, len(r.decoded))
		clear(r.decoded[:n])
		r.emit(s, r.decoded[:n])
		samples -= n
	}
}

// conceal makes up for a lost packet: from the copy in the one behind it, or by
// the codec's guess, or with silence when too much is missing. Of packets lost
// around a pause nobody knows on which side they were: they are part of it.
func (r *receiver) conceal(s *stream, first *arrival) {
	missing := uint32(first.sequence-s.queue.next) + 1 // in this gap
	if !s.begun || int32(first.timestamp-s.ended) > int32(missing*s.step) {
		return
	}
	s.talking = true // a later packet proves that the speaker went on
	s.missing++
	out := r.decoded[:s.step/ticksPerSample]
	var err error
	switch {
	case s.missing > maxConceal:
		clear(out)
	case missing == 1 && opus.HasFEC(first.frame):
		_, err = s.decoder.Recover(first.frame, out)
	default:
		_, err = s.decoder.Conceal(out)
	}
	if err != nil {
		clear(out)
	}
	s.ended += s.step
	r.emit(s, out)
}

// emit cuts what was decoded into frames of 20 ms.
func (r *receiver) emit(s *stream, samples []int16) {
	for len(samples) > 0 {
		n := copy(s.held[s.holding:], samples)
		samples = samples[n:]
		if s.holding += n; s.holding == len(s.held) {
			s.holding = 0
			r.deliver(Frame{User: s.user, Samples: s.held[:]})
		}
	}
}

// stop tells that a speaker has stopped.
func (r *receiver) stop(s *stream) {
	if s.talking {
		s.talking, s.holding = false, 0
		r.deliver(Frame{User: s.user})
	}
}

// idle does what is due without a packet: gaps that have been waited for, speakers
// who stopped without saying so, decoders nobody needs. It returns when to be
// called again.
func (r *receiver) idle(now time.Time) (wake time.Time) {
	wake = now.Add(time.Second)
	for ssrc, s := range r.streams {
		if w := r.play(s, now); !w.IsZero() && w.Before(wake) {
			wake = w
		}
		quiet := now.Sub(s.heard)
		switch {
		case quiet >= forgetAfter:
			delete(r.streams, ssrc)
		case s.talking && s.queue.waiting == 0 && quiet >= stopAfter:
			r.stop(s)
		case s.talking:
			if w := s.heard.Add(stopAfter); w.After(now) && w.Before(wake) {
				wake = w
			}
		}
	}
	return wake
}
