package toon

import (
	"fmt"
	"strings"
)

// A line is a line of a document that holds something.
type line struct {
	number int // in the document, from 1
	depth  int
	text   string
	blank  bool // an empty line comes before it
}

// scan splits a document into lines, without comments and empty ones.
func (d *decoder) scan(doc string) error {
	blank := false
	for i, s := range strings.Split(doc, "\n") {
		s = strings.TrimSuffix(s, "\r")
		spaces := len(s) - len(strings.TrimLeft(s, " "))
		rest := s[spaces:]
		switch {
		case strings.Trim(rest, " \t") == "":
			blank = true
			continue
		case rest[0] == '#':
			continue
		}
		if rest[0] == '\t' {
			if d.strict {
				return fmt.Errorf("line %d: a tab in the indentation", i+1)
			}
			rest = strings.TrimLeft(rest, " \t")
		}
		if d.strict && spaces%d.indent != 0 {
			return fmt.Errorf("line %d: indented by %d spaces, want a multiple of %d", i+1, spaces, d.indent)
		}
		d.lines = append(d.lines, line{i + 1, spaces / d.indent, strings.TrimRight(rest, " \t"), blank})
		blank = false
	}
	return nil
}

// peek returns the next line, if it is at the depth or below.
func (d *decoder) peek(depth int) (line, bool) {
	if d.at >= len(d.lines) || d.lines[d.at].depth < depth {
		return line{}, false
	}
	return d.lines[d.at], true
}

// take moves past the next line. Within arrays empty lines are errors.
func (d *decoder) take() error {
	l := d.lines[d.at]
	d.at++
	if d.strict && d.arrays > 0 && l.blank {
		return l.errorf("an empty line within an array")
	}
	return nil
}

func (l line) errorf(format string, args ...any) error {
	return fmt.Errorf("line %d: "+format, append([]any{l.number}, args...)...)
}
