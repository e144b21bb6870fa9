package sqlite

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/memory/memorytest"
)

var benchLines = flag.Int("lines", 100_000, "how many lines the search benchmarks remember")

// BenchmarkSearch reports the percentiles that matter at a table, for each kind
// of question and of viewer, and how fast the lines were written.
func BenchmarkSearch(b *testing.B) {
	dir := b.TempDir()
	s, err := Open(b.Context(), filepath.Join(dir, "memory.db"))
	must(b, err)
	defer s.Close()
	talk := memorytest.NewTalk(1)
	start := time.Now()
	for n := 0; n < *benchLines; n += 1000 {
		must(b, s.Append(b.Context(), talk.Next(1000)...))
	}
	took := time.Since(start)
	stats, err := s.Stats(b.Context(), "vale")
	must(b, err)
	b.Logf("%d lines written in %v, %.0f a second; %d MiB", *benchLines, took.Round(time.Millisecond), float64(*benchLines)/took.Seconds(), stats.Bytes>>20)
	words := func(n int) string {
		var w []string
		for range n {
			w = append(w, talk.Word())
		}
		return strings.Join(w, " ")
	}
	gossip, asked := memorytest.NewGossip(1), 0
	for _, kind := range []struct {
		name string
		make func() string
	}{
		{"three words", func() string { return words(3) }},
		{"a name", talk.Name},
		{"a sentence", func() string { return words(11) + " " + talk.Name() }},
		{"a prefix", func() string { return talk.Name()[:3] + "*" }},
		{"a phrase", func() string { return `"` + words(2) + `"` }},
		{"a question", func() string { asked++; return gossip.Questions[asked%len(gossip.Questions)].Text }},
		{"the latest", func() string { return "" }},
	} {
		for _, who := range []string{"", memorytest.NPC(0), memorytest.NPC(10), memorytest.NPC(150)} {
			b.Run(fmt.Sprintf("%s/as %q", kind.name, who), func(b *testing.B) {
				var watch memorytest.Stopwatch
				for b.Loop() {
					q := memory.Query{Text: kind.make()}
					watch.Time(func() {
						if _, err := s.Search(b.Context(), memory.Viewer{Campaign: "vale", Entity: who}, q); err != nil {
							b.Fatal(err)
						}
					})
				}
				watch.Report(b)
			})
		}
	}
}
