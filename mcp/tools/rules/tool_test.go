package rules

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/glyphoxa/glyphoxa/mcp"
)

// call runs one of the library's tools for an NPC or, without one, for the
// game master.
func call(t *testing.T, l *Library, npc, name, args string) (string, error) {
	t.Helper()
	for _, tool := range Tools(l) {
		if tool.Name == name {
			return tool.Call(t.Context(), mcp.Caller{NPC: npc}, json.RawMessage(args))
		}
	}
	t.Fatalf("no tool %s", name)
	return "", nil
}

func TestToolsFindAndReadRules(t *testing.T) {
	l := library(t)
	got, err := call(t, l, "thorn", "search_rules", `{"query":"how does grapple in work","system":"dnd5e-2024"}`)
	var found struct{ Results []found }
	if err != nil || json.Unmarshal([]byte(got), &found) != nil || len(found.Results) == 0 {
		t.Fatalf("got %s, %v", got, err)
	}
	best := found.Results[0]
	if best.ID != "dnd5e-2024/combat/grapple" || best.Edition != Edition2024 || best.Say == "" {
		t.Errorf("got %+v", best)
	}
	got, err = call(t, l, "thorn", "get_rule", `{"id":"`+best.ID+`"}`)
	var e Entry
	if err != nil || json.Unmarshal([]byte(got), &e) != nil || e.Text == "" || e.Differs != "dnd5e-2014/combat/grapple" {
		t.Errorf("got %s, %v", got, err)
	}
	for _, id := range []string{"spell-fireball", "condition-blinded"} {
		if got, err := call(t, l, "thorn", "get_rule", `{"id":"`+id+`"}`); err != nil || !strings.Contains(got, `"say"`) {
			t.Errorf("%s: got %s, %v", id, got, err)
		}
	}
	if got, err := call(t, l, "thorn", "search_rules", `{"query":"who is the king of england"}`); err != nil || got != `{"results":[]}` {
		t.Errorf("got %s, %v, want an empty list", got, err)
	}
}

func TestToolsRefuseBadArguments(t *testing.T) {
	l := library(t)
	for _, c := range [][2]string{
		{"search_rules", `{}`}, {"search_rules", `{"query":"  "}`}, {"search_rules", `{"query":7}`}, {"search_rules", `[`},
		{"get_rule", `{}`}, {"get_rule", `{"id":"spell-"}`}, {"get_rule", `{"id":["x"]}`},
		{"get_rule", `{"id":"../../secret"}`}, {"get_rule", `{"id":"` + strings.Repeat("é", 5000) + `"}`},
	} {
		if got, err := call(t, l, "", c[0], c[1]); err == nil {
			t.Errorf("%s %.60s: got %s", c[0], c[1], got)
		}
	}
}

func TestNPCsNeverLearnWhatIsForTheGameMaster(t *testing.T) {
	var file bytes.Buffer
	if err := WriteEntries(&file, []*Entry{{
		ID: "dnd5e-2014/monster/gloomweaver", System: system, Edition: Edition2014, Kind: "monster", Name: "Gloomweaver",
		Say: "It fears salt.", Text: "It fears salt.", DM: true, License: "CC0-1.0",
	}}); err != nil {
		t.Fatal(err)
	}
	l, err := New(Options{Imported: fstest.MapFS{"m.jsonl": {Data: file.Bytes()}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][2]string{{"search_rules", `{"query":"gloomweaver"}`}, {"get_rule", `{"id":"dnd5e-2014/monster/gloomweaver"}`}, {"get_rule", `{"id":"monster-gloomweaver"}`}} {
		if got, _ := call(t, l, "thorn", args[0], args[1]); strings.Contains(got, "salt") {
			t.Errorf("an NPC was told: %s", got)
		}
		if got, err := call(t, l, "", args[0], args[1]); err != nil || !strings.Contains(got, "salt") {
			t.Errorf("the game master was not told: %s, %v", got, err)
		}
	}
}

func TestToolsDeclareWhatTheyAre(t *testing.T) {
	for _, tool := range Tools(library(t)) {
		if !json.Valid(tool.Schema) || !tool.Idempotent || !tool.ReadOnly || tool.Writes || tool.Cache == 0 || tool.Max > mcp.Fast.Budget() {
			t.Errorf("%+v", tool.Tool)
		}
	}
}
