package toon

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// EncodeOptions say how to write. The zero value is the usual form.
type EncodeOptions struct {
	// Indent is how many spaces a level is indented by. Zero means 2.
	Indent int
	// Delimiter separates values. Zero means [Comma].
	Delimiter Delimiter
}

// Encode writes JSON text as TOON, without a newline at the end.
func Encode(json []byte, o EncodeOptions) (string, error) {
	v, err := fromJSON(json)
	if err != nil {
		return "", err
	}
	return encode(v, o), nil
}

// Shorter returns the shorter of the two ways to write JSON text that is compact
// already: TOON wins where there are tables, and loses where there are not.
func Shorter(json []byte) string {
	s, err := Encode(json, EncodeOptions{})
	if err != nil || len(s) >= len(json) {
		return string(json)
	}
	return s
}

func encode(v value, o EncodeOptions) string {
	e := &encoder{indent: o.Indent, delim: byte(o.Delimiter)}
	if e.indent <= 0 {
		e.indent = 2
	}
	if e.delim == 0 {
		e.delim = byte(Comma)
	}
	switch {
	case v.primitive():
		return e.primitive(v)
	case v.kind == array && len(v.items) == 0:
		return "[]"
	case v.kind == array:
		e.array(0, "", v)
	default:
		if f := keyed(v); f != nil {
			e.table(0, "", v, f)
		} else {
			e.fields(0, v)
		}
	}
	return strings.TrimSuffix(e.b.String(), "\n")
}

type encoder struct {
	b      strings.Builder
	indent int
	delim  byte
	// hyphen says that the next line begins a list item: it stands one level
	// further left, after "- ".
	hyphen bool
}

// line writes one line at a depth.
func (e *encoder) line(depth int, parts ...string) {
	if e.hyphen {
		depth--
	}
	for range depth * e.indent {
		e.b.WriteByte(' ')
	}
	if e.hyphen {
		e.b.WriteString("- ")
		e.hyphen = false
	}
	for _, p := range parts {
		e.b.WriteString(p)
	}
	e.b.WriteByte('\n')
}

// fields writes an object's fields.
func (e *encoder) fields(depth int, v value) {
	for i, k := range v.keys {
		e.field(depth, e.key(k), v.items[i])
	}
}

func (e *encoder) field(depth int, key string, v value) {
	switch {
	case v.primitive():
		e.line(depth, key, ": ", e.primitive(v))
	case v.kind == array && len(v.items) == 0:
		e.line(depth, key, ": []")
	case v.kind == array:
		e.array(depth, key, v)
	default:
		if f := keyed(v); f != nil {
			e.table(depth, key, v, f)
			return
		}
		e.line(depth, key, ":")
		e.fields(depth+1, v)
	}
}

// array writes a non-empty array after its key, which may be "".
func (e *encoder) array(depth int, key string, v value) {
	if !slices.ContainsFunc(v.items, func(x value) bool { return !x.primitive() }) {
		e.line(depth, key, e.bracket(v, false), ": ", e.cells(v.items))
		return
	}
	if f := columns(v.items); f != nil {
		e.table(depth, key, v, f)
		return
	}
	e.line(depth, key, e.bracket(v, false), ":")
	for _, x := range v.items {
		e.item(depth+1, x)
	}
}

// item writes an element of a list.
func (e *encoder) item(depth int, v value) {
	switch {
	case v.primitive():
		e.line(depth, "- ", e.primitive(v))
	case v.kind == object && len(v.items) == 0:
		e.line(depth, "-")
	case v.kind == object:
		e.hyphen = true
		e.fields(depth+1, v)
	case len(v.items) == 0:
		e.line(depth, "- [0", e.mark(), "]:")
	default:
		e.hyphen = true
		e.nested(depth, v)
	}
}

// nested writes an array that is itself an element of a list. It has no key, so it
// is never a table.
func (e *encoder) nested(depth int, v value) {
	if !slices.ContainsFunc(v.items, func(x value) bool { return !x.primitive() }) {
		e.line(depth+1, e.bracket(v, false), ": ", e.cells(v.items))
		return
	}
	e.line(depth+1, e.bracket(v, false), ":")
	for _, x := range v.items {
		e.item(depth+1, x)
	}
}

// bracket is the length of an array, or of an object in keyed form.
func (e *encoder) bracket(v value, keyed bool) string {
	s := "[" + strconv.Itoa(len(v.items))
	if keyed {
		s += ":"
	}
	return s + e.mark() + "]"
}

