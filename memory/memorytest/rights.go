package memorytest

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/glyphoxa/glyphoxa/memory"
)

// History fills a store with lines, a world, tellings and claims of every kind,
// among them some of "player-mira", whose words all contain "quokka".
func History(t testing.TB, s memory.Store) {
	t.Helper()
	ctx := t.Context()
	must(t, s.PutWorld(ctx, "vale", Vale()))
	world := Vale()
	world[0].Facts[0].Text = "Bartok has paid."
	must(t, s.PutWorld(ctx, "vale", world))
	must(t, s.StartSession(ctx, memory.Session{ID: "one", Campaign: "vale", Title: "The mill", Started: Start}))
	cut := Said(3, "bartok", "As I was", "player-mira")
	cut.Cut, cut.CutAt, cut.Duration = true, time.Second, 2*time.Second
	must(t, s.Append(ctx, Said(1, "player-mira", "My quokka is called Biscuitzwerg.", "bartok"), Said(2, "player-tom", "Nice animal.", "bartok", "player-mira"), cut))
	must(t, s.EndSession(ctx, "vale", "one", Start.Add(time.Hour)))
	must(t, s.Tell(ctx, memory.Telling{Campaign: "vale", From: "bartok", To: []string{"vex"}, Line: "line-001", At: Start.Add(2 * time.Minute)}))
	must(t, s.Tell(ctx, memory.Telling{Campaign: "vale", From: "bartok", To: []string{"mira"}, Claim: "rumour", At: Start.Add(2 * time.Minute)}))
	must(t, s.Learn(ctx, "vale",
		memory.Claim{ID: "pet", Form: memory.FactForm, Subject: "bartok", Text: "Bartok has seen the quokka.", Source: "line-001", Audience: memory.Audience{"bartok"}},
		memory.Claim{ID: "owns", Form: memory.RelationForm, Subject: "player-mira", Predicate: "owns", Object: "vex", Audience: memory.Audience{"bartok"}},
		memory.Claim{ID: "kind", Form: memory.FactForm, Subject: "bartok", Text: "Bartok likes Tom.", Source: "line-002", Status: memory.Proposed}))
	must(t, s.OptOut(ctx, "vale", "player-una", true))
}

func export(t testing.TB, s memory.Store, player string) string {
	t.Helper()
	var b bytes.Buffer
	must(t, s.Export(t.Context(), &b, "vale", player))
	return b.String()
}

// exportsImport takes a second store through open, because the promise is about
// two of them.
func exportsImport(t *testing.T, s, other memory.Store) {
	History(t, s)
	want := export(t, s, "")
	must(t, other.Import(t.Context(), strings.NewReader(want)))
	must(t, other.Import(t.Context(), strings.NewReader(want)))
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(export(t, other, ""), "\n")); diff != "" {
		t.Errorf("export of the import (-want +got):\n%s", diff)
	}
	for _, who := range []string{"", "bartok", "vex", "mira"} {
		check(t, "search as "+who, search(t, other, as(who), memory.Query{Text: "quokka"}), search(t, s, as(who), memory.Query{Text: "quokka"}))
		check(t, "claims as "+who, claims(t, other, as(who), memory.ClaimQuery{Ended: true}), claims(t, s, as(who), memory.ClaimQuery{Ended: true}))
	}
	for _, bad := range []string{"", "{}", "nonsense", `{"line":{"id":"x"}}`, `{"campaign":"vale"}` + "\n" + `{"line":{"id":"x"}}`} {
		if err := other.Import(t.Context(), strings.NewReader(bad)); err == nil {
			t.Errorf("%q was imported", bad)
		}
	}
}

func forgets(t *testing.T, s memory.Store) {
	History(t, s)
	mine := export(t, s, "player-mira")
	if strings.Count(mine, "quokka") != 2 || !strings.Contains(mine, `"owns"`) || strings.Contains(mine, "Nice animal") {
		t.Errorf("export of a player:\n%s\nwant the line, the claims that rest on it or are about the player, and nobody else's", mine)
	}
	gone, err := s.Forget(t.Context(), "vale", "player-mira")
	must(t, err)
	if want := (memory.Forgotten{Lines: 1, Claims: 2}); gone != want {
		t.Errorf("forgotten: got %+v, want %+v", gone, want)
	}
	left := export(t, s, "")
	for _, word := range []string{"quokka", "player-mira", "Biscuitzwerg"} {
		if strings.Contains(left, word) {
			t.Errorf("%q is still there:\n%s", word, left)
		}
	}
	check(t, "search", search(t, s, master, memory.Query{Text: "Biscuitzwerg"}), "")
	check(t, "what others said", recent(t, s, as("bartok"), memory.Window{}), "line-002 line-003")
	must(t, s.Append(t.Context(), Said(4, "player-mira", "Hello again.", "bartok")))
	check(t, "a new beginning", recent(t, s, as("player-mira"), memory.Window{}), "line-004")
}

func optOutIsKept(t *testing.T, s memory.Store) {
	must(t, s.OptOut(t.Context(), "vale", "player-mira", true))
	must(t, s.Append(t.Context(), Said(1, "player-mira", "Do not keep this.", "bartok"), Said(2, "bartok", "Keep this.", "player-mira")))
	who, err := s.OptedOut(t.Context(), "vale")
	must(t, err)
	check(t, "who is out", strings.Join(who, " "), "player-mira")
	check(t, "while out", recent(t, s, master, memory.Window{}), "line-002")
	must(t, s.OptOut(t.Context(), "vale", "player-mira", false))
	must(t, s.Append(t.Context(), Said(3, "player-mira", "Keep this too.", "bartok")))
	check(t, "when back", recent(t, s, master, memory.Window{}), "line-002 line-003")
}

func retentionIsKept(t *testing.T, s memory.Store) {
	History(t, s)
	now := Start.Add(48 * time.Hour)
	gone, err := s.Retain(t.Context(), "vale", memory.Retention{Lines: 72 * time.Hour}, now)
	must(t, err)
	if gone != (memory.Forgotten{}) {
		t.Errorf("too early: %+v", gone)
	}
	gone, err = s.Retain(t.Context(), "vale", memory.Retention{Lines: 24 * time.Hour}, now)
	must(t, err)
	if gone.Lines != 3 {
		t.Errorf("got %+v, want three lines", gone)
	}
	check(t, "lines", recent(t, s, master, memory.Window{}), "")
	list, err := s.Claims(t.Context(), master, memory.ClaimQuery{ID: "pet"})
	must(t, err)
	if len(list) != 1 || list[0].Source != "" {
		t.Errorf("claim %+v, want it kept without its source", list)
	}
	stats, err := s.Stats(t.Context(), "vale")
	must(t, err)
	if stats.Lines != 0 || stats.Sessions != 1 || stats.Entities != 5 || stats.Proposed != 1 || stats.Bytes <= 0 {
		t.Errorf("stats: %+v", stats)
	}
}
