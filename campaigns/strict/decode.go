package strict

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// A decoder is one walk through a document.
type decoder struct {
	doc      *Document
	problems Problems
	values   int // seen so far, aliases followed
}

func (d *Document) decode(into any) Problems {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		panic(fmt.Sprintf("strict: cannot decode into a %T: want a pointer to a struct", into))
	}
	dec := decoder{doc: d}
	if d.root == nil {
		dec.missing(&yaml.Node{Kind: yaml.MappingNode, Line: 1, Column: 1}, v.Elem())
	} else {
		dec.value(d.root, v.Elem(), field{}, 0)
	}
	if dec.problems == nil {
		return nil
	}
	return dec.problems.Sorted()
}

func (d *decoder) problem(at *yaml.Node, format string, args ...any) {
	switch {
	case len(d.problems) < maxProblems:
		d.problems = append(d.problems, Problem{d.doc.name, at.Line, at.Column, fmt.Sprintf(format, args...)})
	case len(d.problems) == maxProblems:
		// At the end of the file by its line, so that sorting leaves it last.
		d.problems = append(d.problems, Problem{d.doc.name, 1 << 30, 1, "and more: mend these first"})
	}
}

// full reports whether looking for more problems is pointless. What a hostile
// file can make us do is bounded by it, too.
func (d *decoder) full() bool { return len(d.problems) > maxProblems }

// value decodes the node at into v. f is what the key of the value demands; its
// key names the value in problems.
func (d *decoder) value(at *yaml.Node, v reflect.Value, f field, depth int) {
	// Both limits also end a walk through an alias that contains itself.
	if d.values++; d.values == maxValues {
		d.problem(at, "more than %d values, aliases (*name) counted each time: the file is too large", maxValues)
	}
	if d.values >= maxValues || d.full() {
		return
	}
	if depth > maxDepth {
		d.problem(at, "nested more than %d levels deep", maxDepth)
		return
	}
	n := follow(at)
	if isNull(n) {
		return
	}
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		d.value(at, v.Elem(), f, depth)
		return
	}
	if strings.HasPrefix(n.Tag, "!") && !slices.Contains([]string{"!!str", "!!int", "!!float", "!!bool", "!!map", "!!seq", "!!null"}, n.ShortTag()) && n.Style&yaml.TaggedStyle != 0 {
		d.problem(at, "%sthe tag %s is not understood here: remove it", prefix(f), n.ShortTag())
		return
	}
	if text := readsText(v.Type()); text && n.Kind == yaml.ScalarNode {
		d.text(at, n, v, f)
		return
	} else if text && !hasLongForm(v.Type()) {
		d.problem(at, "%swant text, found %s", prefix(f), kindOf(n))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.structure(at, n, v, f, depth)
	case reflect.Slice:
		d.list(at, n, v, f, depth)
	case reflect.Map:
		d.mapping(at, n, v, f, depth)
	default:
		d.scalar(at, n, v, f)
	}
}

// prefix names the value that a problem is about.
func prefix(f field) string {
	if f.key == "" {
		return ""
	}
	return f.key + ": "
}

// kindOf says in plain words what sort of value a node is.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping (key: value)"
	case yaml.SequenceNode:
		return "a list"
	}
	value := n.Value
	if r := []rune(value); len(r) > 40 {
		value = string(r[:40]) + "…"
	}
	switch n.ShortTag() {
	case "!!int", "!!float":
		return "the number " + value
	case "!!bool":
		return value
	default:
		return fmt.Sprintf("the text %q", value)
	}
}

func (d *decoder) structure(at, n *yaml.Node, v reflect.Value, f field, depth int) {
	if n.Kind != yaml.MappingNode {
		d.problem(at, "%swant a mapping with keys such as %q, found %s", prefix(f), fields(v.Type())[0].key, kindOf(n))
		return
	}
	fs := fields(v.Type())
	d.duplicates(n)
	for _, p := range pairs(n) {
		if d.full() {
			return
		}
		i := slices.IndexFunc(fs, func(f field) bool { return f.key == p.key.Value })
		if i < 0 || p.key.Kind != yaml.ScalarNode {
			d.unknown(p.key, fs)
			continue
		}
		d.value(p.value, v.FieldByIndex(fs[i].index), fs[i], depth+1)
	}
	d.missing(at, v)
}

