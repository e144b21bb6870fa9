package improviser

import (
	"regexp"
	"strconv"
	"strings"
)

// diceShape is an expression in a plain line: an optional number, d, faces, and
// anything that may follow.
var diceShape = regexp.MustCompile(`\b(\d{0,3})d(\d{1,4}|%)((?:kh|kl|dh|dl|k)\d{1,2})?((?:[+-]\d{1,4}|[+-]\d{0,3}d\d{1,4}){0,6})`)

// numbers are those that are said with dice.
var numbers = map[string]int{
	"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
	"ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
	"seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
	"sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100,
	"ein": 1, "eine": 1, "einen": 1, "einem": 1, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7, "acht": 8,
	"neun": 9, "zehn": 10, "elf": 11, "zwölf": 12, "zwanzig": 20,
}

// A throw is a request for dice.
type throw struct {
	expression string
	advantage  string // "", "adv" or "dis"
}

// throwIn finds the dice that a line asks for: "2d6 + 3" as well as "two d six
// plus three" and "a d twenty with advantage".
func throwIn(line string) (throw, bool) {
	line = germanDie.ReplaceAllString(strings.ToLower(line), "${1}d$2")
	p := plain(plusOrMinus.ReplaceAllStringFunc(line, func(s string) string {
		return strings.NewReplacer("+", " plus ", "-", " minus ").Replace(s)
	}))
	var th throw
	switch {
	case has(p, []string{"with advantage", "at advantage", "mit vorteil"}):
		th.advantage = "adv"
	case has(p, []string{"with disadvantage", "at disadvantage", "mit nachteil"}):
		th.advantage = "dis"
	}
	digits := spelled(p)
	if m := diceShape.FindString(digits); m != "" {
		th.expression = strings.ReplaceAll(m, "d%", "d100")
		if strings.HasPrefix(th.expression, "d") {
			th.expression = "1" + th.expression
		}
		if n, _, ok := strings.Cut(th.expression, "d"); ok && has(p, []string{"drop the lowest", "drop lowest", "dropping the lowest"}) {
			if many, err := strconv.Atoi(n); err == nil && many > 1 && !strings.Contains(th.expression, "k") {
				dice, rest, _ := strings.Cut(th.expression, "+")
				th.expression = dice + "kh" + strconv.Itoa(many-1)
				if rest != "" {
					th.expression += "+" + rest
				}
			}
		}
		return th, true
	}
	return th, false
}

var (
	// plusOrMinus are signs that belong to a number; other dashes are pauses.
	plusOrMinus = regexp.MustCompile(`[+-]\s*\d`)
	germanDie   = regexp.MustCompile(`\b(\d{0,3})w(\d{1,4})\b`)
)

// spelled writes number words next to dice words as digits, without spaces.
func spelled(p string) string {
	words := strings.Fields(p)
	var out []string
	value := func(i int) (n, used int) {
		if i >= len(words) {
			return 0, 0
		}
		if n, err := strconv.Atoi(words[i]); err == nil {
			return n, 1
		}
		n, ok := numbers[words[i]]
		if !ok {
			return 0, 0
		}
		if n >= 20 && n < 100 && i+1 < len(words) { // twenty five
			if unit, ok := numbers[words[i+1]]; ok && unit < 10 && words[i+1] != "a" && words[i+1] != "an" {
				return n + unit, 2
			}
		}
		if i+1 < len(words) && words[i+1] == "hundred" && n < 10 { // one hundred
			return n * 100, 2
		}
		return n, 1
	}
	// die is a word that stands for d and its faces: "d", "dee", "die", "w", or
	// with the faces: "d20", "w6".
	die := func(i int) (faces string, used int) {
		if i >= len(words) {
			return "", 0
		}
		w := words[i]
		if w == "d%" || w == "percentile" {
			return "100", 1
		}
		if w == "d" || w == "dee" || w == "w" {
			if n, k := value(i + 1); k > 0 {
				return strconv.Itoa(n), 1 + k
			}
			return "", 0
		}
		if len(w) > 1 && (w[0] == 'd' || w[0] == 'w') {
			f := w[1:]
			if n, err := strconv.Atoi(strings.SplitN(f, "+", 2)[0]); err == nil && n > 0 {
				return f, 1
			}
			if n, ok := numbers[f]; ok {
				return strconv.Itoa(n), 1
			}
		}
		return "", 0
	}
	for i := 0; i < len(words); {
		if faces, used := die(i); used > 0 {
			out = append(out, "d"+faces)
			i += used
			continue
		}
		if n, used := value(i); used > 0 {
			if faces, more := die(i + used); more > 0 {
				out = append(out, strconv.Itoa(n)+"d"+faces)
				i += used + more
				continue
			}
			if i+used < len(words) && isSided(words[i+used]) { // "a twenty sided die"
				out = append(out, "d"+strconv.Itoa(n))
				i += used + 1
				continue
			}
		}
		if sign, ok := signs[words[i]]; ok {
			if n, used := value(i + 1); used > 0 && len(out) > 0 {
				if faces, more := die(i + 1 + used); more > 0 {
					out[len(out)-1] += sign + strconv.Itoa(n) + "d" + faces
					i += 1 + used + more
					continue
				}
				out[len(out)-1] += sign + strconv.Itoa(n)
				i += 1 + used
				continue
			}
			if faces, used := die(i + 1); used > 0 && len(out) > 0 {
				out[len(out)-1] += sign + "1d" + faces
				i += 1 + used
				continue
			}
		}
		out = append(out, words[i])
		i++
	}
	return strings.Join(out, " ")
}

var signs = map[string]string{"plus": "+", "minus": "-", "add": "+", "+": "+", "und": "+"}

func isSided(w string) bool {
	return w == "sided" || w == "sider" || w == "seitigen" || w == "seitiger"
}
