package engine

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSentence is the longest text that is synthesised at once. A model that
// never breathes would otherwise keep the room waiting.
const maxSentence = 400

// A splitter cuts a model's stream into sentences that can be spoken. A sentence
// is given away as soon as it is sure to have ended, which for "?" and "!" is at
// once and for "." when the next character shows that it was no "Mr." or "3.5".
type splitter struct{ rest string }

// push adds text and returns the sentences that are complete now.
func (s *splitter) push(text string) []string {
	s.rest += text
	var out []string
	for {
		i := sentenceEnd(s.rest)
		if i < 0 {
			return out
		}
		if one := strings.TrimSpace(s.rest[:i]); speakable(one) {
			out = append(out, one)
		}
		s.rest = s.rest[i:]
	}
}

// flush returns what is left when the stream has ended.
func (s *splitter) flush() []string {
	out := s.push("\n")
	if one := strings.TrimSpace(s.rest); speakable(one) {
		out = append(out, one)
	}
	s.rest = ""
	return out
}

// speakable reports whether there is anything to say in s.
func speakable(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// sentenceEnd is the index behind the first complete sentence of s, or -1.
func sentenceEnd(s string) int {
	for i, r := range s {
		switch r {
		case '\n':
			if strings.TrimSpace(s[:i]) != "" {
				return i + 1
			}
		case '.', '!', '?', '…', '。', '！', '？':
			if end, sure := closes(s, i, r); end > 0 {
				return end
			} else if !sure {
				return -1
			}
		}
		if i >= maxSentence {
			return breath(s[:i])
		}
	}
	return -1
}

// closes looks at the mark r at i. It returns the index behind the sentence's
// closing quotes if the mark ends it, or 0; sure is false if more text is needed.
func closes(s string, i int, r rune) (end int, sure bool) {
	j := i + utf8.RuneLen(r)
	for j < len(s) {
		c, n := utf8.DecodeRuneInString(s[j:])
		if !strings.ContainsRune(".!?…\"'”’»)]*", c) {
			break
		}
		j += n
	}
	if r > 0x3000 { // CJK marks end a sentence without a space
		return j, true
	}
	if j == len(s) {
		return 0, false
	}
	next, _ := utf8.DecodeRuneInString(s[j:])
	if !unicode.IsSpace(next) {
		return 0, true
	}
	if r != '.' {
		return j, true
	}
	return dot(s, i, j)
}

// dot decides about a full stop at i that is followed by a space at j.
func dot(s string, i, j int) (end int, sure bool) {
	word := s[:i]
	if k := strings.LastIndexFunc(word, unicode.IsSpace); k >= 0 {
		word = word[k+1:]
	}
	word = strings.TrimLeft(word, "\"'“‘«([*")
	first, n := utf8.DecodeRuneInString(word)
	switch {
	case word == "": // an ellipsis set with spaces
		return j, true
	case n == len(word) && unicode.IsLetter(first) && first != 'I': // an initial, "z. B."
		return 0, true
	case abbreviations[strings.ToLower(word)]:
		return 0, true
	}
	if last := word[len(word)-1]; last < '0' || last > '9' {
		return j, true
	}
	// "on the 3. May" or "It costs 3. Take it": look at the next word.
	rest := strings.TrimLeftFunc(s[j:], unicode.IsSpace)
	if rest == "" {
		return 0, false
	}
	if c, _ := utf8.DecodeRuneInString(rest); unicode.IsLower(c) || unicode.IsDigit(c) {
		return 0, true
	}
	return j, true
}

// breath finds where a sentence that is too long may be split: behind its last
// comma, else its last space.
func breath(s string) int {
	if i := strings.LastIndexAny(s, ",;:—"); i > len(s)/2 {
		_, n := utf8.DecodeRuneInString(s[i:])
		return i + n
	}
	if i := strings.LastIndexByte(s, ' '); i > 0 {
		return i + 1
	}
	return len(s)
}

// abbreviations end in a full stop without ending the sentence.
var abbreviations = map[string]bool{
	"mr": true, "mrs": true, "ms": true, "dr": true, "prof": true, "st": true, "sr": true, "jr": true,
	"capt": true, "sgt": true, "lt": true, "col": true, "gen": true, "rev": true, "hon": true,
	"vs": true, "e.g": true, "i.e": true, "approx": true, "no": false, "ca": true, "cf": true,
	"bzw": true, "usw": false, "nr": true, "hr": true, "fr": true, "z.b": true, "d.h": true, "ggf": true, "evtl": true,
	"sra": true, "srta": true, "ud": true, "uds": true, "p.ej": true,
}
