package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp/link"
	"github.com/glyphoxa/glyphoxa/mcp/trust"
)

// maxDescription is how much of a description a model is shown. The longest useful
// one among 145 published tools has 3 KiB.
const maxDescription = 4 << 10

// adopt turns a server's tools into entries. What it says about them is a claim:
// whether it is believed is decided here, and nowhere else.
func (s *server) adopt(tools []link.Tool, l *link.Link) ([]*entry, error) {
	var defs []trust.Definition
	seen := map[string]bool{}
	for _, t := range tools {
		if !seen[t.Name] {
			seen[t.Name] = true
			defs = append(defs, definition(t))
		}
	}
	verdicts, err := s.host.pins.Check(s.cfg.Name, defs)
	if err != nil {
		return nil, fmt.Errorf("remember its tools: %w", err)
	}
	var entries []*entry
	byName := map[string]bool{}
	for _, t := range tools {
		e := s.adoptOne(t, l)
		if byName[e.Name] {
			s.log.Warn("server offers a tool twice; the second is ignored", "tool", e.Name)
			continue
		}
		byName[e.Name] = true
		switch v := verdicts[t.Name]; v {
		case trust.New, trust.Changed:
			if e.block == "" {
				e.block = fmt.Sprintf("its definition is %s and waits for approval (glyphoxa tools approve %s)", v, s.cfg.Name)
			}
			s.host.record(CallRecord{Tool: e.Name, Server: s.cfg.Name, Outcome: Changed, Error: string(v)})
		case trust.First:
			s.host.record(CallRecord{Tool: e.Name, Server: s.cfg.Name, Outcome: Pinned})
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func (s *server) adoptOne(t link.Tool, l *link.Link) *entry {
	over := s.cfg.Tools[t.Name]
	claims := latencyClaims(t.Meta)
	description, _ := cut(clean(t.Description), maxDescription)
	title, _ := cut(clean(t.Title), 100)
	x := Tool{
		Name: publicName(s.cfg.Name, t.Name), Server: s.cfg.Name, Title: title, Description: description,
		Schema: t.Schema, Category: s.cfg.category(),
		Estimated: claims.estimated, Max: claims.max,
		// Nothing said means the worst.
		Destructive: true, OpenWorld: true,
	}
	if over.Description != "" {
		x.Description = over.Description
	}
	if s.cfg.Trusted {
		x.ReadOnly = t.ReadOnly
		x.Idempotent = t.Idempotent || t.ReadOnly || claims.idempotent
		x.Destructive, x.OpenWorld = t.Destructive && !t.ReadOnly, t.OpenWorld
		x.Cache = claims.cache
	}
	if over.ReadOnly != nil {
		x.ReadOnly = *over.ReadOnly
		x.Idempotent = x.Idempotent || x.ReadOnly
		x.Destructive = x.Destructive && !x.ReadOnly
	}
	if over.Idempotent != nil {
		x.Idempotent = *over.Idempotent
	}
	if over.Cache > 0 {
		x.Cache = over.Cache
	}
	x.Writes = !x.ReadOnly

	e := &entry{
		Tool: x, tier: over.Tier, taints: !s.cfg.Trusted || x.OpenWorld,
		retry: x.ReadOnly || x.Idempotent,
		meter: s.host.meter(s.cfg.Name, strings.TrimSpace(l.Name+" "+l.Version), t.Name, s.cfg.category()),
		probe: over.Probe, remote: t.Name,
	}
	if oauth := s.oauth; oauth != nil && len(over.RequiredScopes) > 0 {
		e.lacks = func() []string { return oauth.Missing(over.RequiredScopes) }
	}
	for _, d := range []time.Duration{s.cfg.Timeout, over.Max, claims.max} {
		if d > 0 && (e.limit == 0 || d < e.limit) {
			e.limit = d
		}
	}
	if claims.estimated > 0 {
		tier := tierFor(claims.estimated)
		if s.cfg.Trusted {
			e.declared = &tier
		} else {
			e.atLeast = &tier
		}
	}
	e.hash = definitionHash(e.Tool) + "/" + definition(t).Hash
	var err error
	if e.args, err = compileArgs(t.Schema); err != nil {
		e.block = "its description cannot be used: " + err.Error()
	}
	if over.Disabled {
		e.block = "switched off in the configuration"
	}
	output := compileOutput(t.OutputSchema)
	e.run = func(ctx context.Context, _ Caller, args json.RawMessage) (answer, error) {
		a, err := s.call(ctx, t.Name, args)
		if err != nil {
			return answer{}, err
		}
		return s.host.readable(a, output), nil
	}
	return e
}

// definition is what is pinned of a tool: everything its server said about it.
func definition(t link.Tool) trust.Definition {
	b, err := json.MarshalIndent(struct {
		Name, Title, Description string
		Schema, Output           any
		ReadOnly, Idempotent     bool
		Destructive, OpenWorld   bool
		Meta                     map[string]any
	}{t.Name, t.Title, t.Description, decoded(t.Schema), decoded(t.OutputSchema), t.ReadOnly, t.Idempotent, t.Destructive, t.OpenWorld, t.Meta}, "", "  ")
	if err != nil {
		b = []byte(t.Name) // cannot happen: all of it came from JSON
	}
	sum := sha256.Sum256(b)
	text, _ := cut(clean(string(b)), 16<<10)
	return trust.Definition{Tool: t.Name, Hash: hex.EncodeToString(sum[:16]), Text: text}
}

// decoded gives JSON a canonical order.
func decoded(j json.RawMessage) any {
	var v any
	if len(j) == 0 || json.Unmarshal(j, &v) != nil {
		return string(j)
	}
	return v
}

// LatencyKey is where a server may say in a tool's _meta how long it takes:
//
//	"_meta": {"io.github.glyphoxa/latency": {
//	    "estimatedDurationMs": 15, "maxDurationMs": 50, "cacheableSeconds": 60}}
//
// The flat names estimated_duration_ms, max_duration_ms, cacheable_seconds and
// idempotent directly in _meta are understood too.
const LatencyKey = "io.github.glyphoxa/latency"

type claims struct {
	estimated, max, cache time.Duration
	idempotent            bool
}

// latencyClaims reads what a server says about a tool's speed. Nonsense is as good
// as nothing.
func latencyClaims(meta map[string]any) claims {
	var c claims
	number := func(m map[string]any, key string, unit time.Duration) time.Duration {
		f, ok := m[key].(float64)
		if !ok || !(f > 0 && f <= 1e7) {
			return 0
		}
		return time.Duration(f * float64(unit))
	}
	c.estimated = number(meta, "estimated_duration_ms", time.Millisecond)
	c.max = number(meta, "max_duration_ms", time.Millisecond)
	c.cache = number(meta, "cacheable_seconds", time.Second)
	c.idempotent, _ = meta["idempotent"].(bool)
	if m, ok := meta[LatencyKey].(map[string]any); ok {
		if d := number(m, "estimatedDurationMs", time.Millisecond); d > 0 {
			c.estimated = d
		}
		if d := number(m, "maxDurationMs", time.Millisecond); d > 0 {
			c.max = d
		}
		if d := number(m, "cacheableSeconds", time.Second); d > 0 {
			c.cache = d
		}
	}
	const longest = 24 * time.Hour // nothing at a table stays true for longer
	c.cache = min(c.cache, longest)
	return c
}

// serverOf is the server a public tool name belongs to.
func serverOf(tool string) string {
	server, _, ok := strings.Cut(tool, separator)
	if !ok {
		return ""
	}
	return server
}
