package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestRulesAnswersEachLineWithOneObject(t *testing.T) {
	input := "what does fire ball do\n\nwho is the king of england\nhow does exhaustion work\n" + strings.Repeat("x", 100_000)
	code, out, errs := glyphoxaRun(t, input, "rules", "--json", "--stdin", "--edition", "2024")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != 0 || errs != "" || len(lines) != 5 {
		t.Fatalf("exit %d, %d lines, %s", code, len(lines), errs)
	}
	for i, want := range []string{"Fireball", "", "", "Exhaustion", ""} {
		var got struct {
			Query   *string
			Results []struct {
				ID, Kind, Name string
				Edition        string
				Aliases, SRD   []string
				Score          float64
			}
		}
		if err := json.Unmarshal([]byte(lines[i]), &got); err != nil || got.Query == nil || got.Results == nil {
			t.Errorf("%.80s: %v", lines[i], err)
			continue
		}
		if want == "" {
			if len(got.Results) != 0 {
				t.Errorf("%.80s: want nothing", lines[i])
			}
			continue
		}
		if len(got.Results) == 0 || got.Results[0].Name != want || got.Results[0].SRD[0] != want || got.Results[0].Edition == "2014" {
			t.Errorf("%.80s: want %s", lines[i], want)
		}
	}
}

func TestRulesShowsACardToPeople(t *testing.T) {
	code, out, _ := glyphoxaRun(t, "", "rules", "how", "does", "grappling", "work", "--edition=2024")
	if code != 0 || !strings.HasPrefix(out, "Grapple (2024)\n") {
		t.Errorf("exit %d, %s", code, out)
	}
	code, out, _ = glyphoxaRun(t, "", "rules", "where is the bathroom in this airport")
	if code != 0 || !strings.Contains(out, "not in the free rules") {
		t.Errorf("exit %d, %s", code, out)
	}
	if code, _, errs := glyphoxaRun(t, "", "rules", "--edition", "1974", "thac0"); code != 2 || !strings.Contains(errs, "2014 or 2024") {
		t.Errorf("exit %d, %s", code, errs)
	}
}
