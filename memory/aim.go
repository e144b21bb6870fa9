package memory

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// An aim is the sort of answer that a question asks for.
type aim uint8

const (
	anything aim = iota
	aNumber      // how many, how much, how old
	aMoment      // when, how long
	aName        // who, where, which name
)

// aimOf reads the sort of answer from a question's folded words.
func aimOf(words []string) aim {
	for i, w := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch {
		case w == "how" && (next == "much" || next == "many" || next == "old"), w == "cost", w == "price":
			return aNumber
		case w == "when" && i == 0, w == "how" && next == "long", w == "what" && slices.Contains([]string{"day", "time", "year", "month", "date"}, next):
			return aMoment
		case w == "who", w == "whose", w == "whom", w == "where", w == "name":
			return aName
		}
	}
	return anything
}

// fits says whether a text has something of the sort that the question did not
// say itself.
func (a aim) fits(text string, said map[string]bool) bool {
	switch a {
	case aNumber:
		return slices.ContainsFunc(words(text), func(s string) bool { return numbers[s] || s[0] >= '0' && s[0] <= '9' })
	case aMoment:
		return slices.ContainsFunc(words(text), func(s string) bool { return moments[s] || numbers[s] || s[0] >= '0' && s[0] <= '9' })
	case aName:
		first := true // a sentence's first word is capitalised anyway
		for f := range strings.FieldsSeq(text) {
			r, _ := utf8.DecodeRuneInString(f)
			if ws := words(f); !first && unicode.IsUpper(r) && len(ws) > 0 && len(ws[0]) > 1 && !said[ws[0]] {
				return true
			}
			first = strings.ContainsAny(f[len(f)-1:], `.!?:"`)
		}
	}
	return false
}

var numbers = set(`one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million
half dozen couple pair once twice`)

var moments = set(`yesterday today tonight tomorrow ago last next week weeks weekend month months year years day days
hour hours minute minutes monday tuesday wednesday thursday friday saturday sunday january february march april may june
july august september october november december morning evening night noon midnight dawn dusk spring summer autumn
fall winter recently soon since`)
