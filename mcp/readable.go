package mcp

import (
	"encoding/json"

	"github.com/glyphoxa/glyphoxa/mcp/link"
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

// readable chooses what a model is shown of a server's answer.
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
	return out
}
