package gauge

import (
	"slices"
	"time"
)

// A Summary is a gauge as people are shown it.
type Summary struct {
	// Calls is how many calls are remembered; OK, Late, Failed and Refused say
	// how they ended.
	Calls   int `json:"calls"`
	OK      int `json:"ok"`
	Late    int `json:"late"`
	Failed  int `json:"failed"`
	Refused int `json:"refused"`
	// P50, P95 and P99 are of successful calls, nearest rank; 0 without any.
	P50 time.Duration `json:"p50"`
	P95 time.Duration `json:"p95"`
	P99 time.Duration `json:"p99"`
	// Errors is the share of calls that failed or came late.
	Errors float64 `json:"errors"`
	Health string  `json:"health"`
}

// Summary describes the gauge at now.
func (g *Gauge) Summary(now time.Time) Summary {
	s := Summary{Calls: len(g.ring), Health: g.Health(now).String(), Errors: badShare(g.ring)}
	var lat []time.Duration
	for _, x := range g.ring {
		switch x.Outcome {
		case OK:
			s.OK++
			lat = append(lat, x.Took)
		case Late:
			s.Late++
		case Failed:
			s.Failed++
		case Refused:
			s.Refused++
		}
	}
	if len(lat) > 0 {
		slices.Sort(lat)
		s.P50, s.P95, s.P99 = lat[rank(len(lat), 0.5)], lat[rank(len(lat), 0.95)], lat[rank(len(lat), 0.99)]
	}
	return s
}

// Badge is a tool's speed in one word, from its median.
func Badge(p50 time.Duration) string {
	switch {
	case p50 < 50*time.Millisecond:
		return "Lightning"
	case p50 < 200*time.Millisecond:
		return "Fast"
	case p50 < time.Second:
		return "Standard"
	default:
		return "Slow"
	}
}
