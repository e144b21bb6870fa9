package rules

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A document is one source of Open5e, with its licences and game.
type document struct {
	Name     string   `json:"display_name"`
	Title    string   `json:"name"`
	System   string   `json:"gamesystem"`
	Licenses []string `json:"licenses"`
}

// open5eKinds are the kinds of Open5e's models; others are not rules.
var open5eKinds = map[string]string{
	"spell": "spell", "rule": "rule", "condition": "condition", "classfeature": "feature", "feat": "feat", "item": "item",
	"weaponproperty": "property", "creature": "monster", "skill": "skill", "ability": "ability",
}

// licenseNames spell Open5e's ids out.
var licenseNames = map[string]string{"cc-by-40": "CC-BY-4.0", "ogl-10a": "OGL-1.0a", "cc0": "CC0-1.0", "orc": "ORC"}

// open5e reads one fixture: an array of {model, pk, fields}. Document.json
// comes first and says what the others are.
func (in *importing) open5e(_ string, b []byte) error {
	var records []struct {
		Model  string
		PK     json.RawMessage
		Fields json.RawMessage
	}
	if err := json.Unmarshal(b, &records); err != nil {
		return fmt.Errorf("not an Open5e fixture: %w", err)
	}
	for _, r := range records {
		_, model, _ := strings.Cut(r.Model, ".")
		if model == "document" {
			var d document
			if err := json.Unmarshal(r.Fields, &d); err != nil {
				return fmt.Errorf("document: %w", err)
			}
			in.documents[strings.Trim(string(r.PK), `"`)] = d
			continue
		}
		kind := open5eKinds[model]
		if kind == "" {
			continue
		}
		var f struct {
			Name, Document string
			Desc           prose
			Higher         prose `json:"higher_level"`
		}
		if err := json.Unmarshal(r.Fields, &f); err != nil {
			return fmt.Errorf("%s %s: %w", model, r.PK, err)
		}
		d, known := in.documents[f.Document]
		e := Entry{Kind: kind, Name: f.Name, DM: kind == "monster", Source: d.Title, Text: strings.TrimSpace(string(f.Desc) + "\n\n" + string(f.Higher))}
		if kind == "monster" && e.Text == "" {
			e.Text = e.Name + ". The statistics are in the data set."
		}
		for i, id := range d.Licenses {
			if i > 0 {
				e.License += " or "
			}
			if name := licenseNames[id]; name != "" {
				id = name
			}
			e.License += id
		}
		switch {
		case in.opts.System != "":
			e.System = in.opts.System
		case !known:
			e.Source = f.Document
		case d.System == "5e-2014":
			e.Edition = Edition2014
		case d.System == "5e-2024":
			e.Edition = Edition2024
		case systemID.MatchString(d.System):
			e.System = d.System
		}
		if err := in.sections(e.Name, e.Text, e); err != nil {
			return err
		}
	}
	return nil
}
