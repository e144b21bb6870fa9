package mcp

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// A Constraint ties tools to what a player must be talking about. While words of
// the utterance activate one or more constraints, tools that belong only to
// others are off the belt. Tools without any constraint are never narrowed, and
// an utterance that activates none narrows nothing.
type Constraint struct {
	// ID names it in explanations: "rules", "5.5".
	ID string `json:"id" yaml:"id"`
	// Keywords activate it: words or phrases, matched as whole words, any case.
	Keywords []string `json:"keywords" yaml:"keywords"`
	// Tools belong to it: names or server__* patterns.
	Tools []string `json:"tools" yaml:"tools"`
}

const (
	maxConstraints = 64 // one bit each
	maxKeywords    = 256
)

// A constraintMap answers which constraints an utterance activates.
type constraintMap struct {
	list []Constraint
	keys [][]string // per constraint: keywords, folded and padded with spaces
}

func newConstraintMap(list []Constraint) (*constraintMap, error) {
	if len(list) > maxConstraints {
		return nil, fmt.Errorf("%d constraints, at most %d", len(list), maxConstraints)
	}
	m := &constraintMap{list: slices.Clone(list)}
	seen := map[string]bool{}
	for _, c := range list {
		if c.ID == "" || seen[c.ID] {
			return nil, fmt.Errorf("constraint id %q: want one that is not empty and used once", c.ID)
		}
		seen[c.ID] = true
		if len(c.Keywords) == 0 || len(c.Keywords) > maxKeywords || len(c.Tools) == 0 {
			return nil, fmt.Errorf("constraint %q: want 1 to %d keywords and at least one tool", c.ID, maxKeywords)
		}
		var keys []string
		for _, k := range c.Keywords {
			f := fold(k)
			if strings.TrimSpace(f) == "" {
				return nil, fmt.Errorf("constraint %q: keyword %q has no letters", c.ID, k)
			}
			keys = append(keys, f)
		}
		m.keys = append(m.keys, keys)
	}
	return m, nil
}

// active returns the constraints that the utterance activates, one bit each.
func (m *constraintMap) active(utterance string) uint64 {
	if len(m.list) == 0 || utterance == "" {
		return 0
	}
	u := fold(utterance)
	var set uint64
	for i, keys := range m.keys {
		for _, k := range keys {
			if strings.Contains(u, k) {
				set |= 1 << i
				break
			}
		}
	}
	return set
}

// narrows says why a tool does not fit the active constraints; "" if it does.
func (m *constraintMap) narrows(active uint64, tool string) string {
	if active == 0 {
		return ""
	}
	var of []string
	for i, c := range m.list {
		if !matchesAny(c.Tools, tool) {
			continue
		}
		if active&(1<<i) != 0 {
			return ""
		}
		of = append(of, c.ID)
	}
	if len(of) == 0 {
		return ""
	}
	return fmt.Sprintf("for talk about %s; this is about %s", strings.Join(of, ", "), strings.Join(m.names(active), ", "))
}

func (m *constraintMap) names(active uint64) []string {
	var names []string
	for i, c := range m.list {
		if active&(1<<i) != 0 {
			names = append(names, c.ID)
		}
	}
	return names
}

// fold brings text into the form in which keywords are compared: lower case
// words with single spaces between and around them.
func fold(s string) string {
	const most = 4096 // of an utterance; nobody says more in one breath
	s, _, _ = strings.Cut(s[:min(len(s), most)], "\x00")
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\''
	})
	return " " + strings.Join(words, " ") + " "
}

// matches reports whether a whitelist entry means the tool: its exact name, or
// all tools of its server as server__*.
func matches(pattern, tool string) bool {
	if server, ok := strings.CutSuffix(pattern, separator+"*"); ok && server != "" {
		return strings.HasPrefix(tool, server+separator)
	}
	return pattern == tool
}

func matchesAny(patterns []string, tool string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, tool) })
}
