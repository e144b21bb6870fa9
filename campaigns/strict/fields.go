package strict

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A field is one key that a struct accepts.
type field struct {
	key      string
	index    []int
	required bool
	oneOf    []string
	min, max *float64
	doc      string // the `doc` tag, for the schema
}

var fieldCache sync.Map // reflect.Type to []field; as many entries as types

// fields lists a struct's keys in the order in which they are declared. It
// panics on a tag that it does not understand: that is a mistake in the program.
func fields(t reflect.Type) []field {
	if fs, ok := fieldCache.Load(t); ok {
		return fs.([]field)
	}
	var out []field
	for i := range t.NumField() {
		sf := t.Field(i)
		name, options, _ := strings.Cut(sf.Tag.Get("yaml"), ",")
		if !sf.IsExported() || name == "-" {
			continue
		}
		if slices.Contains(strings.Split(options, ","), "inline") {
			for _, f := range fields(sf.Type) {
				f.index = append([]int{i}, f.index...)
				out = append(out, f)
			}
			continue
		}
		if name == "" {
			name = strings.ToLower(sf.Name)
		}
		f := field{key: name, index: []int{i}, doc: sf.Tag.Get("doc")}
		f.rules(t, sf.Tag.Get("strict"))
		out = append(out, f)
	}
	fieldCache.Store(t, out)
	return out
}

// rules reads a `strict` tag.
func (f *field) rules(t reflect.Type, tag string) {
	for rule := range strings.SplitSeq(tag, ",") {
		name, value, _ := strings.Cut(rule, "=")
		number := func() *float64 {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				panic(fmt.Sprintf("%v, key %s: rule %q: %v", t, f.key, rule, err))
			}
			return &n
		}
		switch name {
		case "":
		case "required":
			f.required = true
		case "oneof":
			f.oneOf = strings.Split(value, "|")
		case "min":
			f.min = number()
		case "max":
			f.max = number()
		default:
			panic(fmt.Sprintf("%v, key %s: no rule is called %q", t, f.key, name))
		}
	}
}

func keys(fs []field) []string {
	out := make([]string, len(fs))
	for i, f := range fs {
		out[i] = f.key
	}
	return out
}

var textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()

// readsText reports whether a scalar is handed to the type's own method.
func readsText(t reflect.Type) bool { return reflect.PointerTo(t).Implements(textUnmarshaler) }

// hasLongForm reports whether something else than a scalar may be written too.
func hasLongForm(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		return len(fields(t)) > 0
	case reflect.Slice, reflect.Map:
		return t.Elem().Kind() != reflect.Uint8 // bytes are a scalar
	default:
		return false
	}
}
