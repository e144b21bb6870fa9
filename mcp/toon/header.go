package toon

import (
	"errors"
	"strconv"
	"strings"
)

// A header announces an array, or an object in keyed form:
//
//	key[2|]{name|size}:
type header struct {
	key    string
	named  bool // there is a key, even if it is ""
	n      int
	keyed  bool
	delim  byte
	fields []column
	inline string // what follows the colon
}

// header reads one. ok is false if s is none; in strict mode something that looks
// like one and is wrong is an error.
func (d *decoder) header(l line, s string) (h header, ok bool, err error) {
	var rest string
	if strings.HasPrefix(s, `"`) {
		end := closing(s)
		if end < 0 || end == len(s) || s[end] != '[' {
			return h, false, nil
		}
		if h.key, err = unquote(l, s[:end]); err != nil {
			return h, false, err
		}
		h.named, rest = true, s[end:]
	} else {
		i := strings.IndexAny(s, "[:")
		if i < 0 || s[i] == ':' {
			return h, false, nil
		}
		h.key, rest = s[:i], s[i:]
		h.named = i > 0
		if h.named && outside(rest, ':') < 0 && !strings.Contains(rest, "]:") && !looksLikeHeader(rest) {
			return h, false, nil // plain text with a bracket in it
		}
	}
	rest, err = h.bracket(rest)
	if err == nil {
		rest, err = h.braces(rest)
	}
	switch {
	case err == nil && strings.HasPrefix(rest, ":"):
		h.inline = strings.Trim(rest[1:], " \t")
		return h, true, nil
	case err == nil:
		err = errors.New("no colon after the length")
	}
	if d.strict {
		return h, false, l.errorf("header %q: %w", brief(s), err)
	}
	return h, false, nil
}

// looksLikeHeader reports whether s begins with a length in brackets.
func looksLikeHeader(s string) bool {
	n := digits(s[1:])
	return n > 0 && len(s) > 1+n && strings.IndexByte("]:|\t", s[1+n]) >= 0
}

// bracket reads [N], [N|], [N:] and so on, and returns what follows.
func (h *header) bracket(s string) (string, error) {
	var err error
	s = s[1:]
	n := digits(s)
	switch {
	case n == 0:
		return "", errors.New("want a length in the brackets")
	case n > 1 && s[0] == '0', n > 9:
		return "", errors.New("bad length")
	}
	if h.n, err = strconv.Atoi(s[:n]); err != nil {
		return "", err
	}
	if s = s[n:]; strings.HasPrefix(s, ":") {
		h.keyed, s = true, s[1:]
	}
	h.delim = byte(Comma)
	if strings.HasPrefix(s, "|") || strings.HasPrefix(s, "\t") {
		h.delim, s = s[0], s[1:]
	}
	if !strings.HasPrefix(s, "]") {
		return "", errors.New("want ] after the length")
	}
	return s[1:], nil
}

// braces reads the fields of a table, if there are any, and returns what follows.
func (h *header) braces(s string) (rest string, err error) {
	if !strings.HasPrefix(s, "{") {
		if h.keyed {
			return "", errors.New("a keyed header without fields")
		}
		return s, nil
	}
	h.fields, rest, err = group(s, h.delim, 0)
	return rest, err
}

// group reads {a,b{c,d}} and returns what follows.
func group(s string, delim byte, depth int) (fields []column, rest string, err error) {
	if depth > maxDepth {
		return nil, "", errors.New("nested too deep")
	}
	s = s[1:]
	for {
		var c column
		if strings.HasPrefix(s, `"`) {
			end := closing(s)
			if end < 0 {
				return nil, "", errors.New("a quote is not closed")
			}
			if c.name, err = unquote(line{}, s[:end]); err != nil {
				return nil, "", err
			}
			s = s[end:]
		} else {
			end := strings.IndexAny(s, "{}"+string(delim))
			if end < 0 {
				return nil, "", errors.New("a brace is not closed")
			}
			c.name = strings.Trim(s[:end], " ")
			s = s[end:]
			if c.name == "" {
				return nil, "", errors.New("a field without a name")
			}
			if strings.ContainsAny(c.name, ",|\t") {
				return nil, "", errors.New("fields are separated otherwise than the brackets say")
			}
		}
		s = strings.TrimLeft(s, " ")
		if strings.HasPrefix(s, "{") {
			if c.sub, s, err = group(s, delim, depth+1); err != nil {
				return nil, "", err
			}
		}
		fields = append(fields, c)
		switch {
		case strings.HasPrefix(s, "}"):
			return fields, s[1:], nil
		case s != "" && s[0] == delim:
			s = strings.TrimLeft(s[1:], " ")
		default:
			return nil, "", errors.New("a brace is not closed")
		}
	}
}

// outside is the index of the first c outside quotes, or -1.
func outside(s string, c byte) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case c:
			return i
		case '"':
			end := closing(s[i:])
			if end < 0 {
				return -1
			}
			i += end - 1
		}
	}
	return -1
}

// split cuts a row into trimmed cells.
func split(s string, delim byte) []string {
	var cells []string
	for {
		i := outside(s, delim)
		if i < 0 {
			return append(cells, strings.Trim(s, " \t"))
		}
		cells = append(cells, strings.Trim(s[:i], " \t"))
		s = s[i+1:]
	}
}
