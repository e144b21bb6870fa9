package memory_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/memory/sqlite"
)

// dialogue reads testdata/dialogue.txt: five evenings of play. A line's id is
// its session and its number there, as testdata/questions.txt has them.
func dialogue(t testing.TB) (out []memory.Line) {
	t.Helper()
	var session string
	var at time.Time
	n := 0
	for _, l := range lines(t, "dialogue.txt") {
		if head, ok := strings.CutPrefix(l, "== "); ok {
			var when string
			session, when, _ = strings.Cut(head, " ")
			var err error
			if at, err = time.Parse(time.RFC3339, when); err != nil {
				t.Fatal(err)
			}
			n = 0
			continue
		}
		n++
		name, text, _ := strings.Cut(l, ": ")
		out = append(out, memory.Line{ID: fmt.Sprintf("%s:%d", session, n), Campaign: "vale", Session: session, Text: text,
			Speaker: memory.Speaker{ID: strings.ToLower(name), Name: name, Kind: memory.PlayerSpeaker}, At: at.Add(time.Duration(n) * 10 * time.Second)})
	}
	return out
}

// recalled asks every question and returns the share of the evidence that was
// among the first 1, 5 and 10 hits.
func recalled(t testing.TB, s memory.Store, report func(question, missing string)) (at1, at5, at10 float64) {
	t.Helper()
	questions := lines(t, "questions.txt")
	for _, q := range questions {
		text, ids, _ := strings.Cut(q, "\t")
		evidence := strings.Fields(ids)
		hits, err := s.Search(t.Context(), memory.Viewer{Campaign: "vale"}, memory.Query{Text: text, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		var missing []string
		for _, id := range evidence {
			place := slices.IndexFunc(hits, func(h memory.Hit) bool { return h.ID == id })
			share := 1 / float64(len(evidence))
			if place == 0 {
				at1 += share
			}
			if place >= 0 && place < 5 {
				at5 += share
			}
			if place >= 0 {
				at10 += share
			}
			if place < 0 || place > 4 {
				missing = append(missing, fmt.Sprintf("%s at %d", id, place+1))
			}
		}
		if len(missing) > 0 {
			report(text, strings.Join(missing, ", "))
		}
	}
	n := float64(len(questions))
	return at1 / n, at5 / n, at10 / n
}

func TestQuestionsFindTheirEvidence(t *testing.T) {
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Append(t.Context(), dialogue(t)...); err != nil {
		t.Fatal(err)
	}
	at1, at5, at10 := recalled(t, s, func(question, missing string) { t.Logf("%s: %s", question, missing) })
	t.Logf("recall@1 %.3f, recall@5 %.3f, recall@10 %.3f", at1, at5, at10)
	// The questions avoid the words of their answers, as people do. What is
	// missing is what embeddings are for.
	if at1 < 0.38 || at5 < 0.58 || at10 < 0.66 {
		t.Error("want at least 0.38, 0.58 and 0.66")
	}
}
