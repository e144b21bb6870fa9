package memory

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Want is the sort of answer that a question asks for.
type Want uint8

// The sorts of answer.
const (
	Anything Want = iota
	Number        // how many, how much, how old
	Moment        // when, how long
	Name          // who, where, which name
)

// wants reads the sort of answer from a question's folded words.
func wants(words []string) Want {
	for i, w := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch {
		case w == "how" && (next == "much" || next == "many" || next == "old"), w == "cost", w == "price":
			return Number
		case w == "when" && i == 0, w == "how" && next == "long", w == "what" && slices.Contains([]string{"day", "time", "year", "month", "date"}, next):
			return Moment
		case w == "who", w == "whose", w == "whom", w == "where", w == "name":
			return Name
		}
	}
	return Anything
}

// fits says whether a text has something of the sort that the question did not
// say itself.
func (w Want) fits(text string, said map[string]bool) bool {
	switch w {
	case Number:
		return slices.ContainsFunc(words(text), func(s string) bool { return numbers[s] || s[0] >= '0' && s[0] <= '9' })
	case Moment:
		return slices.ContainsFunc(words(text), func(s string) bool { return moments[s] || numbers[s] || s[0] >= '0' && s[0] <= '9' })
	case Name:
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
