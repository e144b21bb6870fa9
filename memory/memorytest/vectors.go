package memorytest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/memory"
)

// Topics is an embedder that knows a few topics by their words, so that what a
// test means by "near" is plain.
type Topics [][]string

// Model names it.
func (t Topics) Model() string { return "topics" }

// Embed counts the words of each topic.
func (t Topics) Embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		v := make([]float32, len(t)+1)
		v[len(t)] = 0.1
		for j, topic := range t {
			for _, w := range topic {
				v[j] += float32(strings.Count(strings.ToLower(text), w))
			}
		}
		out[i] = v
	}
	return out, nil
}

func meaningIsFound(t *testing.T, s memory.Store) {
	topics := Topics{{"wagon", "cart", "wheel"}, {"soup", "stew", "pot"}, {"sword", "blade", "steel"}}
	var lines []memory.Line
	for i := range 60 {
		lines = append(lines, Said(i, "player-tom", fmt.Sprintf("Nothing of note, number %d.", i), "bartok"))
	}
	lines[12].Text = "My wheel is broken and the wheel maker is drunk."
	lines[31].Text = "The pot boils over."
	lines[48].Text, lines[48].Audience = "That blade is cursed.", nil
	must(t, s.Append(t.Context(), lines...))
	n, err := memory.EmbedPending(t.Context(), s, topics, 5)
	must(t, err)
	if n != 5 {
		t.Errorf("%d passages embedded, want the five that were asked for", n)
	}
	rest, err := memory.EmbedPending(t.Context(), s, topics, 1000)
	must(t, err)
	if n += rest; n != 19 { // every third of 60 lines begins one; the last has not ended
		t.Errorf("%d passages in all, want 19", n)
	}
	must(t, s.EndSession(t.Context(), "vale", "one", Start.Add(time.Hour)))
	if n, err = memory.EmbedPending(t.Context(), s, topics, 1000); err != nil || n != 1 {
		t.Errorf("after the session's end: %d more, %v; want the last", n, err)
	}
	both := memory.WithEmbeddings(s, topics)
	finds := func(who, ask, id string) bool {
		hits, err := both.Search(t.Context(), as(who), memory.Query{Text: ask, Limit: 10})
		must(t, err)
		return strings.Contains(" "+ids(hits, hitID)+" ", " "+id+" ")
	}
	for _, c := range []struct {
		who, ask, id string
		want         bool
	}{
		{"bartok", "the cart", "line-012", true},
		{"bartok", "some soup", "line-031", true},
		{"stranger", "the cart", "line-012", false},
		{"", "a sword", "line-048", true},
		{"bartok", "a sword", "line-048", false},
	} {
		if got := finds(c.who, c.ask, c.id); got != c.want {
			t.Errorf("%q as %q finds %s: %v, want %v", c.ask, c.who, c.id, got, c.want)
		}
	}
	if hits := search(t, s, as("bartok"), memory.Query{Text: "the cart"}); hits != "" {
		t.Errorf("words alone found %q", hits)
	}
	_, err = s.Forget(t.Context(), "vale", "player-tom")
	must(t, err)
	if finds("", "the cart", "line-012") {
		t.Error("what was forgotten is still near")
	}
	if err := s.PutVectors(t.Context(), "topics", memory.Vector{Seq: 1, Values: nil}); err == nil {
		t.Error("a vector without dimensions was kept")
	}
}
