package mcp

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean removes what a reader does not see from text that somebody else wrote:
// control characters (line feeds and tabs stay), invisible and direction-changing
// ones, and bytes that are no UTF-8. What a person approves is then what a model
// reads.
func clean(s string) string {
	dirty := false
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
			dirty = true
			break
		}
	}
	if !dirty {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == utf8.RuneError:
			return '?'
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
			return -1 // Cf holds zero-width, bidi and tag characters
		case unicode.Is(unicode.Variation_Selector, r), r == '\u115f', r == '\u1160', r == '\u3164', r == '\uffa0':
			return -1 // carriers of hidden text that are not in Cf
		case r == '\u2028' || r == '\u2029':
			return '\n'
		}
		return r
	}, s)
}

// cut shortens s to at most limit bytes, at a rune boundary, and says so in the
// text itself, since a model would otherwise take half a list for a whole one.
func cut(s string, limit int) (string, bool) {
	if len(s) <= limit {
		return s, false
	}
	n := limit
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return fmt.Sprintf("%s\n[cut: %d of %d bytes shown]", s[:n], n, len(s)), true
}

// quote marks text as a server's data. The end mark cannot be forged: angle
// brackets that would spell it are broken up.
func quote(tool, text string) string {
	text = strings.ReplaceAll(text, "</tool_result", "<\\/tool_result")
	return "<tool_result from=\"" + tool + "\">\n" + text + "\n</tool_result>"
}
