// Package strict reads YAML files that people write by hand, and tells them
// everything that is wrong at once: file, line, column, plain words and, where
// a word looks like another that would have been right, "did you mean ...?".
//
// It decodes into Go structs by their `yaml:"name"` tags, as go.yaml.in/yaml
// does, but a key that the struct does not have is an error, and so are a key
// written twice and a value of the wrong sort. A second tag says more:
//
//	Edition int     `yaml:"edition" strict:"required,oneof=2014|2024"`
//	Pitch   float64 `yaml:"pitch" strict:"min=0.3,max=3"`
//	Name    string  `yaml:"name" strict:"required,max=80"`
//
// min and max bound a number's value, a text's characters, or the entries of a
// list or map. Keys that are absent, or present without a value, leave the
// field as it was, so a struct filled with defaults stays filled.
//
// A type with an UnmarshalText method reads scalars itself; that is how secrets
// and durations of one's own get in. If it is also a struct, a list or a map,
// the longer form may be written instead of the scalar.
//
// # Promises
//
//   - A file is read whole or refused: at most 1 MiB, 64 levels deep and
//     100,000 values once aliases are followed, so neither a huge file nor one
//     whose aliases multiply can hold up the program.
//   - Values are never quoted in a problem about a field whose type has an
//     UnmarshalText method, as they may be secret.
//   - Lines and columns count from 1; columns count characters, not bytes.
package strict

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Limits on one file. A campaign of a hundred NPCs is about 200 kB and 20,000
// values, and nobody indents by hand more than ten levels.
const (
	MaxBytes  = 1 << 20
	maxDepth  = 64
	maxValues = 100_000
	// maxProblems keeps the list readable: after a hundred, the first is what
	// needs mending.
	maxProblems = 100
)

// Decode reads the YAML in data into the struct that into points to. It returns
// all problems, sorted; nil means that into is filled. name is the file's name
// in the problems. An empty file changes nothing and is no problem.
func Decode(name string, data []byte, into any) Problems {
	doc, problems := Parse(name, data)
	if problems != nil {
		return problems
	}
	return doc.Decode(into)
}

// A Document is a YAML file that could be parsed. It remembers where everything
// stands, for checks that go beyond the shape of the file.
type Document struct {
	name string
	root *yaml.Node // nil for an empty file
}

// Parse reads data without looking at its meaning.
func Parse(name string, data []byte) (*Document, Problems) {
	at := func(line, column int, format string, args ...any) Problems {
		return Problems{{File: name, Line: line, Column: column, Text: fmt.Sprintf(format, args...)}}
	}
	if len(data) > MaxBytes {
		return nil, at(1, 1, "the file has %d bytes; the most that is read is %d: split it into several files", len(data), MaxBytes)
	}
	if line, column, what := badCharacter(data); what != "" {
		return nil, at(line, column, "%s", what)
	}
	dec := yaml.NewDecoder(strings.NewReader(string(data)))
	var first, second yaml.Node
	switch err := dec.Decode(&first); {
	case isEOF(err):
		return &Document{name: name}, nil
	case err != nil:
		line, column, text := explain(data, err)
		return nil, at(line, column, "%s", text)
	}
	switch err := dec.Decode(&second); {
	case isEOF(err):
	case err != nil:
		line, column, text := explain(data, err)
		return nil, at(line, column, "%s", text)
	default:
		return nil, at(second.Line, second.Column, "a second document begins here: keep one document to a file")
	}
	doc := &Document{name: name}
	if len(first.Content) == 1 && !isNull(first.Content[0]) {
		doc.root = first.Content[0]
	}
	return doc, nil
}

// Decode fills the struct that into points to and returns all problems, sorted.
func (d *Document) Decode(into any) Problems {
	return d.decode(into)
}

// Problem makes a problem that points at the value found by following path:
// strings are keys, ints are positions in lists. Where the path ends early the
// problem points at the last value there is.
func (d *Document) Problem(text string, path ...any) Problem {
	n := d.root
	line, column := 1, 1
	for _, step := range path {
		if n = child(n, step); n == nil {
			break
		}
		line, column = n.Line, n.Column
		n = follow(n)
	}
	if len(path) == 0 && n != nil {
		line, column = n.Line, n.Column
	}
	return Problem{File: d.name, Line: line, Column: column, Text: text}
}

// child is the value under a key or at a position, or nil.
func child(n *yaml.Node, step any) *yaml.Node {
	n = follow(n)
	switch step := step.(type) {
	case string:
		if n == nil || n.Kind != yaml.MappingNode {
			return nil
		}
		for _, p := range pairs(n) {
			if p.key.Value == step {
				return p.value
			}
		}
	case int:
		if n != nil && n.Kind == yaml.SequenceNode && step < len(n.Content) {
			return n.Content[step]
		}
	}
	return nil
}

// follow is what an alias stands for, or the node itself. An alias cannot stand
// for another alias.
func follow(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

type pair struct{ key, value *yaml.Node }

// pairs lists a mapping's own keys and then those that a merge key ("<<") lends
// it and that it does not have itself. A merge within a merged mapping is not
// followed: nobody could say any more where a value comes from.
func pairs(n *yaml.Node) []pair {
	var own, lent []pair
	have := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		p := pair{n.Content[i], n.Content[i+1]}
		if !isMerge(p.key) {
			own = append(own, p)
			have[p.key.Value] = true
			continue
		}
		sources := []*yaml.Node{follow(p.value)}
		if sources[0].Kind == yaml.SequenceNode {
			sources = sources[0].Content
		}
		for _, s := range sources {
			if s = follow(s); s.Kind != yaml.MappingNode {
				continue
			}
			for j := 0; j+1 < len(s.Content); j += 2 {
				if !isMerge(s.Content[j]) {
					lent = append(lent, pair{s.Content[j], s.Content[j+1]})
				}
			}
		}
	}
	for _, p := range lent {
		if !have[p.key.Value] {
			have[p.key.Value] = true
			own = append(own, p)
		}
	}
	return own
}

func isMerge(key *yaml.Node) bool { return key.Kind == yaml.ScalarNode && key.ShortTag() == "!!merge" }

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }
