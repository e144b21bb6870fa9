// Package rules answers questions about fifth-edition rules at the table.
//
// It holds some seven hundred entries in the project's own words: facts of the
// System Reference Documents 5.1 and 5.2 (CC-BY-4.0, see NOTICE), none of
// their sentences. Each has a line to be said (at most 25 words) and a card to
// be shown (at most 80 words). Where the 2014 and 2024 rules differ, there are
// two entries that point at each other.
//
// Questions come from speech recognition, so the search is made for "fire
// ball", "eldridge blast" and "grapple in"; see [Library.Search]. Where nothing
// is good enough it says so instead of guessing: an empty result means that the
// free rules do not answer.
//
// More rules, of this or another game, are read by [Import], kept by
// [WriteEntries] and added by [Options.Imported]; they keep their licence.
package rules

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// An Edition of the fifth-edition rules. The empty one stands for both.
type Edition string

// The two editions.
const (
	Edition2014 Edition = "2014"
	Edition2024 Edition = "2024"
)

// ParseEdition reads "2014", "2024" and, for both, "".
func ParseEdition(s string) (Edition, error) {
	switch e := Edition(strings.TrimSpace(s)); e {
	case "", Edition2014, Edition2024:
		return e, nil
	}
	return "", fmt.Errorf("edition %q: want 2014 or 2024", s)
}

// An Entry is one rule.
type Entry struct {
	// ID is system, edition, kind and a short name: dnd5e-2014/condition/poisoned.
	// Rules that both editions share have no edition in theirs.
	ID string `json:"id"`
	// System is the game: dnd5e, or what the importer was told.
	System string `json:"system"`
	// Edition is empty where the editions agree.
	Edition Edition `json:"edition,omitempty"`
	// Kind is condition, combat, general, spellcasting, spell, skill, ability,
	// weapon, armor, equipment, property, feature, feat or, imported, rule or
	// monster.
	Kind    string   `json:"kind"`
	Name    string   `json:"name"`
	Aliases []string `json:"aliases"`
	// SRD are the headings of the reference documents that the entry covers.
	SRD []string `json:"srd"`
	// Asks are ways in which people ask for this rule.
	Asks []string `json:"-"`
	// Facts are what can be computed with, by name.
	Facts map[string]any `json:"facts,omitempty"`
	// Say is for the voice, Text for the card.
	Say  string `json:"say"`
	Text string `json:"text"`
	// See are ids of related entries, Differs the other edition's entry.
	See     []string `json:"see,omitempty"`
	Differs string   `json:"differs,omitempty"`
	// DM entries are for the game master's eyes.
	DM bool `json:"dm,omitempty"`
	// Source and License are set on what was imported and must be shown with it.
	Source  string `json:"source,omitempty"`
	License string `json:"license,omitempty"`
}

// authored is an entry as the data files have it: one rule, with what differs
// in 2024.
type authored struct {
	Name    string         `yaml:"name"`
	Slug    string         `yaml:"slug"`
	Aliases []string       `yaml:"aliases"`
	SRD     []string       `yaml:"srd"`
	Asks    []string       `yaml:"asks"`
	Facts   map[string]any `yaml:"facts"`
	Say     string         `yaml:"say"`
	Text    string         `yaml:"text"`
	See     []string       `yaml:"see"`
	Only    Edition        `yaml:"only"`
	V2024   *variant       `yaml:"v2024"`
}

// A variant is what the 2024 rules say differently; what is empty is the same.
type variant struct {
	Name  string         `yaml:"name"`
	Say   string         `yaml:"say"`
	Text  string         `yaml:"text"`
	Asks  []string       `yaml:"asks"`
	Facts map[string]any `yaml:"facts"`
}

//go:embed data/*.yaml
var data embed.FS

// system is the id of the rules that are shipped.
const system = "dnd5e"

// A Library is a searchable set of entries, safe for concurrent use.
type Library struct {
	entries []*Entry
	byID    map[string]*Entry
	edition Edition // what answers a question that names no edition

	indexOnce sync.Once
	index     *index
}

// Options say what a campaign plays.
type Options struct {
	// Edition answers questions that do not name one. Empty means 2014, the
	// edition whose reference document is the fuller one.
	Edition Edition
	// Imported is a folder of files that [WriteEntries] wrote; all *.jsonl in it
	// are added. Nil means none.
	Imported fs.FS
}

