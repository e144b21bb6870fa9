package toon

import (
	"errors"
	"fmt"
	"strings"
)

// DecodeOptions say how to read. The zero value is strict.
type DecodeOptions struct {
	// Indent is how many spaces a level is indented by. Zero means 2.
	Indent int
	// Lenient forgives wrong counts, indentation and duplicate keys, of which the
	// last one counts.
	Lenient bool
}

// Decode reads TOON and returns compact JSON. Errors name the line.
func Decode(doc string, o DecodeOptions) ([]byte, error) {
	if len(doc) > maxText {
		return nil, fmt.Errorf("%d bytes, at most %d", len(doc), maxText)
	}
	d := &decoder{strict: !o.Lenient, indent: o.Indent}
	if d.indent <= 0 {
		d.indent = 2
	}
	if err := d.scan(doc); err != nil {
		return nil, err
	}
	v, err := d.root()
	if err != nil {
		return nil, err
	}
	return appendJSON(nil, v), nil
}

type decoder struct {
	strict bool
	indent int
	lines  []line
	at     int
	// arrays counts the arrays whose first item has been read and whose last has
	// not.
	arrays int
}

// root is TOON's "Root Form".
func (d *decoder) root() (value, error) {
	if len(d.lines) == 0 {
		return value{kind: object}, nil
	}
	l := d.lines[0]
	if l.depth > 0 && d.strict {
		return value{}, l.errorf("the first line is indented")
	}
	if l.text == "[]" {
		d.at++
		return value{kind: array}, d.finished()
	}
	if h, ok, err := d.header(l, l.text); err != nil {
		return value{}, err
	} else if ok && !h.named {
		d.at++
		v, err := d.body(l, h, 0)
		if err != nil {
			return value{}, err
		}
		return v, d.finished()
	}
	if len(d.lines) == 1 && !isField(l.text) {
		d.at++
		return token(l, l.text)
	}
	v := value{kind: object}
	if err := d.object(&v, 0); err != nil {
		return value{}, err
	}
	return v, d.finished()
}

// finished reports lines that belong to nothing.
func (d *decoder) finished() error {
	if d.at < len(d.lines) && d.strict {
		return d.lines[d.at].errorf("%q belongs to nothing above it", brief(d.lines[d.at].text))
	}
	return nil
}

// isField reports whether a line is a key with a colon.
func isField(s string) bool {
	if strings.HasPrefix(s, `"`) {
		end := closing(s)
		return end > 0 && end < len(s) && (s[end] == ':' || s[end] == '[')
	}
	return strings.ContainsRune(s, ':')
}

// object reads fields at a depth into v.
func (d *decoder) object(v *value, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("nested deeper than %d", maxDepth)
	}
	for {
		l, ok := d.peek(depth)
		if !ok {
			return nil
		}
		if l.depth > depth {
			if d.strict {
				return l.errorf("%q is indented too far", brief(l.text))
			}
			d.at++
			continue
		}
		if err := d.take(); err != nil {
			return err
		}
		if err := d.field(v, l, l.text, depth); err != nil {
			return err
		}
	}
}

// field reads one field, whose line has been taken, and what belongs to it.
func (d *decoder) field(v *value, l line, s string, depth int) error {
	h, ok, err := d.header(l, s)
	if err != nil {
		return err
	}
	if ok {
		if !h.named {
			return l.errorf("an array without a key among fields")
		}
		x, err := d.body(l, h, depth)
		if err != nil {
			return err
		}
		return d.set(v, l, h.key, x)
	}
	key, rest, err := keyOf(l, s)
	if err != nil {
		return err
	}
	switch rest {
	case "":
		x := value{kind: object}
		if err := d.object(&x, depth+1); err != nil {
			return err
		}
		return d.set(v, l, key, x)
	case "[]":
		return d.set(v, l, key, value{kind: array})
	}
	x, err := token(l, rest)
	if err != nil {
		return err
	}
	return d.set(v, l, key, x)
}

// set adds a field. Of duplicate keys the last one counts, where they are allowed.
func (d *decoder) set(v *value, l line, key string, x value) error {
	for i, k := range v.keys {
		if k == key {
			if d.strict {
				return l.errorf("key %q is there twice", brief(key))
			}
			v.items[i] = x
			return nil
		}
	}
	v.keys = append(v.keys, key)
	v.items = append(v.items, x)
	return nil
}

