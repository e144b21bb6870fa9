package campaigns

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
	"golang.org/x/text/unicode/norm"
)

// marshal writes one of the structs of source.go as YAML that people like to
// read: keys in the order of the struct, nothing that is not set, long texts
// folded.
func marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(node(reflect.ValueOf(v))); err != nil {
		return nil, fmt.Errorf("writing YAML: %w", err)
	}
	return out.Bytes(), enc.Close()
}

// node is a value in YAML.
func node(v reflect.Value) *yaml.Node {
	switch v.Kind() {
	case reflect.Struct:
		return structNode(v)
	case reflect.Slice:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		for i := range v.Len() {
			n.Content = append(n.Content, node(v.Index(i)))
		}
		return n
	case reflect.Map:
		n := &yaml.Node{Kind: yaml.MappingNode}
		names := v.MapKeys()
		slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range names {
			n.Content = append(n.Content, node(k), node(v.MapIndex(k)))
		}
		return n
	case reflect.String:
		return textNode(v.String())
	}
	// What is left are numbers and truth values, which YAML writes as Go does.
	return &yaml.Node{Kind: yaml.ScalarNode, Value: fmt.Sprint(v.Interface())}
}

func structNode(v reflect.Value) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for i := range v.NumField() {
		if f := v.Field(i); !f.IsZero() && !(f.Kind() == reflect.Slice && f.Len() == 0) {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
			n.Content = append(n.Content, textNode(name), node(f))
		}
	}
	return n
}

// foldedFrom is the length from which a text is folded over several lines.
const foldedFrom = 80

func textNode(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	if n.Style == 0 && len(s) > foldedFrom {
		n.Style = yaml.FoldedStyle
	}
	return n
}

// fit cuts what is longer than a campaign allows, as the `strict` tags of the
// struct that v points to say, and names what was cut.
func fit(who string, v any) (cut []string) {
	s := reflect.ValueOf(v).Elem()
	for i := range s.NumField() {
		field := s.Type().Field(i)
		limit := 0
		for rule := range strings.SplitSeq(field.Tag.Get("strict"), ",") {
			if n, ok := strings.CutPrefix(rule, "max="); ok {
				limit, _ = strconv.Atoi(n) // a float's limit is no length and no number here
			}
		}
		key := field.Tag.Get("yaml")
		switch f := s.Field(i); f.Kind() {
		case reflect.String:
			if limit > 0 && utf8.RuneCountInString(f.String()) > limit {
				cut = append(cut, fmt.Sprintf("%s: %s is longer than %d characters", who, key, limit))
				f.SetString(short(f.String(), limit))
			}
		case reflect.Slice:
			if limit > 0 && f.Len() > limit {
				cut = append(cut, fmt.Sprintf("%s: %s has more than %d entries", who, key, limit))
				f.SetLen(limit)
			}
			if f.Type().Elem().Kind() == reflect.Struct {
				for j := range f.Len() {
					cut = append(cut, fit(who, f.Index(j).Addr().Interface())...)
				}
			}
		}
	}
	return cut
}

// short cuts a text to at most n characters, after a sentence if there is one in
// its second half.
func short(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	for i := n - 1; i > n/2; i-- {
		if strings.ContainsRune(".!?…", r[i]) && unicode.IsSpace(r[i+1]) {
			return string(r[:i+1])
		}
	}
	return strings.TrimSpace(string(r[:n-1])) + "…"
}

// folded takes the accents off letters: "Ysoldé" is written "Ysolde" in an id.
func folded(s string) string {
	out, _, err := transform.String(transform.Chain(norm.NFD, runes.Remove(runes.In(unicode.Mn)), norm.NFC), s)
	if err != nil {
		return s
	}
	return out
}
