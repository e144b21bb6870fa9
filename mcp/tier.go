package mcp

import (
	"fmt"
	"strings"
	"time"
)

// A Tier is how long a turn may wait for its tools. What does not fit is not on
// the belt, so a model cannot ask for it.
type Tier uint8

// The three tiers, from the quickest to the slowest.
const (
	Fast     Tier = iota // ordinary talk: 500 ms
	Standard             // rules, the past, a first meeting: 1,500 ms
	Deep                 // "take your time": 4,000 ms
)

// Budget is the longest that all tools of one round, run side by side, may take.
func (t Tier) Budget() time.Duration {
	switch t {
	case Fast:
		return 500 * time.Millisecond
	case Standard:
		return 1500 * time.Millisecond
	default:
		return 4 * time.Second
	}
}

// Rounds is how often the model may call tools before it has to answer.
func (t Tier) Rounds() int { return 1 << min(t, Deep) }

// String is "fast", "standard" or "deep", as the configuration spells it.
func (t Tier) String() string {
	switch t {
	case Fast:
		return "fast"
	case Standard:
		return "standard"
	default:
		return "deep"
	}
}

// ParseTier reads a tier's name in any case.
func ParseTier(s string) (Tier, error) {
	for _, t := range []Tier{Fast, Standard, Deep} {
		if strings.EqualFold(s, t.String()) {
			return t, nil
		}
	}
	return Fast, fmt.Errorf("tier %q: want fast, standard or deep", s)
}

// MarshalText writes the tier's name.
func (t Tier) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads what [ParseTier] does.
func (t *Tier) UnmarshalText(b []byte) (err error) {
	*t, err = ParseTier(string(b))
	return err
}
