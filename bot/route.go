package bot

import (
	"context"
	"fmt"
	"strings"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/mcp/routed"
	"github.com/glyphoxa/glyphoxa/npc"
)

// routes reports whether tools are chosen for the NPC's brain instead of being
// called by it.
func routes(c npc.Character, brain engine.Model) bool {
	switch c.ToolChoice {
	case "routed":
		return true
	case "native":
		return false
	}
	return routed.Unreliable(brain.Name())
}

// route has a tool chosen for the line and runs it, within the time of the tier.
// It returns what was found, for the brief.
func (t *Table) route(ctx context.Context, r *running, brain engine.Model, belt *mcp.Belt, known func(engine.Call, mcp.Result)) []string {
	ctx, cancel := context.WithTimeout(ctx, belt.Tier().Budget())
	defer cancel()
	router := routed.Router{
		Choose: func(ctx context.Context, p routed.Prompt) (string, error) { return choose(ctx, brain, p, belt.Tools()) },
		Call: func(ctx context.Context, c routed.Choice) mcp.Result {
			call := engine.Call{ID: "routed", Name: c.Tool, Args: c.Params}
			t.post(func() { t.watch(r, engine.ToolStarted{Call: call}) })
			res := belt.Call(ctx, c.Tool, c.Params)
			known(call, res)
			t.post(func() { t.watch(r, engine.ToolEnded{Call: call, Result: res}) })
			return res
		},
	}
	p := router.Packet(fmt.Sprintf("%s-%d", t.session, r.turn.ID), r.ask.line.Text, belt.Tools(), belt.Tier().Rounds())
	router.Route(ctx, p)
	for _, e := range p.Trail {
		t.log.Debug("routed", "packet", p.ID, "npc", r.npc, "step", e.Step, "confidence", e.Confidence, "status", p.Status)
	}
	return p.Found()
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
