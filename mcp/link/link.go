// Package link is one connection to one server that speaks the Model Context
// Protocol: as a child process, over streamable HTTP or over the older SSE
// transport, in either era of the protocol.
//
// # Promises
//
//   - Connecting ends with ctx, whatever the server does or does not say.
//   - [Link.Call] returns when ctx ends, even if the server reads nothing any more.
//   - What a server prints that is no message is skipped. A message longer than
//     1 MiB is skipped without being held. After three messages that are broken
//     the connection ends.
//   - A flood of notifications is cut to 1,000 at once and 200 a second.
//   - Closing a link ends the child process and everything it started.
//
// Restarting, trusting and measuring servers is up to whoever holds the link.
package link

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds on what a server may send.
const (
	// MaxMessage is the longest message, in bytes.
	MaxMessage = 1 << 20
	// MaxTools is how many tools a server may offer; further ones are ignored.
	MaxTools = 128
	maxPages = 64
	// maxCalls is how many calls a server is given at once.
	maxCalls = 8
)

// legacy is the protocol's last version before it became stateless. Every server
// seen so far speaks it or an older one.
const legacy = "2025-11-25"

// An Era says which kind of the protocol to speak.
type Era string

const (
	// AutoEra finds out: child processes are first spoken to as old servers, since
	// an old one may fall silent at a new one's greeting, and HTTP servers as new
	// ones.
	AutoEra Era = "auto"
	// LegacyEra is 2025-11-25 and before.
	LegacyEra Era = "legacy"
	// ModernEra is 2026-07-28 and after.
	ModernEra Era = "modern"
)

// Options say how to connect. The zero value is useful.
type Options struct {
	// Version is our own, told to servers.
	Version string
	// Log receives what goes wrong below the protocol. Nil discards it.
	Log *slog.Logger
	// Era defaults to AutoEra.
	Era Era
	// ToolsChanged is called, without delay or limit, when the server says that
	// its tools changed.
	ToolsChanged func()
	// Elicit answers a server's question to the user. Nil tells servers that
	// nobody can be asked: right in a conversation with a clock.
	Elicit func(ctx context.Context, message string) (accept bool, content map[string]any)
	// Extensions are declared to the server.
	Extensions []string
}

// Info is what is known about the other end.
type Info struct {
	Name, Version, Protocol string
	// Confinement says what holds a child process; "" for others.
	Confinement string
}

// A Link is an open connection. It is safe for concurrent use.
type Link struct {
	Info
	session *sdk.ClientSession
	calls   chan struct{} // one token per running call
	log     *slog.Logger

	closeOnce sync.Once
	close     func()
	done      chan struct{}
	tasks     sync.WaitGroup
}

// ErrGone means that the connection is over: the server ended, or forgot the
// session.
var ErrGone = errors.New("server gone")

// open connects over t. shut is called at most once, to end what is below t.
func open(ctx context.Context, t sdk.Transport, version string, o Options, shut func()) (*Link, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	co := &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{}, // the default would offer roots
		Logger:       slog.New(slog.DiscardHandler),
	}
	for _, x := range o.Extensions {
		co.Capabilities.AddExtension(x, nil)
	}
	if o.ToolsChanged != nil {
		co.ToolListChangedHandler = func(context.Context, *sdk.ToolListChangedRequest) { o.ToolsChanged() }
	}
	if o.Elicit != nil {
		co.ElicitationHandler = func(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			ok, content := o.Elicit(ctx, r.Params.Message)
			if !ok {
				return &sdk.ElicitResult{Action: "decline"}, nil
			}
			return &sdk.ElicitResult{Action: "accept", Content: content}, nil
		}
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "glyphoxa", Version: o.Version}, co)
	var once sync.Once
	end := func() { once.Do(shut) }
	// A connection attempt that is over must not leave a process behind.
	stop := context.AfterFunc(ctx, end)
	session, err := client.Connect(ctx, t, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		end()
		if session != nil {
			_ = session.Close()
		}
		return nil, err
	}
	l := &Link{session: session, calls: make(chan struct{}, maxCalls), log: o.Log, done: make(chan struct{})}
	if r := session.InitializeResult(); r != nil {
		l.Protocol = r.ProtocolVersion
		if r.ServerInfo != nil {
			l.Name, l.Version = r.ServerInfo.Name, r.ServerInfo.Version
		}
	}
	l.close = end
	l.tasks.Go(func() {
		_ = session.Wait()
		close(l.done)
	})
	return l, nil
}

