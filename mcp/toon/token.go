package toon

import (
	"errors"
	"strings"
)

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
