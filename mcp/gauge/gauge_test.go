package gauge

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

var budgets = []time.Duration{500 * time.Millisecond, 1500 * time.Millisecond}

// A stream draws the next call of a synthetic tool.
type stream func(r *rand.Rand, i int) (time.Duration, Outcome)

func steady(ms int) stream {
	return func(r *rand.Rand, _ int) (time.Duration, Outcome) {
		return time.Duration(ms)*time.Millisecond + time.Duration(r.IntN(ms/5+1))*time.Millisecond, OK
	}
}

func twoSpeeds(share float64) stream {
	return func(r *rand.Rand, _ int) (time.Duration, Outcome) {
		if r.Float64() < share {
			return 3000 * time.Millisecond, OK
		}
		return 200 * time.Millisecond, OK
	}
}

// play feeds n calls a second apart and returns the level after each.
func play(g *Gauge, r *rand.Rand, at *time.Time, n int, s stream) []int {
	var levels []int
	for i := range n {
		*at = at.Add(time.Second)
		took, o := s(r, i)
		g.Record(*at, took, o)
		l, known := g.Level()
		if !known {
			l = -1
		}
		levels = append(levels, l)
	}
	return levels
}

// changes counts how often a sequence of levels changes, unknown ones left out.
func changes(levels []int) int {
	n, last := 0, -1
	for _, l := range levels {
		if l < 0 {
			continue
		}
		if last >= 0 && l != last {
			n++
		}
		last = l
	}
	return n
}

func TestRightLevelWithinTwentyCalls(t *testing.T) {
	for _, c := range []struct {
		name string
		s    stream
		want int
	}{
		{"steady 15 ms", steady(15), 0},
		{"steady 420 ms", steady(400), 0},
		{"steady 900 ms", steady(900), 1},
		{"steady 3.2 s", steady(3200), 2},
		{"two speeds, half slow", twoSpeeds(0.5), 2},
		{"two speeds, a third slow", twoSpeeds(0.33), 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			wrong := 0
			for seed := range uint64(200) {
				g, at := New(budgets...), time.Unix(0, 0)
				levels := play(g, rand.New(rand.NewPCG(seed, 1)), &at, 20, c.s)
				if got := levels[19]; got != c.want {
					wrong++
				}
			}
			if wrong > 2 { // one in a hundred is chance in the stream, not in the rule
				t.Errorf("wrong level in %d of 200 runs", wrong)
			}
		})
	}
}

func TestToolWithTwoSpeedsDoesNotFlap(t *testing.T) {
	for _, share := range []float64{0.1, 0.2, 0.33, 0.5, 0.8} {
		t.Run(fmt.Sprint(share), func(t *testing.T) {
			total := 0
			for seed := range uint64(100) {
				g, at := New(budgets...), time.Unix(0, 0)
				total += changes(play(g, rand.New(rand.NewPCG(seed, 2)), &at, 500, twoSpeeds(share)))
			}
			// The first guess of a tool that is slow every tenth time may be
			// wrong once; after that it stays where it belongs.
			if mean := float64(total) / 100; mean > 1.5 {
				t.Errorf("%.2f changes of level in 500 calls, want at most 1.5", mean)
			}
		})
	}
}

func TestSlowDriftIsNoticedWithinTwentyCalls(t *testing.T) {
	g, at := New(budgets...), time.Unix(0, 0)
	r := rand.New(rand.NewPCG(3, 3))
	play(g, r, &at, 100, steady(300))
	drift := func(_ *rand.Rand, i int) (time.Duration, Outcome) {
		return time.Duration(300+20*i) * time.Millisecond, OK
	}
	levels := play(g, r, &at, 40, drift)
	// From the eleventh call of the drift on, the tool takes over 500 ms.
	if levels[10+20] < 1 {
		t.Errorf("levels %v: still fast 20 calls after the drift passed 500 ms", levels)
	}
	if n := changes(levels); n != 1 {
		t.Errorf("levels changed %d times on a steady drift, want once", n)
	}
}

func TestFasterToolMovesUpWithinTwentyCalls(t *testing.T) {
	for _, c := range []struct {
		before int
		calls  int
	}{{1200, 20}, {3000, 20}} {
		g, at := New(budgets...), time.Unix(0, 0)
		r := rand.New(rand.NewPCG(4, 4))
		play(g, r, &at, 100, steady(c.before))
		levels := play(g, r, &at, 200, steady(50))
		if got := levels[c.calls-1]; got != 0 {
			t.Errorf("after %d ms: level %d after %d quick calls, want 0 (%v)", c.before, got, c.calls, levels[:30])
		}
		if got := levels[199]; got != 0 {
			t.Errorf("level %d in the end, want 0", got)
		}
	}
}

func TestFailingToolIsOffAfterFiveAndBackAfterOneSuccess(t *testing.T) {
	g, at := New(budgets...), time.Unix(0, 0)
	r := rand.New(rand.NewPCG(5, 5))
	play(g, r, &at, 20, steady(50))
	fail := func(*rand.Rand, int) (time.Duration, Outcome) { return time.Millisecond, Failed }
	play(g, r, &at, 5, fail)
	if h := g.Health(at); h != Off {
		t.Fatalf("after five failures: %v, want off", h)
	}
	if g.Try(at.Add(time.Second)) {
		t.Error("a call may start while the tool is off")
	}
	at = at.Add(11 * time.Second)
	if h := g.Health(at); h != Trial {
		t.Fatalf("after the pause: %v, want trial", h)
	}
	if !g.Try(at) || g.Try(at) {
		t.Error("a trial must be exactly one call")
	}
	g.Record(at, 40*time.Millisecond, OK)
	if h := g.Health(at); h != Degraded {
		t.Errorf("after the trial: %v, want degraded, not trusted yet", h)
	}
	play(g, r, &at, 20, steady(50))
	if h := g.Health(at); h != Healthy {
		t.Errorf("after twenty good calls: %v, want healthy", h)
	}
	if l, _ := g.Level(); l != 0 {
		t.Errorf("level %d, want 0", l)
	}
}

