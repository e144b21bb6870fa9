package rules

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp"
)

// Rules do not change during a session, so an answer may be reused all evening.
const keep = 10 * time.Minute

// maxID is the longest id that get_rule looks at.
const maxID = 200

// Tools returns search_rules and get_rule over a library. What only the game
// master may know is found only when no NPC asks. The index is made here, so
// that the first question of an evening is answered as fast as the others.
func Tools(l *Library) []mcp.Builtin {
	l.indexed()
	return []mcp.Builtin{l.searchTool(), l.getTool()}
}

// found is one result of search_rules: what a model needs to answer aloud.
type found struct {
	ID      string  `json:"id"`
	Kind    string  `json:"kind"`
	Name    string  `json:"name"`
	Edition Edition `json:"edition,omitempty"`
	Say     string  `json:"say"`
	License string  `json:"license,omitempty"`
	Score   float64 `json:"score"`
}

func (l *Library) searchTool() mcp.Builtin {
	return mcp.Builtin{
		Tool: mcp.Tool{
			Name:  "search_rules",
			Title: "Search the rules",
			Description: "Find rules by a question or keywords: conditions, combat, spells, skills, equipment, class features. " +
				"Answer from the line in say. An empty list means that the free rules do not cover it: then say so.",
			Schema: fmt.Appendf(nil, `{"type":"object","properties":{`+
				`"query":{"type":"string","minLength":1,"maxLength":%d,"description":"the question in the player's words"},`+
				`"system":{"type":"string","maxLength":64,"description":"rules to search: dnd5e, dnd5e-2014 or dnd5e-2024; empty means the campaign's"}},`+
				`"required":["query"],"additionalProperties":false}`, maxQuery),
			Category:  mcp.Core,
			Estimated: 5 * time.Millisecond, Max: 100 * time.Millisecond,
			Cache: keep, ReadOnly: true, Idempotent: true,
		},
		Call: func(_ context.Context, who mcp.Caller, args json.RawMessage) (string, error) {
			var in struct {
				Query  string `json:"query"`
				System string `json:"system"`
			}
			if err := json.Unmarshal(args, &in); err != nil {
				return "", fmt.Errorf("search_rules: arguments: %w", err)
			}
			if strings.TrimSpace(in.Query) == "" {
				return "", fmt.Errorf("search_rules: the query is empty; pass the question")
			}
			q := Query{Text: in.Query, System: in.System, DM: who.NPC == ""}
			if _, edition, ok := strings.Cut(in.System, "-"); ok {
				if e, err := ParseEdition(edition); err == nil {
					q.Edition = e
				}
			}
			results := []found{}
			for _, h := range l.Search(q) {
				results = append(results, found{h.ID, h.Kind, h.Name, h.Edition, h.Say, h.License, h.Score})
			}
			return encode(map[string]any{"results": results})
		},
	}
}

func (l *Library) getTool() mcp.Builtin {
	return mcp.Builtin{
		Tool: mcp.Tool{
			Name:        "get_rule",
			Title:       "Read one rule",
			Description: "Read one rule in full by the id that search_rules gave, for example spell-fireball or condition-blinded.",
			Schema: fmt.Appendf(nil, `{"type":"object","properties":{"id":{"type":"string","minLength":1,"maxLength":%d}},`+
				`"required":["id"],"additionalProperties":false}`, maxID),
			Category:  mcp.Core,
			Estimated: time.Millisecond, Max: 20 * time.Millisecond,
			Cache: keep, ReadOnly: true, Idempotent: true,
		},
		Call: func(_ context.Context, who mcp.Caller, args json.RawMessage) (string, error) {
			var in struct {
				ID string `json:"id"`
			}
			if err := json.Unmarshal(args, &in); err != nil {
				return "", fmt.Errorf("get_rule: arguments: %w", err)
			}
			e, err := l.Get(in.ID[:min(len(in.ID), maxID)], "")
			if err != nil {
				return "", err
			}
			if e.DM && who.NPC != "" {
				// As if it were not there: its existence is a secret too.
				return "", fmt.Errorf("rule %q: %w", in.ID, ErrUnknown)
			}
			return encode(e)
		},
	}
}

// encode writes JSON in which < and > stay readable.
func encode(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", fmt.Errorf("rules: result: %w", err)
	}
	return strings.TrimSpace(b.String()), nil
}
