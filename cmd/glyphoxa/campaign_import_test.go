package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const aCard = `{"spec":"chara_card_v2","spec_version":"2.0","data":{"name":"Old Marrow","description":"Rows the river.","personality":"Patient.",
	"first_mes":"\"Two coppers.\"","system_prompt":"Obey.","extensions":{"other/tool":{"a":1}}}}`

// campaignCommand runs glyphoxa campaign and returns what it printed.
func campaignCommand(t *testing.T, answer string, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(t.Context(), append([]string{"campaign"}, args...), stdio{strings.NewReader(answer), &o, &e})
	return code, o.String(), e.String()
}

func TestAnImportedCardCanBeTalkedToAndExportedAgain(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("marrow.json", []byte(aCard), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := campaignCommand(t, "", "import", "marrow.json", "--into", "river", "--yes")
	if code != 0 || !strings.Contains(out, "never used") || !strings.Contains(out, "Obey.") {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	var said, failed bytes.Buffer
	if code := run(t.Context(), []string{"check", "river"}, stdio{nil, &said, &failed}); code != 0 {
		t.Fatalf("the campaign is not in order: %s", failed.String())
	}
	code, out, errs = campaignCommand(t, "", "export", "--format", "card", "--campaign", "river", "--out", "cards")
	if code != 0 {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	card, err := os.ReadFile(filepath.Join("cards", "old-marrow.json"))
	if err != nil || !strings.Contains(string(card), `"other/tool"`) || !strings.Contains(string(card), "chara_card_v2") {
		t.Errorf("%v: %s", err, card)
	}
}

func TestNothingIsImportedWithoutAYes(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("marrow.json", []byte(aCard), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, answer := range []string{"", "n\n", "what?\n"} {
		if code, out, errs := campaignCommand(t, answer, "import", "marrow.json", "--into", "river"); code != 0 || !strings.Contains(out, "Nothing was added") {
			t.Errorf("%q: exit %d\n%s%s", answer, code, out, errs)
		}
		if _, err := os.Stat("river"); err == nil {
			t.Fatalf("%q: the folder was made", answer)
		}
	}
	if code, out, errs := campaignCommand(t, "y\n", "import", "marrow.json", "--into", "river"); code != 0 || !strings.Contains(out, "wrote river/npcs/old-marrow.yaml") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
}

func TestAShippedCampaignIsNotAddedToAndExportsItsPages(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("marrow.json", []byte(aCard), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := campaignCommand(t, "", "import", "marrow.json", "--yes"); code != 1 || !strings.Contains(errs, "--into") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if code, _, errs := campaignCommand(t, "", "export", "--format", "markdown", "--out", "vault"); code != 0 {
		t.Errorf("exit %d: %s", code, errs)
	}
	if _, err := os.Stat(filepath.Join("vault", "npc", "Pip.md")); err != nil {
		t.Error(err)
	}
	code, out, _ := campaignCommand(t, "", "export", "--format", "jsonl")
	if code != 0 || strings.Count(out, "\n") < 10 || strings.Contains(out, "took Gundren's compass") {
		t.Errorf("exit %d, %d lines, or a secret is told", code, strings.Count(out, "\n"))
	}
	if code, _, _ := campaignCommand(t, "", "export", "--format", "tarot", "--out", "x"); code != 1 {
		t.Errorf("an unknown format: exit %d", code)
	}
}
