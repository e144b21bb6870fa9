package foreign

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/glyphoxa/glyphoxa/markup"
	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/npc"
)

// An actor is what Foundry exports of a person or monster. Only the parts that
// systems agree on, and those of dnd5e, are read.
type actor struct {
	Name, Type string
	Ownership  map[string]int
	System     struct {
		Details struct {
			Biography            biography
			Alignment, Race      loose
			Ideal, Bond, Flaw    loose
			Gender, Age, Species loose
			Type                 struct{ Value, Custom loose }
		}
	}
}

// biography is an object in newer exports and a text in older ones.
type biography struct{ Value, Public string }

func (b *biography) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &b.Value)
	}
	var o struct{ Value, Public loose }
	err := json.Unmarshal(data, &o)
	b.Value, b.Public = string(o.Value), string(o.Public)
	return err
}

// loose is a text that other systems and versions keep as something else.
type loose string

func (l *loose) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) == nil {
		*l = loose(s)
	}
	return nil
}

// observer is the least ownership at which players can read something.
const observer = 2

// visible is who may know what has this ownership; a page's own goes before its
// journal's.
func visible(levels ...map[string]int) memory.Audience {
	for _, l := range levels {
		if level, ok := l["default"]; ok && level >= 0 {
			if level >= observer {
				return memory.Audience{memory.Everyone}
			}
			return nil
		}
	}
	return nil
}

// enricher is what Foundry makes links, rolls and references of.
var enricher = regexp.MustCompile(`@\w+\[[^\]]*\](?:\{([^}]*)\})?|\[\[/?[^\]]*\]\](?:\{([^}]*)\})?`)

// prose is a page's text and its secret, without Foundry's own notation.
func prose(source string) (open, secret string) {
	open, secret = markup.HTML(enricher.ReplaceAllString(source, "$1$2"))
	return tidy(open), tidy(secret)
}

// actor reads one exported actor: with a biography somebody to talk to, and
// without one only somebody whom there is.
func (in *importing) actor(raw json.RawMessage) error {
	var a actor
	if err := json.Unmarshal(raw, &a); err != nil {
		return fmt.Errorf("the actor: %w", err)
	}
	in.Format = cmp.Or(in.Format, "export from Foundry")
	name := first(tidy(cmp.Or(in.options.Name, a.Name)), maxName)
	if name == "" || a.Type == "group" || a.Type == "encounter" || a.Type == "vehicle" {
		in.notice("%s %q is left out: it is nobody to talk to", cmp.Or(a.Type, "an actor"), short(a.Name))
		return nil
	}
	d := a.System.Details
	story, secret := prose(d.Biography.Value)
	public, hidden := prose(d.Biography.Public)
	story, public = in.allowed(name+"'s biography", story), in.allowed(name+"'s biography", public)
	e := memory.Entity{ID: in.id(name), Kind: memory.NPC, Name: name, Audience: visible(a.Ownership), Attributes: map[string]string{}}
	species := tidy(cmp.Or(string(d.Race), string(d.Species), string(d.Type.Value), string(d.Type.Custom)))
	for key, value := range map[string]string{"alignment": string(d.Alignment), "age": string(d.Age)} {
		if value = tidy(value); value != "" {
			e.Attributes[key] = first(value, 200)
		}
	}
	if a.Type == "character" {
		e.Kind = memory.Player
		if species != "" {
			e.Attributes["species"] = species
		}
		in.entity(e, cmp.Or(public, story), secret)
		return nil
	}
	if story == "" && public == "" && secret == "" {
		in.notice("%s has no biography, so there is nothing to play", name)
		in.entity(e, "", "")
		return nil
	}
	n := npc.Character{ID: e.ID, Name: name, Species: first(species, 60), Background: cmp.Or(story, public), Personality: personality(d.Alignment, d.Bond, d.Flaw, story, public)}
	if ideal := tidy(string(d.Ideal)); ideal != "" {
		n.Goals = []string{first(ideal, 300)}
	}
	n.Secrets = pieces(secret+"\n\n"+hidden, maxText)
	n.Secrets = n.Secrets[:min(len(n.Secrets), 20)]
	in.Draft.NPCs = append(in.Draft.NPCs, n)
	in.entity(e, public, "")
	return nil
}

// personality is a sentence or two on somebody, of what an actor says of itself.
func personality(alignment, bond, flaw loose, story, public string) string {
	var parts []string
	for _, p := range []string{first(cmp.Or(story, public), 400), string(bond), string(flaw), string(alignment)} {
		if p = tidy(p); p != "" {
			if !strings.ContainsAny(p[len(p)-1:], ".!?") && !strings.HasSuffix(p, "…") {
				p += "."
			}
			parts = append(parts, p)
		}
	}
	return cmp.Or(strings.Join(parts, " "), "Not described.")
}

// A page of a journal.
type page struct {
	Name, Type string
	Ownership  map[string]int
	Text       struct{ Content, Markdown string }
}

// journal reads one exported journal: each page is something to know of.
func (in *importing) journal(raw json.RawMessage) error {
	var j struct {
		Name      string
		Ownership map[string]int
		Pages     []page
	}
	if err := json.Unmarshal(raw, &j); err != nil {
		return fmt.Errorf("the journal: %w", err)
	}
	in.Format = cmp.Or(in.Format, "export from Foundry")
	in.Draft.Title = cmp.Or(in.Draft.Title, short(j.Name))
	for _, p := range j.Pages {
		if p.Type != "" && p.Type != "text" {
			in.notice("%s: the page %q is a %s and is left out", short(j.Name), short(p.Name), short(p.Type))
			continue
		}
		open, secret := prose(p.Text.Content)
		if p.Text.Markdown != "" {
			open, secret = plain(p.Text.Markdown), ""
		}
		name := cmp.Or(tidy(p.Name), tidy(j.Name))
		if len(j.Pages) == 1 {
			name = cmp.Or(tidy(j.Name), name)
		}
		if open = in.allowed(name, open); name == "" || open == "" && secret == "" {
			continue
		}
		kind, _ := kindOf(j.Name, p.Name)
		in.entity(memory.Entity{Kind: kind, Name: name, Audience: visible(p.Ownership, j.Ownership)}, open, secret)
	}
	return nil
}
