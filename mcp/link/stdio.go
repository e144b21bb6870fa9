package link

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/glyphoxa/glyphoxa/mcp/jail"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Command starts a server as a confined child process and connects to it. Its
// standard error goes to the log and, where the server ends at once, into the
// error.
func Command(ctx context.Context, s jail.Spec, o Options) (*Link, error) {
	switch o.Era {
	case LegacyEra:
		return command(ctx, s, o, legacy)
	case ModernEra:
		return command(ctx, s, o, "")
	}
	l, err := command(ctx, s, o, legacy)
	if ctx.Err() == nil && err != nil && refusedEra(err) {
		// It knows the protocol, and no longer this version of it.
		return command(ctx, s, o, "")
	}
	return l, err
}

// refusedEra reports whether a server answered our greeting with "not this way".
func refusedEra(err error) bool {
	e, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok {
		return strings.Contains(err.Error(), "unsupported protocol version")
	}
	switch e.Code {
	case -32022, -32021, jsonrpc.CodeMethodNotFound, jsonrpc.CodeInvalidRequest, jsonrpc.CodeInvalidParams:
		return true
	}
	return false
}

func command(ctx context.Context, s jail.Spec, o Options, version string) (*Link, error) {
	last := &tail{also: s.Stderr}
	s.Stderr = last
	child, err := jail.Start(s)
	if err != nil {
		return nil, err
	}
	t := &lineTransport{newLines(child.Out, child.In, o.Log)}
	l, err := open(ctx, t, version, o, func() { _ = child.Close() })
	if err != nil {
		if said := last.String(); said != "" {
			return nil, fmt.Errorf("%w; it said: %s", err, said)
		}
		return nil, err
	}
	l.Confinement = child.Confinement
	return l, nil
}

// lineTransport hands out a connection that exists already.
type lineTransport struct{ conn *lines }

func (t *lineTransport) Connect(context.Context) (sdk.Connection, error) { return t.conn, nil }
