// Package toon writes and reads TOON, Token-Oriented Object Notation, version 4.0:
// the data of JSON in a form that costs a language model fewer tokens where the
// data is a table.
//
//	scenes[2]{id,name,dark}:
//	  cellar,The cellar,true
//	  taproom,The taproom,false
//
// It is for what a model reads: results of tools and lists of them. It is not for
// function declarations, which have to be JSON Schema, nor for what a model writes.
// Nor is it always shorter than JSON: see [Shorter].
//
// Both directions work on JSON text and keep the order of keys. Numbers keep their
// value exactly; one that would need more than 400 digits is written as a string.
package toon

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// A Delimiter separates the values of an array or a row.
type Delimiter byte

// The delimiters that TOON knows.
const (
	Comma Delimiter = ','
	Tab   Delimiter = '\t'
	Pipe  Delimiter = '|'
)

const (
	// maxDepth bounds nesting, in both directions.
	maxDepth = 64
	// maxText bounds what is read, in either form.
	maxText = 64 << 20
	// maxDigits bounds how many digits a number is written out to.
	maxDigits = 400
)

type kind uint8

const (
	null kind = iota
	boolean
	number
	text
	array
	object
)

// A value is any JSON value.
type value struct {
	kind  kind
	s     string // of text; the literal of null, boolean and number
	items []value
	keys  []string // of an object, beside items
}

func (v value) primitive() bool { return v.kind < array }

// get is the value of a key.
func (v value) get(key string) (value, bool) {
	for i, k := range v.keys {
		if k == key {
			return v.items[i], true
		}
	}
	return value{}, false
}

// fromJSON reads JSON text, with keys in their order. Of a key that is there twice
// the last value counts.
func fromJSON(b []byte) (value, error) {
	if len(b) > maxText {
		return value{}, fmt.Errorf("JSON of %d bytes, at most %d", len(b), maxText)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	v, err := readJSON(d, 0)
	if err != nil {
		return value{}, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return value{}, errors.New("more than one JSON value")
	}
	return v, nil
}

func readJSON(d *json.Decoder, depth int) (value, error) {
	t, err := d.Token()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return value{}, err
	}
	switch t := t.(type) {
	case nil:
		return value{kind: null, s: "null"}, nil
	case bool:
		return value{kind: boolean, s: fmt.Sprint(t)}, nil
	case string:
		return value{kind: text, s: t}, nil
	case json.Number:
		return canonical(string(t)), nil
	}
	if depth >= maxDepth {
		return value{}, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	v := value{kind: array}
	if t == json.Delim('{') {
		v.kind = object
	}
	at := map[string]int{}
	for d.More() {
		key := ""
		if v.kind == object {
			k, err := d.Token()
			if err != nil {
				return value{}, err
			}
			key = k.(string) // the decoder sees to that
		}
		x, err := readJSON(d, depth+1)
		if err != nil {
			return value{}, err
		}
		if v.kind == object {
			if i, twice := at[key]; twice {
				v.items[i] = x
				continue
			}
			at[key] = len(v.keys)
			v.keys = append(v.keys, key)
		}
		v.items = append(v.items, x)
	}
	_, err = d.Token() // the closing bracket
	return v, err
}

// appendJSON writes JSON without spaces.
func appendJSON(b []byte, v value) []byte {
	switch v.kind {
	case text:
		return appendString(b, v.s)
	case array, object:
		open, shut := byte('['), byte(']')
		if v.kind == object {
			open, shut = '{', '}'
		}
		b = append(b, open)
		for i, x := range v.items {
			if i > 0 {
				b = append(b, ',')
			}
			if v.kind == object {
				b = append(appendString(b, v.keys[i]), ':')
			}
			b = appendJSON(b, x)
		}
		return append(b, shut)
	default:
		return append(b, v.s...)
	}
}

func appendString(b []byte, s string) []byte {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return append(b, `""`...) // a string always encodes
	}
	return append(b, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...)
}

// isNumber reports whether s is a number as JSON has them.
func isNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole := digits(s)
	if whole == 0 || whole > 1 && s[0] == '0' {
		return false
	}
	if s = s[whole:]; strings.HasPrefix(s, ".") {
		n := digits(s[1:])
		if n == 0 {
			return false
		}
		s = s[1+n:]
	}
	if s == "" {
		return true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	if s = s[1:]; s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return s != "" && digits(s) == len(s)
}

// digits counts the decimal digits that s begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// canonical writes a JSON number without exponent and without idle zeros. TOON,
// "Data Model". A number too long for that becomes a string, as the
// specification allows.
func canonical(s string) value {
	exact := s
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	exp := 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		if _, err := fmt.Sscan(s[i+1:], &exp); err != nil || exp > maxDigits || exp < -maxDigits {
			return value{kind: text, s: exact}
		}
		s = s[:i]
	}
	whole, frac, _ := strings.Cut(s, ".")
	if len(whole)+len(frac) > maxDigits {
		return value{kind: text, s: exact}
	}
	all := whole + frac
	point := len(whole) + exp
	switch {
	case point <= 0:
		all, point = strings.Repeat("0", 1-point)+all, 1
	case point > len(all):
		all += strings.Repeat("0", point-len(all))
	}
	whole, frac = strings.TrimLeft(all[:point], "0"), strings.TrimRight(all[point:], "0")
	if whole == "" {
		whole = "0"
	}
	if frac != "" {
		whole += "." + frac
	}
	if whole == "0" {
		sign = ""
	}
	return value{kind: number, s: sign + whole}
}
