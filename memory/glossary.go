package memory

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits on names. More than the hot set of a scene only makes ordinary words
// sound like somebody: with 2,000 names one line in six would be harmed.
const (
	maxNames     = 500
	maxNameWords = 4
	maxNameBytes = 64
)

// How alike two names must sound. At 0.84, 200 names change fewer than one word
// in a thousand that should have stayed; windows made of ordinary words alone
// need more, because they mean something already.
const (
	soundsAlike   = 0.84
	ordinaryExtra = 0.08
	lettersAlike  = 0.60
)

// A Correction is one change that [Glossary.Correct] made.
type Correction struct {
	// Start and End are the place in the text before, in bytes.
	Start, End int
	Heard      string
	Name       string
	// Likeness is from [soundsAlike] to 1.
	Likeness float64
}

// A Glossary knows the names of a scene and finds them where a recogniser has
// written something that sounds like them. It is immutable and safe for
// concurrent use.
type Glossary struct {
	names []glossaryName
	// bySkeleton finds names by their consonants, and by their consonants with
	// any one left out: two skeletons that differ in one consonant share a key.
	bySkeleton map[string][]int32
	// whole are the folded names and their words, which are right already.
	whole map[string]string
	// taught are mishearings that somebody wrote down, folded.
	taught   map[string]string
	maxWords int
}

type glossaryName struct {
	name    string
	letters []byte // folded and joined
	sound   []byte
	words   int
}

// NewGlossary takes the names that may come up: of characters, places and
// things, with their aliases. "Grimjaw the Smith" is also known as "Grimjaw".
// Empty and overlong names are left out, as is everything after the first 500.
func NewGlossary(names []string) *Glossary {
	g := &Glossary{bySkeleton: map[string][]int32{}, whole: map[string]string{}}
	for _, name := range names {
		g.add(name)
	}
	for _, name := range names {
		for _, w := range strings.FieldsFunc(name, func(r rune) bool { return unicode.IsSpace(r) }) {
			w = strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) })
			folded := words(w)
			if len(folded) != 1 {
				continue
			}
			if !ordinary([]byte(folded[0])) && len(folded[0]) >= 4 {
				g.add(w)
			}
			// Whatever is part of a name must not become another one.
			if _, ok := g.whole[folded[0]]; !ok {
				g.whole[folded[0]] = ""
			}
		}
	}
	return g
}

// Teach adds something that recognition makes of a name. Unlike what is only
// alike it is always replaced, so it should not be something people say. At most
// 500 are kept; those longer than four words are left out.
func (g *Glossary) Teach(heard, name string) {
	ws := words(heard)
	if key := strings.Join(ws, " "); key != "" && len(ws) <= maxNameWords && len(g.taught) < maxNames && g.whole[key] == "" {
		if g.taught == nil {
			g.taught = map[string]string{}
		}
		g.taught[key] = name
		g.maxWords = max(g.maxWords, len(ws))
	}
}

func (g *Glossary) add(name string) {
	ws := words(name)
	letters := []byte(strings.Join(ws, ""))
	key := strings.Join(ws, " ")
	if len(letters) < 3 || len(letters) > maxNameBytes || len(ws) > maxNameWords || len(g.names) >= maxNames || g.whole[key] != "" {
		return
	}
	g.whole[key] = name
	if len(letters) < 4 {
		return // too short to be told apart by sound
	}
	n := int32(len(g.names))
	g.names = append(g.names, glossaryName{name, letters, sound(nil, letters), len(ws)})
	g.maxWords = max(g.maxWords, len(ws))
	eachKey(skeleton(nil, g.names[n].sound), func(key []byte) bool {
		if list := g.bySkeleton[string(key)]; len(list) == 0 || list[len(list)-1] != n {
			g.bySkeleton[string(key)] = append(list, n)
		}
		return true
	})
}

// A token is a word of a line: where it stands and its folded letters.
type token struct {
	start, end int
	letters    []byte
	ordinary   bool
	// bound says that nothing but space or a hyphen stands before it, so that it
	// may belong to the same name as the word before.
	bound bool
}

// Correct returns the text with misheard names put right, and what was changed.
// Words that mean something already are only replaced together with others.
func (g *Glossary) Correct(text string) (string, []Correction) {
	if g == nil || len(g.names)+len(g.taught) == 0 || len(text) > MaxText {
		return text, nil
	}
	tokens := tokenize(text)
	var found []Correction
	var scratch scratch
	for i := 0; i < len(tokens); {
		c, used := g.at(text, tokens[i:], &scratch)
		if used == 0 {
			i++
			continue
		}
		if c.Heard != c.Name {
			found = append(found, c)
		}
		i += used
	}
	if len(found) == 0 {
		return text, nil
	}
	var b strings.Builder
	last := 0
	for _, c := range found {
		b.WriteString(text[last:c.Start])
		b.WriteString(c.Name)
		last = c.End
	}
	b.WriteString(text[last:])
	return b.String(), found
}

