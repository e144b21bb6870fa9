package foreign

import (
	"slices"
	"strings"

	"github.com/glyphoxa/glyphoxa/memory"
)

// Limits of an entity, as campaigns have them.
const (
	maxText    = 1000
	maxFacts   = 200
	maxAliases = 20
)

// entity adds something to the world: its text becomes what is commonly said of
// it, what is too long for that becomes facts for the same audience, and what is
// secret becomes facts of the game master's. It returns the entity's id.
func (in *importing) entity(e memory.Entity, text, secret string) string {
	if e.ID == "" {
		e.ID = in.id(e.Name)
	}
	e.Name = first(e.Name, 100)
	e.Aliases = slices.Compact(e.Aliases[:min(len(e.Aliases), maxAliases)])
	parts := pieces(text, maxText)
	if len(parts) > 0 {
		e.Text = parts[0]
		for _, p := range parts[1:] {
			e.Facts = append(e.Facts, memory.Fact{Text: p, Audience: e.Audience})
		}
	}
	for _, p := range pieces(secret, maxText) {
		e.Facts = append(e.Facts, memory.Fact{Text: p})
	}
	if len(e.Facts) > maxFacts {
		in.notice("%s: more than %d paragraphs, the rest is left out", e.Name, maxFacts)
		e.Facts = e.Facts[:maxFacts]
	}
	in.Draft.Entities = append(in.Draft.Entities, e)
	return e.ID
}

// pieces cuts prose into texts of at most n characters, between paragraphs where
// it can and between sentences where it must.
func pieces(s string, n int) (out []string) {
	current := ""
	flush := func() {
		if current = strings.TrimSpace(current); current != "" {
			out = append(out, current)
		}
		current = ""
	}
	for paragraph := range strings.SplitSeq(s, "\n\n") {
		paragraph = strings.TrimSpace(paragraph)
		if len([]rune(current))+2+len([]rune(paragraph)) > n {
			flush()
		}
		if len([]rune(paragraph)) <= n {
			current += "\n\n" + paragraph
			continue
		}
		for _, sentence := range sentences(paragraph) {
			if r := []rune(sentence); len(r) > n {
				sentence = string(r[:n-1]) + "…"
			}
			if len([]rune(current))+1+len([]rune(sentence)) > n {
				flush()
			}
			current += " " + sentence
		}
	}
	flush()
	return out
}

// kindOf guesses what sort of thing a page is about from words such as the name
// of its folder, its type or its tags. ok is false where none says anything.
func kindOf(words ...string) (kind memory.Kind, ok bool) {
	for _, w := range words {
		for _, part := range strings.FieldsFunc(strings.ToLower(w), func(r rune) bool { return strings.ContainsRune(" /-_,:;#&", r) }) {
			if k, found := kinds[strings.TrimSuffix(part, "s")]; found {
				return k, true
			}
			if k, found := kinds[part]; found {
				return k, true
			}
		}
	}
	return memory.Concept, false
}

// kinds are the words that people file pages under.
var kinds = map[string]memory.Kind{
	"npc": memory.NPC, "person": memory.NPC, "people": memory.NPC, "character": memory.NPC, "villain": memory.NPC, "ally": memory.NPC, "allie": memory.NPC,
	"pc": memory.Player, "player": memory.Player, "party": memory.Player,
	"location": memory.Location, "place": memory.Location, "city": memory.Location, "citie": memory.Location, "town": memory.Location, "village": memory.Location,
	"region": memory.Location, "dungeon": memory.Location, "building": memory.Location, "tavern": memory.Location, "map": memory.Location,
	"item": memory.Item, "artifact": memory.Item, "artefact": memory.Item, "weapon": memory.Item, "treasure": memory.Item, "loot": memory.Item,
	"faction": memory.Faction, "guild": memory.Faction, "organization": memory.Faction, "organisation": memory.Faction, "group": memory.Faction, "deity": memory.Faction,
	"event": memory.Event, "history": memory.Event, "session": memory.Event, "timeline": memory.Event,
	"quest": memory.Quest, "mission": memory.Quest, "hook": memory.Quest, "adventure": memory.Quest,
}
