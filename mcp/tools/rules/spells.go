package rules

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// spellData is one line of spells.yaml, which gen writes: facts only. What is
// said about a spell comes from gists.yaml, or is put together from the facts.
type spellData struct {
	Name  string         `yaml:"name"`
	Facts map[string]any `yaml:"facts"`
	Only  Edition        `yaml:"only"`
	// V2024 are the facts that changed; null stands for one that is gone.
	V2024 map[string]any `yaml:"v2024"`
}

// readSpells joins the facts with the gists and the names.
func readSpells() ([]*Entry, error) {
	var (
		spells []spellData
		gists  map[string]string
		names  map[string][]string
	)
	for name, into := range map[string]any{
		"data/spells.yaml": &spells, "data/gists.yaml": &gists, "data/spell_names.yaml": &names,
	} {
		b, err := data.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if err := yaml.Unmarshal(b, into); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	var all []*Entry
	for _, s := range spells {
		later := overlay(s.Facts, s.V2024)
		a := authored{
			Name: s.Name, Aliases: names[s.Name], Facts: overlay(s.Facts, nil), Only: s.Only,
			Say: cmp.Or(gists[s.Name], sayFacts(s.Facts)),
		}
		a.Text = a.Say + " " + showFacts(a.Facts)
		if gist := gists[s.Name+"@2024"]; gist != "" || len(s.V2024) > 0 {
			v := &variant{Say: cmp.Or(gist, gists[s.Name], sayFacts(later)), Facts: later}
			v.Text = v.Say + " " + showFacts(later)
			a.V2024 = v
		}
		all = append(all, a.entries("spell")...)
	}
	return all, nil
}

// overlay is facts with changes; what is null in either is left out.
func overlay(facts, changes map[string]any) map[string]any {
	out := maps.Clone(facts)
	maps.Copy(out, changes)
	maps.DeleteFunc(out, func(_ string, v any) bool { return v == nil })
	return out
}

// levelOf says the level and school: "Level 3 evocation", "Evocation cantrip".
func levelOf(f map[string]any) string {
	school := fmt.Sprint(f["school"])
	if f["level"] == 0 {
		return strings.ToUpper(school[:1]) + school[1:] + " cantrip"
	}
	return fmt.Sprintf("Level %v %s", f["level"], school)
}

// rangeOf says how far a spell reaches: "touch", "range 60 feet".
func rangeOf(f map[string]any) string {
	r := fmt.Sprint(f["range"])
	if r == "touch" || r == "self" {
		return r
	}
	return "range " + r
}

// durationOf says how long a spell lasts.
func durationOf(f map[string]any) string {
	switch d := fmt.Sprint(f["duration"]); {
	case f["concentration"] == true:
		return "concentration, up to " + d
	case strings.Contains(d, "minute"), strings.Contains(d, "hour"), strings.Contains(d, "day"), strings.Contains(d, "round"):
		return "lasts " + d
	default:
		return d
	}
}

// rollOf says what is rolled: "Dexterity save for half, 8d6 fire damage".
func rollOf(f map[string]any) string {
	var parts []string
	if save, ok := f["save"].(string); ok {
		s := strings.ToUpper(save[:1]) + save[1:] + " save"
		if f["on_save"] == "half" {
			s += " for half"
		}
		parts = append(parts, s)
	}
	if f["attack"] == true {
		parts = append(parts, "spell attack")
	}
	if d := f["damage"]; d != nil {
		dice, more, _ := strings.Cut(fmt.Sprint(d), " for ")
		s := dice
		if t := f["damage_type"]; t != nil {
			s += " " + fmt.Sprint(t)
		}
		s += " damage"
		if more != "" {
			s += " for " + more
		}
		parts = append(parts, s)
	}
	if h := f["heals"]; h != nil {
		parts = append(parts, fmt.Sprintf("heals %v", h))
	}
	return strings.Join(parts, ", ")
}

// sayFacts makes a line for the voice where nobody has written one.
func sayFacts(f map[string]any) string {
	s := fmt.Sprintf("%s, %v, %s, %s", levelOf(f), f["time"], rangeOf(f), durationOf(f))
	if roll := rollOf(f); roll != "" {
		s += "; " + roll
	}
	return s + "."
}

// showFacts makes the facts part of a card.
func showFacts(f map[string]any) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s. Casting time: %v; %s; %s; components: %s.",
		levelOf(f), f["time"], rangeOf(f), durationOf(f), list(f["components"]))
	if f["ritual"] == true {
		b.WriteString(" Ritual.")
	}
	if roll := rollOf(f); roll != "" {
		fmt.Fprintf(&b, " %s.", roll)
	}
	if a := f["area"]; a != nil {
		fmt.Fprintf(&b, " Area: %v.", a)
	}
	if p := f["per_slot"]; p != nil {
		fmt.Fprintf(&b, " Each higher slot adds %v.", p)
	}
	if gp := f["material_gp"]; gp != nil {
		fmt.Fprintf(&b, " Material worth %v gp", gp)
		if f["material_consumed"] == true {
			b.WriteString(", used up")
		}
		b.WriteByte('.')
	}
	if c := list(f["classes"]); c != "" {
		fmt.Fprintf(&b, " Classes: %s.", c)
	}
	return b.String()
}

// list joins a list of words.
func list(v any) string {
	var words []string
	if all, ok := v.([]any); ok {
		for _, w := range all {
			words = append(words, fmt.Sprint(w))
		}
	}
	return strings.Join(slices.Clip(words), ", ")
}
