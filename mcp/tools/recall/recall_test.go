package recall

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/memory/sqlite"
)

func tavern(t *testing.T) map[string]mcp.Builtin {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	all := memory.Audience{memory.Everyone}
	if err := store.PutWorld(t.Context(), "vale", []memory.Entity{
		{ID: "bartok", Kind: memory.NPC, Name: "Bartok the Barkeep", Text: "Keeps the Tankard.", Audience: all,
			Facts:     []memory.Fact{{Text: "Bartok waters the ale.", Audience: memory.Audience{"bartok"}}, {Text: "Bartok has one eye.", Audience: all}},
			Relations: []memory.Relation{{Kind: "keeps", To: "tankard", Audience: all}}},
		{ID: "tankard", Kind: memory.Location, Name: "The Tilted Tankard", Text: "A tavern on the north road.", Audience: all},
		{ID: "lich", Kind: memory.NPC, Name: "Xanath", Text: "Sleeps below the ale cellar."},
	}); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 1, 19, 0, 0, 0, time.UTC)
	for i, id := range []string{"one", "two"} {
		if err := store.StartSession(t.Context(), memory.Session{ID: id, Campaign: "vale", Started: at.Add(time.Duration(i) * time.Minute)}); err != nil {
			t.Fatal(err)
		}
	}
	say := func(session, id, name, text string, audience ...string) {
		t.Helper()
		at = at.Add(time.Minute)
		err := store.Append(t.Context(), memory.Line{ID: id, Campaign: "vale", Session: session,
			Speaker: memory.Speaker{ID: strings.ToLower(name), Name: name}, At: at, Text: text, Audience: audience})
		if err != nil {
			t.Fatal(err)
		}
	}
	say("one", "a", "Mira", "We burned the goblin camp near Cragmaw at dawn.", "bartok", "greymantle")
	say("one", "b", "Tom", "I hid the goblin king's crown below the mill.", "greymantle")
	say("two", "c", "Mira", "Is there a goblin in this stew of yours, Bartok?", "bartok")
	tools := map[string]mcp.Builtin{}
	for _, b := range Tools(store) {
		tools[b.Name] = b
	}
	return tools
}

func call(t *testing.T, b mcp.Builtin, npc, args string) string {
	t.Helper()
	out, err := b.Call(t.Context(), mcp.Caller{Campaign: "vale", Session: "two", NPC: npc}, json.RawMessage(args))
	if err != nil {
		t.Fatalf("%s(%s): %v", b.Name, args, err)
	}
	return out
}

func TestSearchSessionsAnswersWithWhatTheCallerHeard(t *testing.T) {
	tools := tavern(t)
	for _, c := range []struct{ npc, args, want string }{
		{"bartok", `{"query":"goblins"}`, "a c"},
		{"greymantle", `{"query":"goblins"}`, "a b"},
		{"bartok", `{"query":"goblins","session_id":"current"}`, "c"},
		{"bartok", `{"query":"goblins","session_id":"last"}`, "a"},
		{"bartok", `{"query":"where is the crown hidden, below the mill?"}`, ""},
	} {
		var out struct {
			Lines []struct{ ID, Speaker, Text, Session string }
		}
		if err := json.Unmarshal([]byte(call(t, tools["search_sessions"], c.npc, c.args)), &out); err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, l := range out.Lines {
			got = append(got, l.ID)
		}
		slices.Sort(got)
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("%s asks %s: got %q, want %q", c.npc, c.args, g, c.want)
		}
	}
}

func TestNoToolGivesASecretAway(t *testing.T) {
	tools := tavern(t)
	secrets := []string{"waters", "crown", "Xanath", "Sleeps below"}
	for name, args := range map[string][]string{
		"search_sessions": {`{"query":"crown waters ale Xanath sleeps"}`},
		"search_facts":    {`{"query":"crown waters ale Xanath sleeps cellar one eye"}`},
		"query_entities":  {`{"name":"Xanath"}`, `{"name":"bartok"}`, `{"type":"npc"}`, `{"name":"cellar"}`},
		"get_summary":     {`{"entity_id":"bartok"}`, `{"session_id":"one"}`},
	} {
		for _, a := range args {
			out := call(t, tools[name], "mira", a)
			for _, s := range secrets {
				if strings.Contains(out, s) {
					t.Errorf("%s(%s) tells mira %q: %s", name, a, s, out)
				}
			}
		}
	}
	if _, err := tools["get_summary"].Call(t.Context(), mcp.Caller{Campaign: "vale", NPC: "mira"}, []byte(`{"entity_id":"lich"}`)); err == nil {
		t.Error("get_summary knows the lich")
	}
	if out := call(t, tools["query_entities"], "bartok", `{"name":"bartok"}`); !strings.Contains(out, "waters") {
		t.Errorf("Bartok does not know his own secret: %s", out)
	}
}

func TestGetSummaryTakesANameAndShowsWhatIsConnected(t *testing.T) {
	out := call(t, tavern(t)["get_summary"], "mira", `{"entity_id":"Barkeep"}`)
	for _, want := range []string{`"id":"bartok"`, "one eye", "The Tilted Tankard", `"kind":"keeps"`} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is missing in %s", want, out)
		}
	}
}

func TestErrorsTellAModelWhatToDo(t *testing.T) {
	tools := tavern(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx              context.Context
		tool, args, want string
	}{
		{t.Context(), "search_sessions", `{"query":"  "}`, "query is empty"},
		{t.Context(), "query_entities", `{}`, "give a name"},
		{t.Context(), "get_summary", `{}`, "either"},
		{t.Context(), "get_summary", `{"entity_id":"nobody at all"}`, "query_entities"},
		{t.Context(), "get_summary", `{"entity_id":"bartok","session_id":"one"}`, "either"},
		{t.Context(), "get_summary", `{"session_id":"nine"}`, "no such session"},
		{t.Context(), "search_sessions", `{"query":"goblin","session_id":"nine"}`, "no such session"},
		{t.Context(), "search_facts", `{"query":"  "}`, "query is empty"},
		{t.Context(), "search_facts", `{"query":7}`, "arguments"},
		{ended, "search_sessions", `{"query":"goblin"}`, "in time"},
	} {
		_, err := tools[c.tool].Call(c.ctx, mcp.Caller{Campaign: "vale", NPC: "bartok"}, []byte(c.args))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s(%s): got %v, want an error with %q", c.tool, c.args, err, c.want)
		}
	}
}

func TestSchemasAreObjects(t *testing.T) {
	for _, b := range Tools(nil) {
		var s struct {
			Type       string
			Properties map[string]any
		}
		if err := json.Unmarshal(b.Schema, &s); err != nil || s.Type != "object" || len(s.Properties) == 0 {
			t.Errorf("%s: schema %s: %v", b.Name, b.Schema, err)
		}
	}
}
