// Package gauge measures one tool: how long its calls take, how often they
// fail, and what follows from that for who may still wait for it.
//
// A Gauge is a pure state machine. It is told what happened and when, and it
// never reads a clock, so a year of calls can be replayed in a test.
//
// # What it concludes
//
//   - The level of a tool is the first of the given limits that its 95th
//     percentile fits in, over the last 100 calls, once 8 of them say something.
//     One slow call is never a pattern; two may be.
//   - A tool that gets slower moves down at once. One that gets faster moves up
//     when the run of fast calls is too long to be luck, judged by how often it
//     was slow before: 12 calls for a tool that had always been slow, some 90
//     for one that is slow every tenth time. So a tool with two speeds does not
//     flap between two levels.
//   - A tool that failed more than 30 % of its last 20 calls is degraded: one
//     level slower, until ten calls in a row or 90 % of the last 20 went well.
//   - A tool that fails 5 times running is off; after a pause it may be tried
//     once, and one success brings it back.
//   - Samples older than [Keep] say nothing any more.
//
// A Gauge holds at most 200 samples of 40 bytes. It is not safe for concurrent
// use; its owner locks it.
package gauge

import (
	"math"
	"slices"
	"time"
)

// Sizes and thresholds of a gauge.
const (
	// Window is how many calls are remembered.
	Window = 100
	// Enough is how many samples are needed before measurement counts.
	Enough = 8
	// Keep is how long a sample counts. Games are often weekly: two weeks keep
	// what was learnt in the last one.
	Keep = 14 * 24 * time.Hour

	recent     = 20   // calls that decide about health
	sickShare  = 0.3  // more failures than this in a recent window: degraded
	wellShare  = 0.1  // no more than this: healthy again
	wellRun    = 10   // or this many good calls in a row
	tripAfter  = 5    // failures in a row that switch a tool off
	refusedAll = 10   // "no" this often in a row is a broken tool, not an answer
	luck       = 1e-3 // a run this improbable is no luck
	minRun     = 12   // and never shorter than this

	steadyShare = 0.98 // of a full window within a limit: the rest is noise
)

const (
	firstPause = 10 * time.Second
	maxPause   = 5 * time.Minute
)

// An Outcome says how a call ended.
type Outcome uint8

const (
	// OK is a useful answer.
	OK Outcome = iota
	// Late means that the deadline came first: the call took longer than said.
	Late
	// Failed means that the tool or the way to it is broken.
	Failed
	// Refused means that the tool answered, and said no: unknown name, bad
	// request. Its time says nothing about useful calls, and the fault may be
	// the caller's.
	Refused
)

// Health is what a gauge thinks of its tool.
type Health uint8

const (
	// Healthy tools are offered where their level fits.
	Healthy Health = iota
	// Degraded tools are offered one level lower.
	Degraded
	// Off tools are not offered.
	Off
	// Trial tools were off and are offered for one call.
	Trial
)

// String is the health as the statistics show it.
func (h Health) String() string {
	return [...]string{"healthy", "degraded", "off", "trial"}[min(h, Trial)]
}

// A Sample is one call.
type Sample struct {
	At      time.Time     `json:"at"`
	Took    time.Duration `json:"took"`
	Outcome Outcome       `json:"outcome"`
}

// A Gauge measures one tool. The zero value is not usable; see [New].
type Gauge struct {
	limits []time.Duration
	ring   []Sample // oldest first, at most Window

	from     int // samples before this one belong to an earlier regime
	level    int // -1 while too little is known
	degraded bool
	failRun  int       // failures since the last success
	refusals int       // refusals since the last success
	offUntil time.Time // zero while on
	pause    time.Duration
	trying   time.Time // when the single trial began; zero if none runs
}

// New returns a gauge that sorts into len(limits)+1 levels: level i means that
// the tool fits in limits[i], and the last level that it fits in none. limits
// must ascend.
func New(limits ...time.Duration) *Gauge {
	return &Gauge{limits: limits, level: -1}
}

// Restore fills a new gauge with samples measured earlier, oldest first. They
// count for its level and not for its health: what was broken may be mended.
func (g *Gauge) Restore(now time.Time, samples []Sample) {
	if extra := len(samples) - Window; extra > 0 {
		samples = samples[extra:]
	}
	for _, s := range samples {
		if s.Outcome > Refused || s.Took < 0 || s.At.After(now) {
			continue
		}
		g.ring = append(g.ring, s)
	}
	g.expire(now)
	if lat := g.latencies(g.ring); len(lat) >= Enough {
		g.level = g.fit(lat)
	}
}

