package foreign

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/npc"
)

// A card is a character card's data. V1 is the same without an envelope and with
// fewer fields. The specifications are those of malfoyslastname (V2, 2023) and
// kwaroran (V3, 2024).
type card struct {
	Name        string `json:"name"`
	Nickname    string `json:"nickname"`
	Description string `json:"description"`
	Personality string `json:"personality"`
	Scenario    string `json:"scenario"`
	FirstMes    string `json:"first_mes"`
	MesExample  string `json:"mes_example"`

	AlternateGreetings []string `json:"alternate_greetings"`
	GroupOnlyGreetings []string `json:"group_only_greetings"`

	SystemPrompt            string `json:"system_prompt"`
	PostHistoryInstructions string `json:"post_history_instructions"`
	CreatorNotes            string `json:"creator_notes"`

	Tags             []string `json:"tags"`
	Creator          string   `json:"creator"`
	CharacterVersion string   `json:"character_version"`
	SpecVersion      string   `json:"-"`
	Book             *book    `json:"character_book"`
	Assets           []asset  `json:"assets"`
	Extensions       struct {
		Talkativeness json.RawMessage `json:"talkativeness"`
	} `json:"extensions"`
}

// An asset is a picture or sound of a card, which may lie anywhere.
type asset struct{ Type, URI, Name, Ext string }

// originals is where cards are kept as they came, for what we do not know of.
const originals = "originals/"

// card reads one card. whole is the file, data its fields.
func (in *importing) card(whole, data json.RawMessage, spec string) error {
	var c card
	if err := json.Unmarshal(data, &c); err != nil {
		return fmt.Errorf("the card: %w", err)
	}
	var version struct {
		Version string `json:"spec_version"`
	}
	if json.Unmarshal(whole, &version) == nil && version.Version > "3.0" {
		in.notice("the card is of version %s, which is newer than 3.0: what is new in it is kept but not read", short(version.Version))
	}
	in.Format = "character card V" + strings.TrimPrefix(spec, "chara_card_v")
	if in.options.Name != "" {
		c.Name = in.options.Name
	}
	c.Name = first(plain(c.Name), maxName)
	if c.Name == "" {
		return fmt.Errorf("the card has no name")
	}
	in.character(c, whole)
	return nil
}

const maxName = 80

// character makes an NPC of a card.
func (in *importing) character(c card, whole json.RawMessage) {
	who := c.Name
	speaks := cmp.Or(first(plain(c.Nickname), maxName), who)
	prose := func(where, s string) string {
		return in.allowed(who+"'s "+where, plain(macros(s, speaks, "the player")))
	}
	n := npc.Character{
		ID: in.id(who), Name: who,
		Personality: cmp.Or(prose("personality", c.Personality), first(prose("description", c.Description), 1000), "Not described."),
		Background:  prose("description", c.Description),
		Manner:      samples(prose("examples", c.MesExample), speaks),
	}
	if speaks != who {
		n.Aliases = []string{speaks}
	}
	for _, g := range append(append([]string{c.FirstMes}, c.AlternateGreetings...), c.GroupOnlyGreetings...) {
		if line := in.allowed(who+"'s greetings", said(plain(macros(g, speaks, "friend")))); line != "" && len(n.Lines["greeting"]) < 20 {
			n.Lines = map[string][]string{"greeting": append(n.Lines["greeting"], line)}
		}
	}
	var talk float64
	if text := strings.Trim(string(c.Extensions.Talkativeness), `"`); text != "" {
		if _, err := fmt.Sscan(text, &talk); err == nil && talk >= 0 && talk <= 1 {
			n.Talkativeness = talk
		}
	}
	if c.Book != nil {
		n.Knowledge, n.Background = in.book(who, *c.Book, speaks, n.Background)
	}
	for _, u := range []Unused{
		{who + "'s system prompt", c.SystemPrompt}, {who + "'s instructions after the history", c.PostHistoryInstructions},
		{who + "'s scenario", c.Scenario}, {"the maker's notes on " + who, c.CreatorNotes},
	} {
		if strings.TrimSpace(u.Text) != "" {
			in.Unused = append(in.Unused, u)
		}
	}
	if credit := strings.TrimSpace(short(c.Creator) + " " + short(c.CharacterVersion)); credit != "" {
		in.Credits = append(in.Credits, who+": "+credit)
	}
	in.Draft.NPCs = append(in.Draft.NPCs, n)
	in.Draft.Entities = append(in.Draft.Entities, memory.Entity{
		ID: n.ID, Kind: memory.NPC, Name: n.Name, Aliases: n.Aliases, Audience: memory.Audience{memory.Everyone},
		Attributes: provenance(c),
	})
	in.keep(Original(n.ID), whole)
	for _, a := range c.Assets {
		if strings.Contains(a.URI, "://") && !strings.HasPrefix(a.URI, embedded) || strings.HasPrefix(a.URI, "//") {
			in.notice("%s: the picture at %s is not fetched", who, short(a.URI))
		}
	}
}

// provenance keeps where a card came from among the facts of its NPC.
func provenance(c card) map[string]string {
	from := map[string]string{}
	for key, value := range map[string]string{"made by": c.Creator, "version": c.CharacterVersion, "tags": strings.Join(c.Tags, ", ")} {
		if value = tidy(value); value != "" {
			from[key] = first(value, 200)
		}
	}
	return from
}

// keep adds a file to the draft.
func (in *importing) keep(name string, data []byte) {
	if in.Draft.Files == nil {
		in.Draft.Files = map[string][]byte{}
	}
	in.Draft.Files[name] = data
}

var (
	actions = regexp.MustCompile(`\*[^*\n]*\*`)
	quoted  = regexp.MustCompile(`[“"]([^“”"\n]{2,})[”"]`)
)

// maxSaid is what an NPC says in one go.
const maxSaid = 300

// said is what of a card's written greeting can be said aloud: what stands in
// quotation marks if anything does, without *actions*.
func said(s string) string {
	s = actions.ReplaceAllString(s, " ")
	if parts := quoted.FindAllStringSubmatch(s, -1); parts != nil {
		s = ""
		for _, p := range parts {
			s += " " + p[1]
		}
	}
	return first(strings.Join(strings.Fields(s), " "), maxSaid)
}

// samples turns example dialogue into a description of how somebody talks.
func samples(dialogue, name string) string {
	var own []string
	for line := range strings.Lines(dialogue) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), name+":"); ok {
			if s := said(text); s != "" {
				own = append(own, s)
			}
		}
	}
	if own == nil {
		return ""
	}
	return "Talks like this: " + strings.Join(own[:min(len(own), 8)], " / ")
}

// short cuts what a file says of itself, for notices.
func short(s string) string { return first(tidy(s), 80) }
