package console

import (
	"hash/maphash"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// tintCount is how many colours the style sheet has for speakers.
const tintCount = 12

// maxTints is more people than any table sees; later ones get a colour by chance.
const maxTints = 500

// tints gives each person a colour in the order of their appearance, so that the
// first twelve never share one. The zero value is ready.
type tints struct {
	mu   sync.Mutex // guards all below
	of   map[string]int
	seed maphash.Seed
}

// class is the person's colour, as a class of the style sheet.
func (t *tints) class(id string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of, t.seed = map[string]int{}, maphash.MakeSeed()
	}
	n, ok := t.of[id]
	switch {
	case ok:
	case len(t.of) < maxTints:
		n = len(t.of) % tintCount
		t.of[id] = n
	default:
		n = int(maphash.String(t.seed, id) % tintCount)
	}
	return "tint-" + string(rune('a'+n))
}

// initials are the first letters of the first two words that carry a name:
// "Greymantle the Sage" is GS.
func initials(name string) string {
	var out []rune
	for w := range strings.FieldsSeq(name) {
		r, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }))
		if r == utf8.RuneError || (len(out) > 0 && unicode.IsLower(r)) {
			continue
		}
		if out = append(out, unicode.ToUpper(r)); len(out) == 2 {
			break
		}
	}
	if len(out) == 0 {
		return "?"
	}
	return string(out)
}
