package postgres

import (
	"flag"
	"testing"

	"github.com/glyphoxa/glyphoxa/memory/memorytest"
	"github.com/glyphoxa/glyphoxa/memory/relational"
)

var (
	benchLines    = flag.Int("lines", 100_000, "how many lines the search benchmarks remember")
	benchPassages = flag.Int("passages", 100_000, "how many passages have a vector")
	benchEntities = flag.Int("entities", 100_000, "how many entities there are, with five relations each")
)

func benchStore(b *testing.B) *relational.Store {
	b.Helper()
	s, err := Open(b.Context(), address(b))
	must(b, err)
	b.Cleanup(func() { must(b, s.Close()) })
	return s
}

func BenchmarkSearch(b *testing.B) {
	s := benchStore(b)
	memorytest.BenchSearch(b, s, memorytest.FillTalk(b, s, *benchLines))
}

func BenchmarkAppend(b *testing.B) { memorytest.BenchAppend(b, benchStore(b)) }

func BenchmarkMeaning(b *testing.B) {
	for _, dimensions := range []int{768, 1536} {
		b.Run(map[int]string{768: "768 dimensions", 1536: "1536 dimensions"}[dimensions], func(b *testing.B) {
			memorytest.BenchHybrid(b, benchStore(b), *benchPassages, dimensions)
		})
	}
}

func BenchmarkWorld(b *testing.B) {
	memorytest.BenchWorld(b, benchStore(b), *benchEntities, 5**benchEntities)
}

func BenchmarkAudioClock(b *testing.B) {
	s := benchStore(b)
	memorytest.BenchTicks(b, s, memorytest.FillTalk(b, s, *benchLines))
}
