package rules

import (
	"slices"
	"strings"
	"unicode"
)

// stopWords carry no meaning in a question about rules. They are also the ones
// that speech recognition adds and loses.
var stopWords = set(`a about am an and any are aren't as at be been being but by can cannot can't could did do does
 doesn't doing don't for from get gets getting give gives got had has have having he her here hers him his how i if i'd i'll
 i'm in into is isn't it it's its just let let's like make makes may me mean means might must my now of okay on one's or our
 out please rule rules say says she should so some somebody someone something tell than that that's the their them then there
 these they thing things this those to uh um up us want was we were what what's when where which while who whom whose why
 will with would work working works you your yours happen happens happened again back does exactly explain need
 know dnd d&d 5e uh-huh hey took`)

func set(words string) map[string]bool {
	m := make(map[string]bool)
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// numbers are written as digits, so that "three quarters" and "3/4" meet.
var numbers = map[string]string{
	"zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8",
	"nine": "9", "ten": "10", "eleven": "11", "twelve": "12", "fifteen": "15", "sixteen": "16", "twenty": "20",
	"thirty": "30", "first": "1", "second": "2", "third": "3", "sixth": "6", "1st": "1", "2nd": "2", "3rd": "3",
}

// split cuts text into lower-case words of letters and digits. Apostrophes are
// dropped: recognition writes "hunters mark" as often as "hunter's mark".
func split(text string) []string {
	var words []string
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			words = append(words, b.String())
			b.Reset()
		}
	}
	for _, r := range strings.ToLower(text) {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		case r == '\'' || r == '’':
		default:
			flush()
		}
	}
	flush()
	return words
}

// spell writes abbreviations out, so that "0 hp" meets "zero hit points".
func spell(words []string) []string {
	for i := 0; i < len(words); i++ {
		if words[i] == "hp" {
			words = slices.Replace(words, i, i+1, "hit", "points")
		}
	}
	return words
}

// terms are the stems of the words that mean something.
func terms(text string) []string {
	var out []string
	for _, w := range split(text) {
		if !stopWords[w] {
			out = append(out, stem(w))
		}
	}
	return out
}

// suffixes are cut off in this order; what is left must keep four letters, or
// three where the suffix is a plain s. The list is short on purpose: too
// little stemming costs a synonym, too much mixes up rules.
var suffixes = []struct {
	end, put string
	keep     int
}{
	{"sses", "ss", 2}, {"ations", "", 4}, {"ation", "", 4}, {"ating", "", 4}, {"ated", "", 4}, {"ates", "", 4},
	{"ions", "ion", 3}, {"ies", "y", 2}, {"ied", "y", 2}, {"ings", "", 3}, {"ing", "", 3}, {"edly", "", 3}, {"ed", "", 3},
	{"ers", "er", 3}, {"es", "", 3}, {"ate", "", 4},
}

// stem reduces a word to what its forms share.
func stem(w string) string {
	if n, ok := numbers[w]; ok {
		return n
	}
	w = strings.Replace(w, "our", "or", 1) // armour, colour
	if strings.HasSuffix(w, "ise") || strings.HasSuffix(w, "yse") || strings.HasSuffix(w, "ised") || strings.HasSuffix(w, "ysed") {
		i := strings.LastIndexByte(w, 's')
		w = w[:i] + "z" + w[i+1:]
	}
	for _, s := range suffixes {
		if strings.HasSuffix(w, s.end) && len(w)-len(s.end) >= s.keep {
			w = w[:len(w)-len(s.end)] + s.put
			if s.put == "" {
				w = undouble(w)
			}
			return strings.TrimSuffix(w, "e")
		}
	}
	if len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is") {
		w = w[:len(w)-1]
	}
	if len(w) > 4 {
		w = strings.TrimSuffix(w, "e")
	}
	return w
}

// undouble mends what cutting -ing leaves: "swimm", "stopp".
func undouble(w string) string {
	n := len(w)
	if n > 3 && w[n-1] == w[n-2] && strings.IndexByte("bdgmnprt", w[n-1]) >= 0 {
		return w[:n-1]
	}
	return w
}

// means are other words for what people say, as stems: irregular forms, and
// the words of the table for those of the book.
var means = meanings(`fell fall: falling | held hold holding grabbed: grapple | threw throw: thrown improvised |
 hid hidden: hide | shot shoot shooting fire firing arrows: ranged | caught: catch | broke kick bash smash: break objects |
 ran run: dash | stood stand: prone | swam: swim | swinging swing: attack | punch kick fist: unarmed | wrestle wrestling pin: grapple |
 sleeping asleep sleep: unconscious long | bandage: stabilize | price expensive worth buy pay: cost | weight weigh heavy pounds: carry |
 air breath breathe breathing: suffocating | tied bound tie: restrained | dark: darkness | experience: xp | dying bleeding: stabilize zero |
 dagger sword knife: weapon | ambush unaware: surprise | quiet sneaking sneak: stealth | lies lying liar lie: insight deception |
 footprints tracks: survival | easy hard: difficulty | everyone party group: group |
 afraid scared: frightened | invisibility: invisible | poison: poisoned | zombies skeletons zombie skeleton: undead |
 inn tavern: lifestyle | walk away flee fleeing escape: disengage | narrow tunnel corridor: squeeze | mug bottle chair: improvised |
 pulling draw drawing: object | trigger soon wait waiting: ready`)

// meanings reads "said said: meant meant | …".
func meanings(table string) map[string][]string {
	m := make(map[string][]string)
	for line := range strings.SplitSeq(table, "|") {
		said, meant, _ := strings.Cut(line, ":")
		for w := range strings.FieldsSeq(said) {
			for other := range strings.FieldsSeq(meant) {
				if stem(other) != stem(w) {
					m[stem(w)] = append(m[stem(w)], stem(other))
				}
			}
		}
	}
	return m
}
