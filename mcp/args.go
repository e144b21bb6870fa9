package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

const (
	// maxArgs bounds the arguments of one call: a page of text with room to
	// spare. Models write them, so more is a model gone astray.
	maxArgs = 64 << 10
	// maxSchema bounds one tool's schema. The largest seen in the wild has 8 KiB.
	maxSchema = 64 << 10
	// maxSchemaDepth bounds the nesting of schemas and of arguments.
	maxSchemaDepth = 32
)

// argCheck tells whether arguments match a tool's schema.
type argCheck struct {
	resolved *jsonschema.Resolved
	flat     *flat // or nil
}

// compileArgs reads a tool's schema. References are resolved within it only:
// nothing is ever fetched. Patterns that Go's regular expressions do not know are
// left to the server.
func compileArgs(schema json.RawMessage) (*argCheck, error) {
	if len(schema) > maxSchema {
		return nil, fmt.Errorf("schema of %d bytes, at most %d", len(schema), maxSchema)
	}
	if d := depth(schema); d > maxSchemaDepth {
		return nil, fmt.Errorf("schema nested %d deep, at most %d", d, maxSchemaDepth)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if s.Type != "object" {
		return nil, errors.New(`schema: want "type": "object"`)
	}
	r, err := s.Resolve(nil)
	if err == nil {
		return &argCheck{r, flatten(schema, &s)}, nil
	}
	loosen(&s, 0)
	if r, err2 := s.Resolve(nil); err2 == nil {
		return &argCheck{resolved: r}, nil
	}
	return nil, fmt.Errorf("schema: %w", err)
}

// loosen drops what servers write and Go cannot check: patterns in other
// dialects, and dialects of JSON Schema itself.
func loosen(s *jsonschema.Schema, depth int) {
	if s == nil || depth > maxSchemaDepth {
		return
	}
	s.Pattern, s.Schema, s.PatternProperties = "", "", nil
	for _, m := range []map[string]*jsonschema.Schema{s.Properties, s.Defs, s.Definitions} {
		for _, c := range m {
			loosen(c, depth+1)
		}
	}
	for _, l := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf, s.PrefixItems, s.ItemsArray} {
		for _, c := range l {
			loosen(c, depth+1)
		}
	}
	for _, c := range []*jsonschema.Schema{s.Items, s.AdditionalProperties, s.AdditionalItems, s.Not, s.If, s.Then, s.Else} {
		loosen(c, depth+1)
	}
}

// check returns the arguments as they are sent, or an error that tells a model
// what to mend.
func (c *argCheck) check(args json.RawMessage) (json.RawMessage, error) {
	args = bytes.TrimSpace(args)
	if len(args) == 0 || string(args) == "null" {
		args = json.RawMessage("{}") // some models send nothing for no arguments
	}
	if len(args) > maxArgs {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrArguments, len(args), maxArgs)
	}
	if c.flat != nil && c.flat.sure(args) {
		return args, nil
	}
	if args[0] != '{' {
		return nil, fmt.Errorf("%w: want a JSON object", ErrArguments)
	}
	if depth(args) > maxSchemaDepth {
		return nil, fmt.Errorf("%w: nested too deep", ErrArguments)
	}
	var v map[string]any
	if err := json.Unmarshal(args, &v); err != nil {
		return nil, fmt.Errorf("%w: not valid JSON: %w", ErrArguments, err)
	}
	if err := c.resolved.Validate(v); err != nil {
		return nil, fmt.Errorf("%w: %s", ErrArguments, plainError(err))
	}
	return args, nil
}

// plainError shortens a validation error to its innermost sentence: the path of
// schema keywords before it means nothing to a model.
func plainError(err error) string {
	s := err.Error()
	if i := strings.LastIndex(s, "validating "); i >= 0 {
		s = s[i+len("validating "):]
	}
	s, _ = cut(clean(s), 300)
	return s
}

// depth is the deepest nesting of brackets outside strings.
func depth(j []byte) int {
	d, deepest := 0, 0
	inString := false
	for i := 0; i < len(j); i++ {
		switch c := j[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			d++
			deepest = max(deepest, d)
		case c == '}' || c == ']':
			d--
		}
	}
	return deepest
}
