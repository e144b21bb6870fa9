package memory_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/memory/memorytest"
	"github.com/glyphoxa/glyphoxa/memory/sqlite"
)

// A recall is how much of the evidence for some questions was among the first 1, 5
// and 10 hits.
type recall struct {
	questions int
	at        [3]float64
}

var depths = [3]int{1, 5, 10}

func (r *recall) add(hits []memory.Hit, evidence []string) {
	r.questions++
	for _, id := range evidence {
		place := slices.IndexFunc(hits, func(h memory.Hit) bool { return h.ID == id })
		for i, depth := range depths {
			if place >= 0 && place < depth {
				r.at[i] += 1 / float64(len(evidence))
			}
		}
	}
}

// share is the recall among the first so many hits, as depths has them.
func (r *recall) share(i int) float64 { return r.at[i] / float64(max(1, r.questions)) }

func (r *recall) String() string {
	return fmt.Sprintf("%4d questions, recall@1 %.3f, @5 %.3f, @10 %.3f", r.questions, r.share(0), r.share(1), r.share(2))
}

// gossips asks the questions of so many made-up dialogues, and says how much was
// recalled of each half and kind. An embedder reads along if there is one.
func gossips(t testing.TB, dialogues int, e memory.Embedder) map[string]*recall {
	t.Helper()
	out := map[string]*recall{}
	for seed := range dialogues {
		g := memorytest.NewGossip(uint64(seed))
		plain, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer plain.Close()
		if err := plain.Append(t.Context(), g.Lines...); err != nil {
			t.Fatal(err)
		}
		store := memory.Store(plain)
		if e != nil {
			if _, err := memory.EmbedPending(t.Context(), store, e, len(g.Lines)); err != nil {
				t.Fatal(err)
			}
			store = memory.WithEmbeddings(store, e)
		}
		for _, q := range g.Questions {
			hits, err := store.Search(t.Context(), memory.Viewer{Campaign: "vale"}, memory.Query{Text: q.Text, Limit: 10})
			if err != nil {
				t.Fatal(err)
			}
			half := "known half"
			if q.HeldOut {
				half = "held-out half"
			}
			for _, key := range []string{half, half + ", " + q.Kind} {
				if out[key] == nil {
					out[key] = new(recall)
				}
				out[key].add(hits, q.Evidence)
			}
		}
	}
	return out
}

func TestParaphrasedQuestionsFindTheirEvidence(t *testing.T) {
	got := gossips(t, 2, nil)["held-out half"]
	if got.share(0) < 0.36 || got.share(1) < 0.66 || got.share(2) < 0.75 {
		t.Errorf("%v; want at least 0.36, 0.66 and 0.75", got)
	}
}

func TestASecondOpinionDoesNoHarm(t *testing.T) {
	words, both := gossips(t, 1, nil)["held-out half"], gossips(t, 1, memorytest.NewHashed(128))["held-out half"]
	if both.share(2) < words.share(2)-0.05 {
		t.Errorf("with vectors that know no meaning %v, without %v", both, words)
	}
}

// BenchmarkRecall is the retrieval benchmark: ten dialogues of 320 lines and more,
// 1,100 questions that mostly avoid the words of their answers.
func BenchmarkRecall(b *testing.B) {
	for _, with := range []struct {
		name string
		e    memory.Embedder
	}{{"words", nil}, {"words and hashed vectors", memorytest.NewHashed(256)}} {
		b.Run(with.name, func(b *testing.B) {
			var got map[string]*recall
			for b.Loop() {
				got = gossips(b, 10, with.e)
			}
			for _, key := range slices.Sorted(maps.Keys(got)) {
				b.Logf("%-24s %v", key, got[key])
			}
			held := got["held-out half"]
			b.ReportMetric(held.share(0), "recall@1")
			b.ReportMetric(held.share(1), "recall@5")
			b.ReportMetric(held.share(2), "recall@10")
			b.ReportMetric(0, "ns/op")
		})
	}
}
