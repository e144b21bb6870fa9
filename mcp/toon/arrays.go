package toon

import (
	"fmt"
	"strings"
)

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
