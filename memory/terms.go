package memory

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxTerm bounds a word, in bytes; what is longer is noise, not language.
const maxTerm = 64

// Terms turns text into the terms under which it is indexed and found: folded
// to lower case without accents, irregular forms put right, stemmed. Text is
// analysed here and not in the database so that every store finds the same.
// Terms consist of letters and digits only.
func Terms(text string) []string {
	ws := words(text)
	for i, w := range ws {
		ws[i] = term(w)
	}
	return ws
}

// term is the indexed form of a folded word.
func term(w string) string {
	if base, ok := irregular[w]; ok {
		w = base
	}
	if len(w) > 3 && letters(w) && !ordinary([]byte(w)) {
		if s := stem(w); s == w || len(s) < 4 || !ordinary([]byte(s)) {
			return foreign(w)
		}
	}
	return stem(w)
}

// changesHead says whether a word's term may begin otherwise than the word.
func changesHead(w string) bool {
	if _, ok := irregular[w]; ok || strings.HasPrefix(w, "ge") {
		return true
	}
	_, ok := foreignIrregular[w]
	return ok
}

// letters says whether a folded word is made of the letters a to z alone.
func letters(w string) bool {
	for i := range len(w) {
		if w[i] < 'a' || w[i] > 'z' {
			return false
		}
	}
	return true
}

// words are the folded words of a text, in order. Scripts that are written
// without spaces give their characters in overlapping pairs.
func words(text string) []string {
	out := make([]string, 0, len(text)/6+1)
	for _, w := range strings.FieldsFunc(fold(text), notWord) {
		w = joinApostrophe(w)
		if w == "" {
			continue
		}
		if strings.ContainsFunc(w, unspaced) {
			out = append(out, pairs(w)...)
			continue
		}
		if len(w) > maxTerm {
			w = strings.ToValidUTF8(w[:maxTerm], "")
		}
		out = append(out, w)
	}
	return out
}

func notWord(r rune) bool {
	return r != '\'' && !unicode.IsLetter(r) && !unicode.IsNumber(r)
}

// fold makes text comparable: compatibility forms and accents gone, lower case.
func fold(text string) string {
	if isASCII(text) {
		return strings.ToLower(text)
	}
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r):
			return -1
		case r == '’' || r == 'ʼ' || r == '`':
			return '\''
		case r == 'ß':
			return 's'
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(text))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// joinApostrophe makes one word of G'nar and drops the ending of dragon's and
// don't, which carries no meaning to search for.
func joinApostrophe(w string) string {
	w = strings.Trim(w, "'")
	i := strings.LastIndexByte(w, '\'')
	if i < 0 {
		return w
	}
	switch w[i+1:] {
	case "s", "t", "d", "m", "ll", "re", "ve":
		w = w[:i]
	}
	return strings.ReplaceAll(w, "'", "")
}

// unspaced says whether a script is written without spaces between words.
func unspaced(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

func pairs(w string) []string {
	rs := []rune(w)
	if len(rs) == 1 {
		return []string{w}
	}
	out := make([]string, 0, len(rs)-1)
	for i := range rs[:len(rs)-1] {
		out = append(out, string(rs[i:i+2]))
	}
	return out
}

// content says whether a folded word is worth searching for.
func content(w string) bool { return !stopWords[w] }

var stopWords = set(`a about after again all also am an and any anybody anyone anything are as at be
because been before being both but by can could did didn do does doesn doing
don down during each few for from further get got had has hasn have haven having
he her here hers him his how i if in into is isn it its itself just let like ll
me more most much many must my myself no nor not now of off oh ok okay on once only or other our
ours out over own really s same she should shouldn so some somebody someone something such t than that the
their theirs them then there these they this those through to too um under until
up us ve very was wasn we well were weren what when where which while who whom
whose why will with won would wouldn yeah yes you your yours yourself please tell`)

// irregular maps forms that no stemmer brings together to their base.
var irregular = func() map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(`arise arose arisen
awake awoke awoken
bear bore borne
beat beaten
become became
begin began begun
bend bent
bet bets
bind bound
bite bit bitten
bleed bled
blow blew blown
break broke broken
breed bred
bring brought
build built
burn burnt
buy bought
catch caught
child children
choose chose chosen
come came
creep crept
deal dealt
dig dug
draw drew drawn
dream dreamt
drink drank drunk
drive drove driven
dwarf dwarves
eat ate eaten
elf elves
fall fell fallen
feed fed
feel felt
fight fought
find found
flee fled
fly flew flown flies
foot feet
forget forgot forgotten
forgive forgave forgiven
freeze froze frozen
give gave given
go went gone goes
goose geese
grow grew grown
half halves
hang hung
hear heard
hide hid hidden
hold held
keep kept
kneel knelt
knife knives
know knew known
lay laid
lead led
leaf leaves
leap leapt
learn learnt
leave left
lend lent
life lives
light lit
lose lost
make made
man men
mean meant
meet met
mouse mice
pay paid
person people
prove proven
ride rode ridden
ring rang rung
rise rose risen
run ran
say said
see saw seen
seek sought
sell sold
send sent
shake shook shaken
shelf shelves
shine shone
shoot shot
show shown
sing sang sung
sink sank sunk
sit sat
slay slew slain
sleep slept
slide slid
speak spoke spoken
spend spent
spin spun
stand stood
steal stole stolen
stick stuck
strike struck stricken
swear swore sworn
sweep swept
swim swam swum
swing swung
take took taken
teach taught
tear tore torn
tell told
thief thieves
think thought
throw threw thrown
tooth teeth
understand understood
wake woke woken
wear wore worn
weave wove woven
weep wept
wife wives
win won
wind wound
wolf wolves
woman women
write wrote written
bad worse worst
good better best
mom mum mother
dad father
kid child
photo picture pic
begin start
buy purchase
`) {
		f := strings.Fields(line)
		for _, form := range f[1:] {
			if _, taken := m[form]; !taken {
				m[form] = f[0]
			}
		}
	}
	return m
}()

func set(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}
