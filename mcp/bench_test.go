package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp/jail"
	"github.com/glyphoxa/glyphoxa/mcp/link"
	"github.com/glyphoxa/glyphoxa/mcp/mcptest"
	"github.com/glyphoxa/glyphoxa/mcp/toon"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// BenchmarkCall is a call of a tool through the host, beside the same call on the
// SDK alone, over each transport.
func BenchmarkCall(b *testing.B) {
	text := json.RawMessage(`{"text":"hello"}`)
	var n atomic.Int64
	host := func(b *testing.B, tool string, args json.RawMessage, c ...ServerConfig) {
		h := newTestHost(b, HostOptions{Limits: Limits{ToolSteps: 1000}}, echo("roll", &n, nil))
		if err := h.Connect(b.Context(), c); err != nil {
			b.Fatal(err)
		}
		if err := h.Ready(b.Context()); err != nil {
			b.Fatal(err)
		}
		belt := h.Belt(Grant{Allow: []string{"roll", "a__*"}, Tier: Deep})
		b.ReportAllocs()
		for b.Loop() {
			belt.steps.Store(0)
			if r := belt.Call(b.Context(), tool, args); r.Err != nil {
				b.Fatal(r.Err)
			}
		}
	}
	bare := func(b *testing.B, tool string, args json.RawMessage, t sdk.Transport) {
		s, err := sdk.NewClient(&sdk.Implementation{Name: "bare"}, nil).Connect(b.Context(), t, &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.CallTool(b.Context(), &sdk.CallToolParams{Name: tool, Arguments: args}); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("in-process/host", func(b *testing.B) { host(b, "roll", expr) })
	b.Run("in-process/sdk", func(b *testing.B) {
		s := sdk.NewServer(&sdk.Implementation{Name: "t"}, nil)
		s.AddTool(&sdk.Tool{Name: "roll", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "7"}}}, nil
		})
		near, far := sdk.NewInMemoryTransports()
		if _, err := s.Connect(b.Context(), far, nil); err != nil {
			b.Fatal(err)
		}
		bare(b, "roll", expr, near)
	})
	b.Run("stdio/host", func(b *testing.B) { host(b, "a__echo", text, faulty("a", mcptest.Script{})) })
	b.Run("stdio/sdk", func(b *testing.B) {
		env := []string{}
		for k, v := range (mcptest.Script{}).Env() {
			env = append(env, k+"="+v)
		}
		child, err := jail.Start(jail.Spec{Argv: mcptest.Command(), Env: env, Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = child.Close() }()
		bare(b, "echo", text, &sdk.IOTransport{Reader: child.Out, Writer: child.In})
	})
	b.Run("http/host", func(b *testing.B) {
		r := newRemote(b)
		host(b, "a__double", json.RawMessage(`{"n":1}`), ServerConfig{Name: "a", Transport: StreamableHTTP, URL: r.URL, Trusted: true, Era: link.LegacyEra})
	})
	b.Run("http/sdk", func(b *testing.B) {
		bare(b, "double", json.RawMessage(`{"n":1}`), &sdk.StreamableClientTransport{Endpoint: newRemote(b).URL})
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

// catalogue is 50 published tools as JSON: as a list shows them, and whole.
func catalogue(b *testing.B) (list, schemas []byte) {
	b.Helper()
	var rows []row
	var tools []Tool
	for _, p := range publishedServers(b) {
		for _, x := range p.Tools {
			t := p.tool(b, x)
			tools, rows = append(tools, t), append(rows, rowOf(t))
		}
	}
	list, err := json.Marshal(rows[:50])
	if err != nil {
		b.Fatal(err)
	}
	if schemas, err = json.Marshal(tools[:50]); err != nil {
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

// BenchmarkCatalogueTokens reports what 145 published tools cost a model in tokens,
// counted: all of them; what is on a belt of each tier, where servers on this machine
// are quick and those that drive a browser or ask the network are not; and with
// find_tools, before and after a search.
func BenchmarkCatalogueTokens(b *testing.B) {
	tiers := map[string]Tier{"everything": Fast, "filesystem": Fast, "memory": Fast, "thinking": Fast, "github": Standard, "notion": Standard}
	var servers []ServerConfig
	var allow []string
	var full []Tool
	for _, p := range publishedServers(b) {
		c := faulty(p.Server, mcptest.Script{Tools: p.Tools})
		c.Tools = map[string]ToolConfig{}
		for _, x := range p.Tools {
			if t, ok := tiers[p.Server]; ok {
				c.Tools[x.Name] = ToolConfig{Tier: &t}
			}
			full = append(full, p.tool(b, x))
		}
		servers, allow = append(servers, c), append(allow, p.Server+"__*")
	}
	belt := func(lazy int, t Tier) *Belt {
		h := newTestHost(b, HostOptions{LazyAbove: lazy})
		if err := h.Connect(b.Context(), servers); err != nil {
			b.Fatal(err)
		}
		if err := h.Ready(b.Context()); err != nil {
			b.Fatal(err)
		}
		return h.Belt(Grant{Allow: allow, Tier: t})
	}
	lazy := belt(4000, Deep)
	before := counted(b, lazy.Tools())
	if r := lazy.Call(b.Context(), FindTools, json.RawMessage(`{"query":"read a text file"}`)); r.Err != nil {
		b.Fatal(r.Err)
	}
	after := counted(b, lazy.Tools())
	fast, standard, deep := counted(b, belt(0, Fast).Tools()), counted(b, belt(0, Standard).Tools()), counted(b, belt(0, Deep).Tools())
	for b.Loop() {
		_ = full // nothing to time: the figures are below
	}
	b.ReportMetric(float64(counted(b, full)), "tokens-full")
	b.ReportMetric(float64(fast), "tokens-fast")
	b.ReportMetric(float64(standard), "tokens-standard")
	b.ReportMetric(float64(deep), "tokens-deep-120-tools")
	b.ReportMetric(float64(before), "tokens-lazy")
	b.ReportMetric(float64(after), "tokens-lazy-after-a-search")
}
