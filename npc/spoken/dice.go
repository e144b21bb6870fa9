package spoken

import (
	"regexp"
	"strconv"
	"strings"
)

// number matches a number in digits or in words.
const number = `(\d{1,4}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty(?:[ -](?:one|two|three|four|five|six|seven|eight|nine))?|thirty(?:[ -](?:one|two|three|four|five|six|seven|eight|nine))?|forty|fifty|eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|dreizehn|vierzehn|fünfzehn|sechzehn|siebzehn|achtzehn|neunzehn|zwanzig|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|trece|catorce|quince|dieciséis|diecisiete|dieciocho|diecinueve|veinte)`

// stop is what may follow a number that was rolled; "rolled three barrels" is no
// claim.
const stop = `(?:\s*(?:$|[.,!?;:)…*"—-])|\s+(?:on|for|to|and|plus|total|in total|altogether|friend|love|dear|damage|points|against|with|from|so|which|that|natural|my|exactly|again|this|then|but|it|you|he|she|auf|und|con|en|en total)\b)`

// claims are ways to say what dice showed; their last group is the number.
var claims = []*regexp.Regexp{
	re(`\b(?:roll(?:s|ed|ing)?|threw|throws?|cast|got|gets?|scored?)\s+(?:you\s+|me\s+|us\s+|myself\s+|up\s+)?an?\s+(?:natural\s+|total of\s+|solid\s+|mighty\s+|whopping\s+|clean\s+|lucky\s+|dirty\s+|nat\s+)?` + number + stop),
	re(`\broll(?:s|ed)?\s+(?:of\s+)?` + number + stop),
	re(`\b(?:dice|die|bones|d\d+|cup|knuckles|roll|result|total)\b[^.!?]{0,40}?\b(?:show|shows|showed|say|says|said|read|reads|is|was|are|come|comes|came|land|lands|landed|give|gives|gave|turn|turns|turned|make|makes|made|of|:|=)\s+(?:up\s+|out\s+|as\s+|on\s+|to\s+|you\s+|me\s+|be\s+)*(?:an?\s+)?` + number + stop),
	re(`\b(?:natural|nat)\s+` + number + `\b`),
	re(`\b(?:that's|that is|it's|it is|there's|comes to|makes|totals?(?:\s+of|:)?)\s+(?:an?\s+)?` + number + `\s+(?:on the (?:die|dice|bones)|to hit|total|in total|all told|altogether)`),
	re(`\ban?\s+` + number + `\s+(?:on the (?:die|dice|bones)|to hit)`),
	re(`\b\d*d\d+(?:\s*[+-]\s*\d+)*\s*(?:=|is|gives|makes|comes to|:|→|->)\s*(?:\[?[\d,\s+]*\]?\s*=\s*)?` + number),
	re(`\b(?:würfl?e|würfelt|gewürfelt|geworfen|wurf)\b[^.!?]{0,30}?\b(?:eine?n?\s+)?` + number + stop),
	re(`\b` + number + `\s+gewürfelt`),
	re(`\b(?:he sacado|saco|saca|sale|salió|tirada de|los dados (?:dicen|marcan|muestran))\s+(?:un\s+|una\s+)?` + number + stop),
	re(`\b(?:würfel|knochen)\b[^.!?]{0,20}?\b(?:zeigen|zeigt|sagen|fallen auf)\s+(?:eine?\s+)?` + number + stop),
}

var (
	expression = re(`\b(\d*\s*d\s*\d+(?:\s*[+-]\s*\d+)?)\b`)
	asking     = re(`\b(?:need|needs|needed|must|have to|should|if you|would|could|beat|at least|want|to roll|when)\b`)
)

// dice holds what is said to have been rolled against what was. A claim without
// any roll gets a real one if the dice are known, or the sentence is struck.
func (f *Filter) dice(s string, r *Result) string {
	if !mayRoll(s) {
		return s
	}
	for range 8 { // more claims in one sentence are nonsense
		at, n := f.claim(s)
		if at == nil {
			return s
		}
		_ = n
		total, ok := f.lastTotal, len(f.rolled) > 0
		if !ok && f.o.Roll != nil {
			e := strings.ReplaceAll(expression.FindString(s), " ", "")
			if e == "" {
				e = "1d20"
			}
			if total, ok = f.o.Roll(e); ok {
				f.Rolled(total)
			}
		}
		if !ok {
			r.strike(s, "the result of a roll that did not happen")
			return ""
		}
		r.strike(s[at[0]:at[1]], "the result of a roll that did not happen")
		s = s[:at[0]] + strconv.Itoa(total) + s[at[1]:]
	}
	return s
}

// mayRoll reports whether s may speak of dice at all; most sentences do not.
func mayRoll(s string) bool {
	s = strings.ToLower(s)
	for _, w := range []string{"roll", "dice", "die ", "die.", "bones", "natural", "nat ", "würf", "dado", "sacado", "threw", "throw", "knochen", "tirada", "got a", "get a", "to hit", "cup", "geworfen", "wurf"} {
		if strings.Contains(s, w) {
			return true
		}
	}
	return expression.MatchString(s)
}

// claim finds the first number that is said to have been rolled and was not.
func (f *Filter) claim(s string) (at []int, n int) {
	for _, c := range claims {
		for _, m := range c.FindAllStringSubmatchIndex(s, 8) {
			if len(m) < 4 || m[2] < 0 || asking.MatchString(s[:m[2]]) {
				continue
			}
			n, ok := value(s[m[2]:m[3]])
			if ok && !f.rolled[n] {
				return m[2:4], n
			}
		}
	}
	return nil, 0
}

// value is the number that s spells.
func value(s string) (int, bool) {
	s = strings.ToLower(s)
	if n, err := strconv.Atoi(s); err == nil {
		return n, true
	}
	total, found := 0, false
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '-' }) {
		n, ok := numerals[w]
		if !ok {
			return 0, false
		}
		total, found = total+n, true
	}
	return total, found
}

var numerals = func() map[string]int {
	m := map[string]int{"thirty": 30, "forty": 40, "fifty": 50}
	for _, list := range []string{
		"zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty",
		"null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn zwanzig",
		"cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve veinte",
	} {
		for i, w := range strings.Fields(list) {
			m[w] = i
		}
	}
	return m
}()
