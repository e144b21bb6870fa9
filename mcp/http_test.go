package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp/auth"
	"github.com/glyphoxa/glyphoxa/mcp/link"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// remote is a tool server over HTTP whose handler can be replaced while it runs.
type remote struct {
	*httptest.Server
	handler atomic.Pointer[http.Handler]
	tokens  chan string // Authorization headers seen, at most 1,000
}

func newRemote(t testing.TB) *remote {
	t.Helper()
	r := &remote{tokens: make(chan string, 1000)}
	r.restart(StreamableHTTP, false)
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		select {
		case r.tokens <- req.Header.Get("Authorization"):
		default:
		}
		(*r.handler.Load()).ServeHTTP(w, req)
	}))
	t.Cleanup(func() {
		r.CloseClientConnections()
		r.Close()
	})
	return r
}

// restart forgets all sessions, as a server does that was started anew.
func (r *remote) restart(transport string, stateless bool) {
	s := sdk.NewServer(&sdk.Implementation{Name: "remote", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "double", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *sdk.CallToolRequest, in struct {
			N int `json:"n"`
		}) (*sdk.CallToolResult, map[string]int, error) {
			return nil, map[string]int{"twice": 2 * in.N}, nil
		})
	get := func(*http.Request) *sdk.Server { return s }
	var h http.Handler = sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{Stateless: stateless})
	if transport == SSE {
		h = sdk.NewSSEHandler(get, nil)
	}
	r.handler.Store(&h)
}

func TestRemoteServersOfBothErasAndTransportsWork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, transport string
		era             link.Era
		protocol        string
	}{
		{"modern", StreamableHTTP, link.AutoEra, "2026-07-28"},
		{"legacy", StreamableHTTP, link.LegacyEra, "2025-11-25"},
		{"sse", SSE, link.AutoEra, "2025-11-25"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRemote(t)
			r.restart(c.transport, c.era == link.AutoEra)
			h := connect(t, HostOptions{}, ServerConfig{
				Name: "a", Transport: c.transport, URL: r.URL, Trusted: true, Era: c.era, Token: func() string { return "canary" },
			})
			if s := state(h, "a"); s.State != Up || s.Protocol != c.protocol {
				t.Fatalf("%+v, want it up and speaking %s", s, c.protocol)
			}
			res := h.Belt(all).Call(t.Context(), "a__double", json.RawMessage(`{"n":21}`))
			if res.Err != nil || !strings.Contains(res.Raw, "42") {
				t.Errorf("%v %q", res.Err, res.Raw)
			}
			if got := <-r.tokens; got != "Bearer canary" {
				t.Errorf("token %q", got)
			}
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A server that was restarted answers 404 to the old session. The SDK leaves it at
// that; the host connects anew.
func TestForgottenSessionIsBegunAnew(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	h := connect(t, HostOptions{}, ServerConfig{Name: "a", Transport: StreamableHTTP, URL: r.URL, Trusted: true, Era: link.LegacyEra})
	r.restart(StreamableHTTP, false)
	h.Belt(all).Call(t.Context(), "a__double", json.RawMessage(`{"n":1}`)) // may fail: the session is gone
	eventually(t, "the tool answers again", func() bool {
		return h.Belt(all).Call(t.Context(), "a__double", json.RawMessage(`{"n":1}`)).Err == nil
	})
	if s := state(h, "a"); s.Starts < 2 {
		t.Errorf("%d connections, want a second one", s.Starts)
	}
}

func TestTokenIsNotSentElsewhere(t *testing.T) {
	t.Parallel()
	stolen := make(chan string, 100)
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { stolen <- r.Header.Get("Authorization") }))
	defer thief.Close()
	trap := httptest.NewServer(http.RedirectHandler(thief.URL, http.StatusTemporaryRedirect))
	defer trap.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, err := link.HTTP(ctx, link.Remote{URL: trap.URL, Bearer: func() string { return "canary" }}, link.Options{})
	if err == nil || len(stolen) > 0 {
		t.Errorf("err %v, and the other server was asked %d times", err, len(stolen))
	}
	if err != nil && strings.Contains(err.Error(), "canary") {
		t.Errorf("the token is in the error: %v", err)
	}
	for _, u := range []string{"http://tools.example.com/mcp", "file:///etc/passwd", "https://user:pw@tools.example.com/", "//x"} {
		if _, err := link.HTTP(ctx, link.Remote{URL: u}, link.Options{}); err == nil {
			t.Errorf("%s was accepted", u)
		}
	}
}

func TestSilentRemoteServerCostsTheTiersTime(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	fast := Fast
	h := connect(t, HostOptions{}, ServerConfig{
		Name: "a", Transport: StreamableHTTP, URL: r.URL, Trusted: true, Tools: map[string]ToolConfig{"double": {Tier: &fast}},
	})
	done := make(chan struct{})
	defer close(done)
	var silent http.Handler = http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		select {
		case <-done:
		case <-req.Context().Done():
		}
	})
	r.handler.Store(&silent)
	g := all
	g.Tier = Fast
	if res := h.Belt(g).Call(t.Context(), "a__double", json.RawMessage(`{"n":1}`)); !errors.Is(res.Err, ErrLate) {
		t.Errorf("%v, want ErrLate", res.Err)
	}
}

func TestToolWithoutItsScopeIsOffUntilItIsGranted(t *testing.T) {
	t.Parallel()
	var granted atomic.Pointer[string]
	granted.Store(new("read"))
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		// So short a life that each call asks anew.
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": "t", "token_type": "Bearer", "expires_in": 1, "scope": *granted.Load()})
	}))
	defer tokens.Close()
	r := newRemote(t)
	h := connect(t, HostOptions{}, ServerConfig{
		Name: "a", Transport: StreamableHTTP, URL: r.URL, Trusted: true,
		OAuth: &auth.ClientCredentials{ClientID: "x", Secret: func() string { return "x" }, TokenURL: tokens.URL, Scopes: []string{"read"}},
		Tools: map[string]ToolConfig{"double": {RequiredScopes: []string{"read", "sums"}}},
	})
	b := h.Belt(all)
	if hidden := b.Hidden(); len(b.Tools()) != 0 || len(hidden) == 0 || !strings.Contains(hidden[0].Reason, "the scope sums") {
		t.Errorf("belt %v, hidden %v, want the missing scope", b.Tools(), hidden)
	}
	if res := b.Call(t.Context(), "a__double", json.RawMessage(`{"n":1}`)); !errors.Is(res.Err, ErrHidden) {
		t.Errorf("called without its scope: %v", res.Err)
	}
	granted.Store(new("read sums"))
	looks := func(want int) func() bool {
		return func() bool {
			h.lookAgain("a") // any request renews a token that is about to end
			return len(h.Belt(all).Tools()) == want
		}
	}
	eventually(t, "the tool is on the belt", looks(1))
	b = h.Belt(all)
	if res := b.Call(t.Context(), "a__double", json.RawMessage(`{"n":1}`)); res.Err != nil {
		t.Errorf("with its scope: %v", res.Err)
	}
	granted.Store(new("read"))
	eventually(t, "the tool is off new belts", looks(0))
	if res := b.Call(t.Context(), "a__double", json.RawMessage(`{"n":2}`)); !errors.Is(res.Err, ErrHidden) {
		t.Errorf("on a belt that was made with its scope: %v", res.Err)
	}
}
