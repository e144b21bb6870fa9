package memorytest

import (
	"slices"
	"syscall"
	"testing"
	"time"
)

// A Stopwatch measures something many times on a machine that does other things
// too. Each thing is done three times: the middle one counts on the wall's clock,
// the quickest by the processor time that this process took for it.
type Stopwatch struct {
	wall, cpu []time.Duration
}

// Time measures do.
func (s *Stopwatch) Time(do func()) {
	var wall, cpu [3]time.Duration
	for i := range wall {
		start, used := time.Now(), processorTime()
		do()
		wall[i], cpu[i] = time.Since(start), processorTime()-used
	}
	slices.Sort(wall[:])
	s.wall, s.cpu = append(s.wall, wall[1]), append(s.cpu, slices.Min(cpu[:]))
}

// Report reports the median and the 99th percentile, in milliseconds.
func (s *Stopwatch) Report(b *testing.B) {
	for _, m := range []struct {
		unit string
		took []time.Duration
	}{{"ms", s.wall}, {"cpu-ms", s.cpu}} {
		slices.Sort(m.took)
		b.ReportMetric(float64(m.took[len(m.took)/2].Microseconds())/1000, "p50-"+m.unit)
		b.ReportMetric(float64(m.took[len(m.took)*99/100].Microseconds())/1000, "p99-"+m.unit)
	}
	b.ReportMetric(0, "ns/op")
}

// processorTime is how long this process has been computing.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