// mark names the delimiter, unless it is the usual one.
func (e *encoder) mark() string {
	if e.delim == byte(Comma) {
		return ""
	}
	return string(e.delim)
}

// A column is a field of a table, or a group of them.
type column struct {
	name string
	sub  []column
}

// columns returns the columns of a table that holds all items, or nil if they do
// not fit into one: each must be an object with the same keys, not none, whose
// values are all primitive or all such objects.
func columns(items []value) []column {
	for _, x := range items {
		if x.kind != object || len(x.keys) == 0 || len(x.keys) != len(items[0].keys) {
			return nil
		}
	}
	var cols []column
	for _, k := range items[0].keys {
		col := make([]value, 0, len(items))
		for _, x := range items {
			v, ok := x.get(k)
			if !ok || v.primitive() != items[0].item(k).primitive() {
				return nil
			}
			col = append(col, v)
		}
		c := column{name: k}
		if !col[0].primitive() {
			if c.sub = columns(col); c.sub == nil {
				return nil
			}
		}
		cols = append(cols, c)
	}
	return cols
}

func (v value) item(key string) value {
	x, _ := v.get(key)
	return x
}

// keyed returns the columns of an object whose values make a table, if there are
// at least two of them.
func keyed(v value) []column {
	if len(v.items) < 2 {
		return nil
	}
	return columns(v.items)
}

// table writes an array, or an object in keyed form, as a table.
func (e *encoder) table(depth int, key string, v value, cols []column) {
	keyed := v.kind == object
	e.line(depth, key, e.bracket(v, keyed), e.header(cols), ":")
	for i, x := range v.items {
		cells := e.cells(flatten(nil, x, cols))
		if keyed {
			e.line(depth+1, e.key(v.keys[i]), ": ", cells)
		} else {
			e.line(depth+1, cells)
		}
	}
}

func (e *encoder) header(cols []column) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, c := range cols {
		if i > 0 {
			b.WriteByte(e.delim)
		}
		b.WriteString(e.key(c.name))
		if c.sub != nil {
			b.WriteString(e.header(c.sub))
		}
	}
	b.WriteByte('}')
	return b.String()
}

// flatten lists the primitives of a row, depth first.
func flatten(row []value, v value, cols []column) []value {
	for _, c := range cols {
		x := v.item(c.name)
		if c.sub != nil {
			row = flatten(row, x, c.sub)
		} else {
			row = append(row, x)
		}
	}
	return row
}

func (e *encoder) cells(items []value) string {
	var b strings.Builder
	for i, x := range items {
		if i > 0 {
			b.WriteByte(e.delim)
		}
		b.WriteString(e.primitive(x))
	}
	return b.String()
}

func (e *encoder) primitive(v value) string {
	if v.kind != text || !e.needsQuotes(v.s) {
		return v.s
	}
	return quoted(v.s)
}

// needsQuotes is TOON's "Quoting Rules for String Values".
func (e *encoder) needsQuotes(s string) bool {
	switch s {
	case "", "true", "false", "null":
		return true
	}
	first, _ := utf8.DecodeRuneInString(s)
	last, _ := utf8.DecodeLastRuneInString(s)
	if first == '-' || first == '#' || unicode.IsSpace(first) || unicode.IsSpace(last) {
		return true
	}
	for i := range len(s) {
		switch c := s[i]; c {
		case ':', '"', '\\', '[', ']', '{', '}', e.delim:
			return true
		default:
			if c < ' ' {
				return true
			}
		}
	}
	return numericLike(s)
}

// numericLike reports whether a reader might take a string for a number: also with
// leading zeros or a plus.
func numericLike(s string) bool {
	s = strings.TrimLeft(s, "+-")
	if digits(s) == 0 {
		return false
	}
	for len(s) > 1 && s[0] == '0' && s[1] >= '0' && s[1] <= '9' {
		s = s[1:]
	}
	return isNumber(s)
}

// key writes a key, quoted unless it is an identifier with dots.
func (e *encoder) key(s string) string {
	for i := range len(s) {
		c := s[i]
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c != '.' && (c < '0' || c > '9')) {
			return quoted(s)
		}
	}
	if s == "" {
		return `""`
	}
	return s
}

func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch r {
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		default:
			if r < ' ' {
				const hex = "0123456789abcdef"
				b.WriteString(`\u00`)
				b.WriteByte(hex[r>>4])
				b.WriteByte(hex[r&15])
				continue
			}
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
