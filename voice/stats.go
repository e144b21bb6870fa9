package voice

import "sync/atomic"

// Stats count packets since the call was joined.
type Stats struct {
	// Received were played, Lost were made up for, Late came after their turn or
	// twice, Refused were not genuine, malformed or too many, and Found came
	// from a source that only its key told the speaker of.
	Received, Lost, Late, Refused, Found uint64
	// Dropped frames were heard and not read in time.
	Dropped uint64
	// Sent left, Unsent did not.
	Sent, Unsent uint64
}

// totals are what the lines that are over have sent.
type totals struct{ sent, unsent atomic.Uint64 }

// Stats reads the counters.
func (c *Conn) Stats() Stats {
	r := &c.receiver.counts
	s := Stats{
		Received: r.received.Load(), Lost: r.lost.Load(), Late: r.late.Load(),
		Refused: r.refused.Load(), Found: r.unknown.Load(),
		Sent: c.totals.sent.Load(), Unsent: c.totals.unsent.Load(),
	}
	if l := c.sender.line.Load(); l != nil {
		s.Sent += l.sent.Load()
		s.Unsent += l.unsent.Load()
	}
	c.hearing.mu.Lock()
	s.Dropped = c.hearing.dropped
	c.hearing.mu.Unlock()
	return s
}
