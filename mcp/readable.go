package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/glyphoxa/glyphoxa/mcp/link"
	"github.com/glyphoxa/glyphoxa/mcp/toon"
	"github.com/google/jsonschema-go/jsonschema"
)

// compileOutput reads the schema of a tool's structured results. Nil means that
// there is none that can be read: then results are taken as they come.
func compileOutput(schema json.RawMessage) *jsonschema.Resolved {
	if len(schema) == 0 || len(schema) > maxSchema || depth(schema) > maxSchemaDepth {
		return nil
	}
	var s jsonschema.Schema
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	r, err := s.Resolve(nil)
	if err != nil {
		return nil
	}
	return r
}

// readable chooses what a model is shown of a server's answer: its structured form
// where there is one, as a table where that is shorter, else its text.
func (h *Host) readable(a link.Answer, output *jsonschema.Resolved) answer {
	out := answer{text: a.Text, refused: a.Refused}
	if len(a.Structured) == 0 || a.Refused {
		return out
	}
	var v any
	if len(a.Structured) > h.limits.ReadBytes || depth(a.Structured) > maxSchemaDepth || json.Unmarshal(a.Structured, &v) != nil {
		return out
	}
	if output != nil {
		if err := output.Validate(v); err != nil {
			h.log.Warn("a server's result does not match its own schema; its text is used", "err", plainError(err))
			return out
		}
	}
	if !sameData(a.Text, v) {
		return out // the server has put it into words of its own
	}
	left := h.limits.ListEntries
	if short := trim(v, &left); left < 0 {
		b, err := json.Marshal(short)
		if err != nil {
			return out
		}
		out.text = toon.Shorter(b) + fmt.Sprintf("\n[cut: only the first %d list entries are shown]", h.limits.ListEntries)
		return out
	}
	out.text = toon.Shorter(a.Structured)
	return out
}

// sameData reports whether text is no more than the JSON of v, as servers send it
// for older clients.
func sameData(text string, v any) bool {
	if text == "" {
		return true
	}
	var t any
	return json.Unmarshal([]byte(text), &t) == nil && reflect.DeepEqual(t, v)
}

// trim drops entries of lists beyond the number left, which it counts down; below
// zero it has dropped some.
func trim(v any, left *int) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			if *left--; *left < 0 {
				return v[:i]
			}
			v[i] = trim(v[i], left)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			v[k] = trim(v[k], left)
		}
	}
	return v
}
