package foreign

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/npc"
)

// A sheet is a character of a Roll20 campaign as its exporters write it: the
// fields are Roll20's own, with texts in HTML that may be percent-encoded.
type sheet struct {
	Name         string
	Bio, GMNotes loose
	Journals     loose `json:"inplayerjournals"`
	ControlledBy loose `json:"controlledby"`
	Attribs      []struct{ Name, Current loose }
}

// A handout is a page that may be shown to players.
type handout struct {
	Name           string
	Notes, GMNotes loose
	Journals       loose `json:"inplayerjournals"`
}

// roll20 reads an exported campaign.
func (in *importing) roll20(raw json.RawMessage) error {
	var c struct {
		Name       loose             `json:"campaign_title"`
		Characters []json.RawMessage `json:"characters"`
		Handouts   []handout         `json:"handouts"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return fmt.Errorf("the campaign: %w", err)
	}
	in.Format = "export from Roll20"
	in.Draft.Title = cmp.Or(short(string(c.Name)), in.Draft.Title)
	for _, s := range c.Characters[:min(len(c.Characters), maxEntries)] {
		if err := in.roll20Character(s); err != nil {
			return err
		}
	}
	for _, h := range c.Handouts[:min(len(c.Handouts), maxEntries)] {
		open, hidden := prose(decoded(h.Notes))
		secret, more := prose(decoded(h.GMNotes))
		name := tidy(h.Name)
		if open = in.allowed(name, open); name == "" || open == "" && secret == "" {
			continue
		}
		kind, _ := kindOf(h.Name)
		in.entity(memory.Entity{Kind: kind, Name: name, Audience: inJournals(h.Journals)}, open, secret+"\n\n"+hidden+"\n\n"+more)
	}
	return nil
}

// roll20Character reads one character. Those whom a player controls are players'.
func (in *importing) roll20Character(raw json.RawMessage) error {
	var s sheet
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("the character: %w", err)
	}
	in.Format = cmp.Or(in.Format, "character from Roll20")
	name := first(tidy(cmp.Or(in.options.Name, s.Name)), maxName)
	if name == "" {
		in.notice("a character without a name is left out")
		return nil
	}
	story, hidden := prose(decoded(s.Bio))
	notes, more := prose(decoded(s.GMNotes))
	story = in.allowed(name+"'s biography", story)
	e := memory.Entity{ID: in.id(name), Kind: memory.NPC, Name: name, Audience: inJournals(s.Journals), Attributes: map[string]string{}}
	species := ""
	for _, a := range s.Attribs {
		value := first(tidy(string(a.Current)), 200)
		switch strings.ToLower(string(a.Name)) {
		case "race", "race_display", "npc_type":
			species = cmp.Or(species, first(value, 60))
		case "class_display", "alignment", "age", "gender":
			if value != "" {
				e.Attributes[strings.TrimSuffix(strings.ToLower(string(a.Name)), "_display")] = value
			}
		}
	}
	if strings.TrimSpace(string(s.ControlledBy)) != "" {
		e.Kind = memory.Player
		in.entity(e, story, notes)
		return nil
	}
	if story != "" || notes != "" {
		n := npc.Character{ID: e.ID, Name: name, Species: species, Background: story, Personality: cmp.Or(first(story, 600), "Not described.")}
		n.Secrets = pieces(strings.Join([]string{notes, hidden, more}, "\n\n"), maxText)
		n.Secrets = n.Secrets[:min(len(n.Secrets), 20)]
		in.Draft.NPCs = append(in.Draft.NPCs, n)
		notes = ""
	} else {
		in.notice("%s has no biography, so there is nothing to play", name)
	}
	public := ""
	if len(e.Audience) > 0 {
		public = first(story, maxText)
	}
	in.entity(e, public, notes)
	return nil
}

// decoded undoes the percent-encoding that Roll20 stores texts in.
func decoded(l loose) string {
	s := string(l)
	if !strings.Contains(s, "%20") && !strings.Contains(s, "%3C") {
		return s
	}
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}

// inJournals is who may know what stands in these players' journals.
func inJournals(l loose) memory.Audience {
	if slices.Contains(strings.Split(string(l), ","), "all") {
		return memory.Audience{memory.Everyone}
	}
	return nil
}
