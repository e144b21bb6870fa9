package memorytest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/memory"
)

// FillTalk writes so many lines of talk and logs how fast that went and what they
// take on disk.
func FillTalk(b *testing.B, s memory.Store, lines int) *Talk {
	b.Helper()
	talk := NewTalk(1)
	start := time.Now()
	for n := 0; n < lines; n += 1000 {
		must(b, s.Append(b.Context(), talk.Next(min(1000, lines-n))...))
	}
	took := time.Since(start)
	stats, err := s.Stats(b.Context(), "vale")
	must(b, err)
	b.Logf("%d lines written in %v, %.0f a second; %d MiB", lines, took.Round(time.Millisecond), float64(lines)/took.Seconds(), stats.Bytes>>20)
	return talk
}

// BenchSearch reports how long each kind of question takes for each kind of
// viewer, in a store that talk has filled.
func BenchSearch(b *testing.B, s memory.Store, talk *Talk) {
	words := func(n int) string {
		var w []string
		for range n {
			w = append(w, talk.Word())
		}
		return strings.Join(w, " ")
	}
	gossip, asked := NewGossip(1), 0
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
		for _, who := range []string{"", NPC(0), NPC(10), NPC(150)} {
			b.Run(fmt.Sprintf("%s/as %q", kind.name, who), func(b *testing.B) {
				var watch Stopwatch
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

// BenchAppend reports how long one line takes until it is durable.
func BenchAppend(b *testing.B, s memory.Store) {
	talk := NewTalk(2)
	var took []time.Duration
	for b.Loop() {
		l := talk.Next(1)
		l[0].ID = fmt.Sprintf("one-%d", len(took))
		start := time.Now()
		must(b, s.Append(b.Context(), l...))
		took = append(took, time.Since(start))
	}
	reportTimes(b, took)
}

func reportTimes(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(0, "ns/op")
}

// Meanings makes up vectors as models make them: clusters in a space of far fewer
// dimensions than they have, around a common direction, with noise.
type Meanings struct {
	r       *rand.Rand
	base    [][]float32 // of the small space, in the large one
	centres [][]float32
	bias    []float32
}

// NewMeanings makes the same vectors for the same seed.
func NewMeanings(seed uint64, dimensions int) *Meanings {
	const latent, clusters = 128, 400
	m := &Meanings{r: rand.New(rand.NewPCG(seed, 11))}
	for i := range latent {
		m.base = append(m.base, m.noise(dimensions, 1/math.Sqrt(float64(i+1)))) // a decaying spectrum
	}
	for range clusters {
		m.centres = append(m.centres, m.noise(latent, 1))
	}
	m.bias = m.noise(dimensions, 0.5)
	return m
}

func (m *Meanings) noise(n int, scale float64) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(scale * m.r.NormFloat64())
	}
	return v
}

// Next makes up one vector.
func (m *Meanings) Next() []float32 {
	v := slices.Clone(m.bias)
	at := m.centres[m.r.IntN(len(m.centres))]
	for i, b := range m.base {
		x := at[i] + float32(0.6*m.r.NormFloat64())
		for j := range v {
			v[j] += x * b[j]
		}
	}
	return v
}

// Near makes up a question about a vector.
func (m *Meanings) Near(v []float32) []float32 {
	size := 0.0
	for _, x := range v {
		size += float64(x) * float64(x)
	}
	q := slices.Clone(v)
	for i := range q {
		q[i] += float32(0.5 * math.Sqrt(size/float64(len(q))) * m.r.NormFloat64())
	}
	return q
}

// BenchHybrid fills a store with so many passages and their vectors, and reports
// how long searches by words and meaning take and how many of the ten passages that
// are really nearest take part.
func BenchHybrid(b *testing.B, s memory.Store, passages, dimensions int) {
	talk := FillTalk(b, s, passages*memory.PassageStep+memory.PassageLines)
	m := NewMeanings(3, dimensions)
	vectors := map[int64][]float32{}
	model := fmt.Sprintf("made-up-%d", dimensions)
	for len(vectors) < passages {
		ps, err := s.Pending(b.Context(), model, memory.MaxHits)
		must(b, err)
		if len(ps) == 0 {
			break
		}
		batch := make([]memory.Vector, len(ps))
		for i, p := range ps {
			batch[i] = memory.Vector{Seq: p.Seq, Values: m.Next()}
			vectors[p.Seq] = batch[i].Values
		}
		must(b, s.PutVectors(b.Context(), model, batch...))
	}
	seqs := make([]int64, 0, len(vectors))
	for seq := range vectors {
		seqs = append(seqs, seq)
	}
	slices.Sort(seqs)
	v := memory.Viewer{Campaign: "vale"}
	search := func(q []float32, text string) {
		if _, err := s.Search(b.Context(), v, memory.Query{Text: text, Vector: q, Model: model}); err != nil {
			b.Fatal(err)
		}
	}
	search(vectors[seqs[0]], "warm up") // reads one bit a dimension into memory, once
	b.Run("hybrid", func(b *testing.B) {
		var watch Stopwatch
		for b.Loop() {
			q, text := m.Near(vectors[seqs[m.r.IntN(len(seqs))]]), talk.Word()+" "+talk.Name()
			watch.Time(func() { search(q, text) })
		}
		watch.Report(b)
	})
	b.Run("recall", func(b *testing.B) {
		hits, asked := 0, 0
		for b.Loop() {
			q := m.Near(vectors[seqs[m.r.IntN(len(seqs))]])
			// Words that nobody said leave the order to meaning. Ten passages have at
			// most sixty lines.
			got, err := s.Search(b.Context(), v, memory.Query{Text: "qqqzzz", Vector: q, Model: model, Limit: 10 * memory.PassageLines})
			must(b, err)
			for _, seq := range nearest(vectors, seqs, q, 10) {
				asked++
				first := fmt.Sprintf("l%d", (seq>>32-1)*talkSession+seq&0xffffffff)
				if slices.ContainsFunc(got, func(h memory.Hit) bool { return h.ID == first }) {
					hits++
				}
			}
		}
		b.ReportMetric(float64(hits)/float64(asked), "recall@10")
		b.ReportMetric(0, "ns/op")
	})
}

// nearest compares all vectors, exactly.
func nearest(vectors map[int64][]float32, seqs []int64, q []float32, n int) []int64 {
	near := make(map[int64]float64, len(seqs))
	for _, seq := range seqs {
		dot, size := 0.0, 0.0
		for i, x := range vectors[seq] {
			dot += float64(x) * float64(q[i])
			size += float64(x) * float64(x)
		}
		near[seq] = dot / math.Sqrt(size)
	}
	sorted := slices.Clone(seqs)
	slices.SortFunc(sorted, func(a, b int64) int {
		switch {
		case near[a] > near[b]:
			return -1
		case near[a] < near[b]:
			return 1
		}
		return 0
	})
	return sorted[:min(n, len(sorted))]
}

// BenchWorld fills a store with entities and relations, of which a few are
// famous, and reports how long walking and briefing take.
func BenchWorld(b *testing.B, s memory.Store, entities, relations int) {
	r := rand.New(rand.NewPCG(4, 4))
	famous := rand.NewZipf(r, 1.2, 4, uint64(entities-1))
	talk := NewTalk(4)
	world := make([]memory.Entity, entities)
	for i := range world {
		world[i] = memory.Entity{ID: NPC(i), Kind: memory.NPC, Name: fmt.Sprintf("%s %d", talk.Name(), i), Text: talk.Word() + " " + talk.Word(),
			Audience: memory.Audience{memory.Everyone}}
	}
	for i := range relations {
		from, to := &world[i%entities], int(famous.Uint64())
		from.Relations = append(from.Relations, memory.Relation{Kind: fmt.Sprintf("knows %d", i/entities), To: NPC(to), Audience: memory.Audience{memory.Everyone}})
	}
	start := time.Now()
	must(b, s.PutWorld(b.Context(), "vale", world))
	b.Logf("%d entities and %d relations written in %v", entities, relations, time.Since(start).Round(time.Millisecond))
	for _, n := range []int{0, entities / 2} {
		b.Run(fmt.Sprintf("depth 2 around entity %d", n), func(b *testing.B) {
			var watch Stopwatch
			for b.Loop() {
				watch.Time(func() {
					if _, err := s.Neighbours(b.Context(), memory.Viewer{Campaign: "vale", Entity: NPC(1)}, NPC(n), 2); err != nil {
						b.Fatal(err)
					}
				})
			}
			watch.Report(b)
		})
	}
	FillTalk(b, s, 20_000)
	recaller := memory.NewRecaller(s)
	defer recaller.Close()
	b.Run("brief", func(b *testing.B) {
		var watch Stopwatch
		missing := 0
		for b.Loop() {
			said := "What did " + talk.Name() + " say about the " + talk.Word() + " " + talk.Word() + "?"
			watch.Time(func() {
				missing += len(recaller.Brief(b.Context(), memory.Viewer{Campaign: "vale", Entity: NPC(3)}, memory.Moment{Said: said}).Missing)
			})
		}
		watch.Report(b)
		b.ReportMetric(float64(missing), "parts-missing")
	})
}

// BenchTicks reports how late the ticks of an audio clock are while searches run
// as fast as they are answered.
func BenchTicks(b *testing.B, s memory.Store, talk *Talk) {
	for _, load := range []int{0, 4} {
		b.Run(fmt.Sprintf("%d searchers", load), func(b *testing.B) {
			ctx, stop := context.WithCancel(b.Context())
			ended := make(chan struct{})
			for i := range load {
				words := NewTalk(uint64(10 + i))
				go func() {
					defer func() { ended <- struct{}{} }()
					for ctx.Err() == nil {
						_, _ = s.Search(ctx, memory.Viewer{Campaign: "vale"}, memory.Query{Text: words.Word() + " " + words.Name() + " " + words.Word()})
					}
				}()
			}
			var late []time.Duration
			next := time.Now()
			for b.Loop() {
				next = next.Add(20 * time.Millisecond)
				time.Sleep(time.Until(next))
				late = append(late, max(0, time.Since(next)))
			}
			stop()
			for range load {
				<-ended
			}
			reportTimes(b, late)
		})
	}
}