// Samples returns a copy of what is remembered, oldest first.
func (g *Gauge) Samples() []Sample { return slices.Clone(g.ring) }

// Record tells the gauge how a call that ended at now went. A call that came
// from a cache, or that the caller gave up, must not be recorded.
func (g *Gauge) Record(now time.Time, took time.Duration, o Outcome) {
	took = max(took, 0)
	if o == Late && took <= g.typical() {
		// The caller had less time than the tool usually takes. That it did not
		// answer by then is no news.
		g.trying = time.Time{}
		return
	}
	if len(g.ring) == Window {
		g.drop(1)
	}
	if len(g.ring) == cap(g.ring) {
		// Room for a hundred more, so that moving them up is rare.
		g.ring = append(make([]Sample, 0, 2*Window), g.ring...)
	}
	g.ring = append(g.ring, Sample{now, took, o})
	old := g.expire(now)
	g.judge(now, o)
	if !old && g.level == 0 && o == OK && took <= g.limits[0] {
		return // a fast call cannot move a fast tool
	}
	g.grade()
}

// Level is the tool's level by its latency, lowered by one where it is degraded,
// and whether enough is known to say so. Unknown levels are for the caller to
// fill from what is declared; see [Gauge.Lower].
func (g *Gauge) Level() (level int, known bool) {
	if g.level < 0 {
		return 0, false
	}
	return g.Lower(g.level), true
}

// Lower applies the tool's health to a level.
func (g *Gauge) Lower(level int) int {
	if g.degraded {
		level++
	}
	return min(level, len(g.limits))
}

// Health says whether the tool should be offered at now.
func (g *Gauge) Health(now time.Time) Health {
	switch {
	case g.offUntil.IsZero() && g.degraded:
		return Degraded
	case g.offUntil.IsZero():
		return Healthy
	case now.Before(g.offUntil):
		return Off
	default:
		return Trial
	}
}

// Try reports whether a call may start at now. While a tool is on trial only one
// call at a time may.
func (g *Gauge) Try(now time.Time) bool {
	switch g.Health(now) {
	case Off:
		return false
	case Trial:
		// A trial that was given up without a word must not bar the tool for ever.
		if !g.trying.IsZero() && now.Sub(g.trying) < maxPause {
			return false
		}
		g.trying = now
	}
	return true
}

// Reset forgets the health, not the latencies: an operator says it is mended.
func (g *Gauge) Reset() {
	g.degraded, g.failRun, g.refusals, g.pause = false, 0, 0, 0
	g.offUntil, g.trying = time.Time{}, time.Time{}
}

// expire drops what is too old to count, and says whether there was any.
func (g *Gauge) expire(now time.Time) bool {
	n := 0
	for n < len(g.ring) && now.Sub(g.ring[n].At) > Keep {
		n++
	}
	if n > 0 {
		g.drop(n)
	}
	return n > 0
}

// drop forgets the n oldest samples.
func (g *Gauge) drop(n int) {
	g.ring = g.ring[n:]
	g.from = max(0, g.from-n)
}

// judge updates the health after an outcome.
func (g *Gauge) judge(now time.Time, o Outcome) {
	g.trying = time.Time{}
	bad := o == Failed || o == Late
	if o == Refused {
		g.refusals++
		bad = g.refusals >= refusedAll
		if !bad {
			return // an answer, if not a welcome one
		}
	}
	if bad {
		g.failRun++
		wasOff := !g.offUntil.IsZero()
		if g.failRun >= tripAfter || wasOff {
			g.pause = min(max(g.pause*2, firstPause), maxPause)
			g.offUntil = now.Add(g.pause)
			g.degraded = true // one good trial does not make it whole
		}
	} else {
		g.failRun, g.refusals, g.pause = 0, 0, 0
		g.offUntil = time.Time{}
	}

	if !bad && !g.degraded {
		return
	}
	last := g.ring[max(0, len(g.ring)-recent):]
	switch {
	case !g.degraded && len(last) >= tripAfter && failedShare(last) > sickShare:
		g.degraded = true
	case g.degraded && (goodRun(last) >= wellRun || len(last) == recent && failedShare(last) <= wellShare):
		g.degraded = false
	}
}

