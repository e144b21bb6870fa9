package mcp

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/glyphoxa/glyphoxa/mcp/mcptest"
	"github.com/tiktoken-go/tokenizer"
)

// A published server is one that anybody can install, and the tools it offers.
// testdata/published.json holds 145 tools of eight; NOTICE says whose they are.
type published struct {
	Server string
	Tools  []mcptest.Tool
}

func publishedServers(t testing.TB) []published {
	t.Helper()
	b, err := os.ReadFile("testdata/published.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []published
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, s := range list {
		n += len(s.Tools)
	}
	if n != 145 {
		t.Fatalf("%d tools, want 145", n)
	}
	return list
}

// tool is how a model would be offered a published tool.
func (p published) tool(t testing.TB, x mcptest.Tool) Tool {
	t.Helper()
	schema, err := json.Marshal(x.InputSchema)
	if err != nil {
		t.Fatal(err)
	}
	return Tool{Name: publicName(p.Server, x.Name), Description: x.Description, Schema: schema}
}

// counted is what declarations cost a model that reads with o200k, as those of
// OpenAI do: the vocabulary is part of the package, and nothing is fetched.
func counted(t testing.TB, tools []Tool) (tokens int) {
	t.Helper()
	c, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range tools {
		b, err := json.Marshal(map[string]any{"name": x.Name, "description": x.Description, "parameters": x.Schema})
		if err != nil {
			t.Fatal(err)
		}
		n, err := c.Count(string(b))
		if err != nil {
			t.Fatal(err)
		}
		tokens += n
	}
	return tokens
}

// The program itself only estimates: a vocabulary would add 12 MB to it and be that
// of one vendor, and all it decides is when a catalogue is long.
func TestTokensAreEstimatedNearToACount(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIP: short: loading a vocabulary takes a while")
	}
	sum, sumCounted := 0, 0
	off := func(estimate, count int) float64 { return math.Abs(float64(estimate)/float64(count) - 1) }
	for _, p := range publishedServers(t) {
		server, serverCounted := 0, 0
		for _, x := range p.Tools {
			tool := p.tool(t, x)
			n := counted(t, []Tool{tool})
			if d := off(tool.Tokens(), n); d > 0.2 {
				t.Errorf("%s: estimated %d, counted %d", tool.Name, tool.Tokens(), n)
			}
			server, serverCounted = server+tool.Tokens(), serverCounted+n
		}
		if off(server, serverCounted) > 0.1 {
			t.Errorf("%s: estimated %d, counted %d", p.Server, server, serverCounted)
		}
		sum, sumCounted = sum+server, sumCounted+serverCounted
	}
	if off(sum, sumCounted) > 0.02 {
		t.Errorf("all: estimated %d, counted %d", sum, sumCounted)
	}
}
