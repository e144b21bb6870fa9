package memory

import "strings"

// stem is M. F. Porter's "An algorithm for suffix stripping" (1980) with the
// author's later corrections. Words that are not plain lower-case ASCII come
// back as they are: their endings are not English.
func stem(w string) string {
	if len(w) <= 2 {
		return w
	}
	for i := range len(w) {
		if w[i] < 'a' || w[i] > 'z' {
			return w
		}
	}
	s := stemmer(w)
	s.plural()
	s.past()
	s.finalY()
	s.replace(step2)
	s.replace(step3)
	s.strip()
	s.finalE()
	return string(s)
}

type stemmer []byte

// consonant says whether letter i sounds as one; y does after a vowel.
func (s stemmer) consonant(i int) bool {
	switch s[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return false
	case 'y':
		return i == 0 || !s.consonant(i-1)
	}
	return true
}

// measure counts the vowel-consonant sequences of the first n letters.
func (s stemmer) measure(n int) int {
	m, vowel := 0, false
	for i := range n {
		if s.consonant(i) {
			if vowel {
				m++
			}
			vowel = false
		} else {
			vowel = true
		}
	}
	return m
}

func (s stemmer) hasVowel(n int) bool {
	for i := range n {
		if !s.consonant(i) {
			return true
		}
	}
	return false
}

func (s stemmer) has(suffix string) bool {
	return len(s) >= len(suffix) && string(s[len(s)-len(suffix):]) == suffix
}

func (s stemmer) doubled() bool {
	n := len(s)
	return n >= 2 && s[n-1] == s[n-2] && s.consonant(n-1)
}

// short says whether the first n letters end consonant, vowel, consonant, the
// last not being w, x or y: hop, not how.
func (s stemmer) short(n int) bool {
	if n < 3 || !s.consonant(n-3) || s.consonant(n-2) || !s.consonant(n-1) {
		return false
	}
	c := s[n-1]
	return c != 'w' && c != 'x' && c != 'y'
}

// cut takes n letters off the end and puts tail there.
func (s *stemmer) cut(n int, tail string) { *s = append((*s)[:len(*s)-n], tail...) }

// Step 1a.
func (s *stemmer) plural() {
	switch {
	case s.has("sses"):
		s.cut(2, "")
	case s.has("ies"):
		s.cut(2, "")
	case s.has("ss"):
	case s.has("s"):
		s.cut(1, "")
	}
}

// Step 1b.
func (s *stemmer) past() {
	switch {
	case s.has("eed"):
		if s.measure(len(*s)-3) > 0 {
			s.cut(1, "")
		}
		return
	case s.has("ed") && s.hasVowel(len(*s)-2):
		s.cut(2, "")
	case s.has("ing") && s.hasVowel(len(*s)-3):
		s.cut(3, "")
	default:
		return
	}
	switch {
	case s.has("at"), s.has("bl"), s.has("iz"):
		s.cut(0, "e")
	case s.doubled() && !s.has("l") && !s.has("s") && !s.has("z"):
		s.cut(1, "")
	case s.measure(len(*s)) == 1 && s.short(len(*s)):
		s.cut(0, "e")
	}
}

// Step 1c.
func (s *stemmer) finalY() {
	if s.has("y") && s.hasVowel(len(*s)-1) {
		s.cut(1, "i")
	}
}

// replace applies the first rule whose suffix fits, if the stem before it is
// long enough. Longer suffixes come first in the lists.
func (s *stemmer) replace(rules [][2]string) {
	for _, r := range rules {
		if s.has(r[0]) {
			if s.measure(len(*s)-len(r[0])) > 0 {
				s.cut(len(r[0]), r[1])
			}
			return
		}
	}
}

var step2 = [][2]string{{"ational", "ate"}, {"ization", "ize"}, {"fulness", "ful"},
	{"ousness", "ous"}, {"iveness", "ive"}, {"tional", "tion"}, {"biliti", "ble"},
	{"entli", "ent"}, {"ousli", "ous"}, {"ation", "ate"}, {"alism", "al"}, {"aliti", "al"},
	{"iviti", "ive"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"}, {"alli", "al"},
	{"ator", "ate"}, {"logi", "log"}, {"bli", "ble"}, {"eli", "e"}}

var step3 = [][2]string{{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"},
	{"ical", "ic"}, {"ness", ""}, {"ful", ""}}

var step4 = strings.Fields("ement ance ence able ible ment ant ent ism ate iti ous ive ize ion al er ic ou")

// Step 4.
func (s *stemmer) strip() {
	for _, suffix := range step4 {
		if !s.has(suffix) {
			continue
		}
		n := len(*s) - len(suffix)
		if s.measure(n) > 1 && (suffix != "ion" || n > 0 && ((*s)[n-1] == 's' || (*s)[n-1] == 't')) {
			s.cut(len(suffix), "")
		}
		return
	}
}

// Step 5.
func (s *stemmer) finalE() {
	if s.has("e") {
		n := len(*s) - 1
		if m := s.measure(n); m > 1 || m == 1 && !s.short(n) {
			s.cut(1, "")
		}
	}
	if s.has("ll") && s.measure(len(*s)) > 1 {
		s.cut(1, "")
	}
}