// badShare is the part of the samples that failed or came late.
func badShare(s []Sample) float64 {
	n := 0
	for _, x := range s {
		if x.Outcome == Failed || x.Outcome == Late {
			n++
		}
	}
	return float64(n) / float64(max(1, len(s)))
}

// failedShare is the part of the samples that failed outright. Late calls are
// left to the level, or a slow tool would be lowered twice.
func failedShare(s []Sample) float64 {
	n := 0
	for _, x := range s {
		if x.Outcome == Failed {
			n++
		}
	}
	return float64(n) / float64(max(1, len(s)))
}

// goodRun counts the successes at the end.
func goodRun(s []Sample) int {
	n := 0
	for i := len(s) - 1; i >= 0 && s[i].Outcome == OK; i-- {
		n++
	}
	return n
}

// latencies are the sorted times of the samples that say something about speed.
// A late call counts as a moment longer than it was waited for.
func (g *Gauge) latencies(s []Sample) []time.Duration {
	lat := make([]time.Duration, 0, len(s))
	for _, x := range s {
		switch x.Outcome {
		case OK:
			lat = append(lat, x.Took)
		case Late:
			lat = append(lat, x.Took+1)
		}
	}
	slices.Sort(lat)
	return lat
}

// fit is the first level whose limit holds the 95th percentile of lat, which is
// sorted. The slowest single call is left out: once is not a pattern.
func (g *Gauge) fit(lat []time.Duration) int {
	p := lat[min(rank(len(lat), 0.95), max(0, len(lat)-2))]
	for i, l := range g.limits {
		if p <= l {
			return i
		}
	}
	return len(g.limits)
}

// grade moves the level: down at once, up only when it is no luck.
func (g *Gauge) grade() {
	now := g.ring[g.from:]
	lat := g.latencies(now)
	if len(lat) < Enough {
		if len(g.latencies(g.ring)) < Enough {
			g.level = -1
		}
		return
	}
	fits := g.fit(lat)
	if g.level < 0 || fits > g.level {
		g.level = fits
		return
	}
	for l := range g.level {
		run, start, lucky := g.run(g.limits[l])
		if !lucky {
			// The tool is another one now. What it did before the run counts
			// for people, no longer for its level.
			g.level, g.from = l, start
			return
		}
		if run == 0 || len(lat) < Window {
			continue
		}
		if within, _ := slices.BinarySearch(lat, g.limits[l]+1); float64(within) >= steadyShare*float64(len(lat)) {
			g.level = l
			return
		}
	}
}

// run measures the run of calls within limit at the end of the window: its
// length, where it starts, and whether it could be chance, given how often calls
// were slower before it.
func (g *Gauge) run(limit time.Duration) (n, start int, lucky bool) {
	before, slow := 0, 0
	running := true
	start = len(g.ring)
	for i := len(g.ring) - 1; i >= g.from; i-- {
		s := g.ring[i]
		if s.Outcome != OK && s.Outcome != Late {
			continue
		}
		within := s.Outcome == OK && s.Took <= limit
		if running && within {
			n++
			start = i
			continue
		}
		running = false
		before++
		if !within {
			slow++
		}
	}
	if before == 0 {
		return n, start, n < minRun
	}
	need := math.Log(luck) / math.Log(1-atLeast(slow, before))
	return n, start, float64(n) < math.Max(minRun, need)
}

// atLeast is a cautious guess of how often something happens that was seen k
// times in n: the lower end of Wilson's interval, one standard deviation wide.
func atLeast(k, n int) float64 {
	p, m := float64(k)/float64(n), float64(n)
	return (p + 1/(2*m) - math.Sqrt(p*(1-p)/m+1/(4*m*m))) / (1 + 1/m)
}

// typical is the median of the successful calls, 0 if there are none.
func (g *Gauge) typical() time.Duration {
	var lat []time.Duration
	for _, x := range g.ring {
		if x.Outcome == OK {
			lat = append(lat, x.Took)
		}
	}
	if len(lat) == 0 {
		return 0
	}
	slices.Sort(lat)
	return lat[rank(len(lat), 0.5)]
}

// rank is the index of the p-quantile among n sorted values, nearest rank.
func rank(n int, p float64) int {
	return max(0, int(math.Ceil(p*float64(n)))-1)
}
