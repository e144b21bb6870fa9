package main

import (
	"bufio"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/llm/improviser"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/mcp/routed"
)

// TestRoutedChoiceFindsTheRightTool runs a labelled set of requests through
// routed choice with the improviser for a model and the real tools.
func TestRoutedChoiceFindsTheRightTool(t *testing.T) {
	host, err := mcp.NewHost(mcp.HostOptions{})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := builtins(belongings{})
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Add(tools...); err != nil {
		t.Fatal(err)
	}
	belt := host.Belt(mcp.Grant{Allow: []string{"roll", "roll_table", "search_rules", "query_entities", "search_sessions"}, Tier: mcp.Standard})
	brain := improviser.New(improviser.Persona{Name: "Bartok the Barkeep"}, 1)

	f, err := os.Open("testdata/requests.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	right, all := 0, 0
	for sc := bufio.NewScanner(f); sc.Scan(); {
		request, want, ok := strings.Cut(sc.Text(), " | ")
		if !ok {
			continue
		}
		got := "-"
		r := routed.Router{
			Choose: func(ctx context.Context, p routed.Prompt) (string, error) {
				var b strings.Builder
				for d, err := range brain.Stream(ctx, engine.Request{
					System: p.System, JSON: true, Tools: belt.Tools(), Messages: []engine.Message{{Role: engine.User, Text: p.User}},
				}) {
					if err != nil {
						return "", err
					}
					b.WriteString(d.Text)
				}
				return b.String(), nil
			},
			Call: func(_ context.Context, c routed.Choice) mcp.Result {
				got = c.Tool
				return mcp.Result{Text: "done"}
			},
		}
		r.Route(t.Context(), r.Packet("t", request, belt.Tools(), 1))
		all++
		if got == want {
			right++
		} else {
			t.Logf("%q: %s, want %s", request, got, want)
		}
	}
	if all < 100 || right*100 < all*90 {
		t.Errorf("the right tool for %d of %d requests, want 90 of 100", right, all)
	}
}
