package memorytest

import (
	"testing"

	"github.com/glyphoxa/glyphoxa/memory"
)

func otherWords(t *testing.T, s memory.Store) {
	must(t, s.Append(t.Context(),
		Said(1, "player-tom", "My kid picked up a puppy from the shelter.", "bartok"),
		Said(2, "player-tom", "Die Räuber haben die Schatzkarten in der Mühle vergraben.", "bartok"),
		Said(3, "player-tom", "Los ladrones escondieron las espadas en la cueva.", "bartok"),
		Said(4, "player-tom", "We will see about the weather.", "bartok"),
	))
	for ask, want := range map[string]string{
		"Which pet did his child adopt?":             "line-001",
		"Wo hat der Räuber eine Schatzkarte?":        "line-002",
		"¿Quién esconde la espada?":                  "line-003",
		"Do they have children?":                     "line-001",
		"What animal does the player's daughter own": "line-001",
	} {
		hits, err := s.Search(t.Context(), as("bartok"), memory.Query{Text: ask})
		must(t, err)
		if len(hits) == 0 || hits[0].ID != want {
			t.Errorf("%s: got %q, want %s first", ask, ids(hits, hitID), want)
		}
	}
}

func otherNames(t *testing.T, s memory.Store) {
	must(t, s.PutWorld(t.Context(), "vale", []memory.Entity{
		{ID: "duke", Kind: memory.NPC, Name: "Aldous Vey", Aliases: []string{"Nightjar"}, Text: "A duke, and a thief by night.", Audience: memory.Audience{"vex"}},
	}))
	must(t, s.Append(t.Context(), Said(1, "player-tom", "Aldous Vey was at the opera.", "bartok", "vex"), Said(2, "player-tom", "Pass the salt.", "bartok", "vex")))
	ask := memory.Query{Text: "Where was the Nightjar seen?", Limit: 1}
	check(t, "to who knows that they are one", search(t, s, as("vex"), ask), "line-001")
	check(t, "to who does not", search(t, s, as("bartok"), ask), "")
}
