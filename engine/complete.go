package engine

import (
	"slices"
	"strings"
	"unicode"
)

// A sense says how finished a text sounds.
type sense uint8

const (
	unclear  sense = iota // it may be all
	stated                // a whole sentence, behind which another may come
	finished              // a question, a line such as "yes", or much: now somebody else speaks
	open                  // something has to follow
	senses
)

// soundsLike is how finished a turn's text sounds, by its last mark, its last word and
// what was opened and not closed. It knows English, German and Spanish; language is
// a BCP 47 tag, and others are judged by marks alone.
//
// Recognisers put a full stop behind whatever they are given when somebody pauses,
// so a last word that cannot end a sentence outweighs the mark.
func soundsLike(text, language string) sense {
	text = strings.TrimSpace(text)
	mark, body := lastMark(text)
	if body == "" {
		return unclear
	}
	if mark == ',' || opened(text) {
		return open
	}
	g := grammarOf(language)
	words := wordsOf(lastSentence(body))
	if len(words) == 0 {
		return unclear
	}
	first, last := words[0], words[len(words)-1]
	switch {
	case g.hesitates[last] || g.needsMore[last]:
		return open
	case mark == '?', g.whole[strings.Join(words, " ")], g.polite[last] && len(words) > 2:
		return finished
	case g.counts[last] || isNumber(last):
		return step(mark, open, unclear)
	case g.dangles[last] && g.asks[first]:
		return unclear // "What are you thinking of"
	case g.dangles[last]:
		return step(mark, open, unclear)
	case listing(body, g), g.begins[first] && words[0] == wordsOf(body)[0] && !strings.Contains(body, ",") && len(words) < 8:
		return step(mark, open, unclear)
	case g.thanks[first] && len(words) <= 3:
		return stated // and often something else
	case len(words) == 1 && mark != '!':
		return unclear // "Bartok." People call a name, and then say what they want.
	case g.asks[first] && len(words) >= 4 && !g.subjects[last]:
		return finished
	case mark != 0 && len(wordsOf(body)) >= much:
		return finished
	case mark != 0:
		return stated
	}
	return unclear
}

// much is how many words one says before one has said what one wanted. Of turns that
// are shorter and sound whole a tenth goes on, of these one in a hundred.
const much = 8

// step is bare for a text without a closing mark and marked for one with.
func step(mark rune, bare, marked sense) sense {
	if mark == 0 {
		return bare
	}
	return marked
}

// lastMark is the mark at the end of text: '.', '?' or '!' closes it, ',' stands for
// all that announce more, 0 for none. body is the text without it.
func lastMark(text string) (mark rune, body string) {
	body = strings.TrimRight(text, "\"'”’»)]* ")
	trimmed := strings.TrimRightFunc(body, func(r rune) bool { return strings.ContainsRune(".?!…,;:-–—。？！，", r) })
	end := body[len(trimmed):]
	switch {
	case end == "":
		return 0, body
	case strings.ContainsAny(end, "?？"):
		mark = '?'
	case strings.ContainsAny(end, "!！"):
		mark = '!'
	case strings.ContainsAny(end, ",;:-–—，…") || strings.Contains(end, ".."):
		mark = ','
	default:
		mark = '.'
	}
	return mark, trimmed
}

// opened reports whether a quotation or a bracket has begun and not ended.
func opened(text string) bool {
	depth, quotes := 0, 0
	for _, r := range text {
		switch r {
		case '(', '[', '„', '«':
			depth++
		case ')', ']', '»':
			depth--
		case '“': // closes in German, opens in English
			if depth > 0 {
				depth--
			} else {
				depth++
			}
		case '”':
			depth--
		case '"':
			quotes++
		}
	}
	return depth > 0 || quotes%2 == 1
}

// lastSentence is what stands behind the last closing mark within s.
func lastSentence(s string) string {
	if i := strings.LastIndexAny(s, ".?!"); i >= 0 && i+1 < len(s) && s[i+1] == ' ' {
		return s[i+1:]
	}
	return s
}

// wordsOf are the words of s in lower case.
func wordsOf(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '’'
	})
}

func isNumber(w string) bool {
	return strings.ContainsFunc(w, unicode.IsDigit) && !strings.ContainsFunc(w, unicode.IsLetter)
}

// listing reports whether s ends in a list whose last item has not been announced by
// an "and": "a rope, two torches".
func listing(s string, g *grammar) bool {
	parts := strings.Split(lastSentence(s), ",")
	if len(parts) < 2 {
		return false
	}
	item := func(w string) bool { return g.items[w] || g.counts[w] || isNumber(w) }
	last := wordsOf(parts[len(parts)-1])
	if len(last) == 0 || len(last) > 4 || !item(last[0]) {
		return false
	}
	// The item before may end what came first: "I take a rope, two torches".
	before := wordsOf(parts[len(parts)-2])
	return slices.ContainsFunc(before[max(0, len(before)-4):], item)
}
