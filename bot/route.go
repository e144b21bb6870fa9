package bot

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/mcp/routed"
	"github.com/glyphoxa/glyphoxa/npc"
)

// Routing says how tools are chosen for models that cannot reliably call them.
// The zero value takes the chooser's own word and skips what it is unsure of.
type Routing struct {
	// Reviewer is the stronger model that looks at every choice; nil is none.
	Reviewer engine.Model
	// Ask puts choices of low confidence before the DM instead of skipping them.
	Ask bool
	// Models says "native" or "routed" of models by a part of their names, in lower
	// case, for NPCs that leave it open. Others are told apart by what is known of
	// them; see [routed.Unreliable].
	Models map[string]string
}

// routes reports whether tools are chosen for the NPC's brain instead of being
// called by it.
func (t *Table) routes(c npc.Character, brain engine.Model) bool {
	name := strings.ToLower(brain.Name())
	mode := c.ToolChoice
	if mode == "" || mode == "auto" {
		for _, part := range slices.Sorted(maps.Keys(t.o.Routing.Models)) {
			if strings.Contains(name, part) {
				mode = t.o.Routing.Models[part]
			}
		}
	}
	switch mode {
	case "routed":
		return true
	case "native":
		return false
	}
	return routed.Unreliable(name)
}

// route has a tool chosen for the line and runs it, within the time of the tier.
// It returns what was found, for the brief.
func (t *Table) route(ctx context.Context, r *running, brain engine.Model, grant mcp.Grant, belt *mcp.Belt, known func(engine.Call, mcp.Result)) []string {
	ctx, cancel := context.WithTimeout(ctx, belt.Tier().Budget())
	defer cancel()
	router := routed.Router{
		Choose: func(ctx context.Context, p routed.Prompt) (string, error) { return choose(ctx, brain, p, belt.Tools()) },
		Call: func(ctx context.Context, c routed.Choice) mcp.Result {
			call := engine.Call{ID: "routed", Name: c.Tool, Args: c.Params}
			t.post(func() { t.watch(r, engine.ToolStarted{Call: call}, time.Now()) })
			res := belt.Call(ctx, c.Tool, c.Params)
			known(call, res)
			t.post(func() { t.watch(r, engine.ToolEnded{Call: call, Result: res}, time.Now()) })
			return res
		},
	}
	if m := t.o.Routing.Reviewer; m != nil {
		router.Review = func(ctx context.Context, p routed.Prompt) (string, error) { return choose(ctx, m, p, nil) }
	}
	if t.o.Routing.Ask {
		router.Ask = func(ctx context.Context, c routed.Choice) (bool, error) { return t.consult(ctx, r, grant, c) }
	}
	p := router.Packet(fmt.Sprintf("%s-%d", t.session, r.turn.ID), r.ask.line.Text, belt.Tools(), belt.Tier().Rounds())
	router.Route(ctx, p)
	for _, e := range p.Trail {
		t.log.Debug("routed", "packet", p.ID, "npc", r.npc, "step", e.Step, "why", e.Summary, "confidence", e.Confidence, "status", p.Status)
	}
	found := p.Found()
	if p.Status == routed.AwaitingConfidence && p.Selected != nil {
		found = append(slices.Clone(found), p.Selected.Tool+": waits for the game master's leave. It has not been done; do not say that it was.")
	}
	return found
}

// choose asks a brain for one JSON object.
func choose(ctx context.Context, brain engine.Model, p routed.Prompt, tools []mcp.Tool) (string, error) {
	temperature := p.Temperature
	req := engine.Request{
		System: p.System, Messages: []engine.Message{{Role: engine.User, Text: p.User}},
		MaxTokens: p.MaxTokens, Temperature: &temperature, JSON: true,
	}
	if strings.HasPrefix(brain.Name(), "the improviser") {
		req.Tools = tools // it fills in arguments from their schemas, which the prompt only sums up
	}
	var b strings.Builder
	for d, err := range brain.Stream(ctx, req) {
		if err != nil {
			return "", err
		}
		b.WriteString(d.Text)
		if b.Len() > engine.MaxReply {
			break
		}
	}
	return b.String(), nil
}