// Done is closed when the connection has ended, by whichever side.
func (l *Link) Done() <-chan struct{} { return l.done }

// Close ends the connection, and the child process if there is one, and returns
// when both are gone: within 6 seconds.
func (l *Link) Close() {
	l.closeOnce.Do(func() {
		closed := make(chan struct{})
		l.tasks.Go(func() {
			_ = l.session.Close() // may wait for an HTTP server to answer
			close(closed)
		})
		select {
		case <-closed:
		case <-time.After(500 * time.Millisecond):
		}
		l.close()
		<-closed
	})
	l.tasks.Wait()
}

// A Tool is a tool as its server describes it. All of it is a claim.
type Tool struct {
	Name, Title, Description string
	Schema, OutputSchema     json.RawMessage
	ReadOnly, Idempotent     bool
	// Destructive and OpenWorld are true where the server does not deny it.
	Destructive, OpenWorld bool
	// Annotated is set if the server said anything about the four above.
	Annotated bool
	Meta      map[string]any
}

// Tools lists the server's tools in its order, at most [MaxTools]; more says that
// there were more.
func (l *Link) Tools(ctx context.Context) (tools []Tool, more bool, err error) {
	cursor := ""
	for range maxPages {
		r, err := l.session.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, false, l.explain(err)
		}
		for _, t := range r.Tools {
			if len(tools) == MaxTools {
				return tools, true, nil
			}
			x, err := fromSDK(t)
			if err != nil {
				l.log.Warn("tool ignored", "tool", t.Name, "err", err)
				continue
			}
			tools = append(tools, x)
		}
		if cursor = r.NextCursor; cursor == "" {
			return tools, false, nil
		}
	}
	return tools, true, nil
}

func fromSDK(t *sdk.Tool) (Tool, error) {
	x := Tool{Name: t.Name, Title: t.Title, Description: t.Description, Destructive: true, OpenWorld: true, Meta: t.Meta}
	var err error
	if x.Schema, err = json.Marshal(t.InputSchema); err != nil {
		return Tool{}, err
	}
	if t.OutputSchema != nil {
		if x.OutputSchema, err = json.Marshal(t.OutputSchema); err != nil {
			return Tool{}, err
		}
	}
	if a := t.Annotations; a != nil {
		x.Annotated = true
		x.ReadOnly, x.Idempotent = a.ReadOnlyHint, a.IdempotentHint
		if a.DestructiveHint != nil {
			x.Destructive = *a.DestructiveHint
		}
		if a.OpenWorldHint != nil {
			x.OpenWorld = *a.OpenWorldHint
		}
		if x.Title == "" {
			x.Title = a.Title
		}
	}
	return x, nil
}

// An Answer is a tool's result.
type Answer struct {
	// Text is what a model can read of it.
	Text string
	// Structured is the structured result, or nil.
	Structured json.RawMessage
	// Refused says that the tool reported an error of its own.
	Refused bool
}

// Call runs a tool. It returns when ctx ends, with its cause, whatever the server
// does; the server is told that nobody waits any more.
func (l *Link) Call(ctx context.Context, name string, args json.RawMessage) (Answer, error) {
	select {
	case l.calls <- struct{}{}:
	case <-ctx.Done():
		return Answer{}, context.Cause(ctx)
	}
	type outcome struct {
		r   *sdk.CallToolResult
		err error
	}
	got := make(chan outcome, 1) // so that a call nobody waits for can end
	l.tasks.Go(func() {
		defer func() { <-l.calls }()
		r, err := l.session.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: args})
		got <- outcome{r, err}
	})
	select {
	case o := <-got:
		if o.err != nil {
			if ctx.Err() != nil {
				return Answer{}, context.Cause(ctx)
			}
			if refusal, ok := errors.AsType[*jsonrpc.Error](o.err); ok && !errors.Is(o.err, sdk.ErrConnectionClosed) {
				// The server is well; it does not like the request.
				return Answer{Text: refusal.Message, Refused: true}, nil
			}
			return Answer{}, l.explain(o.err)
		}
		return toAnswer(o.r)
	case <-ctx.Done():
		return Answer{}, context.Cause(ctx)
	}
}

// explain marks errors that mean the end of the connection.
func (l *Link) explain(err error) error {
	if errors.Is(err, sdk.ErrConnectionClosed) || errors.Is(err, sdk.ErrSessionMissing) || errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	return err
}
