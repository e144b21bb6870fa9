// Package serve offers tools to others as a server of the Model Context Protocol,
// over standard input and output or over HTTP.
//
// What is offered is a belt, so everything a belt promises holds for strangers too:
// arguments are checked, calls are bounded in time and size, and tools that change
// anything do nothing unless the operator allows it.
package serve

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp"
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

const (
	maxRequest = 256 << 10
	idle       = 2 * time.Minute
	// goodbye is how long open requests get when the server ends.
	goodbye = 3 * time.Second
)

// server declares the tools that the host has now.
func server(h *mcp.Host, o Options) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "glyphoxa", Title: "Glyphoxa's tools", Version: o.Version}, &sdk.ServerOptions{
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}, // nothing else, and it does not change
	})
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

// HTTP serves clients at /mcp on l until ctx ends.
func HTTP(ctx context.Context, h *mcp.Host, l net.Listener, o Options) error {
	if o.Token == "" && !loopback(l.Addr()) {
		return fmt.Errorf("%s can be reached from other machines: a token is needed", l.Addr())
	}
	s := server(h, o)
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{
		// No call depends on another, so there are no sessions to keep.
		Stateless: true, MaxRequestBodyBytes: maxRequest,
	})
	mux := http.NewServeMux()
	mux.Handle("/mcp", http.NewCrossOriginProtection().Handler(bearer(o.Token, handler)))
	srv := &http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: idle, MaxHeaderBytes: 16 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	ended := make(chan error, 1) // so that the goroutine below can end
	go func() { ended <- srv.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	defer cancel()
	err := srv.Shutdown(last)
	if errors.Is(err, context.DeadlineExceeded) {
		err = srv.Close() // streams stay open for as long as a client likes
	}
	if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// bearer asks for the token, if there is one.
func bearer(token string, next http.Handler) http.Handler {
	if token == "" {
		return next
	}
	want := []byte("Bearer " + token)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), want) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a bearer token is needed", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func loopback(a net.Addr) bool {
	t, ok := a.(*net.TCPAddr)
	return ok && t.IP.IsLoopback()
}
