package serve

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/mcp/link"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func host(t *testing.T) *mcp.Host {
	t.Helper()
	h, err := mcp.NewHost(mcp.HostOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	err = h.Add(mcp.Builtin{
		Tool: mcp.Tool{Name: "roll", Description: "rolls dice", Estimated: 15 * time.Millisecond, ReadOnly: true,
			Schema: json.RawMessage(`{"type":"object","properties":{"expression":{"type":"string"}},"required":["expression"]}`)},
		Call: func(context.Context, mcp.Caller, json.RawMessage) (string, error) { return "7", nil },
	}, mcp.Builtin{
		Tool: mcp.Tool{Name: "erase", Estimated: 1, Writes: true},
		Call: func(context.Context, mcp.Caller, json.RawMessage) (string, error) {
			t.Error("a stranger erased something")
			return "", nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

var options = Options{Grant: mcp.Grant{Allow: []string{"roll", "erase"}, Tier: mcp.Deep}, Version: "test"}

func TestToolsAreServedOverStdio(t *testing.T) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- Stdio(t.Context(), host(t), inR, outW, options) }()
	c := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil)
	s, err := c.Connect(t.Context(), &sdk.IOTransport{Reader: outR, Writer: inW}, nil)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := s.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 2 {
		t.Fatalf("%v %+v", err, tools)
	}
	r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "roll", Arguments: map[string]any{"expression": "2d6"}})
	if err != nil || r.IsError || r.Content[0].(*sdk.TextContent).Text != "7" {
		t.Errorf("roll: %v %+v", err, r)
	}
	for name, args := range map[string]map[string]any{"roll": {"expression": 7}, "erase": {}} {
		if r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: args}); err != nil || !r.IsError {
			t.Errorf("%s %v: %v %+v, want an error for the model", name, args, err, r)
		}
	}
	_ = s.Close()
	if err := <-done; err != nil {
		t.Errorf("the client left: %v", err)
	}
}

func TestToolsAreServedOverHTTPToThoseWithTheToken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	o := options
	o.Token = "let-me-in"
	done := make(chan error, 1)
	go func() { done <- HTTP(ctx, host(t), l, o) }()
	url := "http://" + l.Addr().String() + "/mcp"
	if _, err := link.HTTP(t.Context(), link.Remote{URL: url}, link.Options{}); err == nil {
		t.Error("a client without the token was let in")
	}
	c, err := link.HTTP(t.Context(), link.Remote{URL: url, Bearer: func() string { return "let-me-in" }}, link.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := c.Call(t.Context(), "roll", json.RawMessage(`{"expression":"2d6"}`))
	if err != nil || a.Text != "7" {
		t.Errorf("roll: %v %+v", err, a)
	}
	c.Close()
	for header, value := range map[string]string{"Host": "evil.example", "Origin": "https://evil.example"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer let-me-in")
		if header == "Host" {
			req.Host = value
		} else {
			req.Header.Set(header, value)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s %s: %s, want 403", header, value, resp.Status)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestServingOtherMachinesNeedsAToken(t *testing.T) {
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if err := HTTP(t.Context(), host(t), l, options); err == nil {
		t.Error("served to everybody without a token")
	}
}

// An answered is what came back for a message.
type answered struct {
	Status int
	Header http.Header
	Body   string
}

// post sends one message.
func post(t *testing.T, url, body string, headers map[string]string) answered {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for k, v := range headers {
		req.Header.Set(k, v)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answered{resp.StatusCode, resp.Header, string(b)}
}

// listen serves the test's tools and returns where.
func listen(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- HTTP(ctx, host(t), l, options) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String() + "/mcp"
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func TestOldClientsGetASessionAndNewOnesNone(t *testing.T) {
	url := listen(t)
	r := post(t, url, initialize, nil)
	id := r.Header.Get("Mcp-Session-Id")
	if r.Status != http.StatusOK || id == "" {
		t.Fatalf("initialize: %d, session %q\n%s", r.Status, id, r.Body)
	}
	list := `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`
	if r := post(t, url, list, map[string]string{"Mcp-Session-Id": id, "Mcp-Protocol-Version": "2025-11-25"}); r.Status != http.StatusOK || !strings.Contains(r.Body, `"roll"`) {
		t.Errorf("in the session: %d %s", r.Status, r.Body)
	}
	if r := post(t, url, list, map[string]string{"Mcp-Session-Id": "guessed", "Mcp-Protocol-Version": "2025-11-25"}); r.Status != http.StatusNotFound {
		t.Errorf("a session that never was: %d, want 404", r.Status)
	}
	modern := `{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	r = post(t, url, modern, map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"})
	if r.Status != http.StatusOK || r.Header.Get("Mcp-Session-Id") != "" || !strings.Contains(r.Body, `"roll"`) {
		t.Errorf("without a session: %d, session %q\n%s", r.Status, r.Header.Get("Mcp-Session-Id"), r.Body)
	}
}

func TestStrangersCannotOpenSessionsWithoutEnd(t *testing.T) {
	url := listen(t)
	for i := range maxSessions {
		if r := post(t, url, initialize, nil); r.Status != http.StatusOK {
			t.Fatalf("session %d: %d %s", i+1, r.Status, r.Body)
		}
	}
	if r := post(t, url, initialize, nil); r.Status != http.StatusServiceUnavailable || r.Header.Get("Retry-After") == "" {
		t.Errorf("one session more: %d, want 503 and when to try again", r.Status)
	}
}

func TestALongMessageIsRefusedBeforeItIsRead(t *testing.T) {
	url := listen(t)
	long := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"x":"` + strings.Repeat("x", maxRequest) + `"}}`
	if r := post(t, url, long, nil); r.Status != http.StatusRequestEntityTooLarge {
		t.Errorf("%d, want 413", r.Status)
	}
}

func TestWhatIsNotOfferedIsNotFound(t *testing.T) {
	url := listen(t)
	for _, method := range []string{"prompts/list", "resources/list", "resources/read", "completion/complete", "logging/setLevel"} {
		r := post(t, url, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{"uri":"x:y","level":"info","ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"a","value":"b"}}}`, nil)
		if !strings.Contains(r.Body, "-32601") {
			t.Errorf("%s: %s, want method not found", method, r.Body)
		}
	}
}