// scratch is memory that the windows of one line share.
type scratch struct {
	letters, sound, skeleton []byte
	tried                    []int32
	row, next                []float64
}

// at looks for a name that begins with the first token and says how many tokens
// it takes. A name that is there as it should be is found too, so that nothing
// inside it is changed.
func (g *Glossary) at(text string, tokens []token, s *scratch) (best Correction, used int) {
	longest := 0
	for n := min(len(tokens), g.maxWords+1); n >= 1; n-- {
		if !joined(tokens[:n]) {
			continue
		}
		if longest == 0 {
			longest = n
		}
		start, end := tokens[0].start, tokens[n-1].end
		k := key(tokens[:n], s)
		if name, ok := g.taught[k]; ok {
			return Correction{start, end, text[start:end], name, 1}, n
		}
		if name, ok := g.whole[k]; ok && (name != "" || n == 1) {
			heard := text[start:end]
			if name == "" || allOrdinary(tokens[:n]) || !plainCase(heard) {
				name = heard // it may be the word that is meant
			}
			return Correction{start, end, heard, name, 1}, n
		}
	}
	for n := longest; n >= 1; n-- {
		name, likeness := g.like(tokens[:n], s)
		if likeness > best.Likeness {
			start, end := tokens[0].start, tokens[n-1].end
			best, used = Correction{start, end, text[start:end], name, likeness}, n
		}
	}
	return best, used
}

// plainCase says whether a text has no capitals, as some recognisers write.
func plainCase(s string) bool { return strings.ToLower(s) == s }

func allOrdinary(tokens []token) bool {
	return !slices.ContainsFunc(tokens, func(t token) bool { return !t.ordinary })
}

func joined(tokens []token) bool {
	for _, t := range tokens[1:] {
		if !t.bound {
			return false
		}
	}
	return true
}

func key(tokens []token, s *scratch) string {
	s.letters = s.letters[:0]
	for i, t := range tokens {
		if i > 0 {
			s.letters = append(s.letters, ' ')
		}
		s.letters = append(s.letters, t.letters...)
	}
	return string(s.letters)
}

// like returns the name that a window of words sounds like, if it sounds enough
// like it.
func (g *Glossary) like(tokens []token, s *scratch) (name string, likeness float64) {
	need := soundsAlike
	switch {
	case allOrdinary(tokens):
		if len(tokens) == 1 || slices.ContainsFunc(tokens, small) {
			return "", 0 // "silver and" is no Sylvaranth
		}
		need += ordinaryExtra
	case small(tokens[0]) || small(tokens[len(tokens)-1]):
		// "to Bartok" and "Bartok is" contain the name, they do not sound like it.
		need += ordinaryExtra
	}
	s.letters = s.letters[:0]
	for _, t := range tokens {
		s.letters = append(s.letters, t.letters...)
	}
	if len(s.letters) < 4 || len(s.letters) > maxNameBytes {
		return "", 0
	}
	s.sound = sound(s.sound[:0], s.letters)
	s.skeleton = skeleton(s.skeleton[:0], s.sound)
	s.tried = s.tried[:0]
	eachKey(s.skeleton, func(k []byte) bool {
		for _, n := range g.bySkeleton[string(k)] {
			if slices.Contains(s.tried, n) {
				continue
			}
			s.tried = append(s.tried, n)
			if l := g.names[n].likeness(s); l >= need && l > likeness {
				name, likeness = g.names[n].name, l
			}
		}
		return len(s.tried) < 64 // a glossary of names that all sound the same
	})
	if likeness > 0 && plural(s.letters, name) {
		return "", 0
	}
	return name, likeness
}

// small says whether a token is one of the little words between names.
func small(t token) bool { return stopWords[string(t.letters)] }

// plural says whether the letters are a name with an s: more of its kind.
func plural(letters []byte, name string) bool {
	n := len(letters) - 1
	return letters[n] == 's' && string(letters[:n]) == strings.Join(words(name), "")
}

// likeness compares a window with a name, from 0 to 1.
func (n glossaryName) likeness(s *scratch) float64 {
	if len(s.sound) == 0 || class(s.sound[0]) != class(n.sound[0]) {
		return 0 // people mishear beginnings least
	}
	longest := max(len(s.sound), len(n.sound))
	d := distance(s.sound, n.sound, s)
	alike := 1 - d/float64(longest)
	if alike < soundsAlike || overlap(s.letters, n.letters) < lettersAlike {
		return 0
	}
	return alike
}

