package bot

import (
	"slices"
	"testing"
)

func TestNamesOfThoseWhoAreHereComeFirst(t *testing.T) {
	table, _ := setup{brain: reply{text: "Aye."}}.open(t)
	before := table.namesNow()
	if err := table.do(t.Context(), func() error {
		table.enter(table.campaign.Scenes[len(table.campaign.Scenes)-1])
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	after := table.namesNow()
	here := table.State().Scene.Present
	c, _ := table.character(here[0])
	if len(before) == 0 || after[0] != c.Name || slices.Equal(before, after) || len(before) != len(after) {
		t.Errorf("before %q, after %q, want the same names with %s's first", before, after, c.Name)
	}
}
