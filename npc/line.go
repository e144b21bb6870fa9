package npc

import "unicode/utf8"

const (
	// maxText is the most of an utterance that is read: a minute of fast speech.
	maxText = 1200
	// maxWords is the most words that are read. Who is meant is said in the first
	// words or the last; a monologue longer than this is not a question.
	maxWords = 160
	// maxPhrase is the longest phrase in words that a table may hold.
	maxPhrase = 10
)

// A line is an utterance cut into words and looked up. It is large and lives on
// the stack of whoever reads it, so that reading allocates nothing.
type line struct {
	lang  *language
	n     int
	words [maxWords]word
	// has is every meaning in the line; count is how often those from dice on
	// occur.
	has   meaningSet
	count [meanings - dice]uint8

	text [maxText]byte // folded: lower case, without accents
	size int
	// inertFrom and inertTo are spans of words that say nothing about the topic.
	inertFrom, inertTo [maxInert]uint8
	inerts             int
}

// maxInert is the most inert phrases that are kept of one line.
const maxInert = 16

// A word is a word of a line.
type word struct {
	lo, hi uint16 // in line.text
	// base is where the word ends without a possessive 's.
	base uint16
	// stop is the punctuation that follows: 0, ',' or '.', '?', '!'.
	stop byte
	// quote is set if a quotation opens right before the word.
	quote bool
	// number is set for digits, number words and dice such as 2d6; die for the
	// last of these.
	number, die bool
	// upper is set if it was written with a capital letter.
	upper bool
	known bool
	means meaningSet
}

// end reports whether a sentence ends after the word.
func (w *word) end() bool { return w.stop == '.' || w.stop == '?' || w.stop == '!' }

// str is word i without its possessive. It must not outlive the line.
func (l *line) str(i int) []byte { return l.text[l.words[i].lo:l.words[i].base] }

// full is word i as it was said.
func (l *line) full(i int) []byte { return l.text[l.words[i].lo:l.words[i].hi] }

// is reports whether word i exists and has meaning m.
func (l *line) is(i int, m meaning) bool {
	return i >= 0 && i < l.n && l.words[i].means.has(m)
}

// isAny reports whether word i exists and has one of the meanings of s.
func (l *line) isAny(i int, s meaningSet) bool {
	return i >= 0 && i < l.n && l.words[i].means.any(s)
}

// times is how often m, which is a topic, occurs.
func (l *line) times(m meaning) int { return int(l.count[m-dice]) }

// read cuts text into words and looks them up in lang.
func (l *line) read(lang *language, text string) {
	l.lang = lang
	l.cut(text)
	l.look(&lang.talk)
}