// shipped is read once: every library shares the entries.
var shipped = sync.OnceValues(func() ([]*Entry, error) {
	files, err := fs.Glob(data, "data/*.yaml")
	if err != nil {
		return nil, err
	}
	var all []*Entry
	for _, name := range files {
		b, err := data.ReadFile(name)
		if err != nil {
			return nil, err
		}
		kind := kinds[strings.TrimSuffix(path.Base(name), ".yaml")]
		if kind == "" {
			continue // a part of the spells
		}
		var list []authored
		dec := yaml.NewDecoder(strings.NewReader(string(b)))
		dec.KnownFields(true)
		if err := dec.Decode(&list); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, a := range list {
			all = append(all, a.entries(kind)...)
		}
	}
	spells, err := readSpells()
	return append(all, spells...), err
})

// kinds maps data files to the kind of their entries.
var kinds = map[string]string{
	"abilities": "ability", "armor": "armor", "combat": "combat", "conditions": "condition", "equipment": "equipment",
	"feats": "feat", "features": "feature", "general": "general", "properties": "property", "skills": "skill",
	"spellcasting": "spellcasting", "weapons": "weapon",
}

// New returns the shipped rules.
func New(opts Options) (*Library, error) {
	entries, err := shipped()
	if err != nil {
		return nil, fmt.Errorf("shipped rules: %w", err)
	}
	l := &Library{edition: cmp.Or(opts.Edition, Edition2014), byID: make(map[string]*Entry, len(entries))}
	for _, e := range entries {
		if l.byID[e.ID] != nil {
			return nil, fmt.Errorf("shipped rules: %s is there twice", e.ID)
		}
		l.byID[e.ID] = e
	}
	l.entries = slices.Clone(entries)
	if opts.Imported != nil {
		if err := l.addImported(opts.Imported); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// entries returns the one or two entries of an authored rule.
func (a authored) entries(kind string) []*Entry {
	slug := cmp.Or(a.Slug, slugOf(a.Name))
	e := &Entry{
		ID: id(a.Only, kind, slug), System: system, Edition: a.Only, Kind: kind, Name: a.Name,
		Aliases: a.Aliases, SRD: a.SRD, Asks: a.Asks, Facts: a.Facts, Say: a.Say, Text: a.Text, See: a.See,
	}
	if len(e.SRD) == 0 {
		e.SRD = []string{a.Name}
	}
	if a.V2024 == nil {
		return []*Entry{e}
	}
	v := *e
	e.ID, e.Edition = id(Edition2014, kind, slug), Edition2014
	v.ID, v.Edition = id(Edition2024, kind, slug), Edition2024
	e.Differs, v.Differs = v.ID, e.ID
	v.Name = cmp.Or(a.V2024.Name, v.Name)
	v.Say = cmp.Or(a.V2024.Say, v.Say)
	v.Text = cmp.Or(a.V2024.Text, v.Text)
	if a.V2024.Asks != nil {
		v.Asks = a.V2024.Asks
	}
	if a.V2024.Facts != nil {
		v.Facts = maps.Clone(a.V2024.Facts)
	}
	return []*Entry{e, &v}
}

func id(e Edition, kind, slug string) string {
	if e == "" {
		return system + "/" + kind + "/" + slug
	}
	return system + "-" + string(e) + "/" + kind + "/" + slug
}

// slugOf is a name in lower case with dashes.
func slugOf(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case r == '\'' || r == '’':
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.TrimSuffix(b.String(), "-")
}

// ErrUnknown says that no entry has the id.
var ErrUnknown = errors.New("no such rule; search for it first")

// Get returns one entry. It takes full ids, and the short forms kind/name and
// kind-name, which mean the edition asked for or else the library's own.
func (l *Library) Get(name string, edition Edition) (*Entry, error) {
	name = strings.ToLower(strings.TrimSpace(name))
	if e := l.byID[name]; e != nil {
		return e, nil
	}
	kind, slug, ok := strings.Cut(name, "/")
	if !ok {
		kind, slug, ok = strings.Cut(name, "-")
	}
	if ok {
		for _, ed := range []Edition{cmp.Or(edition, l.edition), "", Edition2014, Edition2024} {
			if e := l.byID[id(ed, kind, slug)]; e != nil {
				return e, nil
			}
		}
	}
	return nil, fmt.Errorf("rule %q: %w", name, ErrUnknown)
}