// distance is the edit distance between two sounds, in consonants: vowels are
// misheard freely, and consonants for their neighbours.
func distance(a, b []byte, s *scratch) float64 {
	if cap(s.row) < len(b)+1 {
		s.row, s.next = make([]float64, len(b)+32), make([]float64, len(b)+32)
	}
	row, next := s.row[:len(b)+1], s.next[:len(b)+1]
	row[0] = 0
	for j := range b {
		row[j+1] = row[j] + weightOf(b[j])
	}
	for i := range a {
		next[0] = row[0] + weightOf(a[i])
		for j := range b {
			next[j+1] = min(row[j+1]+weightOf(a[i]), next[j]+weightOf(b[j]), row[j]+swap(a[i], b[j]))
		}
		row, next = next, row
	}
	return row[len(b)]
}

func weightOf(c byte) float64 {
	if c == 'a' || c == 'h' {
		return 0.35
	}
	return 1
}

// swap is what hearing one sound for another costs.
func swap(a, b byte) float64 {
	switch {
	case a == b:
		return 0
	case class(a) == class(b):
		return 0.45
	case a == 'a' || b == 'a':
		return 1.2
	}
	return 1
}

// class groups sounds that are made in the same place.
func class(c byte) byte {
	switch c {
	case 'b', 'p':
		return 'p'
	case 'd', 't':
		return 't'
	case 'g', 'k':
		return 'k'
	case 's', 'x', 'j':
		return 's'
	case 'm', 'n':
		return 'n'
	case 'w', 'f':
		return 'f'
	}
	return c
}

// skeleton appends the classes of a sound's consonants, which is what remains of
// a name however badly it was heard.
func skeleton(dst, sound []byte) []byte {
	for i, c := range sound {
		if c == 'a' && i > 0 || c == 'h' && i > 0 || c == 'y' && i > 0 {
			continue
		}
		if k := class(c); len(dst) == 0 || dst[len(dst)-1] != k {
			dst = append(dst, k)
		}
	}
	return dst
}

// eachKey yields a skeleton and its variants with one sound left out, except the
// first. It stops when yield says so.
func eachKey(s []byte, yield func(key []byte) bool) {
	if !yield(s) || len(s) < 3 || len(s) > 31 {
		return
	}
	var key [32]byte
	for i := 1; i < len(s); i++ {
		n := copy(key[:], s[:i])
		n += copy(key[n:], s[i+1:])
		if !yield(key[:n]) {
			return
		}
	}
}

// overlap is how many of the letters two names share in order, from 0 to 1. It
// guards against names that sound alike on paper only.
func overlap(a, b []byte) float64 {
	var row [maxNameBytes + 1]int
	for i := range a {
		diagonal := 0
		for j := range b {
			above := row[j+1]
			if a[i] == b[j] {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(row[j+1], row[j])
			}
			diagonal = above
		}
	}
	return 2 * float64(row[len(b)]) / float64(len(a)+len(b))
}

// tokenize finds the words of a line. The 's of a possessive is left outside its
// word, so that a correction keeps it.
func tokenize(text string) []token {
	tokens := make([]token, 0, len(text)/5+1)
	last := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !unicode.IsLetter(r) {
			i += size
			continue
		}
		start := i
		for i < len(text) {
			r, size = utf8.DecodeRuneInString(text[i:])
			if !unicode.IsLetter(r) && !unicode.Is(unicode.Mn, r) && !apostropheAt(text, i) {
				break
			}
			i += size
		}
		end := start + len(possessive(text[start:i]))
		letters := []byte(fold(text[start:end]))
		contraction := contracted(letters)
		letters = bytes.ReplaceAll(letters, []byte("'"), nil)
		tokens = append(tokens, token{start, end, letters, contraction || len(letters) < 3 || ordinary(letters),
			!contraction && len(tokens) > 0 && gap(text[last:start])})
		last = end
	}
	return tokens
}

// contracted says whether a folded word is one like aren't or you'll.
func contracted(w []byte) bool {
	i := bytes.LastIndexByte(w, '\'')
	return i > 0 && joinApostrophe(string(w)) == string(bytes.ReplaceAll(w[:i], []byte("'"), nil))
}

// apostropheAt says whether text[i:] begins with an apostrophe inside a word.
func apostropheAt(text string, i int) bool {
	rest, ok := strings.CutPrefix(text[i:], "'")
	if !ok {
		rest, ok = strings.CutPrefix(text[i:], "’")
	}
	if !ok {
		return false
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return unicode.IsLetter(r)
}

func possessive(w string) string {
	for _, tail := range [...]string{"'s", "’s", "'S", "’S"} {
		if cut, ok := strings.CutSuffix(w, tail); ok && cut != "" {
			return cut
		}
	}
	return w
}

// gap says whether what stands between two words lets them be one name.
func gap(between string) bool {
	return len(between) <= 2 && strings.Trim(between, " -") == ""
}
