// Package memorytest is the contract of [memory.Store] as a test. Every store
// runs it, so that all of them behave alike.
package memorytest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/glyphoxa/glyphoxa/memory"
)

// Contract runs the whole contract. open returns an empty store each time and
// closes it when the test ends.
func Contract(t *testing.T, open func(t testing.TB) memory.Store) {
	for _, c := range []struct {
		promise string
		test    func(t *testing.T, s memory.Store)
	}{
		{"AppendIsIdempotentByID", appendIsIdempotent},
		{"LinesComeBackAsTheyWere", linesComeBack},
		{"AnNPCHearsOnlyWhatItsAudienceSays", audienceDecides},
		{"SearchFindsTheLineAQuestionIsAbout", searchFinds},
		{"FiltersNarrowASearch", filtersNarrow},
		{"OtherWordsAndFormsForTheSameAreFound", otherWords},
		{"OtherNamesAreFoundByWhoKnowsThem", otherNames},
		{"PhrasesAndPrefixesMatchAsWritten", phrasesAndPrefixes},
		{"HostileQueriesAreHarmless", hostileQueries},
		{"CampaignsNeverMix", campaignsNeverMix},
		{"AnswersAreBounded", answersAreBounded},
		{"SessionsResumeAndEnd", sessionsResume},
		{"AWorldIsSeenThroughItsAudiences", worldIsScoped},
		{"ImportingAWorldTwiceChangesNothing", importIsIdempotent},
		{"WhatChangedInTheWorldHasEndedNotVanished", worldHistory},
		{"EntitiesAreFoundByNameAliasAndSound", entitiesFound},
		{"TellingPassesOnWhatTheTellerKnows", tellingPassesOn},
		{"ClaimsEndAndAreNotOverwritten", claimsEnd},
		{"ProposalsWaitForTheGameMaster", proposalsWait},
		{"TheGraphIsWalkedAsFarAsTheViewerKnows", graphIsWalked},
		{"FamousPlacesAreBounded", hubsAreBounded},
		{"WhatIsMeantIsFoundByThoseWhoHeardIt", meaningIsFound},
		{"WhoIsForgottenIsGone", forgets},
		{"WordsOfWhoOptedOutAreNotStored", optOutIsKept},
		{"NothingIsKeptLongerThanItMay", retentionIsKept},
	} {
		t.Run(c.promise, func(t *testing.T) { c.test(t, open(t)) })
	}
	t.Run("AnExportIsWhatWasThere", func(t *testing.T) { exportsImport(t, open(t), open(t)) })
	t.Run("NobodySeesWhatItCannotKnow", func(t *testing.T) { Scope(t, open(t)) })
}

// Start is when the first line of every test was said.
var Start = time.Date(2026, 3, 1, 19, 0, 0, 0, time.UTC)

// Said is line n of a campaign called "vale", said by a speaker to those present.
func Said(n int, speaker, text string, audience ...string) memory.Line {
	kind := memory.NPCSpeaker
	if strings.HasPrefix(speaker, "player-") {
		kind = memory.PlayerSpeaker
	}
	return memory.Line{
		ID: fmt.Sprintf("line-%03d", n), Campaign: "vale", Session: "one", Scene: "tavern",
		Speaker: memory.Speaker{ID: speaker, Name: strings.ToUpper(speaker[:1]) + speaker[1:], Kind: kind},
		At:      Start.Add(time.Duration(n) * 5 * time.Second), Text: text, Audience: audience,
	}
}

// master is the game master of the tests' campaign.
var master = memory.Viewer{Campaign: "vale"}

func as(entity string) memory.Viewer { return memory.Viewer{Campaign: "vale", Entity: entity} }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func ids[T any](list []T, id func(T) string) string {
	var out []string
	for _, x := range list {
		out = append(out, id(x))
	}
	return strings.Join(out, " ")
}

func lineID(l memory.Line) string     { return l.ID }
func hitID(h memory.Hit) string       { return h.ID }
func entityID(e memory.Entity) string { return e.ID }