func (d *decoder) unknown(key *yaml.Node, fs []field) {
	if key.Kind != yaml.ScalarNode {
		d.problem(key, "a key must be a single word, found %s", kindOf(key))
		return
	}
	name := key.Value
	if r := []rune(name); len(r) > 40 {
		name = string(r[:40]) + "…"
	}
	hint := DidYouMean(key.Value, keys(fs))
	if hint == "" {
		hint = "; known here: " + strings.Join(keys(fs), ", ")
	}
	d.problem(key, "unknown key %q%s", name, hint)
}

// duplicates reports every key that is written a second time.
func (d *decoder) duplicates(n *yaml.Node) {
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content) && !d.full(); i += 2 {
		k := n.Content[i]
		if k.Kind != yaml.ScalarNode {
			continue // reported as an unknown key
		}
		if line, ok := first[k.Value]; ok {
			d.problem(k, "the key %q is written twice: the first is in line %d", k.Value, line)
			continue
		}
		first[k.Value] = k.Line
	}
}

// missing reports the required keys that the mapping at lacks or leaves empty.
func (d *decoder) missing(at *yaml.Node, v reflect.Value) {
	have := pairs(follow(at))
	for _, f := range fields(v.Type()) {
		i := slices.IndexFunc(have, func(p pair) bool { return p.key.Value == f.key })
		switch {
		case !f.required:
		case i < 0:
			d.problem(at, "the key %q is missing", f.key)
		case isNull(follow(have[i].value)):
			d.problem(have[i].key, "the key %q has no value", f.key)
		}
	}
}

func (d *decoder) list(at, n *yaml.Node, v reflect.Value, f field, depth int) {
	if n.Kind != yaml.SequenceNode {
		d.problem(at, "%swant a list ([a, b] or one \"- \" a line), found %s", prefix(f), kindOf(n))
		return
	}
	// A list that aliases repeat is walked each time, so its elements are
	// allocated one by one as the walk counts them.
	out := reflect.MakeSlice(v.Type(), 0, min(len(n.Content), 64))
	of := f
	of.min, of.max = nil, nil // those bound the list
	for i, c := range n.Content {
		if d.values >= maxValues {
			return
		}
		if isNull(follow(c)) {
			d.problem(c, "%sentry %d of the list is empty", prefix(f), i+1)
			continue
		}
		e := reflect.New(v.Type().Elem()).Elem()
		d.value(c, e, of, depth+1)
		out = reflect.Append(out, e)
	}
	v.Set(out)
	d.bounds(at, float64(len(n.Content)), f, "entries")
}

func (d *decoder) mapping(at, n *yaml.Node, v reflect.Value, f field, depth int) {
	if n.Kind != yaml.MappingNode {
		d.problem(at, "%swant a mapping (key: value), found %s", prefix(f), kindOf(n))
		return
	}
	d.duplicates(n)
	out := reflect.MakeMap(v.Type())
	for _, p := range pairs(n) {
		if d.values >= maxValues {
			return
		}
		if p.key.Kind != yaml.ScalarNode || isNull(p.key) {
			d.problem(p.key, "a key must be a single word, found %s", kindOf(p.key))
			continue
		}
		k := reflect.New(v.Type().Key()).Elem()
		d.scalar(p.key, p.key, k, field{key: f.key})
		e := reflect.New(v.Type().Elem()).Elem()
		d.value(p.value, e, field{key: p.key.Value, oneOf: f.oneOf}, depth+1)
		out.SetMapIndex(k, e)
	}
	v.Set(out)
	d.bounds(at, float64(out.Len()), f, "entries")
}

// bounds checks a number against the rules min and max. of is what is counted,
// "" for a plain value.
func (d *decoder) bounds(at *yaml.Node, n float64, f field, of string) {
	if of != "" {
		of = " " + of
	}
	switch {
	case f.min != nil && n < *f.min:
		d.problem(at, "%s%v%s is too little: the least is %v", prefix(f), n, of, *f.min)
	case f.max != nil && n > *f.max:
		d.problem(at, "%s%v%s is too much: the most is %v", prefix(f), n, of, *f.max)
	}
}

// length is what min and max count in a text.
func length(s string) float64 { return float64(utf8.RuneCountInString(s)) }
