package voice

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/glyphoxa/glyphoxa/voice/opus"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

const (
	// encodeAhead is how many packets are ready before their time: a preempted
	// encoder is not heard, and an interruption leaves at most 60 ms behind.
	encodeAhead = 3
	// trailing silence frames end each speech, so that listeners' decoders do
	// not interpolate. Discord, "Voice Data Interpolation".
	trailing = 5
)

// speechCoding is for NPCs: every packet carries a copy of the one before it, so
// that the loss of one in ten is not heard. libopus puts copies in only when it is
// told to expect more than 5 % of loss, or at complexity 7 and up, where it first
// finds out that it is speech. Measured on speech: 0.21 ms of a core per packet
// like this, 0.41 ms at complexity 9, and 0.09 ms there without any copies.
var speechCoding = opus.EncoderOptions{Loss: 10, Complexity: 5}

// encoded is a packet that is ready to be sealed and sent.
type encoded struct {
	of    source
	n     int
	bytes [1275]byte
}

// sender turns a call's voices into packets: a goroutine mixes and encodes ahead,
// the pacer's thread takes one packet every 20 ms, seals and sends it.
type sender struct {
	mix     *mixer
	encoder *opus.Encoder
	pacer   *Pacer
	// line is where packets go; nil while there is no connection, and then the
	// sound waits.
	line atomic.Pointer[line]
	// speaking is told, from the pacer's thread, when speech begins and ends. It
	// must not block.
	speaking func(on bool)

	ready chan *encoded // at most encodeAhead; in order
	spare chan *encoded // the rest of them
	stop  chan struct{}
	tasks sync.WaitGroup

	// Owned by the pacer's thread.
	talking bool
	silence int  // trailing frames still to be sent
	slot    int  // of the pacer, while in it
	active  bool // guarded by the pacer's mutex: in one of its slots
}

func newSender(p *Pacer, speaking func(bool)) (*sender, error) {
	enc, err := opus.NewEncoder(speechCoding)
	if err != nil {
		return nil, err
	}
	s := &sender{
		mix: newMixer(), encoder: enc, pacer: p, speaking: speaking,
		ready: make(chan *encoded, encodeAhead), spare: make(chan *encoded, encodeAhead), stop: make(chan struct{}),
	}
	for range encodeAhead {
		s.spare <- new(encoded)
	}
	s.tasks.Go(s.encode)
	return s, nil
}

// close ends the encoder and takes the sender from the pacer.
func (s *sender) close() {
	s.mix.close()
	close(s.stop)
	s.tasks.Wait()
	s.pacer.remove(s)
}

// encode mixes and encodes as long as there is room for packets.
func (s *sender) encode() {
	var frame [pcm.FrameSize]int16
	for {
		var e *encoded
		select {
		case e = <-s.spare:
		case <-s.stop:
			return
		}
		for {
			of, ok := s.mix.next(frame[:])
			if !ok {
				select {
				case <-s.mix.work:
					continue
				case <-s.stop:
					return
				}
			}
			n, err := s.encoder.Encode(frame[:], e.bytes[:])
			if err != nil { // cannot happen with frames of this size; the frame is skipped
				s.mix.sent(of)
				continue
			}
			e.of, e.n = of, n
			break
		}
		s.ready <- e
		s.pacer.add(s)
	}
}

// tick sends the packet that is due. It runs on the pacer's thread every 20 ms
// while there is something to send, and reports false when there is not.
func (s *sender) tick(now time.Time) bool {
	l := s.line.Load()
	if l == nil || !l.ready() {
		// Between two connections: what is ready waits, and so do the voices.
		s.talking = false
		return len(s.ready) > 0
	}
	for {
		select {
		case e := <-s.ready:
			live := s.mix.sent(e.of)
			if live {
				s.begin(l, now)
				l.send(e.bytes[:e.n])
				s.silence = trailing
			}
			s.spare <- e
			if live {
				return true
			}
		default:
			return s.fade(l)
		}
	}
}

// begin marks the start of speech: the gateway is told before the first packet,
// and the timestamp catches up with the pause.
func (s *sender) begin(l *line, now time.Time) {
	if !s.talking {
		s.talking = true
		s.speaking(true)
		l.resume(now)
	}
}

// fade sends the silence that ends a speech.
func (s *sender) fade(l *line) bool {
	if !s.talking {
		return false
	}
	if s.silence > 0 {
		s.silence--
		l.send(opus.Silence)
		return true
	}
	s.talking = false
	l.pause()
	s.speaking(false)
	return false
}
