package foreign

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/glyphoxa/glyphoxa/campaigns"
	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/npc"
)

// Card is an NPC as a character card V2. original is the card it was imported
// from, or nil: what that holds beyond our own fields is passed on unchanged.
// Secrets are not part of a card, since cards are made to be given away.
func Card(c npc.Character, original []byte) ([]byte, error) {
	data := map[string]json.RawMessage{}
	if original != nil {
		var whole struct{ Data map[string]json.RawMessage }
		if err := json.Unmarshal(original, &whole); err != nil {
			return nil, fmt.Errorf("the original card of %s: %w", c.Name, err)
		}
		if data = whole.Data; data == nil { // V1 has no envelope
			if err := json.Unmarshal(original, &data); err != nil {
				return nil, fmt.Errorf("the original card of %s: %w", c.Name, err)
			}
		}
	}
	greetings := append(slices.Clone(c.Lines["greeting"]), "")
	ours := map[string]any{
		"name": c.Name, "description": description(c), "personality": c.Personality, "scenario": "",
		"first_mes": greetings[0], "alternate_greetings": nonNil(greetings[1:max(1, len(greetings)-1)]),
		"mes_example": examples(c), "creator_notes": "", "system_prompt": "", "post_history_instructions": "",
		"tags": []string{}, "creator": "", "character_version": "", "extensions": map[string]any{"talkativeness": c.Talkativeness},
	}
	if len(c.Knowledge) > 0 {
		ours["character_book"] = bookOf(c)
	}
	for key, value := range ours {
		if _, kept := data[key]; kept && !rewritten[key] {
			continue
		}
		raw, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("the card of %s: %w", c.Name, err)
		}
		data[key] = raw
	}
	card, err := json.MarshalIndent(map[string]any{"spec": "chara_card_v2", "spec_version": "2.0", "data": data}, "", "  ")
	return append(card, '\n'), err
}

// rewritten are the fields of a card that a campaign may have changed since it was
// imported; the others are the original's.
var rewritten = map[string]bool{"name": true, "description": true, "personality": true}

// PictureCard is a card in its NPC's portrait, which has to be a PNG.
func PictureCard(portrait, card []byte) ([]byte, error) {
	_, bare, err := pictureOf(portrait)
	if err != nil {
		return nil, err
	}
	return withText(bare, cardV2, base64.StdEncoding.EncodeToString(card)), nil
}

func nonNil(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// description is what a card says of somebody: all that has no field there.
func description(c npc.Character) string {
	parts := []string{strings.TrimSpace(strings.Join(filled(c.Species, c.Role, c.Pronouns), ", ")), c.Background}
	if c.Manner != "" {
		parts = append(parts, c.Manner)
	}
	return strings.Join(filled(parts...), "\n\n")
}

func filled(texts ...string) []string {
	return slices.DeleteFunc(texts, func(s string) bool { return s == "" })
}

// examples are an NPC's lines as example dialogue.
func examples(c npc.Character) string {
	var b strings.Builder
	for _, occasion := range slices.Sorted(maps.Keys(c.Lines)) {
		if lines := c.Lines[occasion]; occasion != "greeting" && len(lines) > 0 && !strings.Contains(lines[0], "{") {
			fmt.Fprintf(&b, "<START>\n{{char}}: %s\n", lines[0])
		}
	}
	return b.String()
}

func bookOf(c npc.Character) map[string]any {
	var list []map[string]any
	for i, k := range c.Knowledge {
		list = append(list, map[string]any{
			"keys": k.About, "content": k.Text, "extensions": map[string]any{}, "enabled": true, "insertion_order": i,
		})
	}
	return map[string]any{"extensions": map[string]any{}, "entries": list}
}

// Markdown is a campaign as a vault of linked pages, by their paths. What only the
// game master knows stands in %%comments%%, if secrets are wanted at all.
func Markdown(c *campaigns.Campaign, secrets bool) (map[string][]byte, error) {
	names := map[string]string{}
	for _, e := range c.Entities {
		names[e.ID] = fileName(e.Name)
	}
	pages := map[string][]byte{}
	for _, e := range c.Entities {
		if !secrets && len(e.Audience) == 0 {
			continue
		}
		i := slices.IndexFunc(c.NPCs, func(n npc.Character) bool { return n.ID == e.ID })
		var who *npc.Character
		if i >= 0 {
			who = &c.NPCs[i]
		}
		page, err := pageOf(e, who, names, secrets)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name, err)
		}
		pages[string(e.Kind)+"/"+fileName(e.Name)+".md"] = page
	}
	return pages, nil
}

// fileName keeps a name apart from what file systems and links give a meaning.
func fileName(name string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|#^[]`, r) {
			return ' '
		}
		return r
	}, name))
}

func pageOf(e memory.Entity, who *npc.Character, names map[string]string, secrets bool) ([]byte, error) {
	front := map[string]any{"type": string(e.Kind)}
	if len(e.Aliases) > 0 {
		front["aliases"] = e.Aliases
	}
	if slices.Contains(e.Audience, memory.Everyone) {
		front["known_by"] = "everyone"
	}
	for k, v := range e.Attributes {
		front[k] = v
	}
	if who != nil {
		front["personality"] = who.Personality
	}
	head, err := yaml.Marshal(front)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "---\n%s---\n\n", head)
	paragraph(&b, e.Text)
	if who != nil {
		paragraph(&b, who.Background)
	}
	for _, r := range e.Relations {
		if to, ok := names[r.To]; ok && (secrets || len(r.Audience) > 0) {
			fmt.Fprintf(&b, "- %s:: [[%s]]\n", r.Kind, to)
		}
	}
	b.WriteByte('\n')
	for _, f := range e.Facts {
		switch {
		case slices.Contains(f.Audience, memory.Everyone) && !f.False:
			paragraph(&b, f.Text)
		case secrets:
			fmt.Fprintf(&b, "%%%%%s%%%%\n\n", f.Text)
		}
	}
	if who != nil && secrets {
		for _, s := range who.Secrets {
			fmt.Fprintf(&b, "%%%%%s%%%%\n\n", s)
		}
	}
	return append(bytes.TrimRight(b.Bytes(), "\n"), '\n'), nil
}

func paragraph(b *bytes.Buffer, text string) {
	if text != "" {
		fmt.Fprintf(b, "%s\n\n", strings.TrimSpace(text))
	}
}

// JSONL writes a campaign as one JSON object a line: {"npc": ...} or {"entity": ...},
// with the fields as this program has them.
func JSONL(w io.Writer, c *campaigns.Campaign, secrets bool) error {
	enc := json.NewEncoder(w)
	for _, n := range c.NPCs {
		if !secrets {
			n.Secrets = nil
		}
		if err := enc.Encode(map[string]any{"npc": n}); err != nil {
			return err
		}
	}
	for _, e := range c.Entities {
		if !secrets {
			if len(e.Audience) == 0 {
				continue
			}
			e.Facts = slices.DeleteFunc(slices.Clone(e.Facts), func(f memory.Fact) bool { return len(f.Audience) == 0 })
		}
		if err := enc.Encode(map[string]any{"entity": e}); err != nil {
			return err
		}
	}
	return nil
}

// Original is where the card that an NPC was imported from is kept in a campaign
// folder.
func Original(id string) string { return originals + cmp.Or(id, "unnamed") + ".card.json" }
