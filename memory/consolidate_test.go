package memory_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/memory/memorytest"
	"github.com/glyphoxa/glyphoxa/memory/sqlite"
)

func TestWhatASessionStatesIsProposedOnceAndProved(t *testing.T) {
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.PutWorld(t.Context(), "vale", memorytest.Vale()); err != nil {
		t.Fatal(err)
	}
	aside := memorytest.Said(6, "player-tom", "Bartok is played very well today.", "bartok")
	aside.Aside = true
	if err := s.Append(t.Context(),
		memorytest.Said(1, "mira", "Bartok fears the Tilted Tankard. Do you believe it?", "vex"),
		memorytest.Said(2, "vex", "Bartok is a liar, and Vex knows it!", "mira"),
		memorytest.Said(3, "player-tom", "Is Bartok a liar? Bartok, come here. Let us go to Bartok.", "bartok"),
		memorytest.Said(4, "player-tom", "The Tilted Tankard burned down last night.", "bartok", "mira"),
		memorytest.Said(5, "mira", "Bartok fears the Tilted Tankard."),
		aside,
	); err != nil {
		t.Fatal(err)
	}
	n, err := memory.Consolidate(t.Context(), s, nil, "vale", "one")
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Claims(t.Context(), memory.Viewer{Campaign: "vale"}, memory.ClaimQuery{Status: memory.Proposed})
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, c := range got {
		told = append(told, strings.Join([]string{c.Source, c.Subject, c.Predicate, c.Object, c.Text, strings.Join(c.Audience, "+")}, "|"))
	}
	want := []string{
		"line-004|tankard|||The Tilted Tankard burned down last night.|bartok+mira+player-tom",
		"line-002|bartok|||Bartok is a liar, and Vex knows it.|mira+vex",
		"line-001|bartok|fears|tankard|Bartok fears the Tilted Tankard.|mira+vex",
	}
	if diff := cmp.Diff(want, told); diff != "" || n != len(want) {
		t.Errorf("%d proposed (-want +got):\n%s", n, diff)
	}
	if err := s.Judge(t.Context(), "vale", got[0].ID, memory.Rejected); err != nil {
		t.Fatal(err)
	}
	if n, err = memory.Consolidate(t.Context(), s, nil, "vale", "one"); err != nil || n != 0 {
		t.Errorf("the second time: %d proposed, %v; want none", n, err)
	}
}
