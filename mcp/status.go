package mcp

import (
	"time"

	"github.com/glyphoxa/glyphoxa/mcp/gauge"
)

// A ToolStatus describes a tool to people: where it belongs, why, and what was
// measured.
type ToolStatus struct {
	Tool
	// Tier is where it belongs now, Why says by whose word.
	Tier Tier
	Why  string
	// Blocked says why it cannot be used at all; "" if it can.
	Blocked string
	gauge.Summary
	// Last are the latest calls, oldest first.
	Last []gauge.Sample
}

// Status describes every tool, by name, also those that may not be used.
func (h *Host) Status() []ToolStatus {
	now := time.Now()
	var out []ToolStatus
	for _, e := range h.catalog.Load().entries {
		p := e.place(now)
		e.meter.mu.Lock()
		out = append(out, ToolStatus{
			Tool: e.Tool, Tier: p.tier, Why: p.why, Blocked: e.block,
			Summary: e.meter.gauge.Summary(now), Last: e.meter.gauge.Samples(),
		})
		e.meter.mu.Unlock()
	}
	return out
}