func TestPauseDoublesToFiveMinutes(t *testing.T) {
	g, at := New(budgets...), time.Unix(0, 0)
	for range tripAfter {
		g.Record(at, 0, Failed)
	}
	for _, want := range []time.Duration{10, 20, 40, 80, 160, 300, 300} {
		pause := g.offUntil.Sub(at)
		if pause != want*time.Second {
			t.Errorf("pause %v, want %v", pause, want*time.Second)
		}
		at = g.offUntil
		if !g.Try(at) {
			t.Fatal("no trial after the pause")
		}
		g.Record(at, 0, Failed)
	}
}

func TestFortyPercentErrorsDegradeByOneLevel(t *testing.T) {
	g, at := New(budgets...), time.Unix(0, 0)
	r := rand.New(rand.NewPCG(6, 6))
	s := func(_ *rand.Rand, i int) (time.Duration, Outcome) {
		if i%5 < 2 {
			return 5 * time.Millisecond, Failed
		}
		return 50 * time.Millisecond, OK
	}
	levels := play(g, r, &at, 60, s)
	if got := levels[59]; got != 1 {
		t.Errorf("level %d, want 1: fast, but degraded", got)
	}
	if n := changes(levels[20:]); n != 0 {
		t.Errorf("a steady error rate changed the level %d times", n)
	}
	levels = play(g, r, &at, 20, steady(50))
	if got := levels[19]; got != 0 {
		t.Errorf("level %d after 20 good calls, want 0", got)
	}
}

// A call that was cut off at the deadline took longer than that. Leaving it out
// would keep a tool in the tier it never manages.
func TestCallsCutOffCountAsSlow(t *testing.T) {
	g, at := New(budgets...), time.Unix(0, 0)
	r := rand.New(rand.NewPCG(7, 7))
	s := func(_ *rand.Rand, i int) (time.Duration, Outcome) {
		if i%4 == 0 {
			return 500 * time.Millisecond, Late
		}
		return 200 * time.Millisecond, OK
	}
	levels := play(g, r, &at, 40, s)
	if got := levels[39]; got != 1 {
		t.Errorf("level %d, want 1", got)
	}
}

func TestLittleTimeLeftIsNotTheToolsFault(t *testing.T) {
	g, at := New(budgets...), time.Unix(0, 0)
	r := rand.New(rand.NewPCG(8, 8))
	play(g, r, &at, 20, steady(300))
	play(g, r, &at, 20, func(*rand.Rand, int) (time.Duration, Outcome) { return 30 * time.Millisecond, Late })
	if h := g.Health(at); h != Healthy {
		t.Errorf("health %v, want healthy", h)
	}
}

// The defect this guards against: an image generator that refuses an empty
// request in a millisecond must not look like the fastest tool of all.
func TestQuickRefusalsDoNotMakeAToolFast(t *testing.T) {
	g, at := New(budgets...), time.Unix(0, 0)
	r := rand.New(rand.NewPCG(9, 9))
	refuse := func(*rand.Rand, int) (time.Duration, Outcome) { return time.Millisecond, Refused }
	play(g, r, &at, 9, refuse)
	if _, known := g.Level(); known {
		t.Error("refusals alone gave the tool a level")
	}
	if h := g.Health(at); h != Healthy {
		t.Errorf("health %v, want healthy: the caller may have been wrong", h)
	}
	play(g, r, &at, 5, refuse)
	if h := g.Health(at); h != Off {
		t.Errorf("health %v after 14 refusals and no answer, want off", h)
	}
}

func TestOldSamplesExpire(t *testing.T) {
	g, at := New(budgets...), time.Unix(0, 0)
	r := rand.New(rand.NewPCG(10, 10))
	play(g, r, &at, 50, steady(3000))
	at = at.Add(Keep + time.Hour)
	g.Record(at, time.Millisecond, OK)
	if n := len(g.Samples()); n != 1 {
		t.Errorf("%d samples, want 1", n)
	}
	if _, known := g.Level(); known {
		t.Error("level known from expired samples")
	}
}

func TestRestoredGaugeKnowsItsLevelAndStartsHealthy(t *testing.T) {
	g, at := New(budgets...), time.Unix(0, 0)
	r := rand.New(rand.NewPCG(11, 11))
	play(g, r, &at, 30, steady(900))
	for range 9 {
		g.Record(at, 0, Failed)
	}
	h := New(budgets...)
	h.Restore(at, g.Samples())
	if l, known := h.Level(); !known || l != 1 {
		t.Errorf("level %d, %v; want 1, true", l, known)
	}
	if got := h.Health(at); got != Healthy {
		t.Errorf("health %v, want healthy", got)
	}
}

func BenchmarkRecord(b *testing.B) {
	g, at := New(budgets...), time.Unix(0, 0)
	for b.Loop() {
		at = at.Add(time.Second)
		g.Record(at, 15*time.Millisecond, OK)
	}
}
