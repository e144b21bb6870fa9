package campaigns

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/glyphoxa/glyphoxa/campaigns/strict"
)

// schemaID is where the repository keeps the schema.
const schemaID = "https://raw.githubusercontent.com/glyphoxa/glyphoxa/main/campaigns/schema.json"

// Schema is the JSON Schema of campaign.yaml, of an NPC's file and of a file of
// entities, made from the same types that read them. An editor that is pointed
// at it completes keys and underlines mistakes:
//
//	# yaml-language-server: $schema=../schema.json
//	# yaml-language-server: $schema=../../schema.json#/$defs/npc
func Schema() ([]byte, error) {
	parts := map[string]any{}
	for name, v := range map[string]any{"campaign": campaignFile{}, "npc": npcFile{}, "entities": entitiesFile{}} {
		data, err := strict.Schema(schemaID+"#/$defs/"+name, "Glyphoxa "+name+" file", v)
		if err != nil {
			return nil, err
		}
		var part map[string]any
		if err := json.Unmarshal(data, &part); err != nil {
			return nil, fmt.Errorf("schema of %s: %w", name, err)
		}
		delete(part, "$id")
		delete(part, "$schema")
		spellOutLines(part)
		parts[name] = part
	}
	data, err := json.MarshalIndent(map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"$id":     schemaID,
		"$ref":    "#/$defs/campaign",
		"$defs":   parts,
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("campaign schema: %w", err)
	}
	return append(data, '\n'), nil
}

// spellOutLines replaces the open mapping of an NPC's lines, wherever it is, by
// the occasions there are.
func spellOutLines(s map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(s)) {
		inner, ok := s[key].(map[string]any)
		if !ok {
			continue
		}
		if variants, ok := inner["additionalProperties"].(map[string]any); ok && key == "lines" {
			properties := map[string]any{}
			for occasion, when := range occasions {
				one := maps.Clone(variants)
				one["description"] = when
				properties[occasion] = one
			}
			inner["properties"], inner["additionalProperties"] = properties, false
		}
		spellOutLines(inner)
	}
}
