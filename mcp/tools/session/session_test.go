package session

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/memory/sqlite"
)

// first is when the first of the test's two sessions began.
var first = time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)

// chronicle is a store with two sessions, a week apart; the second runs. Bartok
// heard all but the middle of the first.
func chronicle(t testing.TB) memory.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	second := first.AddDate(0, 0, 7)
	for _, s := range []memory.Session{
		{ID: "one", Campaign: "vale", Title: "The mill", Started: first}, {ID: "two", Campaign: "vale", Started: second},
	} {
		if err := store.StartSession(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.EndSession(t.Context(), "vale", "one", first.Add(3*time.Hour)); err != nil {
		t.Fatal(err)
	}
	both, alone := memory.Audience{"bartok", "greymantle"}, memory.Audience{"greymantle"}
	for i, l := range []memory.Line{
		{Session: "one", Scene: "tavern", Speaker: memory.Speaker{ID: "p1", Name: "Mira Vale"}, Text: "We burned the goblin camp near Cragmaw at dawn.", Audience: both},
		{Session: "one", Scene: "tavern", Speaker: memory.Speaker{ID: "bartok", Name: "Bartok", Kind: memory.NPCSpeaker}, Text: "Then the road to Cragmaw is free again, and ale is on me.", Audience: both},
		{Session: "one", Scene: "tower", Speaker: memory.Speaker{ID: "p2", Name: "Tom"}, Text: "I hid the goblin king's crown below the old mill.", Audience: alone},
		{Session: "two", Scene: "tavern", Speaker: memory.Speaker{ID: "p1", Name: "Mira Vale"}, Text: "Is there a goblin in this stew of yours, Bartok?", Audience: both},
	} {
		l.ID, l.Campaign = fmt.Sprintf("l%d", i), "vale"
		l.At = first.Add(time.Duration(i) * 20 * time.Minute)
		if l.Session == "two" {
			l.At = second.Add(time.Minute)
		}
		if err := store.Append(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

func ask(t testing.TB, store memory.Store, npc, tool, args string) (string, error) {
	t.Helper()
	for _, b := range Tools(store) {
		if b.Name == tool {
			return b.Call(t.Context(), mcp.Caller{Campaign: "vale", Session: "two", NPC: npc}, json.RawMessage(args))
		}
	}
	t.Fatalf("no tool %s", tool)
	return "", nil
}

// texts are the texts of a recap's lines.
func texts(t testing.TB, out string) []string {
	t.Helper()
	var r struct{ Lines []struct{ Text string } }
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	all := []string{}
	for _, l := range r.Lines {
		all = append(all, l.Text)
	}
	return all
}

func TestRecapTellsWhatItsViewerHeardInOrder(t *testing.T) {
	store := chronicle(t)
	dawn, road := "We burned the goblin camp near Cragmaw at dawn.", "Then the road to Cragmaw is free again, and ale is on me."
	crown, stew := "I hid the goblin king's crown below the old mill.", "Is there a goblin in this stew of yours, Bartok?"
	for _, c := range []struct {
		npc, args string
		want      []string
	}{
		{"bartok", `{}`, []string{dawn, road}},
		{"bartok", `{"session_id":"last","length":"long"}`, []string{dawn, road}},
		{"greymantle", `{"session_id":"one"}`, []string{dawn, road, crown}},
		{"greymantle", `{"session_id":"2026-03-01"}`, []string{dawn, road, crown}},
		{"bartok", `{"session_id":"current"}`, []string{stew}},
		{"pip", `{"session_id":"one"}`, []string{}},
	} {
		out, err := ask(t, store, c.npc, "recap", c.args)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, texts(t, out)); diff != "" {
			t.Errorf("%s, recap%s (-want +got):\n%s", c.npc, c.args, diff)
		}
	}
}

func TestRecapOfTheFirstEveningIsOfWhatHappenedSoFar(t *testing.T) {
	store := chronicle(t)
	b := book{store}
	out, err := b.recap(t.Context(), mcp.Caller{Campaign: "vale", Session: "one", NPC: "bartok"}, json.RawMessage(`{"session_id":"current"}`))
	if err != nil || len(texts(t, out)) != 2 {
		t.Errorf("got %s, %v", out, err)
	}
	if err := store.StartSession(t.Context(), memory.Session{ID: "s", Campaign: "new", Started: first}); err != nil {
		t.Fatal(err)
	}
	out, err = b.recap(t.Context(), mcp.Caller{Campaign: "new", Session: "s"}, json.RawMessage(`{}`))
	if err != nil || !strings.Contains(out, `"running":true`) {
		t.Errorf("got %s, %v, want the running session", out, err)
	}
}

func TestSummaryOfASessionNamesWhoWasHeardAndWhere(t *testing.T) {
	got, err := Summarize(t.Context(), chronicle(t), mcp.Caller{Campaign: "vale", Session: "two", NPC: "bartok"}, "last")
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal([]byte(got), &out); err != nil {
		t.Fatal(err)
	}
	delete(out, "lines")
	want := map[string]any{
		"session": "one", "title": "The mill", "date": "2026-03-01", "minutes": 20.0, "scenes": []any{"tavern"},
		"speakers": []any{map[string]any{"name": "Mira Vale", "lines": 1.0}, map[string]any{"name": "Bartok", "lines": 1.0}},
	}
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

func TestHistoryShowsTheLinesBeforeAndStaysWithinItsBounds(t *testing.T) {
	store := chronicle(t)
	// The best place comes first; which others come after it is the store's to
	// choose, among those that may.
	for _, c := range []struct{ npc, args, want, never string }{
		{"bartok", `{"query":"road free ale"}`, "l1<l0", "l2"},
		{"bartok", `{"query":"goblin","from":"2026-03-08"}`, "l3", "l0 l1 l2"},
		{"bartok", `{"query":"goblin","to":"2026-03-01"}`, "l0", "l2 l3"},
		{"greymantle", `{"query":"goblin","to":"2026-03-01","speaker":"tom"}`, "l2<l0,l1", "l3"},
		{"greymantle", `{"query":"goblin","speaker":"mira","from":"2026-03-08","to":"2026-03-08"}`, "l3", "l0 l1 l2"},
		{"bartok", `{"query":"the king's crown below the mill","to":"2026-03-01"}`, "", "l2"},
		{"bartok", `{"query":"goblin","speaker":"Nobody"}`, "", "l0 l1 l2 l3"},
	} {
		out, err := ask(t, store, c.npc, "search_history", c.args)
		if err != nil {
			t.Fatalf("%s: %v", c.args, err)
		}
		got := places(t, store, out)
		if c.want != "" && (len(got) == 0 || got[0] != c.want) {
			t.Errorf("%s, search_history%s: got %q, want %q first", c.npc, c.args, got, c.want)
		}
		for _, p := range got {
			if place, _, _ := strings.Cut(p, "<"); slices.Contains(strings.Fields(c.never), place) {
				t.Errorf("%s, search_history%s: got %q, which is not its to see or outside of what was asked for", c.npc, c.args, p)
			}
		}
	}
}

// places writes search results as line<before,before.
func places(t testing.TB, store memory.Store, out string) []string {
	t.Helper()
	all, err := store.Recent(t.Context(), memory.Viewer{Campaign: "vale"}, memory.Window{})
	if err != nil {
		t.Fatal(err)
	}
	id := func(s said) string {
		for _, l := range all {
			if l.Text == s.Text {
				return l.ID
			}
		}
		return "?"
	}
	var r struct{ Found []found }
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, f := range r.Found {
		var p strings.Builder
		p.WriteString(id(f.Line))
		for i, b := range f.Before {
			p.WriteString([]string{"<", ","}[min(i, 1)] + id(b))
		}
		parts = append(parts, p.String())
	}
	return parts
}

func TestBadInputIsRefusedWithWhatToDo(t *testing.T) {
	store := chronicle(t)
	for _, c := range []struct{ tool, args, want string }{
		{"recap", `{"session_id":"nine"}`, "last"},
		{"recap", `{"session_id":"2026-13-40"}`, "last"},
		{"recap", `{"session_id":7}`, "arguments"},
		{"search_history", `{"query":" "}`, "query is empty"},
		{"search_history", `{"query":"goblin","from":"yesterday"}`, "2026-03-01"},
		{"search_history", `{"query":"goblin","to":"2026-02-31"}`, "2026-03-01"},
		{"search_history", `{"query":"goblin","from":"2026-03-09","to":"2026-03-01"}`, "after"},
		{"search_history", `[]`, "arguments"},
	} {
		if _, err := ask(t, store, "bartok", c.tool, c.args); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s%s: got %v, want an error with %q", c.tool, c.args, err, c.want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (book{store}).recap(ended, mcp.Caller{Campaign: "vale"}, json.RawMessage(`{}`)); err == nil || !strings.Contains(err.Error(), "in time") {
		t.Errorf("after the deadline: got %v", err)
	}
}

func TestSchemasAreObjects(t *testing.T) {
	host, err := mcp.NewHost(mcp.HostOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := host.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := host.Add(Tools(nil)...); err != nil {
		t.Error(err)
	}
	belt := host.Belt(mcp.Grant{Allow: []string{"recap", "search_history"}, Tier: mcp.Standard})
	for tool, args := range map[string]string{"recap": `{"length":"endless"}`, "search_history": `{"question":"goblin"}`} {
		if r := belt.Call(t.Context(), tool, json.RawMessage(args)); r.Err == nil {
			t.Errorf("%s took %s", tool, args)
		}
	}
}
