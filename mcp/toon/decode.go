package toon

import (
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
