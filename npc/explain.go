package npc

import (
	"slices"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp"
)

// An ExplainInput is a line to be explained, as glyphoxa explain reads it. All
// but Text may be left out.
type ExplainInput struct {
	Text string `json:"text"`
	// Speaker is "player" or "dm"; "" is a player.
	Speaker     string   `json:"speaker"`
	PlayerNames []string `json:"player_names"`
	PCNames     []string `json:"pc_names"`
	// NPCsPresent are names. Nil means all of the campaign's.
	NPCsPresent []string `json:"npcs_present"`
	// LastNPC is the name of the NPC with whom the speaker was last in exchange.
	LastNPC           string  `json:"last_npc"`
	LastNPCSecondsAgo float64 `json:"last_npc_seconds_ago"`
	FirstTurn         bool    `json:"first_turn"`
	// Lang is a BCP 47 tag; "" is the campaign's language.
	Lang string `json:"lang"`
}

// An ExplainOutput says what would happen to the line.
type ExplainOutput struct {
	// Addressed is the NPC's name, "everyone" or nil.
	Addressed *string `json:"addressed"`
	// Also are the names of further NPCs who would answer.
	Also   []string `json:"also"`
	Tier   mcp.Tier `json:"tier"`
	Intent string   `json:"intent"`
	// Target is whom the game master's command is for: a name, "everyone" or nil.
	Target *string `json:"target"`
	// Tools are on the belt for this turn; Hidden are not, with the reason.
	Tools   []string        `json:"tools"`
	Hidden  []ExplainHidden `json:"hidden"`
	Reasons []string        `json:"reasons"`
}

// ExplainHidden is a tool that an NPC would not hold, and why.
type ExplainHidden struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// An Explainer explains lines against one campaign.
type Explainer struct {
	Characters []Character
	Language   string
	Phrases    map[string][]string
	// Rules are the names of rules that the table's library knows; see [Room].
	Rules []string
	// Belt tells which tools the character would hold in a turn of a tier in which
	// this was said, and which not. Nil means that there are none.
	Belt func(c Character, t mcp.Tier, said string) (tools []string, hidden []ExplainHidden)
}

// Explain says who is meant by a line, what it is about, which tier applies and
// which tools that leaves, each with its reason.
func (e Explainer) Explain(in ExplainInput) ExplainOutput {
	people, present := e.people(in)
	room := Room{Players: in.PlayerNames, PCs: in.PCNames, Language: e.Language, Phrases: e.Phrases, Rules: e.Rules}
	if in.Lang != "" {
		room.Language = in.Lang
	}
	for _, p := range present {
		room.Present = append(room.Present, people[p].ID)
	}
	u := Utterance{Text: in.Text, DM: strings.EqualFold(in.Speaker, "dm"), Since: time.Duration(in.LastNPCSecondsAgo * float64(time.Second))}
	if i := whose(people, in.LastNPC); i >= 0 {
		u.Last = people[i].ID
	}
	d := NewCast(people, room).Address(u)

	out := ExplainOutput{Also: []string{}, Tools: []string{}, Hidden: []ExplainHidden{}, Intent: d.Intent.String()}
	name := func(id string) string {
		return people[slices.IndexFunc(people, func(c Character) bool { return c.ID == id })].Name
	}
	one := func(ids []string, all bool) *string {
		switch {
		case all:
			return new("everyone")
		case len(ids) > 0:
			return new(name(ids[0]))
		}
		return nil
	}
	out.Addressed = one(d.To, d.Everyone)
	out.Target = one(d.Command.Targets, d.Command.All)
	for _, ids := range [][]string{d.To, d.Command.Targets} {
		if len(ids) > 1 && !d.Everyone {
			for _, id := range ids[1:] {
				out.Also = append(out.Also, name(id))
			}
		}
	}
	answering := Character{Tier: mcp.Deep}
	for _, ids := range [][]string{d.Command.Targets, d.To} {
		if len(ids) > 0 {
			answering = people[slices.IndexFunc(people, func(c Character) bool { return c.ID == ids[0] })]
		}
	}
	choice := SelectTier(&d, Moment{FirstTurn: in.FirstTurn, Ceiling: answering.Tier})
	out.Tier = choice.Tier
	if answering.ID != "" && len(d.To) > 0 && e.Belt != nil {
		if tools, hidden := e.Belt(answering, choice.Tier, in.Text); tools != nil || hidden != nil {
			out.Tools, out.Hidden = append(out.Tools, tools...), append(out.Hidden, hidden...)
		}
	}
	out.Reasons = []string{d.Reason(), choice.Reason()}
	if d.Offer != "" {
		out.Reasons = append(out.Reasons, "the game master is offered to let "+name(d.Offer)+" answer")
	}
	if d.Intent == Rules && len(d.To) == 0 {
		out.Reasons = append(out.Reasons, "a rules question to nobody becomes a card in the text channel")
	}
	if d.XCard {
		out.Reasons = append(out.Reasons, "the X-card: the scene stops")
	}
	return out
}

// people are the campaign's characters and those that only the line knows, and
// which of them are present.
func (e Explainer) people(in ExplainInput) (people []Character, present []int) {
	people = slices.Clone(e.Characters)
	known := len(people)
	if in.NPCsPresent == nil {
		for i := range people {
			present = append(present, i)
		}
		if in.LastNPC != "" && whose(people, in.LastNPC) < 0 {
			people = append(people, Plain(in.LastNPC))
			present = append(present, len(people)-1)
		}
		return people, present
	}
	for _, n := range in.NPCsPresent[:min(len(in.NPCsPresent), maxCast)] {
		if strings.TrimSpace(n) == "" {
			continue
		}
		i := named(people[:known], n)
		if i < 0 {
			people = append(people, Plain(n))
			i = len(people) - 1
			for k := range people[:i] { // ids are unique
				if people[k].ID == people[i].ID {
					people[i].ID += "-" + string(rune('a'+i%26))
				}
			}
		} else {
			people[i].Name = n // answer with the name that was given
			if !slices.Contains(people[i].Aliases, e.Characters[i].Name) {
				people[i].Aliases = append(slices.Clone(people[i].Aliases), e.Characters[i].Name)
			}
		}
		present = append(present, i)
	}
	return people, present
}

// named is the character of exactly this name, alias or id, or -1.
func named(people []Character, name string) int {
	return slices.IndexFunc(people, func(c Character) bool {
		if strings.EqualFold(c.Name, name) || strings.EqualFold(c.ID, name) {
			return true
		}
		return slices.ContainsFunc(c.Aliases, func(a string) bool { return strings.EqualFold(a, name) })
	})
}

// whose is the character whom a name most likely means, or -1.
func whose(people []Character, name string) int {
	if name == "" {
		return -1
	}
	if i := named(people, name); i >= 0 {
		return i
	}
	words := cut(name)
	return slices.IndexFunc(people, func(c Character) bool {
		own := cut(c.Name)
		return len(words) > 0 && len(own) > 0 && words[0] == own[0]
	})
}
