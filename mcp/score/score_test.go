package score

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/mcp/gauge"
)

var at = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func measured(tool string, c mcp.Category, n int, took time.Duration) mcp.Measured {
	m := mcp.Measured{Server: "my-secret-name", Version: "dice-server 2.0", Tool: tool, Category: c}
	for i := range n {
		m.Samples = append(m.Samples, gauge.Sample{At: at.Add(time.Duration(i) * time.Second), Took: took})
	}
	return m
}

func TestToolsAreBadgedTaggedAndRankedInTheirCategory(t *testing.T) {
	rows := Rows([]mcp.Measured{
		measured("slow", mcp.System, 20, 3200*time.Millisecond),
		measured("roll", mcp.System, 20, 15*time.Millisecond),
		measured("new", mcp.System, 3, time.Millisecond),
		measured("search", mcp.Network, 20, 900*time.Millisecond),
	}, at.Add(time.Hour))
	want := []Row{
		{Tool: "search", Tier: "standard", Badge: "Standard", Tag: "STANDARD compatible", Rank: 1},
		{Tool: "roll", Tier: "fast", Badge: "Lightning", Tag: "FAST compatible", Rank: 1},
		{Tool: "slow", Tier: "deep", Badge: "Slow", Tag: "DEEP only", Rank: 2},
		{Tool: "new"},
	}
	for i, w := range want {
		r := rows[i]
		if r.Tool != w.Tool || r.Tier != w.Tier || r.Badge != w.Badge || r.Tag != w.Tag || r.Rank != w.Rank {
			t.Errorf("row %d: %+v, want %+v", i, r, w)
		}
	}
}

func TestExportIsAnonymousAndMergesFairly(t *testing.T) {
	many := Anonymous([]mcp.Measured{measured("roll", mcp.System, 100, time.Second)})
	b, err := json.Marshal(many)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), "my-secret-name") || strings.Contains(string(b), "2026") {
		t.Errorf("the export tells too much: %s", b)
	}
	back, err := ReadExport(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	few := Anonymous([]mcp.Measured{measured("roll", mcp.System, 10, 10*time.Millisecond)})
	rows := Leaderboard([]Export{back, few, few})
	if len(rows) != 1 || rows[0].Installations != 3 || rows[0].Calls != 120 {
		t.Fatalf("rows %+v", rows)
	}
	// Two of three installations find it quick; the third one's many calls do not
	// change the median.
	if p := rows[0].P50; p < 10*time.Millisecond || p > 12*time.Millisecond {
		t.Errorf("median %v, want about 10 ms", p)
	}
	if rows[0].Tier != "standard" {
		t.Errorf("tier %q, want standard: every third installation is slow", rows[0].Tier)
	}
}

func TestForgedExportsAreRefused(t *testing.T) {
	for _, s := range []string{`{}`, `{"schema":"other"}`, `{"schema":"` + Schema + `","tools":[{"tool":"x","times":[-1]}]}`, `{"schema":"` + Schema + `","extra":1}`, `[`} {
		if _, err := ReadExport(strings.NewReader(s)); err == nil {
			t.Errorf("%s was read", s)
		}
	}
}