// keyOf splits a line into key and trimmed rest.
func keyOf(l line, s string) (key, rest string, err error) {
	if strings.HasPrefix(s, `"`) {
		end := closing(s)
		if end < 0 {
			return "", "", l.errorf("a quote is not closed")
		}
		if key, err = unquote(l, s[:end]); err != nil {
			return "", "", err
		}
		if end == len(s) || s[end] != ':' {
			return "", "", l.errorf("no colon after the key %q", brief(key))
		}
		return key, strings.Trim(s[end+1:], " \t"), nil
	}
	key, rest, ok := strings.Cut(s, ":")
	if !ok {
		return "", "", l.errorf("no colon in %q", brief(s))
	}
	return strings.Trim(key, " \t"), strings.Trim(rest, " \t"), nil
}

// body reads what a header announces. Its line is at depth and has been taken.
func (d *decoder) body(l line, h header, depth int) (value, error) {
	switch {
	case h.fields != nil:
		return d.table(l, h, depth)
	case h.inline != "":
		return d.inline(l, h)
	default:
		return d.list(l, h, depth)
	}
}

// inline reads an array of primitives on its header's line.
func (d *decoder) inline(l line, h header) (value, error) {
	v := value{kind: array}
	for _, c := range split(h.inline, h.delim) {
		x, err := token(l, c)
		if err != nil {
			return value{}, err
		}
		v.items = append(v.items, x)
	}
	return v, d.count(l, h, len(v.items))
}

// list reads the items below a header.
func (d *decoder) list(l line, h header, depth int) (value, error) {
	v := value{kind: array}
	if h.keyed {
		return value{}, l.errorf("a keyed header without fields")
	}
	open := false
	defer func() { d.leave(open) }()
	for {
		next, ok := d.peek(depth + 1)
		if !ok || next.depth == depth+1 && next.text != "-" && !strings.HasPrefix(next.text, "- ") {
			break
		}
		if next.depth > depth+1 {
			if d.strict {
				return value{}, next.errorf("%q is indented too far", brief(next.text))
			}
			d.at++
			continue
		}
		if err := d.take(); err != nil {
			return value{}, err
		}
		open = d.enter(open)
		x, err := d.item(next, strings.Trim(strings.TrimPrefix(next.text, "-"), " \t"), depth+1)
		if err != nil {
			return value{}, err
		}
		v.items = append(v.items, x)
	}
	return v, d.count(l, h, len(v.items))
}

// enter and leave mark that items of an array are being read.
func (d *decoder) enter(open bool) bool {
	if !open {
		d.arrays++
	}
	return true
}

func (d *decoder) leave(open bool) {
	if open {
		d.arrays--
	}
}

