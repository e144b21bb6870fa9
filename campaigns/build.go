package campaigns

import (
	"cmp"
	"encoding/hex"
	"maps"
	"slices"

	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/npc"
)

// build checks what was read and makes the campaign of it. It is run even when
// there are problems already, so that those of meaning are told together with
// those of shape.
func (l *loader) build() *Campaign {
	l.check()
	f := l.campaign.is
	c := &Campaign{
		ID:       f.ID,
		Name:     f.Name,
		System:   cmp.Or(f.System, "dnd5e"),
		Edition:  f.Edition,
		Language: cmp.Or(f.Language, "en"),
		Intro:    f.Intro,
		Safety:   Safety{cmp.Or(f.Safety.Rating, "teen"), f.Safety.Lines, f.Safety.Veils},
		Hash:     hex.EncodeToString(l.hash.Sum(nil)[:8]),
	}
	for _, s := range f.Scenes {
		c.Scenes = append(c.Scenes, Scene(s))
	}
	for _, t := range f.Glossary {
		c.Glossary = append(c.Glossary, Term(t))
	}
	c.Phrases = f.Phrases
	for _, t := range f.Tables {
		table := Table{ID: t.ID, Name: cmp.Or(t.Name, t.ID)}
		for _, r := range t.Rows {
			table.Rows = append(table.Rows, Row{r.Text, max(r.Weight, 1), r.Table})
		}
		c.Tables = append(c.Tables, table)
	}
	for _, n := range l.npcs {
		c.NPCs = append(c.NPCs, n.is.character())
		c.Entities = append(c.Entities, n.is.entity(f.KnownBy))
	}
	for _, e := range l.entities {
		c.Entities = append(c.Entities, e.is.entity(f.KnownBy))
	}
	return c
}

func (n npcFile) character() npc.Character {
	tier, _ := mcp.ParseTier(cmp.Or(n.BudgetTier, "fast")) // one of the three, or a problem already
	c := npc.Character{
		ID: n.ID, Name: n.Name, Aliases: n.Aliases, Titles: n.Titles,
		Species: n.Species, Role: n.Role, Pronouns: n.Pronouns, Language: n.Language,
		Personality: n.Personality, Manner: n.Manner, Background: n.Background,
		Goals: n.Goals, Secrets: n.Secrets, Lines: n.Lines,
		Voice:  npc.VoiceSpec(n.Voice),
		Engine: cmp.Or(n.Engine, "cascaded"), Tier: tier, Tools: n.Tools, Helper: n.Helper,
		ToolChoice:    cmp.Or(n.ToolChoice, "auto"),
		Talkativeness: n.Talkativeness, Portrait: n.Portrait, Moods: n.Moods,
	}
	for _, k := range n.Knowledge {
		c.Knowledge = append(c.Knowledge, npc.Knowledge{About: k.About, Text: k.Text, Audience: k.KnownBy.resolve(nil)})
	}
	return c
}

// entity is the NPC as a node of the knowledge graph.
func (n npcFile) entity(byDefault audience) memory.Entity {
	attributes := maps.Clone(n.Attributes)
	for key, value := range map[string]string{"species": n.Species, "role": n.Role, "pronouns": n.Pronouns} {
		if _, ok := attributes[key]; !ok && value != "" {
			if attributes == nil {
				attributes = map[string]string{}
			}
			attributes[key] = value
		}
	}
	e := entityFile{
		ID: n.ID, Kind: string(memory.NPC), Name: n.Name, Aliases: slices.Concat(n.Aliases, n.Titles),
		Text: n.Text, KnownBy: n.KnownBy, Attributes: attributes, Facts: n.Facts, Relations: n.Relations,
	}.entity(byDefault)
	e.Audience = withSelf(e.Audience, n.ID)
	for i := range e.Relations {
		e.Relations[i].Audience = withSelf(e.Relations[i].Audience, n.ID)
	}
	return e
}

// withSelf adds an NPC to those who know its own doings.
func withSelf(a memory.Audience, id string) memory.Audience {
	if slices.Contains(a, memory.Everyone) || slices.Contains(a, id) {
		return a
	}
	return append(slices.Clip(a), id)
}

func (e entityFile) entity(byDefault audience) memory.Entity {
	out := memory.Entity{
		ID: e.ID, Kind: memory.Kind(e.Kind), Name: e.Name, Aliases: e.Aliases, Text: e.Text,
		Attributes: e.Attributes, Audience: e.KnownBy.resolve(byDefault.resolve(nil)),
	}
	for _, f := range e.Facts {
		out.Facts = append(out.Facts, memory.Fact{ID: f.ID, Text: f.Text, Audience: f.KnownBy.resolve(nil), False: f.False})
	}
	for _, r := range e.Relations {
		out.Relations = append(out.Relations, memory.Relation{Kind: r.Kind, To: r.To, Text: r.Text, Audience: r.KnownBy.resolve(out.Audience)})
	}
	return out
}

// gameMaster in an audience adds nobody: the game master knows everything.
const gameMaster = "dm"

// resolve is the audience as memory spells it; absent is taken if none was
// written.
func (a audience) resolve(absent memory.Audience) memory.Audience {
	if a == nil {
		return absent
	}
	var out memory.Audience
	for _, id := range a {
		if id != gameMaster {
			out = append(out, id)
		}
	}
	return out
}
