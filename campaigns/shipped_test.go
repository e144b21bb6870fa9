package campaigns_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/glyphoxa/glyphoxa/campaigns"
	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/npc"
)

// shippedCampaigns loads each shipped campaign and runs a test on it.
func shippedCampaigns(t *testing.T, test func(*testing.T, *campaigns.Campaign)) {
	for _, name := range campaigns.Shipped {
		t.Run(name, func(t *testing.T) {
			fsys, err := campaigns.ShippedFolder(name)
			if err != nil {
				t.Fatal(err)
			}
			c, problems := campaigns.Load(fsys, options)
			if problems != nil {
				t.Fatalf("%d problems:\n%v", len(problems), problems)
			}
			test(t, c)
		})
	}
}

func TestShippedCampaignsAreFullAndDistinct(t *testing.T) {
	shippedCampaigns(t, func(t *testing.T, c *campaigns.Campaign) {
		if len(c.NPCs) < 5 || len(c.Entities) < 25 || len(c.Scenes) < 2 {
			t.Errorf("%d NPCs, %d entities, %d scenes", len(c.NPCs), len(c.Entities), len(c.Scenes))
		}
		voices := map[string]string{}
		for _, n := range c.NPCs {
			key := fmt.Sprint(n.Voice)
			if other, ok := voices[key]; ok {
				t.Errorf("%s and %s have the same voice", n.ID, other)
			}
			voices[key] = n.ID
			for _, occasion := range []string{"greeting", "farewell", "thanks", "unknown", "insulted", "praised", "software", "filler", "smalltalk", "secret", "self"} {
				if len(n.Lines[occasion]) < 2 {
					t.Errorf("%s has %d lines for %s, want at least 2", n.ID, len(n.Lines[occasion]), occasion)
				}
			}
			if len(n.Knowledge) < 12 || len(n.Secrets) == 0 {
				t.Errorf("%s knows %d things and has %d secrets", n.ID, len(n.Knowledge), len(n.Secrets))
			}
		}
	})
}

func TestShippedLinesFitInOneBreath(t *testing.T) {
	shippedCampaigns(t, func(t *testing.T, c *campaigns.Campaign) {
		for _, n := range c.NPCs {
			for _, text := range said(n) {
				if words := len(strings.Fields(text)); words > 34 {
					t.Errorf("%s: %d words: %s", n.ID, words, text)
				}
				if strings.ContainsAny(text, "*#_<>[]()") {
					t.Errorf("%s: markup cannot be spoken: %s", n.ID, text)
				}
			}
		}
	})
}

// said is everything that an NPC's file lets it say.
func said(n npc.Character) []string {
	var out []string
	for _, lines := range n.Lines {
		out = append(out, lines...)
	}
	for _, k := range n.Knowledge {
		out = append(out, k.Text)
	}
	return out
}

func TestShippedGraphIsConnected(t *testing.T) {
	shippedCampaigns(t, func(t *testing.T, c *campaigns.Campaign) {
		related := map[string]bool{}
		for _, e := range c.Entities {
			for _, r := range e.Relations {
				related[e.ID], related[r.To] = true, true
			}
		}
		alone := 0
		for _, e := range c.Entities {
			if !related[e.ID] && e.Kind != memory.Faction && e.Kind != memory.Concept {
				alone++
			}
		}
		if alone > len(c.Entities)/5 {
			t.Errorf("%d of %d entities are related to nothing", alone, len(c.Entities))
		}
	})
}

func TestNamesOfACampaignAreItsNPCsFirst(t *testing.T) {
	shippedCampaigns(t, func(t *testing.T, c *campaigns.Campaign) {
		names := c.Names()
		if names[0] != c.NPCs[0].Name {
			t.Errorf("first name %q, want %q", names[0], c.NPCs[0].Name)
		}
		for _, e := range c.Entities {
			if !slices.Contains(names, e.Name) {
				t.Errorf("%q is missing", e.Name)
			}
		}
	})
}

func TestUnknownShippedCampaignIsRefused(t *testing.T) {
	_, err := campaigns.ShippedFolder("guilded-flagon")
	if err == nil || !strings.Contains(err.Error(), `did you mean "gilded-flagon"?`) {
		t.Errorf("error %v, want a suggestion", err)
	}
}
