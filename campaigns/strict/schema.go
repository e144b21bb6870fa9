package strict

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"
)

// Schema is the JSON Schema (2020-12) of what [Decode] accepts for v's type, for
// editors that complete and check YAML while it is written. Struct tags called
// `doc` become the descriptions. id is the schema's address.
func Schema(id, title string, v any) ([]byte, error) {
	s := schemaOf(reflect.TypeOf(v), field{})
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["$id"] = id
	s["title"] = title
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", id, err)
	}
	return append(data, '\n'), nil
}

func schemaOf(t reflect.Type, f field) map[string]any {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if !readsText(t) {
		return described(long(t, f), f)
	}
	// Numbers and such are taken as the text they are written as.
	short := map[string]any{"type": []string{"string", "number", "boolean"}}
	if !hasLongForm(t) {
		return described(short, f)
	}
	return described(map[string]any{"anyOf": []any{short, long(t, f)}}, f)
}

func described(s map[string]any, f field) map[string]any {
	if f.doc != "" {
		s["description"] = f.doc
	}
	return s
}

// long is the schema without regard to a method that reads text.
func long(t reflect.Type, f field) map[string]any {
	s := map[string]any{}
	bound := func(least, most string) {
		if f.min != nil {
			s[least] = *f.min
		}
		if f.max != nil {
			s[most] = *f.max
		}
	}
	switch t.Kind() {
	case reflect.Struct:
		object(s, t)
	case reflect.Slice:
		s["type"] = "array"
		s["items"] = schemaOf(t.Elem(), field{oneOf: f.oneOf})
		bound("minItems", "maxItems")
	case reflect.Map:
		s["type"] = "object"
		s["additionalProperties"] = schemaOf(t.Elem(), field{oneOf: f.oneOf})
		bound("minProperties", "maxProperties")
	case reflect.String:
		s["type"] = []string{"string", "number", "boolean"}
		if f.oneOf != nil {
			s["type"] = "string"
			s["enum"] = f.oneOf
		}
		bound("minLength", "maxLength")
	case reflect.Bool:
		s["type"] = "boolean"
	case reflect.Float32, reflect.Float64:
		s["type"] = "number"
		bound("minimum", "maximum")
	default:
		if t == reflect.TypeFor[time.Duration]() {
			s["type"], s["pattern"] = "string", `^([0-9.]+(ns|us|µs|ms|s|m|h))+$`
			return s
		}
		s["type"] = "integer"
		if f.oneOf != nil {
			var numbers []json.Number
			for _, n := range f.oneOf {
				numbers = append(numbers, json.Number(n))
			}
			s["enum"] = numbers
		}
		bound("minimum", "maximum")
	}
	return s
}

func object(s map[string]any, t reflect.Type) {
	properties, required := map[string]any{}, []string{}
	for _, f := range fields(t) {
		// A key may be left empty, which is as if it were absent.
		properties[f.key] = schemaOf(t.FieldByIndex(f.index).Type, f)
		if f.required {
			required = append(required, f.key)
		}
	}
	s["type"] = "object"
	s["properties"] = properties
	s["additionalProperties"] = false
	if len(required) > 0 {
		s["required"] = required
	}
}
