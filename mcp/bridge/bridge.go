// Package bridge gives an NPC's belt to a model that hears and speaks by itself.
//
// Speech-to-speech services know functions, not the Model Context Protocol. A
// Bridge declares the belt's tools as a session's native functions and runs what
// the session calls through the belt, so that tools behave as they do everywhere
// else.
package bridge

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp"
)

// DefaultTimeout bounds a call where nothing else does: services break a session
// that waits much longer for a function.
const DefaultTimeout = 30 * time.Second

// A Session is a speech-to-speech session's side of a bridge.
type Session interface {
	// SetTools declares the functions that the model may call, in place of those
	// declared before. It returns when the service has been told, or ctx ends.
	SetTools(ctx context.Context, tools []mcp.Tool) error
	// OnToolCall sets who answers calls: the handler blocks until there is a text
	// for the model, or ctx ends because the service has taken the call back. It may
	// be called from several goroutines at once. Nil takes the handler away; none is
	// called any more once OnToolCall(nil) has returned and those under way have
	// ended.
	OnToolCall(handler func(ctx context.Context, name string, args json.RawMessage) mcp.Result)
}

// Options adjust a bridge. The zero value is useful.
type Options struct {
	// Timeout bounds each call, within the belt's own limits. Zero means
	// [DefaultTimeout].
	Timeout time.Duration
}

// A Bridge connects one session to one NPC's belts. It is safe for concurrent use.
type Bridge struct {
	session Session
	timeout time.Duration
	ctx     context.Context // of all calls; ends with Close
	cancel  context.CancelFunc

	mu   sync.Mutex // guards belt
	belt *mcp.Belt
}

// New declares the belt's tools and answers the session's calls until Close.
func New(ctx context.Context, s Session, belt *mcp.Belt, o Options) (*Bridge, error) {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	b := &Bridge{session: s, timeout: o.Timeout, belt: belt}
	b.ctx, b.cancel = context.WithCancel(context.WithoutCancel(ctx))
	s.OnToolCall(b.call)
	if err := s.SetTools(ctx, belt.Tools()); err != nil {
		b.Close()
		return nil, fmt.Errorf("declare tools: %w", err)
	}
	return b, nil
}

// Use changes the belt: for the next turn, or when the tier changes within one.
// Calls already running end as they began.
func (b *Bridge) Use(ctx context.Context, belt *mcp.Belt) error {
	b.mu.Lock()
	b.belt = belt
	b.mu.Unlock()
	if err := b.session.SetTools(ctx, belt.Tools()); err != nil {
		return fmt.Errorf("declare tools: %w", err)
	}
	return nil
}

// call answers one call of the session. The belt checks it again: a session may
// still hold an older declaration.
func (b *Bridge) call(ctx context.Context, name string, args json.RawMessage) mcp.Result {
	b.mu.Lock()
	belt := b.belt
	b.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	defer context.AfterFunc(b.ctx, cancel)()
	before := len(belt.Tools())
	result := belt.Call(ctx, name, args)
	if now := belt.Tools(); len(now) != before {
		// The call took tools away, or found some. Where the service cannot be
		// told, the belt refuses what the model should not have.
		_ = b.session.SetTools(ctx, now)
	}
	return result
}

// Close takes the handler away and ends calls that run. The session and the host
// go on; they are not the bridge's.
func (b *Bridge) Close() {
	b.session.OnToolCall(nil)
	b.cancel()
}
