package mcp

import (
	"time"
)

// How often a server is started again.
const (
	firstWait = time.Second
	longWait  = time.Minute
	// A child that ends this often in this time is broken; starting it again and
	// again would only heat the room.
	tooOften    = 5
	tooOftenFor = 5 * time.Minute
)

// restarts decides when a server that went away is started again. It reads no
// clock.
type restarts struct {
	failed []time.Time // within tooOftenFor, oldest first
	wait   time.Duration
}

// next says how long to wait after a failure at now; giveUp says to wait until
// somebody asks. jitter is between 0 and 1, so that servers that went away
// together do not come back together.
func (r *restarts) next(now time.Time, jitter float64) (wait time.Duration, giveUp bool) {
	n := 0
	for n < len(r.failed) && now.Sub(r.failed[n]) > tooOftenFor {
		n++
	}
	if r.failed = append(r.failed[n:], now); len(r.failed) == 1 {
		r.wait = 0 // the last trouble is long past
	}
	if len(r.failed) >= tooOften {
		r.failed = r.failed[1:]
		giveUp = true
	}
	r.wait = min(max(2*r.wait, firstWait), longWait)
	return r.wait + time.Duration(jitter*float64(r.wait)/4), giveUp
}
