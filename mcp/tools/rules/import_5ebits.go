package rules

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

// bitsKinds are the kinds of 5e-database's files, by what follows 5e-SRD-.
var bitsKinds = map[string]string{
	"Conditions": "condition", "Spells": "spell", "Skills": "skill", "Features": "feature", "Feats": "feat",
	"Weapon-Properties": "property", "Weapon-Mastery-Properties": "property", "Ability-Scores": "ability",
	"Equipment": "equipment", "Magic-Items": "item", "Monsters": "monster",
}

// prose is a text that some records keep as a list of paragraphs.
type prose string

// UnmarshalJSON reads a string or a list of strings; anything else is no text.
func (p *prose) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*p = prose(one)
		return nil
	}
	var many []string
	if json.Unmarshal(b, &many) == nil {
		*p = prose(strings.Join(many, "\n\n"))
	}
	return nil
}

// bits reads one file of 5e-database: an array of records.
func (in *importing) bits(name string, b []byte) error {
	var records []struct {
		Name        string
		FullName    string `json:"full_name"`
		Index       string
		Desc        prose
		Description prose
		Higher      prose `json:"higher_level"`
		URL         string
		Class       struct{ Name string }
	}
	if err := json.Unmarshal(b, &records); err != nil {
		return fmt.Errorf("not a 5e-database file: %w", err)
	}
	part := strings.TrimPrefix(strings.TrimSuffix(path.Base(name), ".json"), "5e-SRD-")
	kind := bitsKinds[part]
	if kind == "" {
		kind = "rule"
	}
	for _, r := range records {
		edition := Edition2014
		if strings.Contains(r.URL, "/2024/") || r.URL == "" && strings.Contains(name, "2024") {
			edition = Edition2024
		}
		e := Entry{
			Kind: kind, Edition: edition, Name: r.Name, DM: kind == "monster",
			Text:   strings.TrimSpace(string(r.Desc) + "\n\n" + string(r.Description) + "\n\n" + string(r.Higher)),
			Source: "System Reference Document 5.1, from 5e-bits/5e-database", License: "CC-BY-4.0",
		}
		if edition == Edition2024 {
			e.Source = "System Reference Document 5.2, from 5e-bits/5e-database"
		}
		if r.FullName != "" {
			e.Name, e.Aliases = r.FullName, []string{r.Name}
		}
		if in.opts.System != "" {
			e.System, e.Edition = in.opts.System, ""
		}
		if kind == "monster" && strings.TrimSpace(e.Text) == "" {
			e.Text = e.Name + ". The statistics are in the data set."
		}
		if err := in.sections(e.Name, e.Text, e); err != nil {
			return err
		}
	}
	return nil
}
