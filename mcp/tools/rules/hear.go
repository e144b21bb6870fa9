package rules

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
)

// A match is a name that was heard in the words from to to.
type match struct {
	called
	from, to int
	length   int // of the words in letters
	like     float64
}

// byName looks for names in windows of neighbouring words: "fire ball" is
// heard as one word, "counter spell" too. Of overlapping names the longer and
// better one counts: in "un canny dodge" nobody dodges.
func (s *search) byName() {
	whole := s.meaning(0, len(s.words))
	for from := range s.words {
		for n := 1; n <= maxWindow && from+n <= len(s.words); n++ {
			window := s.words[from : from+n]
			joined := strings.Join(window, "")
			if len(joined) < 3 || len(joined) > 30 || n == 1 && stopWords[joined] {
				continue
			}
			if exact := s.ix.exact[joined]; len(exact) > 0 {
				for _, c := range exact {
					like := 1.0
					if s.meaning(from, from+n) == whole && n < 4 {
						like = 1.15 // the question is nothing but the name
					}
					s.heard = append(s.heard, match{c, from, from + n, len(joined), like})
				}
				continue
			}
			// A name may be heard to end in a small word ("hold purse on"), but of
			// two words neither is small: "healing work" is no spell.
			if !stopWords[window[0]] && (n > 2 || !stopWords[window[n-1]]) || slices.ContainsFunc(window, func(w string) bool { return !s.known(w) }) {
				s.alike(joined, from, from+n)
			}
		}
	}
	slices.SortStableFunc(s.heard, func(a, b match) int { return cmp.Compare(b.weight(), a.weight()) })
	covered := make([]float64, len(s.words))
	var rewritten []match
	for _, m := range s.heard {
		over := 0.0
		for i := m.from; i < m.to; i++ {
			over = max(over, covered[i])
		}
		credit := m.credit()
		switch {
		case over > m.weight()*1.15:
			credit *= 0.35 // a part of something that was heard better
		case over == 0:
			rewritten = append(rewritten, m)
		}
		for i := m.from; i < m.to; i++ {
			covered[i] = max(covered[i], m.weight())
		}
		if !m.primary {
			credit *= 0.85
		}
		s.named[m.entry] = max(s.named[m.entry], credit)
	}
	s.rewrite(rewritten)
}

// credit is what hearing the name is worth.
func (m match) credit() float64 { return m.like * m.like * m.says }

// meaning counts the words from to to that are no stop words.
func (s *search) meaning(from, to int) int {
	n := 0
	for _, w := range s.words[from:to] {
		if !stopWords[w] {
			n++
		}
	}
	return n
}

// weight decides between names heard in the same words: the one that explains
// more of them.
func (m match) weight() float64 { return m.credit() * (1 + float64(m.length)/12) }

// rewrite puts the words of the names that were heard in the place of those
// that were recognized, so that the rest of the search sees them whole.
func (s *search) rewrite(heard []match) {
	slices.SortFunc(heard, func(a, b match) int { return a.from - b.from })
	var words []string
	next := 0
	for _, m := range heard {
		words = append(words, s.words[next:m.from]...)
		if m.joined == strings.Join(s.words[m.from:m.to], "") && m.to-m.from == 1 {
			words = append(words, s.words[m.from])
		} else {
			words = append(words, split(m.name)...)
		}
		next = m.to
	}
	s.words = append(words, s.words[next:]...)
}

// known reports whether some entry has the word.
func (s *search) known(w string) bool { return stopWords[w] || len(s.ix.postings[stem(w)]) > 0 }

// alike finds names that sound like the words from to to. Words that mean
// something need a closer likeness than those that recognition has visibly
// broken.
func (s *search) alike(joined string, from, to int) {
	// Short words sound like everything, unless they are none at all.
	shortest := 5
	if to-from == 1 && !s.known(joined) {
		shortest = 4
	}
	if len(joined) < shortest {
		return
	}
	heard := sound(joined)
	if heard == "" {
		return
	}
	floor := 0.74
	broken := 0
	for _, w := range s.words[from:to] {
		if !s.known(w) || len(w) < 3 && !stopWords[w] {
			broken++
		}
	}
	switch {
	case broken == 0 && to-from == 1:
		floor = 0.9
	case broken == 0:
		floor = 0.77
	case len(joined) < 8, to-from == 1:
		floor = 0.78
	}
	set := letterSet(joined)
	for _, first := range firsts(heard[0]) {
		for _, c := range s.ix.names[first] {
			if len(c.joined) < shortest || len(c.heard)-len(heard) > 2 || len(heard)-len(c.heard) > 2 ||
				bits.OnesCount32(set^c.letters) > 2+len(joined)/3 {
				continue
			}
			if like := similarity(joined, c.joined, heard, c.heard); like >= floor && alikeWithoutSmallWords(s.words[from:to], c) {
				s.heard = append(s.heard, match{c, from, to, len(joined), like})
			}
		}
	}
}

// alikeWithoutSmallWords keeps "talk to the mayor" from being heard as "talk to
// the dead" for the words that they share by accident.
func alikeWithoutSmallWords(window []string, c called) bool {
	if c.bare == c.joined {
		return true
	}
	bare := withoutSmallWords(window)
	return similarity(bare, c.bare, sound(bare), sound(c.bare)) >= 0.6
}

// withoutSmallWords joins the words that mean something.
func withoutSmallWords(words []string) string {
	var b strings.Builder
	for _, w := range words {
		if !stopWords[w] {
			b.WriteString(w)
		}
	}
	return b.String()
}

// letterSet has a bit for each letter that occurs.
func letterSet(s string) uint32 {
	var set uint32
	for i := range len(s) {
		set |= 1 << (s[i] & 31)
	}
	return set
}

// firsts are the first sounds to look under: recognition confuses w and nothing
// at the beginning of a word, and a hard g with a soft one.
func firsts(c byte) []byte {
	switch c {
	case 'W':
		return []byte{'W', 'A'}
	case 'A':
		return []byte{'A', 'W'}
	case 'J', 'K':
		return []byte{'J', 'K'}
	}
	return []byte{c}
}
