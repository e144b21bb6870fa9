package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/glyphoxa/glyphoxa/npc"
)

func TestExplainAnswersEachLineWithOneObject(t *testing.T) {
	input := strings.Join([]string{
		`{"text":"Bartok, what's in the pot tonight?"}`,
		`{"text":"tell me about zara","npcs_present":["Zara Nightwind"]}`,
		``,
		`{"text":`,
		`{"text":"` + strings.Repeat("x", maxExplained) + `"}`,
		`{"text":"Everybody stop!","speaker":"dm","npcs_present":["Zara Nightwind","Grukk the Smith"]}`,
		`{"text":"Zara, Grukk, what do you think?","npcs_present":["Zara Nightwind","Grukk the Smith"],"unknown":1}`,
		`{"text":"How much for a room?","last_npc":"Bartok","last_npc_seconds_ago":4}`,
	}, "\n")
	code, out, errs := glyphoxaRun(t, input, "explain", "--stdin")
	if code != 0 || errs != "" {
		t.Fatalf("exit %d, %s", code, errs)
	}
	var got []string
	for line := range strings.Lines(out) {
		var o struct {
			npc.ExplainOutput
			Error string `json:"error"`
		}
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		switch {
		case o.Error != "":
			got = append(got, "error")
		case o.Target != nil:
			got = append(got, "order for "+*o.Target)
		case o.Addressed == nil:
			got = append(got, "nobody")
		default:
			got = append(got, strings.Join(append([]string{*o.Addressed}, o.Also...), " + "))
		}
	}
	want := []string{"Bartok the Barkeep", "nobody", "error", "error", "error", "order for everyone", "Zara Nightwind + Grukk the Smith", "Bartok the Barkeep"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestExplainTellsTheBeltOfTheOneSpokenTo(t *testing.T) {
	code, out, errs := glyphoxaRun(t, "", "explain", "--json", "Bartok, roll two d six plus three")
	var o npc.ExplainOutput
	if err := json.Unmarshal([]byte(out), &o); err != nil || code != 0 {
		t.Fatalf("exit %d, %v, %s", code, err, errs)
	}
	if o.Intent != "dice" || o.Tier.String() != "fast" || !strings.Contains(strings.Join(o.Tools, " "), "roll") {
		t.Errorf("got %+v, want a fast turn about dice with the tool roll", o)
	}
}

func TestExplainSaysWhatIsWrongWithItsFlagsAndCampaign(t *testing.T) {
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, "campaign.yaml"), []byte("nam: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"explain"}, 2, "Usage"},
		{[]string{"explain", "--speaker", "king", "hello"}, 2, "want player or dm"},
		{[]string{"explain", "--campaign", "nowhere", "hello"}, 1, "nowhere"},
		{[]string{"explain", "--campaign", broken, "hello"}, 1, "campaign.yaml"},
	} {
		code, _, errs := glyphoxaRun(t, "", tt.args...)
		if code != tt.code || !strings.Contains(errs, tt.says) {
			t.Errorf("%v: exit %d, %q; want %d and %q", tt.args, code, errs, tt.code, tt.says)
		}
	}
}
