// Command gen extracts the facts of spells from open data sets: level, school,
// times, distances, dice, classes. It copies no prose. Its output is
// data/spells.yaml:
//
//	go run ./mcp/tools/rules/gen DIR >mcp/tools/rules/data/spells.yaml
//
// DIR holds 5e-bits/2014/5e-SRD-Spells.json of 5e-bits/5e-database and
// open5e/srd-2014/Spell.json and open5e/srd-2024/Spell.json of Open5e.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gen DIR")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// facts are what is known of a spell, by the names of the output.
type facts map[string]any

func run(dir string, to io.Writer) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	var bits []bitsSpell
	var old, now []open5e
	for name, into := range map[string]any{
		"5e-bits/2014/5e-SRD-Spells.json": &bits, "open5e/srd-2014/Spell.json": &old, "open5e/srd-2024/Spell.json": &now,
	} {
		b, err := root.ReadFile(name)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(b, into); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	first, second := map[string]facts{}, map[string]facts{}
	names := map[string]string{}
	for _, s := range old {
		first[key(s.Fields.Name)] = s.facts()
		names[key(s.Fields.Name)] = s.Fields.Name
	}
	for _, s := range bits {
		// 5e-bits knows more of damage and saves, Open5e of prices.
		if f := first[key(s.Name)]; f != nil {
			maps.Copy(f, s.facts())
		}
	}
	for k, checked := range checked2014 {
		if f := first[k]; f != nil {
			maps.Copy(f, checked)
		}
	}
	for _, s := range now {
		second[key(s.Fields.Name)] = s.facts()
		names[key(s.Fields.Name)] = s.Fields.Name
	}
	return write(to, names, first, second)
}

func key(name string) string { return strings.ToLower(strings.ReplaceAll(name, "’", "'")) }

// write emits one spell a line, so that a change is one line of a diff.
func write(to io.Writer, names map[string]string, first, second map[string]facts) error {
	out := bufio.NewWriter(to)
	fmt.Fprintln(out, "# Facts of the spells of SRD 5.1 and 5.2 (CC-BY-4.0, see NOTICE). Made by")
	fmt.Fprintln(out, "# mcp/tools/rules/gen; v2024 holds what the 2024 rules say differently.")
	for _, k := range slices.Sorted(maps.Keys(names)) {
		f, changed := first[k], second[k]
		line := facts{"name": names[k]}
		switch {
		case f == nil:
			line["facts"], line["only"] = changed, "2024"
		case changed == nil:
			line["facts"], line["only"] = f, "2014"
		default:
			line["facts"] = f
			if diff := differences(k, f, changed); len(diff) > 0 {
				line["v2024"] = diff
			}
		}
		var node yaml.Node
		if err := node.Encode(line); err != nil {
			return err
		}
		flow(&node)
		b, err := yaml.Marshal(&node)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "- %s\n", strings.Join(strings.Fields(string(b)), " "))
	}
	return out.Flush()
}

// reliable are the facts that Open5e's 2024 set has from tables and not from
// prose, where it takes any dice for damage and any save for the spell's own.
var reliable = []string{"level", "school", "range", "duration", "concentration", "ritual", "classes", "components", "time"}

// differences are the reliable facts that changed in 2024, and what was
// checked by hand.
func differences(k string, f, changed facts) facts {
	diff := facts{}
	for _, name := range reliable {
		was, is := fmt.Sprint(f[name]), fmt.Sprint(changed[name])
		switch {
		case was == is, changed[name] == nil, was == "24 hours" && is == "1 day":
			continue
		case name == "time" && (was != "action" && is == "1 minute" || strings.HasSuffix(was, "hours") || is == "1 hour" && was == "action"):
			// The set shortens ten minutes to one, and any hours to one.
			continue
		}
		diff[name] = changed[name]
	}
	maps.Copy(diff, checked2024[k])
	return diff
}

func flow(n *yaml.Node) {
	n.Style |= yaml.FlowStyle
	for _, c := range n.Content {
		if c.Kind != yaml.ScalarNode {
			flow(c)
		}
	}
}

// open5e is a record of Open5e's Spell.json.
type open5e struct {
	Fields struct {
		Name        string
		Level       int
		School      string
		CastingTime string   `json:"casting_time"`
		Range       string   `json:"range_text"`
		Verbal      bool     `json:"verbal"`
		Somatic     bool     `json:"somatic"`
		Material    bool     `json:"material"`
		Cost        any      `json:"material_cost"`
		Specified   string   `json:"material_specified"`
		Consumed    bool     `json:"material_consumed"`
		Ritual      bool     `json:"ritual"`
		Duration    string   `json:"duration"`
		Conc        bool     `json:"concentration"`
		Save        string   `json:"saving_throw_ability"`
		Attack      bool     `json:"attack_roll"`
		Damage      string   `json:"damage_roll"`
		Types       []string `json:"damage_types"`
		Shape       string   `json:"shape_type"`
		Size        any      `json:"shape_size"`
		Classes     []string `json:"classes"`
		Higher      string   `json:"higher_level"`
	}
}

