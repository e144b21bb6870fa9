package voice

import (
	"time"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// The constants of ordering. Nobody listens to what is received in real time, so
// packets in order are never held back; only at a gap is it worth waiting.
const (
	// ringSize is how many packets of one speaker may wait, a power of two.
	ringSize = 64
	// gapWait is how long a missing packet is waited for, counted from the first
	// later one; as many later ones as are sent in that time end the wait as well.
	// Measured: 99.9 % delivery on a bad line at 3 ms more delay than no buffer.
	gapWait = 60 * time.Millisecond
	// maxWait is where the wait ends that late packets have made longer, each by
	// waitStep: a line that holds packets back for 200 ms is worth waiting for,
	// one that takes longer is not fit for a conversation. The wait gets shorter
	// again, a step for each calmAfter packets of which none was late.
	maxWait   = 240 * time.Millisecond
	waitStep  = 20 * time.Millisecond
	calmAfter = 500
	// maxPacket is the longest frame that is kept: Opus' own limit.
	maxPacket = 1275 * 6
)

// arrival is a packet that waits for its turn.
type arrival struct {
	here      bool
	sequence  uint16
	timestamp uint32
	at        time.Time
	frame     []byte // its memory is kept and used again
}

// queue puts the packets of one SSRC in order. It is told the time and never
// waits: pop says what to do next.
type queue struct {
	ring    [ringSize]arrival
	next    uint16 // the sequence number that is due
	begun   bool
	waiting int // packets in the ring
	// stretch is what late packets have added to gapWait, calm the packets since
	// the last of them.
	stretch time.Duration
	calm    int
}

// push takes a packet. It reports false for one that is late or was here before.
// A jump that no network makes starts the stream afresh.
func (q *queue) push(sequence uint16, timestamp uint32, frame []byte, now time.Time) (ok, restarted bool) {
	ahead := int(int16(sequence - q.next))
	if q.begun && (ahead >= ringSize || ahead < -ringSize) {
		q.clear()
		restarted = true
	}
	if !q.begun {
		q.begun, q.next, ahead = true, sequence, 0
	}
	slot := &q.ring[sequence%ringSize]
	if ahead < 0 {
		q.stretch, q.calm = min(q.stretch+waitStep, maxWait-gapWait), 0
	}
	if ahead < 0 || slot.here || len(frame) > maxPacket {
		return false, restarted
	}
	*slot = arrival{here: true, sequence: sequence, timestamp: timestamp, at: now, frame: append(slot.frame[:0], frame...)}
	q.waiting++
	return true, restarted
}

// A verdict is what pop says.
type verdict uint8

const (
	nothing verdict = iota // wait for more, or for the time that pop returned
	packet                 // the next packet in order
	lost                   // the next packet is lost: conceal it
)

// pop gives the next packet, in order, at most once. For a lost one it gives the
// first one behind it, for what that knows of the lost one. The packet is valid
// until the next push. Until wake nothing can change without
// a push; it is zero if only a push can.
func (q *queue) pop(now time.Time) (v verdict, a *arrival, wake time.Time) {
	if q.waiting == 0 {
		return nothing, nil, time.Time{}
	}
	if slot := &q.ring[q.next%ringSize]; slot.here {
		slot.here = false
		q.waiting--
		q.next++
		if q.calm++; q.calm == calmAfter {
			q.stretch, q.calm = max(q.stretch-waitStep, 0), 0
		}
		return packet, slot, time.Time{}
	}
	first, wait := q.first(), gapWait+q.stretch
	if due := first.at.Add(wait); q.waiting < int(wait/pcm.FrameTime) && now.Before(due) {
		return nothing, nil, due
	}
	q.next++
	return lost, first, time.Time{}
}

// first is the earliest packet in the ring; there is one.
func (q *queue) first() *arrival {
	for i := q.next; ; i++ {
		if slot := &q.ring[i%ringSize]; slot.here {
			return slot
		}
	}
}

// clear forgets the stream; the memory of frames is kept.
func (q *queue) clear() {
	for i := range q.ring {
		q.ring[i].here = false
	}
	q.begun, q.waiting, q.stretch, q.calm = false, 0, 0, 0
}
