package memorytest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/glyphoxa/glyphoxa/memory"
)

func claimID(c memory.Claim) string { return c.ID }

func claims(t testing.TB, s memory.Store, v memory.Viewer, q memory.ClaimQuery) string {
	t.Helper()
	list, err := s.Claims(t.Context(), v, q)
	must(t, err)
	return sorted(list, claimID)
}

func tellingPassesOn(t *testing.T, s memory.Store) {
	must(t, s.Append(t.Context(), Said(1, "vex", "The shipment lands at midnight.", "bartok"), Said(2, "mira", "Good night.", "bartok", "vex")))
	must(t, s.PutWorld(t.Context(), "vale", Vale()))
	at := Start.Add(time.Minute)
	tell := func(from, line, claim string, to ...string) error {
		return s.Tell(t.Context(), memory.Telling{Campaign: "vale", From: from, To: to, Line: line, Claim: claim, At: at})
	}
	for _, c := range []struct{ from, line, claim string }{
		{"mira", "line-001", ""}, {"stranger", "line-001", ""}, {"mira", "", "debt"}, {"bartok", "", "poison"}, {"mira", "line-999", ""}, {"mira", "", "nonsense"},
	} {
		if err := tell(c.from, c.line, c.claim, "greymantle"); !errors.Is(err, memory.ErrUnknown) {
			t.Errorf("%s tells %s%s, which it does not know: got %v, want ErrUnknown", c.from, c.line, c.claim, err)
		}
	}
	check(t, "mira before", search(t, s, as("mira"), memory.Query{Text: "shipment"}), "")
	must(t, tell("bartok", "line-001", "", "mira"))
	must(t, tell("mira", "line-001", "", "greymantle")) // who was told may tell
	must(t, tell("bartok", "", "debt", "mira"))
	must(t, tell("", "", "poison", "greymantle")) // the game master reveals
	must(t, tell("bartok", "line-001", "", "mira"))

	hits, err := s.Search(t.Context(), as("mira"), memory.Query{Text: "shipment"})
	must(t, err)
	if len(hits) == 0 || hits[0].ID != "line-001" || hits[0].Told == nil || hits[0].Told.By != "bartok" || !hits[0].Told.At.Equal(at) {
		t.Errorf("mira's search: got %+v, want line-001 as told by bartok", hits)
	}
	if hits, err = s.Search(t.Context(), as("bartok"), memory.Query{Text: "shipment"}); err != nil || len(hits) == 0 || hits[0].ID != "line-001" || hits[0].Told != nil {
		t.Errorf("bartok's search: got %+v, %v, want line-001 as witnessed", hits, err)
	}
	check(t, "greymantle", search(t, s, as("greymantle"), memory.Query{Text: "shipment"}), "line-001")
	check(t, "recent", recent(t, s, as("greymantle"), memory.Window{}), "line-001")
	check(t, "mira's claims", claims(t, s, as("mira"), memory.ClaimQuery{Subject: "bartok", Form: memory.FactForm}), "debt rumour")
	check(t, "greymantle's claims", claims(t, s, as("greymantle"), memory.ClaimQuery{Text: "poisoned"}), "poison")
	early := as("mira")
	early.AsOf = at.Add(-time.Second)
	check(t, "before it was told", search(t, s, early, memory.Query{Text: "shipment"}), "")
	check(t, "claims before it was told", claims(t, s, early, memory.ClaimQuery{ID: "debt"}), "")
	list, err := s.Claims(t.Context(), as("mira"), memory.ClaimQuery{ID: "debt"})
	must(t, err)
	if len(list) != 1 || list[0].Told == nil || list[0].Told.By != "bartok" {
		t.Errorf("mira's claim: got %+v, want hearsay from bartok", list)
	}
}

func claimsEnd(t *testing.T, s memory.Store) {
	must(t, s.PutWorld(t.Context(), "vale", Vale()))
	learn := func(c memory.Claim) {
		t.Helper()
		must(t, s.Learn(t.Context(), "vale", c))
	}
	first := memory.Claim{ID: "where", Form: memory.AttributeForm, Subject: "vex", Predicate: "place", Text: "the mine",
		Audience: memory.Audience{"bartok", "vex"}, Source: "line-001", From: Start, Confidence: 0.7, Origin: memory.Inferred}
	learn(first)
	learn(first) // it came up again
	moved := first
	moved.ID, moved.Text, moved.From, moved.Replaces, moved.Source = "where-2", "the tavern", Start.Add(time.Hour), "where", "line-009"
	learn(moved)
	q := memory.ClaimQuery{Subject: "vex", Form: memory.AttributeForm}
	check(t, "now", claims(t, s, as("bartok"), q), "where-2")
	then := as("bartok")
	then.AsOf = Start.Add(time.Minute)
	check(t, "then", claims(t, s, then, q), "where")
	q.Ended = true
	check(t, "with what ended", claims(t, s, as("bartok"), q), "where where-2")
	check(t, "by source", claims(t, s, master, memory.ClaimQuery{Source: "line-009"}), "where-2")

	list, err := s.Claims(t.Context(), master, memory.ClaimQuery{ID: "where", Ended: true})
	must(t, err)
	want := first
	want.Status, want.To = memory.Accepted, moved.From
	if diff := cmp.Diff([]memory.Claim{want}, list); diff != "" {
		t.Errorf("ended claim (-want +got):\n%s", diff)
	}
	for _, bad := range []memory.Claim{
		{}, {Form: memory.FactForm, Subject: "x"}, {Form: memory.RelationForm, Subject: "x", Predicate: "owes"},
		{Form: memory.TextForm, Subject: "x", Text: "y"}, {Form: memory.FactForm, Subject: "x", Text: strings.Repeat("y", memory.MaxText+1)},
		{Form: memory.FactForm, Subject: "x", Text: "y", Confidence: 2},
	} {
		if err := s.Learn(t.Context(), "vale", bad); err == nil {
			t.Errorf("%+v was learnt", bad)
		}
	}
}

