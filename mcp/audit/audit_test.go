package audit

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/google/go-cmp/cmp"
)

func collect(t *testing.T, path string, q Query) []string {
	t.Helper()
	var got []string
	for r, err := range Read(path, q) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r.Tool+" "+string(r.Outcome)+" "+string(r.Args))
	}
	return got
}

func TestLogKeepsShapesAndAnswersQuestions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l, err := Open(path, false)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l.Append(mcp.CallRecord{At: at, Tool: "roll", Caller: mcp.Caller{NPC: "bartok"}, Args: json.RawMessage(`{"expression":"2d6","n":[1,2],"x":{"y":true}}`), Outcome: mcp.Answered})
	l.Append(mcp.CallRecord{At: at.Add(time.Hour), Tool: "roll", Caller: mcp.Caller{NPC: "mira"}, Args: json.RawMessage(`{"broken`), Outcome: mcp.BadArgs})
	l.Append(mcp.CallRecord{At: at.Add(2 * time.Hour), Tool: "write", Server: "fs", Outcome: mcp.Denied, By: "dm"})
	if err := l.Close(); err != nil || l.Err() != nil {
		t.Fatal(err, l.Err())
	}
	l.Append(mcp.CallRecord{Tool: "lost"})
	all := []string{`roll ok {"expression":"string","n":["number"],"x":{"y":"boolean"}}`, `roll bad arguments "invalid"`, "write denied "}
	for _, c := range []struct {
		q    Query
		want []string
	}{
		{Query{}, all},
		{Query{Tool: "roll", NPC: "mira"}, all[1:2]},
		{Query{Server: "fs"}, all[2:]},
		{Query{Outcome: mcp.Answered}, all[:1]},
		{Query{Since: at.Add(time.Hour), Until: at.Add(2 * time.Hour)}, all[1:2]},
		{Query{Speaker: "nobody"}, nil},
	} {
		if d := cmp.Diff(c.want, collect(t, path, c.q)); d != "" {
			t.Errorf("%+v: %s", c.q, d)
		}
	}
	// A power cut leaves half a line.
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = f.WriteString(`{"tool":"ha`)
	f.Close()
	if d := cmp.Diff(all, collect(t, path, Query{})); d != "" {
		t.Error(d)
	}
}

func TestLogTurnsOverAndStaysBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l, err := Open(path, true)
	if err != nil {
		t.Fatal(err)
	}
	args, err := json.Marshal(strings.Repeat("x", 60<<10))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 80 {
				l.Append(mcp.CallRecord{Tool: "t", Args: args})
			}
		})
	}
	wg.Wait()
	if l.Err() != nil {
		t.Fatal(l.Err())
	}
	var bytes int64
	files, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		fi, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		bytes += fi.Size()
	}
	if len(files) != 2 || bytes > 2*maxLog {
		t.Errorf("%v of %d bytes, want two files of at most %d each", files, bytes, maxLog)
	}
	if n := len(collect(t, path, Query{})); n < 200 {
		t.Errorf("%d lines left", n)
	}
}

// BenchmarkAppend is what the log adds to a call: the arguments' shape, a line of
// JSON and a write that survives the program's end.
func BenchmarkAppend(b *testing.B) {
	l, err := Open(filepath.Join(b.TempDir(), "calls.jsonl"), false)
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	r := mcp.CallRecord{At: time.Now(), Tool: "roll", Args: json.RawMessage(`{"expression":"2d6+3"}`), Outcome: mcp.Answered, Took: 500}
	b.ReportAllocs()
	for b.Loop() {
		l.Append(r)
	}
}
