package mcp

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
)

func TestToolsForHelpersAreKeptFromCharactersOfTheStory(t *testing.T) {
	var calls atomic.Int64
	h := newTestHost(t, HostOptions{}, echo("search", &calls, func(x *Tool) { x.HelpersOnly = true }))
	for _, c := range []struct {
		name   string
		npc    string
		helper bool
		want   bool
	}{
		{"an innkeeper", "bartok", false, false},
		{"a helper", "bartok", true, true},
		{"the game master", "", false, true},
	} {
		// The same belt twice: the second comes from the cache.
		for range 2 {
			b := h.Belt(Grant{Caller: Caller{NPC: c.npc}, Helper: c.helper, Allow: []string{"search"}, Tier: Deep})
			r := b.Call(t.Context(), "search", expr)
			if (r.Err == nil) != c.want || (len(b.Tools()) == 1) != c.want {
				t.Errorf("%s: got %v with %v, want allowed to be %v", c.name, r.Err, names(b.Tools()), c.want)
			}
			if !c.want && !errors.Is(r.Err, ErrHidden) {
				t.Errorf("%s: refused with %v, want ErrHidden", c.name, r.Err)
			}
		}
	}
}

func TestToolWithALeastTierIsNeverPromotedByItsSpeed(t *testing.T) {
	var calls atomic.Int64
	h := newTestHost(t, HostOptions{}, echo("paint", &calls, func(x *Tool) { x.Least = Deep }))
	for range 20 {
		if r := h.Belt(Grant{Allow: []string{"paint"}, Tier: Deep}).Call(t.Context(), "paint", expr); r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	if got := h.Belt(Grant{Allow: []string{"paint"}, Tier: Standard}).Tools(); len(got) != 0 {
		t.Errorf("after 20 quick calls the standard tier offers %v, want nothing", names(got))
	}
	if s := h.Status()[0]; s.Tier != Deep || s.Why == "measured" {
		t.Errorf("the tool is in tier %v because it is %s, want deep by its author's word", s.Tier, s.Why)
	}
}

func TestToolThatMissesSomethingIsKnownAndOnNoBelt(t *testing.T) {
	var calls atomic.Int64
	b := echo("search", &calls, nil)
	b.Missing = "set web.search in glyphoxa.yaml"
	h := newTestHost(t, HostOptions{}, b)
	belt := h.Belt(Grant{Allow: []string{"search"}, Tier: Deep})
	if r := belt.Call(t.Context(), "search", expr); !errors.Is(r.Err, ErrHidden) || !strings.Contains(r.Text, b.Missing) {
		t.Errorf("got %v with text %q, want ErrHidden that says what is missing", r.Err, r.Text)
	}
	if s := h.Status(); len(s) != 1 || s[0].Blocked != b.Missing {
		t.Errorf("status: got %+v, want the tool with what it misses", s)
	}
	if calls.Load() != 0 {
		t.Error("the tool was called")
	}
}
