// Package serve offers tools to others as a server of the Model Context Protocol,
// over standard input and output or over HTTP.
//
// What is offered is a belt, so everything a belt promises holds for strangers too:
// arguments are checked, calls are bounded in time and size, and tools that change
// anything do nothing unless the operator allows it.
package serve

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"

	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options say what is offered and how.
type Options struct {
	// Grant is what callers may use; its tier is the time they get.
	Grant mcp.Grant
	// Version is the program's.
	Version string
	// Token is asked of HTTP clients as a bearer token. "" asks nothing, and then
	// the address must be on this machine.
	Token string
	// Log receives what goes wrong. Nil discards it.
	Log *slog.Logger
}

// maxRequest bounds one message: arguments of 64 KiB and all around them.
const maxRequest = 256 << 10

// server declares the tools that the host has now.
func server(h *mcp.Host, o Options) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "glyphoxa", Title: "Glyphoxa's tools", Version: o.Version}, &sdk.ServerOptions{
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}, // nothing else, and it does not change
	})
	s.AddReceivingMiddleware(toolsOnly)
	for _, t := range h.Belt(o.Grant).Tools() {
		s.AddTool(&sdk.Tool{
			Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.Schema,
			Annotations: &sdk.ToolAnnotations{
				ReadOnlyHint: t.ReadOnly, IdempotentHint: t.Idempotent,
				DestructiveHint: &t.Destructive, OpenWorldHint: &t.OpenWorld,
			},
			Meta: latency(t),
		}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			// A belt is for one turn, and here each call is one.
			res := h.Belt(o.Grant).Call(ctx, t.Name, r.Params.Arguments)
			return &sdk.CallToolResult{
				IsError: res.Err != nil,
				Content: []sdk.Content{&sdk.TextContent{Text: res.Text}},
			}, nil
		})
	}
	return s
}

// toolsOnly refuses what belongs to capabilities that are not declared. The SDK
// would answer with empty lists, and a client could not tell "none" from "never".
func toolsOnly(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		switch family, _, _ := strings.Cut(method, "/"); family {
		case "prompts", "resources", "completion", "logging":
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: method + ": this server has tools only"}
		}
		return next(ctx, method, r)
	}
}

// latency says how long a tool takes, in the place where we look for it ourselves.
func latency(t mcp.Tool) sdk.Meta {
	if t.Estimated <= 0 {
		return nil
	}
	m := map[string]any{"estimatedDurationMs": t.Estimated.Milliseconds()}
	if t.Max > 0 {
		m["maxDurationMs"] = t.Max.Milliseconds()
	}
	if t.Cache > 0 {
		m["cacheableSeconds"] = int(t.Cache.Seconds())
	}
	return sdk.Meta{mcp.LatencyKey: m}
}

// Stdio serves one client over in and out until in or ctx ends.
func Stdio(ctx context.Context, h *mcp.Host, in io.Reader, out io.Writer, o Options) error {
	s := server(h, o)
	t := &sdk.IOTransport{Reader: io.NopCloser(in), Writer: nopCloser{out}, MaxLineLength: maxRequest}
	if err := s.Run(ctx, t); ctx.Err() == nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil // the client left, or we are asked to
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
