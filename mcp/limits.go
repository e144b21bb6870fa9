package mcp

import (
	"fmt"
	"strconv"
)

// Limits bound what tools may bring into a turn. Zero fields take the defaults.
type Limits struct {
	// ReadBytes is the most of any result that is kept at all. 50 MB.
	ReadBytes int
	// ShownBytes is the most of a result that a model is shown. 8 KiB: about
	// 2,000 tokens, a second of reading for a quick model.
	ShownBytes int
	// ListEntries is the most entries of any list in a result. 5,000.
	ListEntries int
	// ToolSteps is the most calls in one turn. 20.
	ToolSteps int
	// Tools is the most tools on one belt. 120: model APIs refuse more than 128.
	Tools int
}

// Defaults and bounds of [Limits]. The environment's names are those operators
// of agent runners know.
const (
	maxReadBytes   = 50_000_000
	defaultShown   = 8 << 10
	defaultEntries = 5000
	defaultSteps   = 20
	defaultTools   = 120
	hardTools      = 128
)

// filled returns the limits with zero fields set and all within bounds.
func (l Limits) filled() Limits {
	set := func(p *int, def, most int) {
		if *p <= 0 {
			*p = def
		}
		*p = min(*p, most)
	}
	set(&l.ReadBytes, maxReadBytes, maxReadBytes)
	set(&l.ShownBytes, defaultShown, l.ReadBytes)
	set(&l.ListEntries, defaultEntries, 1_000_000)
	set(&l.ToolSteps, defaultSteps, 1000)
	set(&l.Tools, defaultTools, hardTools)
	return l
}

// LimitsFromEnv returns l with what the environment overrides:
// AGENT_MAX_READ_BYTES, AGENT_MAX_LIST_ENTRIES, AGENT_MAX_TOOL_STEPS and
// AGENT_MAX_TOOLS, all positive whole numbers.
func LimitsFromEnv(l Limits, getenv func(string) string) (Limits, error) {
	for _, v := range []struct {
		name string
		p    *int
		most int
	}{
		{"AGENT_MAX_READ_BYTES", &l.ReadBytes, maxReadBytes},
		{"AGENT_MAX_LIST_ENTRIES", &l.ListEntries, 1_000_000},
		{"AGENT_MAX_TOOL_STEPS", &l.ToolSteps, 1000},
		{"AGENT_MAX_TOOLS", &l.Tools, hardTools},
	} {
		s := getenv(v.name)
		if s == "" {
			continue
		}
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > v.most {
			return l, fmt.Errorf("%s=%q: want a whole number from 1 to %d", v.name, s, v.most)
		}
		*v.p = n
	}
	return l.filled(), nil
}
