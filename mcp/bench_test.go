package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp/jail"
	"github.com/glyphoxa/glyphoxa/mcp/mcptest"
	"github.com/glyphoxa/glyphoxa/mcp/toon"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// BenchmarkServerCall is a call of a server's tool through the host, beside the
// same call on the SDK alone.
func BenchmarkServerCall(b *testing.B) {
	args := json.RawMessage(`{"text":"hello"}`)
	b.Run("host", func(b *testing.B) {
		h := newTestHost(b, HostOptions{Limits: Limits{ToolSteps: 1000}})
		if err := h.Connect(b.Context(), []ServerConfig{faulty("a", mcptest.Script{})}); err != nil {
			b.Fatal(err)
		}
		if err := h.Ready(b.Context()); err != nil {
			b.Fatal(err)
		}
		belt := h.Belt(all)
		b.ReportAllocs()
		for b.Loop() {
			belt.steps.Store(0)
			if r := belt.Call(b.Context(), "a__echo", args); r.Err != nil {
				b.Fatal(r.Err)
			}
		}
	})
	b.Run("sdk", func(b *testing.B) {
		env := []string{}
		for k, v := range (mcptest.Script{}).Env() {
			env = append(env, k+"="+v)
		}
		child, err := jail.Start(jail.Spec{Argv: mcptest.Command(), Env: env, Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = child.Close() }()
		c := sdk.NewClient(&sdk.Implementation{Name: "bare"}, nil)
		s, err := c.Connect(b.Context(), &sdk.IOTransport{Reader: child.Out, Writer: child.In}, &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.CallTool(b.Context(), &sdk.CallToolParams{Name: "echo", Arguments: args}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkStart20Servers is the time until all of 20 servers are up, two of which
// are dead and silent and not waited for.
func BenchmarkStart20Servers(b *testing.B) {
	for b.Loop() {
		h, err := NewHost(HostOptions{})
		if err != nil {
			b.Fatal(err)
		}
		servers := []ServerConfig{faulty("dead", mcptest.Script{Start: "exit"}), faulty("silent", mcptest.Script{Start: "silent"})}
		for i := range 18 {
			servers = append(servers, faulty(fmt.Sprintf("s%d", i), mcptest.Script{}))
		}
		ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
		if err := h.Connect(ctx, servers); err != nil {
			b.Fatal(err)
		}
		for up := 0; up < 18; time.Sleep(time.Millisecond) {
			up = 0
			for _, s := range h.Servers() {
				if s.State == Up {
					up++
				}
			}
			if ctx.Err() != nil {
				b.Fatal("not all servers are up within a minute")
			}
		}
		b.StopTimer()
		cancel()
		_ = h.Close()
		b.StartTimer()
	}
}

// catalogue is 50 tools as JSON.
func catalogue(b *testing.B) (list, schemas []byte) {
	b.Helper()
	type row struct {
		Name   string `json:"name"`
		Does   string `json:"does"`
		Params string `json:"params"`
	}
	var rows []row
	var tools []Tool
	for i := range 50 {
		t := mcptest.Tools()[i%len(mcptest.Tools())]
		schema, err := json.Marshal(t.InputSchema)
		if err != nil {
			b.Fatal(err)
		}
		rows = append(rows, row{fmt.Sprintf("s%d__%s", i, t.Name), t.Description, fmt.Sprint(params(schema))})
		tools = append(tools, Tool{Name: rows[i].Name, Description: t.Description, Schema: schema})
	}
	list, err := json.Marshal(rows)
	if err != nil {
		b.Fatal(err)
	}
	if schemas, err = json.Marshal(tools); err != nil {
		b.Fatal(err)
	}
	return list, schemas
}

// BenchmarkTOON encodes and decodes a list of 50 tools, and reports how it compares
// with JSON in bytes: lists gain, schemas lose, which is why they are never sent so.
func BenchmarkTOON(b *testing.B) {
	list, schemas := catalogue(b)
	doc, err := toon.Encode(list, toon.EncodeOptions{})
	if err != nil {
		b.Fatal(err)
	}
	full, err := toon.Encode(schemas, toon.EncodeOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("encode", func(b *testing.B) {
		for b.Loop() {
			if _, err := toon.Encode(list, toon.EncodeOptions{}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(100*float64(len(doc))/float64(len(list)), "%-of-JSON-list")
		b.ReportMetric(100*float64(len(full))/float64(len(schemas)), "%-of-JSON-schemas")
	})
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			if _, err := toon.Decode(doc, toon.DecodeOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkCatalogueTokens reports what 128 tools cost a model: all of them, those
// of one tier, and with find_tools.
func BenchmarkCatalogueTokens(b *testing.B) {
	cost := func(lazy int, t Tier) float64 {
		h := newTestHost(b, HostOptions{LazyAbove: lazy})
		fast := Fast
		c := faulty("a", mcptest.Script{Extra: 100})
		c.Tools = map[string]ToolConfig{"echo": {Tier: &fast}, "count": {Tier: &fast}, "refuse": {Tier: &fast}}
		if err := h.Connect(b.Context(), []ServerConfig{c}); err != nil {
			b.Fatal(err)
		}
		if err := h.Ready(b.Context()); err != nil {
			b.Fatal(err)
		}
		g := all
		g.Tier = t
		n := 0
		for _, t := range h.Belt(g).Tools() {
			n += t.Tokens()
		}
		return float64(n)
	}
	full, tiered, lazy := cost(0, Deep), cost(0, Fast), cost(1000, Deep)
	for b.Loop() {
		_ = full // nothing to time: the figures are below
	}
	b.ReportMetric(full, "tokens-full")
	b.ReportMetric(tiered, "tokens-tiered")
	b.ReportMetric(lazy, "tokens-lazy")
}
