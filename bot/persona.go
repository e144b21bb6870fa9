package bot

import (
	"context"
	"slices"
	"time"

	"github.com/glyphoxa/glyphoxa/campaigns"
	"github.com/glyphoxa/glyphoxa/engine/llm/improviser"
	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/npc"
)

// personaTime bounds the look into memory that a persona is made of.
const personaTime = 2 * time.Second

// persona gathers what the improviser may know of a character: its own file and
// its own view of the world. Of other NPCs' knowledge there is nothing in it.
func (t *Table) persona(ctx context.Context, camp *campaigns.Campaign, c npc.Character) (improviser.Persona, error) {
	ctx, cancel := context.WithTimeout(ctx, personaTime)
	defer cancel()
	p := improviser.Persona{
		Name: c.Name, Aliases: append(slices.Clone(c.Aliases), c.Titles...), Species: c.Species, Role: c.Role,
		Language: language(c.Language, camp.Language), Background: c.Background, Lines: c.Lines, Secrets: c.Secrets,
	}
	for _, k := range c.Knowledge {
		if len(k.Audience) == 0 { // the others are told by the DM's leave
			p.Knowledge = append(p.Knowledge, improviser.Lore{About: k.About, Text: k.Text})
		}
	}
	known, err := t.o.Memory.FindEntities(ctx, memory.Viewer{Campaign: camp.ID, Entity: c.ID}, "", "", memory.MaxHits)
	if err != nil {
		return p, err
	}
	for _, e := range known {
		p.World = append(p.World, knownOf(e))
	}
	return p, nil
}

func knownOf(e memory.Entity) improviser.Known {
	k := improviser.Known{ID: e.ID, Kind: string(e.Kind), Name: e.Name, Aliases: e.Aliases, Text: e.Text, Attributes: e.Attributes}
	for _, f := range e.Facts {
		k.Facts = append(k.Facts, f.Text)
	}
	for _, r := range e.Relations {
		k.Bonds = append(k.Bonds, improviser.Bond{Kind: r.Kind, To: r.To, Text: r.Text})
	}
	return k
}

// language is the first tag that is set.
func language(tags ...string) string {
	for _, tag := range tags {
		if tag != "" {
			return tag
		}
	}
	return "en"
}
