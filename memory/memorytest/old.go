package memorytest

import (
	"strings"
	"testing"

	"github.com/glyphoxa/glyphoxa/memory"
)

// OldRows is SQL that puts something into the tables of an earlier version: an old
// session with a line that one NPC heard and another was told of, and a claim.
func OldRows(version int64) string {
	if version >= 4 { // since then these say whose they are
		return strings.NewReplacer("told (", "told (campaign, ", "knows (", "knows (campaign, ", "VALUES (4294967296, 2", "VALUES (1, 4294967296, 2",
			"who) VALUES (1", "who) VALUES (1, 1").Replace(oldRows)
	}
	return oldRows
}

const oldRows = `INSERT INTO campaign (id, key) VALUES (1, 'old');
INSERT INTO actor (id, campaign, key) VALUES (1, 1, 'hilde'), (2, 1, 'gundren'), (3, 1, 'player-ada');
INSERT INTO session (id, campaign, key, started, lines) VALUES (1, 1, 'then', 1, 1);
INSERT INTO line (seq, campaign, key, speaker, name, kind, at, text, heard) VALUES (4294967296, 1, 'line-then', 3, 'Ada', 'player', 5, 'The wyverns nest below the chimney.', ' 1 ');
INSERT INTO told (line, who, since, teller) VALUES (4294967296, 2, 9, 1);
INSERT INTO entity (id, campaign, key, kind, name) VALUES (1, 1, 'mill', 'location', 'Old Mill');
INSERT INTO claim (id, campaign, key, form, subject, text, origin) VALUES (1, 1, 'text:mill', 'text', 'mill', 'It grinds.', 'campaign');
INSERT INTO knows (claim, who) VALUES (1, 1);
`

// OldRowsAreThere checks that they are found, by those who may find them.
func OldRowsAreThere(t *testing.T, s memory.Store) {
	t.Helper()
	for who, want := range map[string]string{"": "line-then", "hilde": "line-then", "gundren": "line-then", "stranger": ""} {
		hits, err := s.Search(t.Context(), memory.Viewer{Campaign: "old", Entity: who}, memory.Query{Text: "Where is the wyvern's nest?"})
		must(t, err)
		if got := ids(hits, hitID); got != want {
			t.Errorf("an old line, as %q: found %q, want %q", who, got, want)
		}
	}
	if e, err := s.Entity(t.Context(), memory.Viewer{Campaign: "old", Entity: "hilde"}, "mill"); err != nil || e.Text != "It grinds." {
		t.Errorf("an old entity: %+v, %v", e, err)
	}
}
