package bot

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	"github.com/glyphoxa/glyphoxa/campaigns"
	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/llm/improviser"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/memory"
)

// glossaryOf is the names of a campaign and what its author says is misheard.
func glossaryOf(c *campaigns.Campaign) *memory.Glossary {
	g := memory.NewGlossary(c.Names())
	for _, term := range c.Glossary {
		for _, heard := range term.HeardAs {
			g.Teach(heard, term.Name)
		}
	}
	return g
}

// Reload plays on with a changed campaign: its world goes to memory, its NPCs
// think and speak by it from the next turn on. What was said, who is muted and
// who came or left stays. The campaign must have the id of the one in play.
func (t *Table) Reload(ctx context.Context, c *campaigns.Campaign) error {
	if c.ID != t.o.Campaign.ID {
		return fmt.Errorf("the folder now holds the campaign %q, and %q is in play: stop the table to change campaigns", c.ID, t.o.Campaign.ID)
	}
	if err := t.do(ctx, func() error { c = t.peopled(c); return nil }); err != nil {
		return err
	}
	if err := t.o.Memory.PutWorld(ctx, c.ID, c.Entities); err != nil {
		return fmt.Errorf("store the changed world: %w", err)
	}
	brains, err := t.think(ctx, c)
	if err != nil {
		return err
	}
	return t.do(ctx, func() error {
		t.campaign, t.brains, t.glossary = c, brains, t.listenFor(c)
		t.dismiss()
		t.deal()
		t.stay()
		t.alert(Alert{Text: "The campaign has changed, and the NPCs know."})
		return nil
	})
}

// think makes every NPC's model anew.
func (t *Table) think(ctx context.Context, c *campaigns.Campaign) (map[string]engine.Model, error) {
	brains := map[string]engine.Model{}
	for _, ch := range c.NPCs {
		p, err := t.persona(ctx, c, ch)
		if err != nil {
			return nil, fmt.Errorf("gather what %s knows: %w", ch.Name, err)
		}
		brains[ch.ID] = t.o.Brain(ch, p)
		if t.o.Budget.Cap > 0 {
			brains[ch.ID] = thrift{brains[ch.ID], improviser.New(p, uint64(len(brains))), &t.broke}
		}
	}
	return brains, nil
}

// deal makes a card for each NPC, keeping what is known of those that were there.
func (t *Table) deal() {
	old := t.cards
	t.cards = nil
	for _, ch := range t.campaign.NPCs {
		card := NPC{ID: ch.ID, State: Absent, Tier: mcp.Fast, Mood: first(ch.Moods), Moods: ch.Moods}
		if i := slices.IndexFunc(old, func(o NPC) bool { return o.ID == ch.ID }); i >= 0 {
			card = old[i]
		}
		card.Name, card.Role, card.Ceiling, card.Tools = ch.Name, ch.Role, ch.Tier, ch.Tools
		if card.Portrait = ""; ch.Portrait != "" {
			card.Portrait = "/portraits/" + (&url.URL{Path: ch.Portrait}).EscapedPath()
		}
		t.cards = append(t.cards, card)
		t.showCard(&card)
	}
}

// stay keeps the scene, or begins with the first one if it is gone. Who came or
// left by the DM's hand stays so; NPCs that are no more do not.
func (t *Table) stay() {
	i := slices.IndexFunc(t.campaign.Scenes, func(s campaigns.Scene) bool { return s.ID == t.scene.ID })
	if i < 0 {
		t.enter(t.campaign.Scenes[0])
		return
	}
	s := t.campaign.Scenes[i]
	present := slices.DeleteFunc(slices.Clone(t.scene.Present), func(id string) bool { return t.card(id) == nil })
	t.scene = Scene{ID: s.ID, Name: s.Name, Text: s.Text, Mood: s.Mood, Present: present}
	t.recast()
}
