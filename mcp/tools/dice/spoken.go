package dice

import (
	"strconv"
	"strings"
	"unicode"
)

// Spoken rewrites what people say, and what speech recognition makes of it,
// as an expression: "a d twenty plus five" becomes "d20 + 5". The advantage is
// what the sentence asked for. Words it does not know stay where they are.
func Spoken(sentence string) (string, Advantage) {
	s := &speech{words: words(sentence)}
	for s.at < len(s.words) {
		s.next()
	}
	return strings.Join(s.said, " "), s.adv
}

// A speech is a sentence on its way to an expression.
type speech struct {
	words []string
	at    int
	said  []string
	adv   Advantage
}

// words splits a sentence in lower case. A hyphen between letters joins words
// ("d-twenty"), anywhere else it is a minus; punctuation behind words goes.
func words(sentence string) []string {
	runes := []rune(strings.ToLower(sentence))
	for i, r := range runes {
		switch {
		case r == '-' && i > 0 && i+1 < len(runes) && unicode.IsLetter(runes[i-1]) && unicode.IsLetter(runes[i+1]):
			runes[i] = ' '
		case (r == ',' || r == '.' || r == '?' || r == '!') && (i+1 == len(runes) || runes[i+1] == ' ') && i > 0 && unicode.IsLetter(runes[i-1]):
			runes[i] = ' '
		}
	}
	return strings.Fields(string(runes))
}

// word is the nth word from here, "" behind the end.
func (s *speech) word(n int) string {
	if s.at+n >= len(s.words) {
		return ""
	}
	return s.words[s.at+n]
}

// say emits part of the expression for the next n words.
func (s *speech) say(n int, part string) {
	s.at += n
	if part != "" {
		s.said = append(s.said, part)
	}
}

// next understands as many words as belong together.
func (s *speech) next() {
	w := s.word(0)
	switch {
	case s.advantage(), s.filler(), s.dice(), s.keep():
		return
	}
	switch w {
	case "plus", "add":
		s.say(1, "+")
		return
	case "minus", "subtract", "less":
		s.say(1, "-")
		return
	case "times":
		s.say(1, "*")
		return
	case "multiplied", "divided":
		if s.word(1) == "by" {
			s.say(2, map[string]string{"multiplied": "*", "divided": "/"}[w])
			return
		}
	case "exploding", "explodes", "explode":
		s.attach(1, "!")
		return
	case "reroll", "rerolling":
		if n, used := cardinal(s.words[s.at+1:]); used > 0 {
			s.attach(1+used, "ro"+strconv.Itoa(n))
			return
		}
	}
	if n, used := cardinal(s.words[s.at:]); used > 0 && !isDigits(w) {
		s.say(used, strconv.Itoa(n))
		return
	}
	s.say(1, w)
}

// attach adds an operator to the dice before it.
func (s *speech) attach(n int, op string) {
	if last := len(s.said) - 1; last >= 0 {
		s.said[last] += op
		s.at += n
		return
	}
	s.say(n, op)
}

// advantage understands "with advantage", "at disadvantage" and the bare word.
func (s *speech) advantage() bool {
	n := 0
	switch s.word(0) {
	case "with", "at", "having":
		n = 1
	}
	if n == 1 && s.word(1) == "a" {
		n = 2
	}
	switch s.word(n) {
	case "advantage", "adv":
		s.adv = WithAdvantage
	case "disadvantage", "dis", "disadv":
		s.adv = WithDisadvantage
	default:
		return false
	}
	s.at += n + 1
	return true
}

// fillers are said before dice and mean nothing.
var fillers = map[string]bool{
	"roll": true, "rolls": true, "rolling": true, "please": true, "give": true, "me": true, "us": true,
	"throw": true, "make": true, "let's": true, "lets": true, "i": true, "i'll": true, "i'd": true, "like": true,
	"want": true, "to": true, "can": true, "could": true, "you": true, "a": true, "an": true, "the": true,
	"okay": true, "ok": true, "uh": true, "um": true, "now": true, "just": true, "so": true,
}

// filler drops a word that means nothing: anywhere before the first dice,
// articles directly before any.
func (s *speech) filler() bool {
	w := s.word(0)
	if !fillers[w] {
		return false
	}
	if _, _, used := s.die(0); used > 0 {
		return false // "to d six"
	}
	if len(s.said) > 0 {
		if _, _, used := s.die(1); used == 0 || w != "a" && w != "an" && w != "the" {
			return false
		}
	}
	s.at++
	return true
}

// dice understands a count and a die.
func (s *speech) dice() bool {
	count, die, used := s.die(0)
	if used == 0 {
		return false
	}
	s.say(used, count+die)
	return true
}

// die reads a count and a die that start n words from here; used is how many
// words they take, 0 when there are none.
func (s *speech) die(n int) (count, die string, used int) {
	rest := s.words[min(s.at+n, len(s.words)):]
	if len(rest) == 0 {
		return "", "", 0
	}
	if die, used = face(rest); used > 0 {
		return "", die, used
	}
	c, took := cardinal(rest)
	if took == 0 {
		c, took = homophones[rest[0]], 1
		if c == 0 {
			return "", "", 0
		}
	}
	if die, used = face(rest[took:]); used > 0 {
		return strconv.Itoa(c), die, took + used
	}
	return "", "", 0
}