func search(t testing.TB, s memory.Store, v memory.Viewer, q memory.Query) string {
	t.Helper()
	hits, err := s.Search(t.Context(), v, q)
	must(t, err)
	return ids(hits, hitID)
}

func recent(t testing.TB, s memory.Store, v memory.Viewer, w memory.Window) string {
	t.Helper()
	lines, err := s.Recent(t.Context(), v, w)
	must(t, err)
	return ids(lines, lineID)
}

func check(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func appendIsIdempotent(t *testing.T, s memory.Store) {
	a, b := Said(1, "bartok", "The stew is mutton.", "mira"), Said(2, "mira", "Lovely.", "bartok")
	must(t, s.Append(t.Context(), a, b))
	again := a
	again.Text = "The stew is rat."
	must(t, s.Append(t.Context(), again, b, again))
	lines, err := s.Recent(t.Context(), master, memory.Window{})
	must(t, err)
	check(t, "lines", ids(lines, lineID), "line-001 line-002")
	check(t, "text", lines[0].Text, a.Text)
	if err := s.Append(t.Context(), memory.Line{ID: "x"}); err == nil {
		t.Error("a line without campaign, session and time was taken")
	}
}

func linesComeBack(t *testing.T, s memory.Store) {
	want := memory.Line{
		ID: "l", Campaign: "vale", Session: "one", Scene: "cellar",
		Speaker: memory.Speaker{ID: "player-7", Name: "Zoë", Kind: memory.PlayerSpeaker},
		At:      Start, Duration: 1500 * time.Millisecond, Text: "Bartok, höre — 聞いて!", Raw: "bar tock höre", Confidence: 0.75,
		Audience: []string{"bartok", "mira"}, To: []string{"bartok"}, Cut: true, CutAt: time.Second, Whisper: true,
	}
	must(t, s.Append(t.Context(), want))
	got, err := s.Recent(t.Context(), master, memory.Window{Session: "one"})
	must(t, err)
	want.Campaign = "" // the viewer knows it
	if diff := cmp.Diff([]memory.Line{want}, got); diff != "" {
		t.Errorf("line (-want +got):\n%s", diff)
	}
}

func audienceDecides(t *testing.T, s memory.Store) {
	must(t, s.Append(t.Context(),
		Said(1, "player-mira", "Good evening to all dragon friends.", "bartok", "greymantle"),
		Said(2, "bartok", "Between us, the dragon pays me.", "player-mira"),
		Said(3, "player-mira", "Pass the crisps, dragon sheet please."),
		Said(4, "herald", "A dragon is coming!", memory.Everyone),
	))
	aside := Said(5, "bartok", "dragon dice, out of character", "bartok", memory.Everyone)
	aside.Aside = true
	must(t, s.Append(t.Context(), aside))
	for _, c := range []struct{ who, want string }{
		{"", "line-001 line-002 line-003 line-004 line-005"},
		{"bartok", "line-001 line-002 line-004"},
		{"greymantle", "line-001 line-004"},
		{"player-mira", "line-001 line-002 line-003 line-004"},
		{"stranger", "line-004"},
		{memory.Everyone, "line-004"},
	} {
		check(t, "recent as "+c.who, recent(t, s, as(c.who), memory.Window{}), c.want)
		hits, err := s.Search(t.Context(), as(c.who), memory.Query{Text: "dragon", Limit: 50})
		must(t, err)
		got := map[string]bool{}
		for _, h := range hits {
			got[h.ID] = true
		}
		want := map[string]bool{}
		for id := range strings.FieldsSeq(c.want) {
			want[id] = true
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("search as %q (-want +got):\n%s", c.who, diff)
		}
	}
	early := as("bartok")
	early.AsOf = Start.Add(6 * time.Second)
	check(t, "as of the first line", recent(t, s, early, memory.Window{}), "line-001")
	check(t, "search as of the first line", search(t, s, early, memory.Query{Text: "dragon"}), "line-001")
}

func tavernTalk() []memory.Line {
	return []memory.Line{
		Said(1, "player-mira", "Innkeeper, any rooms tonight?", "bartok"),
		Said(2, "bartok", "Two left, dear. Five copper each.", "player-mira"),
		Said(3, "player-tom", "Who lives in the old mill beyond the bridge?", "bartok"),
		Said(4, "bartok", "Nobody since the miller drowned. They say his widow buried silver there.", "player-tom"),
		Said(5, "player-mira", "And the goblins we fought yesterday?", "bartok"),
		Said(6, "bartok", "Cragmaw tribe. They stole Gundren's map, I heard.", "player-mira"),
		Said(7, "player-tom", "I bought a rope and three torches in Phandalin.", "bartok"),
		Said(8, "bartok", "You overpaid, friend.", "player-tom"),
	}
}

func searchFinds(t *testing.T, s memory.Store) {
	must(t, s.Append(t.Context(), tavernTalk()...))
	for _, c := range []struct{ ask, want string }{
		{"How much does a room cost?", "line-002"},
		{"What did the widow bury?", "line-004"},
		{"who was stealing the map of Gundren", "line-006"},
		{"Which goblin tribe did we fight?", "line-006"},
		{"what did Tom buy in phandalin", "line-007"},
		{"PHANDALIN'S ropes", "line-007"},
	} {
		hits, err := s.Search(t.Context(), as("bartok"), memory.Query{Text: c.ask, Limit: 3})
		must(t, err)
		if len(hits) == 0 || hits[0].ID != c.want {
			t.Errorf("%q: got %q, want %s first", c.ask, ids(hits, hitID), c.want)
		}
	}
	check(t, "nothing in common", search(t, s, master, memory.Query{Text: "quantum chromodynamics"}), "")
}

func filtersNarrow(t *testing.T, s memory.Store) {
	lines := tavernTalk()
	for i := range lines[4:] {
		lines[4+i].Session, lines[4+i].Scene = "two", "road"
	}
	lines[6].To = []string{"bartok"}
	must(t, s.Append(t.Context(), lines...))
	for _, c := range []struct {
		q    memory.Query
		want string
	}{
		{memory.Query{Session: "two", Limit: 2}, "line-008 line-007"},
		{memory.Query{Session: "none"}, ""},
		{memory.Query{Text: "the bridge map rope", Session: "two", Speaker: "bartok"}, "line-006 line-008"},
		{memory.Query{Scene: "road", Speaker: "player-tom"}, "line-007"},
		{memory.Query{From: Start.Add(30 * time.Second), To: Start.Add(40 * time.Second)}, "line-007 line-006"},
		{memory.Query{NPC: "bartok", Session: "two"}, "line-008 line-007 line-006"},
		{memory.Query{NPC: "bartok", Text: "torches rope", Limit: 2}, "line-007 line-008"},
		{memory.Query{NPC: "nobody", Text: "torches"}, ""},
		{memory.Query{Text: "mill", To: Start.Add(12 * time.Second)}, "line-002 line-001"},
	} {
		check(t, fmt.Sprintf("%+v", c.q), search(t, s, master, c.q), c.want)
	}
	check(t, "the page before", recent(t, s, master, memory.Window{Before: "line-005", Limit: 2}), "line-003 line-004")
	check(t, "before the first", recent(t, s, master, memory.Window{Before: "line-001"})+recent(t, s, master, memory.Window{Before: "nothing"}), "")
	check(t, "recent in scene", recent(t, s, as("bartok"), memory.Window{Scene: "tavern", Limit: 2}), "line-003 line-004")
}

func phrasesAndPrefixes(t *testing.T, s memory.Store) {
	must(t, s.Append(t.Context(), tavernTalk()...))
	check(t, "phrase", search(t, s, master, memory.Query{Text: `"the old mill"`}), "line-003")
	check(t, "wrong order", search(t, s, master, memory.Query{Text: `"mill the old"`}), "")
	hits, err := s.Search(t.Context(), master, memory.Query{Text: "phand*"})
	must(t, err)
	if len(hits) == 0 || hits[0].ID != "line-007" {
		t.Errorf("prefix: got %q, want line-007 first", ids(hits, hitID))
	}
}

func hostileQueries(t *testing.T, s memory.Store) {
	must(t, s.Append(t.Context(), Said(1, "bartok", "n1 c1 secret", "mira"), Said(2, "mira", "hello")))
	for _, q := range []string{
		`") OR "x`, `'; DROP TABLE line; --`, "c1 n1 NEAR(a b)", "aud:c1", `text:"secret" OR aud:n1`, strings.Repeat("word ", 5000),
		strings.Repeat(`"`, 1000), "\x00\xff", "*", `""`, "🐉", "ﷺ", "a*", "( AND OR NOT )", "%_", "\\", "@1", "c1:D & n1:*",
	} {
		hits, err := s.Search(t.Context(), as("stranger"), memory.Query{Text: q})
		if err != nil {
			t.Errorf("%.40q: %v", q, err)
		}
		if len(hits) > 0 {
			t.Errorf("%.40q: a stranger found %q", q, ids(hits, hitID))
		}
		if _, err := s.FindEntities(t.Context(), master, q, "", 5); err != nil {
			t.Errorf("finding %.40q: %v", q, err)
		}
	}
}

func campaignsNeverMix(t *testing.T, s memory.Store) {
	other := Said(1, "bartok", "The stew is mutton.", memory.Everyone)
	other.Campaign = "harbour"
	must(t, s.Append(t.Context(), other))
	must(t, s.PutWorld(t.Context(), "harbour", []memory.Entity{{ID: "quay", Kind: memory.Location, Name: "Quay", Audience: memory.Audience{memory.Everyone}}}))
	must(t, s.Append(t.Context(), Said(1, "bartok", "Fish today.", memory.Everyone)))
	check(t, "recent", recent(t, s, master, memory.Window{}), "line-001")
	check(t, "search", search(t, s, master, memory.Query{Text: "mutton stew"}), "")
	check(t, "nobody's campaign", recent(t, s, memory.Viewer{Campaign: "nowhere"}, memory.Window{}), "")
	if _, err := s.Entity(t.Context(), master, "quay"); !errors.Is(err, memory.ErrUnknown) {
		t.Errorf("entity of another campaign: got %v, want ErrUnknown", err)
	}
}

func answersAreBounded(t *testing.T, s memory.Store) {
	var lines []memory.Line
	for i := range 500 {
		lines = append(lines, Said(i, "bartok", "dragon talk", "mira"))
	}
	must(t, s.Append(t.Context(), lines...))
	hits, err := s.Search(t.Context(), master, memory.Query{Text: "dragon", Limit: 100_000})
	must(t, err)
	if len(hits) == 0 || len(hits) > memory.MaxHits {
		t.Errorf("got %d hits, want 1 to %d", len(hits), memory.MaxHits)
	}
	got, err := s.Recent(t.Context(), as("mira"), memory.Window{Limit: 100_000})
	must(t, err)
	if len(got) != memory.MaxHits || got[len(got)-1].ID != "line-499" {
		t.Errorf("got %d lines ending in %s, want %d ending in line-499", len(got), got[len(got)-1].ID, memory.MaxHits)
	}
}

func sessionsResume(t *testing.T, s memory.Store) {
	must(t, s.StartSession(t.Context(), memory.Session{ID: "one", Campaign: "vale", Title: "The mill", Started: Start}))
	must(t, s.Append(t.Context(), Said(1, "bartok", "Evening."), Said(2, "bartok", "Ale?")))
	must(t, s.EndSession(t.Context(), "vale", "one", Start.Add(time.Hour)))
	must(t, s.StartSession(t.Context(), memory.Session{ID: "two", Campaign: "vale", Started: Start.Add(24 * time.Hour)}))
	want := []memory.Session{
		{ID: "two", Campaign: "vale", Started: Start.Add(24 * time.Hour)},
		{ID: "one", Campaign: "vale", Title: "The mill", Started: Start, Ended: Start.Add(time.Hour), Lines: 2},
	}
	got, err := s.Sessions(t.Context(), "vale", 0)
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sessions (-want +got):\n%s", diff)
	}
	must(t, s.StartSession(t.Context(), memory.Session{ID: "one", Campaign: "vale", Started: Start.Add(48 * time.Hour)}))
	got, err = s.Sessions(t.Context(), "vale", 5)
	must(t, err)
	if last := got[1]; !last.Ended.IsZero() || !last.Started.Equal(Start) || last.Title != "The mill" || last.Lines != 2 {
		t.Errorf("resumed session is %+v, want it open with its first start, title and lines", last)
	}
	if err := s.EndSession(t.Context(), "vale", "nine", Start); !errors.Is(err, memory.ErrUnknown) {
		t.Errorf("ending an unknown session: got %v, want ErrUnknown", err)
	}
}