// item reads an element of a list, of which s follows the hyphen.
func (d *decoder) item(l line, s string, depth int) (value, error) {
	if depth > maxDepth {
		return value{}, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	switch s {
	case "":
		v := value{kind: object}
		return v, d.object(&v, depth+1)
	case "[]":
		return value{kind: array}, nil
	}
	h, ok, err := d.header(l, s)
	if err != nil {
		return value{}, err
	}
	if ok && !h.named {
		if h.fields != nil || h.keyed {
			return value{}, l.errorf("a table as a list item needs a key")
		}
		return d.body(l, h, depth)
	}
	if !ok && !isField(s) {
		return token(l, s)
	}
	// The first field stands on the hyphen's line; the others are one level deeper
	// than the hyphen, and so is what belongs to them.
	v := value{kind: object}
	if err := d.field(&v, l, s, depth+1); err != nil {
		return value{}, err
	}
	return v, d.object(&v, depth+1)
}

// table reads rows below a header, with keys if it is a keyed one.
func (d *decoder) table(l line, h header, depth int) (value, error) {
	if h.inline != "" {
		return value{}, l.errorf("values on the line of a table's header")
	}
	v := value{kind: array}
	if h.keyed {
		v.kind = object
	}
	open := false
	defer func() { d.leave(open) }()
	for {
		next, ok := d.peek(depth + 1)
		if !ok {
			break
		}
		if next.depth > depth+1 {
			if d.strict {
				return value{}, next.errorf("%q is indented too far", brief(next.text))
			}
			d.at++
			continue
		}
		if !h.keyed && endsRows(next.text, h.delim) {
			break
		}
		if err := d.take(); err != nil {
			return value{}, err
		}
		open = d.enter(open)
		key, cells := "", next.text
		if h.keyed {
			var err error
			if key, cells, err = keyOf(next, next.text); err != nil {
				return value{}, err
			}
			if cells == "" {
				return value{}, next.errorf("no values for %q", brief(key))
			}
		}
		row, err := d.row(next, h, cells)
		if err != nil {
			return value{}, err
		}
		if !h.keyed {
			v.items = append(v.items, row)
		} else if err := d.set(&v, next, key, row); err != nil {
			return value{}, err
		}
	}
	return v, d.count(l, h, len(v.items))
}

// endsRows reports whether a line at the rows' depth is a field instead: its first
// colon comes before its first delimiter, both outside quotes.
func endsRows(s string, delim byte) bool {
	c, m := outside(s, ':'), outside(s, delim)
	return c >= 0 && (m < 0 || c < m)
}

// row reads one row of a table.
func (d *decoder) row(l line, h header, s string) (value, error) {
	cells := split(s, h.delim)
	if want := leaves(h.fields); len(cells) != want {
		if d.strict {
			return value{}, l.errorf("%d values, want %d", len(cells), want)
		}
		for len(cells) < want {
			cells = append(cells, "null")
		}
	}
	v, _, err := d.assign(l, h.fields, cells)
	return v, err
}

// assign puts cells into fields, depth first, and returns those left over.
func (d *decoder) assign(l line, fields []column, cells []string) (value, []string, error) {
	v := value{kind: object}
	for _, f := range fields {
		var x value
		var err error
		if f.sub != nil {
			x, cells, err = d.assign(l, f.sub, cells)
		} else {
			x, err = token(l, cells[0])
			cells = cells[1:]
		}
		if err != nil {
			return value{}, nil, err
		}
		if err := d.set(&v, l, f.name, x); err != nil {
			return value{}, nil, err
		}
	}
	return v, cells, nil
}

func leaves(fields []column) int {
	n := 0
	for _, f := range fields {
		if f.sub != nil {
			n += leaves(f.sub)
		} else {
			n++
		}
	}
	return n
}

// count compares a header's promise with what came.
func (d *decoder) count(l line, h header, got int) error {
	if d.strict && got != h.n {
		return l.errorf("%d items announced, %d found", h.n, got)
	}
	return nil
}

// token reads a primitive.
func token(l line, s string) (value, error) {
	switch {
	case strings.HasPrefix(s, `"`):
		t, err := unquote(l, s)
		return value{kind: text, s: t}, err
	case s == "null":
		return value{kind: null, s: s}, nil
	case s == "true", s == "false":
		return value{kind: boolean, s: s}, nil
	case isNumber(s):
		return canonical(s), nil
	default:
		return value{kind: text, s: s}, nil
	}
}

// closing is the index after the quote that closes the one s begins with, or -1.
func closing(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

var errEscape = errors.New("bad escape")

// unquote reads a quoted string. TOON, "Escaping".
func unquote(l line, s string) (string, error) {
	if closing(s) != len(s) {
		return "", l.errorf("a quote is not closed, or something follows it: %s", brief(s))
	}
	s = s[1 : len(s)-1]
	if !strings.Contains(s, `\`) {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case '"', '\\':
			b.WriteByte(s[i])
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case 'u':
			r, err := hexRune(s[i+1:])
			if err != nil {
				return "", l.errorf("%w \\u in %s", err, brief(s))
			}
			b.WriteRune(r)
			i += 4
		default:
			return "", l.errorf("%w \\%c", errEscape, s[i])
		}
	}
	return b.String(), nil
}

// hexRune reads four hexadecimal digits. Halves of surrogate pairs are no
// characters.
func hexRune(s string) (rune, error) {
	if len(s) < 4 {
		return 0, errEscape
	}
	var r rune
	for _, c := range []byte(s[:4]) {
		r <<= 4
		switch {
		case '0' <= c && c <= '9':
			r |= rune(c - '0')
		case 'a' <= c && c <= 'f':
			r |= rune(c-'a') + 10
		case 'A' <= c && c <= 'F':
			r |= rune(c-'A') + 10
		default:
			return 0, errEscape
		}
	}
	if 0xd800 <= r && r <= 0xdfff {
		return 0, errEscape
	}
	return r, nil
}

// brief shortens text for an error.
func brief(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "..."
	}
	return s
}