// homophones are what recognition writes for a number; they count only
// directly before a die.
var homophones = map[string]int{"to": 2, "too": 2, "for": 4, "won": 1, "ate": 8, "tree": 3, "a": 1, "an": 1}

// face reads one die without its count: "d twenty", "d20", "twenty sided die",
// "percentile dice", "fate dice".
func face(rest []string) (die string, used int) {
	if len(rest) == 0 {
		return "", 0
	}
	w := rest[0]
	switch w {
	case "d", "dee", "de", "d's", "ds":
		if len(rest) > 1 {
			switch rest[1] {
			case "percent", "percentile":
				return "d100", 2
			}
		}
		if n, took := cardinal(rest[1:]); took > 0 {
			return "d" + strconv.Itoa(n), 1 + took
		}
	case "percentile", "percentiles":
		return "d100", 1 + count(rest[1:], "die", "dice", "roll")
	case "fate", "fudge":
		if took := count(rest[1:], "die", "dice"); took > 0 {
			return "dF", 1 + took
		}
	}
	if after, ok := strings.CutPrefix(w, "d"); ok && after != "" {
		if isDigits(after) {
			return w, 1
		}
		// "dtwenty", "dtwenty five" is too odd to guess at.
		if n, took := cardinal([]string{after}); took > 0 {
			return "d" + strconv.Itoa(n), 1
		}
	}
	if n, took := cardinal(rest); took > 0 && len(rest) > took && strings.HasPrefix(rest[took], "side") {
		return "d" + strconv.Itoa(n), took + 1 + count(rest[took+1:], "die", "dice", "one")
	}
	return "", 0
}

// count is 1 when the first word is one of those, else 0.
func count(rest []string, words ...string) int {
	for _, w := range words {
		if len(rest) > 0 && rest[0] == w {
			return 1
		}
	}
	return 0
}

// keep understands "keep the highest three" and "drop the lowest".
func (s *speech) keep() bool {
	var op string
	switch s.word(0) {
	case "keep", "keeping", "take", "taking":
		op = "k"
	case "drop", "dropping", "discard", "discarding", "without", "lose":
		op = "p"
	default:
		return false
	}
	n := 1
	if s.word(n) == "the" {
		n++
	}
	number, took := cardinal(s.words[min(s.at+n, len(s.words)):])
	n += took
	switch s.word(n) {
	case "highest", "high", "best", "top", "higher", "better":
		op += "h"
	case "lowest", "low", "worst", "bottom", "lower", "worse":
		op += "l"
	default:
		return false
	}
	n++
	if took == 0 {
		number, took = cardinal(s.words[min(s.at+n, len(s.words)):])
		n += took
	}
	if took == 0 {
		number = 1
	}
	switch s.word(n) {
	case "die", "dice", "one", "ones", "roll":
		n++
	}
	s.attach(n, op+strconv.Itoa(number))
	return true
}

var units = map[string]int{
	"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
	"ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
	"seventeen": 17, "eighteen": 18, "nineteen": 19,
	"ones": 1, "twos": 2, "threes": 3, "fours": 4, "fives": 5, "sixes": 6, "sixs": 6, "eights": 8, "tens": 10, "twelves": 12,
}

var tens = map[string]int{
	"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
	"twenties": 20,
}

// cardinal reads a number in words or digits: "five", "twenty five", "a
// hundred", "3". used is how many words it takes, 0 when there is none.
func cardinal(rest []string) (n, used int) {
	if len(rest) == 0 {
		return 0, 0
	}
	if isDigits(rest[0]) {
		n, err := strconv.Atoi(rest[0])
		if err != nil {
			return 0, 0
		}
		return n, 1
	}
	n, used = small(rest)
	if used == 0 && (rest[0] == "a" || rest[0] == "hundred") && count(rest[min(1, len(rest)):], "hundred")+count(rest, "hundred") > 0 {
		n = 1
		if rest[0] == "a" {
			used = 1
		}
	}
	if (used > 0 || n == 1) && used < len(rest) && (rest[used] == "hundred" || rest[used] == "hundreds") {
		n *= 100
		used++
		after := rest[used:]
		skip := count(after, "and")
		if more, took := small(after[skip:]); took > 0 {
			n += more
			used += skip + took
		}
	}
	return n, used
}

// small reads a number below one hundred in words.
func small(rest []string) (n, used int) {
	if len(rest) == 0 {
		return 0, 0
	}
	if n, ok := tens[rest[0]]; ok {
		if len(rest) > 1 {
			if u, ok := units[rest[1]]; ok && u > 0 && u < 10 {
				return n + u, 2
			}
		}
		return n, 1
	}
	if n, ok := units[rest[0]]; ok {
		return n, 1
	}
	return 0, 0
}

func isDigits(s string) bool {
	for _, r := range s {
		if r < '0' || r > '9' {
			return false
		}
	}
	return s != ""
}