// Vale is a small world with every kind of audience.
func Vale() []memory.Entity {
	all := memory.Audience{memory.Everyone}
	return []memory.Entity{
		{ID: "bartok", Kind: memory.NPC, Name: "Bartok the Barkeep", Aliases: []string{"Bartok"}, Text: "Keeps the Tankard.", Audience: all,
			Attributes: map[string]string{"ale": "4 cp"},
			Facts: []memory.Fact{
				{ID: "debt", Text: "Bartok owes the guild ninety gold.", Audience: memory.Audience{"bartok", "vex"}},
				{ID: "poison", Text: "Bartok will be poisoned tomorrow."},
				{ID: "rumour", Text: "Bartok was once a pirate.", Audience: all, False: true},
			},
			Relations: []memory.Relation{
				{Kind: "owes", To: "vex", Text: "ninety gold", Audience: memory.Audience{"bartok", "vex"}},
				{Kind: "keeps", To: "tankard", Audience: all},
				{Kind: "hides", To: "cellar", Text: "behind the barrels", Audience: memory.Audience{"bartok", "mira"}},
			}},
		{ID: "vex", Kind: memory.NPC, Name: "Vex", Text: "Collects debts.", Audience: memory.Audience{"bartok", "vex"}},
		{ID: "tankard", Kind: memory.Location, Name: "The Tilted Tankard", Text: "A tavern on the north road.", Audience: all},
		{ID: "cellar", Kind: memory.Location, Name: "Smugglers' cellar", Text: "Below the tavern.", Audience: memory.Audience{"bartok"}},
		{ID: "lich", Kind: memory.NPC, Name: "Xanathraldendrix", Text: "Sleeps below the hill."},
	}
}

