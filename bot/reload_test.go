package bot

import (
	"slices"
	"strings"
	"testing"

	"github.com/glyphoxa/glyphoxa/campaigns"
	"github.com/glyphoxa/glyphoxa/npc"
)

// changed is a copy of the campaign in play that edit has changed.
func changed(t *testing.T, edit func(*campaigns.Campaign)) *campaigns.Campaign {
	t.Helper()
	fsys, err := campaigns.ShippedFolder("gilded-flagon")
	if err != nil {
		t.Fatal(err)
	}
	c, problems := campaigns.Load(fsys, campaigns.Options{})
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	c.NPCs = slices.Clone(c.NPCs)
	edit(c)
	return c
}

func TestChangedCampaignIsPlayedOnWithoutLosingTheTalk(t *testing.T) {
	table, _ := setup{brain: reply{text: "Stew, friend."}}.open(t)
	if err := table.Mute(t.Context(), lead, "greymantle", true); err != nil {
		t.Fatal(err)
	}
	if err := table.Say(t.Context(), mira, "Bartok, what's in the pot tonight?"); err != nil {
		t.Fatal(err)
	}
	settle(t, table)
	err := table.Reload(t.Context(), changed(t, func(c *campaigns.Campaign) {
		i := slices.IndexFunc(c.NPCs, func(n npc.Character) bool { return n.ID == "bartok" })
		c.NPCs[i].Name, c.NPCs[i].Aliases = "Zanzibar the Barkeep", nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	if err := table.Say(t.Context(), mira, "Zanzibar, another bowl please!"); err != nil {
		t.Fatal(err)
	}
	settle(t, table)
	got := talk(table)
	if len(got) != 4 || !strings.HasPrefix(got[3], "Zanzibar the Barkeep: ") {
		t.Errorf("the talk is %q, want the old lines and an answer under the new name", got)
	}
	for _, n := range table.State().NPCs {
		if n.ID == "greymantle" && n.State != Muted {
			t.Errorf("greymantle is %s after the reload, want it muted still", n.State)
		}
	}
}

func TestAnotherCampaignDoesNotReplaceTheOneInPlay(t *testing.T) {
	table, _ := setup{brain: reply{text: "Aye."}}.open(t)
	if err := table.Reload(t.Context(), changed(t, func(c *campaigns.Campaign) { c.ID = "other" })); err == nil {
		t.Error("a campaign of another id replaced the one in play")
	}
}