var times = map[string]string{
	"action": "action", "bonus-action": "bonus action", "reaction": "reaction", "1minute": "1 minute", "10minutes": "10 minutes",
	"1hour": "1 hour", "8hours": "8 hours", "12hours": "12 hours", "24hours": "24 hours",
}

// price finds the worth of a material component.
var price = regexp.MustCompile(`([\d,]+)\+? ?(?:gp|GP)`)

// step finds how much a higher slot adds.
var step = regexp.MustCompile(`(?:damage|healing)[^.]*? increases by (\d+d\d+) for (?:each|every) (?:slot level|spell slot level)`)

func (s open5e) facts() facts {
	f := s.Fields
	out := facts{
		"level": f.Level, "school": f.School, "time": cmp.Or(times[f.CastingTime], f.CastingTime),
		"range": lower(f.Range), "duration": f.Duration, "concentration": f.Conc, "ritual": f.Ritual,
	}
	var c []string
	for _, part := range []struct {
		has  bool
		name string
	}{{f.Verbal, "verbal"}, {f.Somatic, "somatic"}, {f.Material, "material"}} {
		if part.has {
			c = append(c, part.name)
		}
	}
	out["components"] = c
	if m := price.FindStringSubmatch(f.Specified); m != nil {
		if n, err := strconv.Atoi(strings.ReplaceAll(m[1], ",", "")); err == nil {
			out["material_gp"] = n
		}
	}
	if f.Consumed {
		out["material_consumed"] = true
	}
	if f.Save != "" {
		out["save"] = f.Save
	}
	if f.Attack {
		out["attack"] = true
	}
	if f.Damage != "" {
		out["damage"] = strings.ReplaceAll(f.Damage, " ", "")
	}
	if len(f.Types) == 1 {
		out["damage_type"] = f.Types[0]
	}
	if f.Shape != "" && f.Size != nil {
		out["area"] = fmt.Sprintf("%v-foot %s", f.Size, f.Shape)
	}
	if m := step.FindStringSubmatch(f.Higher); m != nil {
		out["per_slot"] = m[1]
	}
	var classes []string
	for _, c := range f.Classes {
		classes = append(classes, c[strings.IndexByte(c, '_')+1:])
	}
	if len(classes) > 0 {
		slices.Sort(classes)
		out["classes"] = classes
	}
	return out
}

// bitsSpell is a record of 5e-bits' spells.
type bitsSpell struct {
	Name       string
	Range      string
	Duration   string
	Time       string `json:"casting_time"`
	AttackType string `json:"attack_type"`
	DC         struct {
		Type    struct{ Index string } `json:"dc_type"`
		Success string                 `json:"dc_success"`
	}
	Damage struct {
		Type  struct{ Index string } `json:"damage_type"`
		Slot  map[string]string      `json:"damage_at_slot_level"`
		Level map[string]string      `json:"damage_at_character_level"`
	}
	Heal map[string]string `json:"heal_at_slot_level"`
	Area struct {
		Type string
		Size int
	} `json:"area_of_effect"`
	Classes []struct{ Index string }
}

var abilities = map[string]string{
	"str": "strength", "dex": "dexterity", "con": "constitution", "int": "intelligence", "wis": "wisdom", "cha": "charisma",
}

func (s bitsSpell) facts() facts {
	out := facts{}
	if a := abilities[s.DC.Type.Index]; a != "" {
		out["save"] = a
		if s.DC.Success == "half" {
			out["on_save"] = "half"
		}
	}
	if s.AttackType != "" {
		out["attack"] = true
	}
	if s.Damage.Type.Index != "" {
		out["damage_type"] = s.Damage.Type.Index
	}
	for name, byLevel := range map[string]map[string]string{"damage": either(s.Damage.Slot, s.Damage.Level), "heals": s.Heal} {
		if d := lowest(byLevel); d != "" {
			out[name] = strings.ReplaceAll(strings.ReplaceAll(d, "MOD", "modifier"), " ", "")
		}
	}
	if s.Area.Size > 0 {
		out["area"] = fmt.Sprintf("%d-foot %s", s.Area.Size, s.Area.Type)
	}
	var classes []string
	for _, c := range s.Classes {
		classes = append(classes, c.Index)
	}
	if len(classes) > 0 {
		slices.Sort(classes)
		out["classes"] = classes
	}
	return out
}

// either is the first of the two that has anything in it.
func either(a, b map[string]string) map[string]string {
	if len(a) > 0 {
		return a
	}
	return b
}

// lowest is the value at the smallest level.
func lowest(byLevel map[string]string) string {
	if len(byLevel) == 0 {
		return ""
	}
	return byLevel[slices.MinFunc(slices.Collect(maps.Keys(byLevel)), func(a, b string) int {
		x, _ := strconv.Atoi(a)
		y, _ := strconv.Atoi(b)
		return x - y
	})]
}

// lower keeps "Self" and "Touch" like other words in a sentence.
func lower(s string) string { return strings.ToLower(s[:min(1, len(s))]) + s[min(1, len(s)):] }