var unordered = cmpopts.SortSlices(func(a, b memory.Relation) bool { return a.Kind < b.Kind })

func worldIsScoped(t *testing.T, s memory.Store) {
	must(t, s.PutWorld(t.Context(), "vale", Vale()))
	world := Vale()
	got, err := s.Entity(t.Context(), master, "bartok")
	must(t, err)
	if diff := cmp.Diff(world[0], got, unordered, cmpopts.SortSlices(func(a, b memory.Fact) bool { return a.ID < b.ID }), cmpopts.EquateEmpty(),
		cmpopts.SortSlices(func(a, b string) bool { return a < b })); diff != "" {
		t.Errorf("game master's view (-want +got):\n%s", diff)
	}
	for _, c := range []struct{ who, facts, relations string }{
		{"bartok", "debt rumour", "hides keeps owes"},
		{"mira", "rumour", "keeps"}, // she knows of hiding, but not of the cellar
		{"vex", "debt rumour", "keeps owes"},
		{"stranger", "rumour", "keeps"},
	} {
		e, err := s.Entity(t.Context(), as(c.who), "bartok")
		must(t, err)
		check(t, "facts for "+c.who, sorted(e.Facts, func(f memory.Fact) string { return f.ID }), c.facts)
		check(t, "relations for "+c.who, sorted(e.Relations, func(r memory.Relation) string { return r.Kind }), c.relations)
		if e.Audience != nil || len(e.Facts) > 0 && e.Facts[0].Audience != nil {
			t.Errorf("%s is told who else knows", c.who)
		}
	}
	for _, id := range []string{"lich", "cellar", "vex", "nothing"} {
		if _, err := s.Entity(t.Context(), as("mira"), id); !errors.Is(err, memory.ErrUnknown) {
			t.Errorf("mira asks for %s: got %v, want ErrUnknown", id, err)
		}
	}
	if _, err := s.Entity(t.Context(), master, "lich"); err != nil {
		t.Errorf("game master asks for the lich: %v", err)
	}
	if _, err := s.Entity(t.Context(), as(memory.Everyone), "cellar"); !errors.Is(err, memory.ErrUnknown) {
		t.Errorf("common knowledge of the cellar: got %v, want ErrUnknown", err)
	}
}

