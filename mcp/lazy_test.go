package mcp

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/glyphoxa/glyphoxa/mcp/mcptest"
	"github.com/google/go-cmp/cmp"
)

func TestLongBeltsAreAskedForTheirTools(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	h := newTestHost(t, HostOptions{LazyAbove: 200}, echo("roll", &calls, nil))
	if err := h.Connect(t.Context(), []ServerConfig{faulty("a", mcptest.Script{})}); err != nil {
		t.Fatal(err)
	}
	ready(t, h)
	g := all
	g.Allow = append([]string{"roll"}, g.Allow...)
	b := h.Belt(g)
	if d := cmp.Diff([]string{"roll", FindTools}, names(b.Tools())); d != "" {
		t.Fatal(d)
	}
	r := b.Call(t.Context(), FindTools, json.RawMessage(`{"query":"how often was it called"}`))
	if r.Err != nil || !strings.Contains(r.Text, "a__count") {
		t.Fatalf("%v %q", r.Err, r.Text)
	}
	if got := names(b.Tools()); got[0] != "roll" || got[1] != FindTools || !slices.Contains(got, "a__count") {
		t.Errorf("tools %v: what was found is not on the belt, or what was there has moved", got)
	}
	if r := b.Call(t.Context(), "a__count", nil); r.Raw != "1" {
		t.Errorf("%v %q", r.Err, r.Raw)
	}
	if r := b.Call(t.Context(), FindTools, json.RawMessage(`{"query":"xylophone"}`)); r.Err != nil || !strings.Contains(r.Text, "Nothing") {
		t.Errorf("%v %q", r.Err, r.Text)
	}
	if r := b.Call(t.Context(), FindTools, json.RawMessage(`{"q":1}`)); !errors.Is(r.Err, ErrArguments) {
		t.Errorf("%v", r.Err)
	}
	if got := names(h.Belt(g).Tools()); len(got) != 2 {
		t.Errorf("the next turn's tools %v: what one turn found is not the next one's", got)
	}
	g.Tier = Fast
	if slices.Contains(names(h.Belt(g).Tools()), FindTools) {
		t.Error("a search in the fast tier")
	}
	if err := h.Add(echo(FindTools, &calls, nil)); err == nil {
		t.Error("a tool took the host's own name")
	}
}