func proposalsWait(t *testing.T, s memory.Store) {
	must(t, s.PutWorld(t.Context(), "vale", Vale()))
	must(t, s.Learn(t.Context(), "vale", memory.Claim{ID: "guess", Form: memory.FactForm, Subject: "bartok", Text: "Bartok fears owls.",
		Audience: memory.Audience{memory.Everyone}, Status: memory.Proposed, Origin: memory.Inferred}))
	all := memory.ClaimQuery{Text: "owls"}
	waiting := memory.ClaimQuery{Text: "owls", Status: memory.Proposed}
	check(t, "before", claims(t, s, as("mira"), all)+claims(t, s, as("mira"), waiting)+claims(t, s, master, all), "")
	check(t, "queue", claims(t, s, master, waiting), "guess")
	must(t, s.Judge(t.Context(), "vale", "guess", memory.Accepted))
	check(t, "accepted", claims(t, s, as("mira"), all), "guess")
	must(t, s.Judge(t.Context(), "vale", "guess", memory.Rejected))
	check(t, "rejected", claims(t, s, as("mira"), all)+claims(t, s, master, waiting), "")
	if err := s.Judge(t.Context(), "vale", "nothing", memory.Accepted); !errors.Is(err, memory.ErrUnknown) {
		t.Errorf("judging nothing: got %v, want ErrUnknown", err)
	}
	if err := s.Judge(t.Context(), "vale", "guess", "maybe"); err == nil {
		t.Error("a status that does not exist was taken")
	}
}

func graphIsWalked(t *testing.T, s memory.Store) {
	must(t, s.PutWorld(t.Context(), "vale", Vale()))
	for _, c := range []struct {
		who, from string
		depth     int
		want      string
	}{
		{"", "bartok", 1, "bartok cellar tankard vex"},
		{"mira", "bartok", 1, "bartok tankard"},
		{"mira", "tankard", 1, "bartok tankard"},
		{"vex", "tankard", 1, "bartok tankard"},
		{"vex", "tankard", 2, "bartok tankard vex"},
		{"bartok", "vex", 9, "bartok cellar tankard vex"},
	} {
		g, err := s.Neighbours(t.Context(), as(c.who), c.from, c.depth)
		must(t, err)
		check(t, c.who+" around "+c.from, sorted(g.Entities, entityID), c.want)
		for _, e := range g.Edges {
			if !strings.Contains(c.want, e.From) || !strings.Contains(c.want, e.To) {
				t.Errorf("%s sees %+v, which leads out of the graph", c.who, e)
			}
		}
	}
	path, err := s.Path(t.Context(), as("vex"), "vex", "tankard")
	must(t, err)
	want := []memory.Edge{{From: "bartok", Kind: "owes", To: "vex", Text: "ninety gold"}, {From: "bartok", Kind: "keeps", To: "tankard"}}
	if diff := cmp.Diff(want, path); diff != "" {
		t.Errorf("path (-want +got):\n%s", diff)
	}
	for _, c := range [][3]string{{"mira", "vex", "tankard"}, {"", "lich", "bartok"}, {"mira", "tankard", "cellar"}} {
		if _, err := s.Path(t.Context(), as(c[0]), c[1], c[2]); !errors.Is(err, memory.ErrUnknown) {
			t.Errorf("%s looks for a way from %s to %s: got %v, want ErrUnknown", c[0], c[1], c[2], err)
		}
	}
	if p, err := s.Path(t.Context(), master, "vex", "vex"); err != nil || len(p) != 0 {
		t.Errorf("from vex to vex: got %v, %v, want no steps", p, err)
	}
}

func hubsAreBounded(t *testing.T, s memory.Store) {
	all := memory.Audience{memory.Everyone}
	world := []memory.Entity{{ID: "city", Kind: memory.Location, Name: "City", Audience: all}}
	for i := range 300 {
		id := "citizen-" + string(rune('a'+i%26)) + "-" + strings.Repeat("i", i/26)
		world = append(world, memory.Entity{ID: id, Kind: memory.NPC, Name: id, Audience: all,
			Relations: []memory.Relation{{Kind: "lives in", To: "city", Audience: all}}})
	}
	must(t, s.PutWorld(t.Context(), "vale", world))
	g, err := s.Neighbours(t.Context(), as("mira"), "city", 3)
	must(t, err)
	if len(g.Entities) > memory.MaxNodes || !g.Cut || len(g.Edges) == 0 {
		t.Errorf("%d entities, %d edges, cut %v: want at most %d, and to be told that there are more", len(g.Entities), len(g.Edges), g.Cut, memory.MaxNodes)
	}
}