func sorted[T any](list []T, id func(T) string) string {
	out := strings.Fields(ids(list, id))
	slices.Sort(out)
	return strings.Join(out, " ")
}

func importIsIdempotent(t *testing.T, s memory.Store) {
	for range 3 {
		must(t, s.PutWorld(t.Context(), "vale", Vale()))
	}
	late := master
	late.AsOf = time.Now().Add(-time.Hour) // what a first import says has always been so
	for _, v := range []memory.Viewer{master, late} {
		e, err := s.Entity(t.Context(), v, "bartok")
		must(t, err)
		if len(e.Facts) != 3 || len(e.Relations) != 3 {
			t.Errorf("after three imports: %d facts and %d relations, want 3 and 3", len(e.Facts), len(e.Relations))
		}
	}
}

func worldHistory(t *testing.T, s memory.Store) {
	world := Vale()
	must(t, s.PutWorld(t.Context(), "vale", world))
	before := master
	before.AsOf = time.Now()
	world[0].Facts[0].Text = "Bartok has paid the guild."
	world[0].Facts = world[0].Facts[:2]                // nobody tells the rumour any more
	world[0].Relations[1].Audience = memory.Audience{} // and who keeps the tavern is a secret now
	world = world[:4]                                  // the lich was a bad idea
	must(t, s.PutWorld(t.Context(), "vale", world))
	now, err := s.Entity(t.Context(), as("bartok"), "bartok")
	must(t, err)
	if len(now.Facts) != 1 || now.Facts[0].Text != "Bartok has paid the guild." {
		t.Errorf("facts now: %+v, want only the new one", now.Facts)
	}
	check(t, "relations now", sorted(now.Relations, func(r memory.Relation) string { return r.Kind }), "hides owes")
	if _, err := s.Entity(t.Context(), master, "lich"); !errors.Is(err, memory.ErrUnknown) {
		t.Errorf("removed entity: got %v, want ErrUnknown", err)
	}
	then, err := s.Entity(t.Context(), before, "bartok")
	must(t, err)
	if len(then.Facts) != 3 {
		t.Errorf("facts then: %+v, want all three", then.Facts)
	}
	if _, err := s.Entity(t.Context(), before, "lich"); err != nil {
		t.Errorf("the lich then: %v", err)
	}
}

func entitiesFound(t *testing.T, s memory.Store) {
	must(t, s.PutWorld(t.Context(), "vale", Vale()))
	for _, c := range []struct {
		who, name string
		kind      memory.Kind
		want      string
	}{
		{"mira", "Bartok", "", "bartok"},
		{"mira", "bar tock", "", "bartok"},
		{"mira", "the barkeep", "", "bartok"},
		{"mira", "tankard", "", "tankard"},
		{"mira", "The Til", "", "tankard"},
		{"mira", "tankard", memory.NPC, ""},
		{"mira", "Xanathraldendrix", "", ""},
		{"mira", "lich", "", ""},
		{"", "zanathral dendricks", "", "lich"},
		{"", "lich", "", "lich"},
		{"mira", "", memory.Location, "tankard"},
		{"bartok", "", memory.Location, "cellar tankard"},
		{"", "", memory.NPC, "bartok lich vex"},
	} {
		es, err := s.FindEntities(t.Context(), as(c.who), c.name, c.kind, 0)
		must(t, err)
		check(t, fmt.Sprintf("%s looks for %q %s", c.who, c.name, c.kind), sorted(es, entityID), c.want)
	}
}