// cut folds text and finds its words.
func (l *line) cut(text string) {
	inWord := false
	quote := false
	upper := false
	start := 0
	finish := func() {
		if inWord {
			l.push(start, quote)
			if l.n > 0 {
				l.words[l.n-1].upper = upper
			}
			inWord, quote = false, false
		}
	}
	mark := func(stop byte) {
		finish()
		if l.n > 0 && rank(stop) > rank(l.words[l.n-1].stop) {
			l.words[l.n-1].stop = stop
		}
	}
	for i := 0; i < len(text) && l.size < maxText-4; {
		c := text[i]
		if c < utf8.RuneSelf {
			i++
			switch {
			case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
			case 'A' <= c && c <= 'Z':
				if !inWord {
					upper = true
				}
				c += 'a' - 'A'
			case c == '\'' || c == '`':
				// An apostrophe belongs to a word only between its letters.
				if !inWord || i >= len(text) || !letter(text[i]) {
					finish()
					continue
				}
				c = '\''
			case c == '%' && inWord && l.text[l.size-1] == 'd': // d%
			case c == '+' || c == '&':
				mark(0)
				continue
			case c == '.' && i < len(text) && letter(text[i]) && inWord: // a.m., amara.org
			case c == '#' || c == '_':
				finish()
				continue
			case c == '-':
				// "two-finger" is two words; a dash between spaces is a pause.
				if inWord {
					finish()
				} else {
					mark(',')
				}
				continue
			default:
				if (c == ',' || c == '.') && inWord && i < len(text) && digit(text[i]) && digit(l.text[l.size-1]) {
					continue // 1,500
				}
				mark(stopOf(c))
				if c == '"' {
					quote = true
				}
				continue
			}
			if !inWord {
				if l.n == maxWords {
					return
				}
				start, inWord, upper = l.size, true, 'A' <= text[i-1] && text[i-1] <= 'Z'
			}
			l.text[l.size] = c
			l.size++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		i += n
		switch r {
		case '’', '‘', 'ʼ', '´':
			if inWord && i < len(text) && (letter(text[i]) || text[i] >= utf8.RuneSelf) {
				l.text[l.size] = '\''
				l.size++
			}
			continue
		case '…', '—', '–', '“', '”', '«', '»', '„', '¿', '¡', '。', '、', '，', '？', '！', '♪', '♫', '·', utf8.RuneError:
			mark(stopOfRune(r))
			quote = quote || r == '“' || r == '„' || r == '«'
			continue
		}
		if !inWord {
			if l.n == maxWords {
				return
			}
			start, inWord = l.size, true
		}
		if f := fold(r); f != "" {
			l.size += copy(l.text[l.size:], f)
		} else {
			l.size += copy(l.text[l.size:], text[i-n:i])
		}
	}
	finish()
}

// push ends the word that began at start.
func (l *line) push(start int, quote bool) {
	if l.n == maxWords || start == l.size {
		return
	}
	w := &l.words[l.n]
	*w = word{lo: uint16(start), hi: uint16(l.size), base: uint16(l.size), quote: quote}
	if t := l.text[start:l.size]; len(t) > 2 && t[len(t)-1] == 's' && t[len(t)-2] == '\'' {
		w.base -= 2
	} else if len(t) > 2 && t[len(t)-1] == '\'' {
		w.base--
	}
	w.number, w.die = numeral(l.text[start:l.size])
	l.n++
}

// numeral reports whether w is written with digits, and whether it is a die as
// in d20 or 2d6.
func numeral(w []byte) (number, die bool) {
	digits := 0
	for i, c := range w {
		switch {
		case digit(c):
			digits++
		case c == 'd' && !die && i < len(w)-1 && (digit(w[i+1]) || w[i+1] == '%'):
			die = true
		case c == '%' && die:
			digits++
		default:
			// 17th, 2nd, 10pm
			return digits > 0 && i == digits && !die, false
		}
	}
	return digits > 0, die
}

// look finds every phrase of lx in the line.
func (l *line) look(lx *lexicon) {
	type hit struct {
		means  meaningSet
		lo, hi uint8
	}
	var hits [64]hit
	n := 0
	for i := range l.n {
		w := &l.words[i]
		e, ok := lx.words[string(l.full(i))]
		if ok {
			w.known = true
		} else if w.base != w.hi {
			e, ok = lx.words[string(l.str(i))]
			w.known = ok
		}
		var node uint32
		switch {
		case ok && e.node != 0:
			node = e.node
		case w.number:
			node = lx.words["#"].node
		}
		if node == 0 {
			continue
		}
		if s := lx.ends[node]; s != 0 {
			w.number = w.number || s.has(number)
			w.means |= s &^ topics
			if n < len(hits) && s.any(topics) {
				hits[n] = hit{s & topics, uint8(i), uint8(i + 1)}
				n++
			}
			if s.has(inert) && l.inerts < maxInert {
				l.inertFrom[l.inerts], l.inertTo[l.inerts] = uint8(i), uint8(i+1)
				l.inerts++
			}
		}
		if ok && !e.more && !w.number {
			continue
		}
		for j := i + 1; j < min(i+maxPhrase, l.n); j++ {
			if l.words[j-1].end() {
				break // no phrase reaches into the next sentence
			}
			next := uint32(0)
			e, ok := lx.words[string(l.full(j))]
			if ok {
				next = lx.steps[uint64(node)<<32|uint64(e.id)]
			}
			if next == 0 && (l.words[j].number || ok && e.node != 0 && lx.ends[e.node].has(number)) {
				next = lx.steps[uint64(node)<<32|anyNumber]
			}
			if next == 0 {
				break
			}
			node = next
			if s := lx.ends[node]; s != 0 {
				for k := i; k <= j; k++ {
					l.words[k].means |= s &^ topics
				}
				if n < len(hits) && s.any(topics) {
					hits[n] = hit{s & topics, uint8(i), uint8(j + 1)}
					n++
				}
				if s.has(inert) && l.inerts < maxInert {
					l.inertFrom[l.inerts], l.inertTo[l.inerts] = uint8(i), uint8(j+1)
					l.inerts++
				}
			}
		}
	}
	for i := range l.n - min(1, l.n) {
		// "two d six", as recognisers write 2d6.
		if w := l.full(i); len(w) == 1 && w[0] == 'd' && l.words[i+1].number && l.words[i].stop == 0 {
			l.words[i].die, l.words[i+1].die = true, true
		}
	}
	for _, h := range hits[:n] {
		if l.covered(int(h.lo), int(h.hi)) {
			continue
		}
		for k := h.lo; k < h.hi; k++ {
			l.words[k].means |= h.means
		}
		for m := dice; m < meanings; m++ {
			if h.means.has(m) && l.count[m-dice] < 255 {
				l.count[m-dice]++
			}
		}
	}
	for i := range l.n {
		l.has |= l.words[i].means
	}
}

// covered reports whether an inert phrase covers the words from lo to hi, or their
// beginning: in "this is the last time I ask", "last time I" says nothing.
func (l *line) covered(lo, hi int) bool {
	for i := range l.inerts {
		from, to := int(l.inertFrom[i]), int(l.inertTo[i])
		if from <= lo && hi <= to || from < lo && lo < to {
			return true
		}
	}
	return false
}

// cut is how names and the phrases of tables become words: exactly as what is
// said does.
func cut(s string) []string {
	var l line
	if s == "#" {
		return []string{"#"}
	}
	var words []string
	// "#" is no word in speech; in a table it is one.
	for part := range splitNumbers(s) {
		if part == "#" {
			words = append(words, part)
			continue
		}
		l = line{}
		l.cut(part)
		for i := range l.n {
			words = append(words, string(l.full(i)))
		}
	}
	return words
}

// splitNumbers yields s in pieces, each "#" being one of its own.
func splitNumbers(s string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for len(s) > 0 {
			i := 0
			for i < len(s) && s[i] != '#' {
				i++
			}
			if i > 0 && !yield(s[:i]) {
				return
			}
			if i < len(s) {
				if !yield("#") {
					return
				}
				i++
			}
			s = s[i:]
		}
	}
}
