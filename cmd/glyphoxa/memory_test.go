package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// glyphoxa runs the program with a store of its own.
func glyphoxaMemory(t *testing.T, in string, args ...string) (out, errs string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(t.Context(), append([]string{"memory"}, args...), stdio{strings.NewReader(in), &o, &e})
	return o.String(), e.String(), code
}

const transcriptFile = `{"session":"s1","id":"D1:1","at":"2026-03-01T19:00:00Z","speaker":"Mira","text":"The widow buried silver below the old mill."}
{"session":"s1","id":"D1:2","at":1772391605,"speaker":"Tom","text":"Then we dig tonight."}

{"session":"s2","id":"D1:1","at":"1:56 pm on 8 May, 2026","speaker":"Mira","text":"My horse is lame, so I bought a mule."}
{"session":2,"id":7,"at":"some day","speaker":"Tom","text":"Mules are stubborn.","mood":"grim"}
`

func TestAnImportedTranscriptIsFoundUnderItsOwnIDs(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	file := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(file, []byte(transcriptFile), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time changes nothing
		if out, errs, code := glyphoxaMemory(t, "", "import-transcript", file); code != 0 || !strings.Contains(out, "4 lines in 3 sessions") {
			t.Fatalf("import: %d %s%s", code, out, errs)
		}
	}
	out, errs, code := glyphoxaMemory(t, "Where is the silver?\n"+`{"id":5,"question":"What did Mira buy?","session":"s2"}`+"\n{broken\n"+`{"query":"stubborn"}`+"\n",
		"search", "--json", "--stdin", "--limit", "1")
	if code != 0 {
		t.Fatalf("search: %d %s", code, errs)
	}
	var got []string
	for line := range strings.Lines(out) {
		var a memoryAnswer
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		var s strings.Builder
		s.WriteString(string(a.ID) + ":")
		for _, r := range a.Results {
			s.WriteString(r.Session + "/" + r.ID)
		}
		if a.Error != "" {
			s.WriteString("error")
		}
		got = append(got, s.String())
	}
	if want := ":s1/D1:1 5:s2/D1:1 :error :2/7"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %q", strings.Join(got, " "), want)
	}
	if out, _, _ := glyphoxaMemory(t, "", "search", "silver", "mill"); !strings.Contains(out, "Mira: The widow") {
		t.Errorf("search for people to read: %q", out)
	}
	if out, _, _ := glyphoxaMemory(t, "", "recap", "--session", "s1"); !strings.Contains(out, "widow") {
		t.Errorf("recap: %q", out)
	}
}

func TestABackupBringsEverythingBack(t *testing.T) {
	dir := t.TempDir()
	one, two, three := filepath.Join(dir, "one.db"), filepath.Join(dir, "two.db"), filepath.Join(dir, "three.db")
	backup := filepath.Join(dir, "backup.gz")
	ok := func(in string, args ...string) string {
		t.Helper()
		out, errs, code := glyphoxaMemory(t, in, args...)
		if code != 0 {
			t.Fatalf("%q: %d %s", args, code, errs)
		}
		return out
	}
	ok(transcriptFile, "import-transcript", "--db", one, "--campaign", "vale", "-")
	ok("", "backup", "--db", one, backup)
	ok("", "restore", "--db", two, backup)
	ok("", "copy", two, three)
	if a, b := ok("", "export", "--db", one), ok("", "export", "--db", three); a != b || !strings.Contains(a, "widow") {
		t.Errorf("exports differ:\n%s\n%s", a, b)
	}
	if out := ok("", "forget", "--db", three, "mira"); !strings.HasPrefix(out, "2 lines") {
		t.Errorf("forget: %q", out)
	}
	if out := ok("", "export", "--db", three); strings.Contains(out, "widow") || !strings.Contains(out, "stubborn") {
		t.Errorf("after forgetting: %s", out)
	}
	if out := ok("", "stats", "--db", three, "--json"); !strings.Contains(out, `"lines":2`) {
		t.Errorf("stats: %s", out)
	}
	b, err := os.ReadFile(backup)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(backup, b[:len(b)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := glyphoxaMemory(t, "", "restore", "--db", filepath.Join(dir, "four.db"), backup); code != 1 || !strings.Contains(errs, "damaged") {
		t.Errorf("half a backup: %d %s", code, errs)
	}
}

func TestMemoryCommandsExplainWhatIsWrong(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"nonsense", 2, "no command"},
		{"search", 2, "--stdin"},
		{"search --limit x word", 2, "limit"},
		{"entity nobody", 1, "not known"},
		{"graph", 2, "words"},
		{"recap --length tiny", 2, "short, medium or long"},
		{"import-transcript /nowhere/at/all", 1, "no such file"},
		{"forget player-9", 0, ""},
		{"review accept", 2, "accept ID"},
		{"review maybe x", 2, "accept and reject"},
		{"review accept x", 1, "not known"},
		{"consolidate", 1, "no session yet"},
		{"tell bartok nothing", 1, "not known"},
		{"search --db /dev/null/x word", 1, "not a directory"},
		{"search --db postgres://x@127.0.0.1:1/x word", 1, "cannot be reached"},
		{"retain", 2, "how many days"},
		{"retain --lines 30", 0, ""},
		{"opt-out player-9", 0, ""},
		{"restore memory_test.go", 1, "not a backup"},
		{"search -h", 0, "Usage"},
	} {
		_, errs, code := glyphoxaMemory(t, "", strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(errs, c.says) {
			t.Errorf("memory %s: got %d, %q; want %d and %q", c.args, code, errs, c.code, c.says)
		}
	}
	if _, errs, code := glyphoxaMemory(t, "not json\n", "import-transcript", "-"); code != 1 || !strings.Contains(errs, "-:1: want a JSON object") {
		t.Errorf("import of text: %d %q", code, errs)
	}
}

func TestMisheardNamesAreCorrectedLineByLine(t *testing.T) {
	out, errs, code := glyphoxaMemory(t, "ask bar tock about fandalin\nnothing to see here\n", "correct", "--names", "Bartok,Phandalin")
	if code != 0 || out != "ask Bartok about Phandalin\nnothing to see here\n" {
		t.Errorf("got %d %q %q", code, out, errs)
	}
}
