package dice

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// operatorNames are the operators and their aliases, longest first so that min
// is not read as mi. The alias dl1 of other tools is Avrae's pl1.
var operatorNames = []string{"min", "max", "rr", "ro", "ra", "mi", "ma", "dl", "dh", "k", "p", "e", "!", "d"}

// operator consumes an operator's name if one comes next; onDice says that it
// stands behind dice and not behind a set.
func (p *parser) operator(onDice bool) string {
	p.skip()
	start := p.at
	for _, name := range operatorNames {
		if !p.take(name) {
			continue
		}
		if name == "!" && p.byteAt(p.at) == '=' {
			p.at = start // a comparison
			return ""
		}
		// 4d6d1 drops one die; 4d6 d8 misses a plus.
		if name == "d" && (!onDice || start == 0 || p.text[start-1] == ' ' || !p.digitAt(p.at)) {
			p.at = start
			return ""
		}
		return name
	}
	return ""
}

func (p *parser) digitAt(i int) bool { c := p.byteAt(i); return c >= '0' && c <= '9' }

// ops reads the operators of d, or of a set when d is nil, and merges equal
// neighbours as Avrae does.
func (p *parser) ops(d *dice) []operation {
	var all []operation
	for {
		p.skip()
		at := p.at
		name := p.operator(d != nil)
		if name == "" {
			p.at = at
			p.refuseReroll(d)
			return all
		}
		op, ok := p.operation(name, d, at)
		if !ok {
			p.at = at
			return all
		}
		last := len(all) - 1
		if last >= 0 && all[last].op == op.op && op.op != "mi" && op.op != "ma" {
			all[last].picks = append(all[last].picks, op.picks...)
			continue
		}
		all = append(all, op)
	}
}

// operation reads the selector behind an operator's name. It reports false
// where a comment may start instead, as in "1d20 keep watch".
func (p *parser) operation(name string, d *dice, at int) (operation, bool) {
	op := operation{op: name, column: p.column(at)}
	if d == nil && !strings.Contains("k p dl dh d", name) {
		if p.comments && isLetter(p.byteAt(p.at)) {
			return op, false
		}
		p.fail(at, fmt.Sprintf("%s works on dice only, not on a set", quote(name)), "a set takes k and p")
	}
	switch name {
	case "min", "max":
		op.op = name[:2]
	case "d", "dl":
		op.op = "p"
		op.picks = []selector{{'l', p.optional(1)}}
		return op, true
	case "dh":
		op.op = "p"
		op.picks = []selector{{'h', p.optional(1)}}
		return op, true
	case "!":
		op.op = "e"
		op.picks = []selector{p.explosion(d, at)}
		return op, true
	}
	pick, ok := p.selector(op.op, at)
	if !ok {
		return op, false
	}
	if (op.op == "mi" || op.op == "ma") && pick.cat != 0 {
		panic(&Error{
			Class: Value, Column: op.column,
			Message: fmt.Sprintf("%s takes a plain number", quote(op.op)),
			Hint:    fmt.Sprintf("write %s%d", op.op, pick.n),
		})
	}
	if op.op == "k" && pick.cat == 0 && d != nil && d.count > pick.n && pick.n > 0 {
		p.suggest(fmt.Sprintf("k%d keeps the dice that show %d; for the %d highest write kh%d", pick.n, pick.n, pick.n, pick.n))
	}
	op.picks = []selector{pick}
	return op, true
}

// optional reads a number if there is one; kh alone is kh1 in other tools.
func (p *parser) optional(otherwise int) int {
	if p.digitAt(p.at) {
		return p.whole("")
	}
	return otherwise
}

// selector reads what an operator picks.
func (p *parser) selector(op string, at int) (selector, bool) {
	c := p.peek()
	switch {
	case c == 'h' || c == 'l':
		p.at++
		if p.skip(); p.digitAt(p.at) {
			return selector{c, p.whole(op + string(c))}, true
		}
		// A bare kh is kh1 elsewhere; followed by more letters it is no
		// operator at all.
		if (op == "k" || op == "p") && !isLetter(p.byteAt(p.at)) {
			return selector{c, 1}, true
		}
	case c == '<' || c == '>':
		p.at++
		if p.byteAt(p.at) == '=' {
			return selector{}, p.strictly(op, c, at)
		}
		return selector{c, p.whole(op + string(c))}, true
	case c >= '0' && c <= '9':
		return selector{0, p.whole(op)}, true
	}
	if p.comments {
		return selector{}, false
	}
	p.at = at
	word := p.word()
	if strings.EqualFold(word, op) {
		p.fail(at, fmt.Sprintf("%s does not say which dice", quote(word)), "did you mean "+completed(op)+"?")
	}
	p.fail(at, fmt.Sprintf("I did not understand %s after %s", quote(word), quote(p.before())), didYouMean(word))
	return selector{}, false
}

// strictly refuses >= in a selector with the strict spelling of it.
func (p *parser) strictly(op string, c byte, at int) bool {
	p.at++
	n := p.whole(op + string(c) + "=")
	if c == '>' {
		n--
	} else {
		n++
	}
	p.fail(at, fmt.Sprintf("selectors know %s only without equals", quote(string(c))),
		fmt.Sprintf("did you mean %s%c%d?", op, c, n))
	return false
}

// explosion reads what follows an exclamation mark: nothing, or the compare
// point of Roll20, which includes the number itself.
func (p *parser) explosion(d *dice, at int) selector {
	switch c := p.byteAt(p.at); {
	case c == '!' || c == 'p':
		p.fail(at, "compounding and penetrating dice are not known here", "a single ! explodes")
	case c == '>':
		p.at++
		n := p.whole("!>")
		if n == 0 {
			p.fail(at, "every die shows 0 or more", "write the lowest number that explodes, like !>5")
		}
		p.suggest(fmt.Sprintf("!>%d explodes on %d and above, as on Roll20", n, n))
		return selector{'>', n - 1}
	case c == '<':
		p.at++
		n := p.whole("!<")
		p.suggest(fmt.Sprintf("!<%d explodes on %d and below, as on Roll20", n, n))
		return selector{'<', n + 1}
	case p.digitAt(p.at):
		return selector{0, p.whole("!")}
	}
	return selector{0, highest(d.faces)}
}

// refuseReroll explains r1, which rerolls once in one tool and for ever in
// another.
func (p *parser) refuseReroll(d *dice) {
	if d == nil || p.peek() != 'r' || isLetter(p.byteAt(p.at+1)) || p.comments {
		return
	}
	word := p.word()
	n := strings.TrimLeft(word[1:], " ")
	if n == "" {
		n = "1"
	}
	p.fail(p.at, fmt.Sprintf("%s can mean two things", quote(word)),
		fmt.Sprintf("write ro%s to reroll once or rr%s to reroll until it no longer shows", n, n))
}

// completed is an example of an operator with a selector.
func completed(op string) string {
	switch op {
	case "k":
		return "kh1"
	case "p":
		return "pl1"
	case "e":
		return "e6"
	case "mi":
		return "mi2"
	case "ma":
		return "ma5"
	}
	return op + "1"
}

// didYouMean suggests the operator nearest to what was typed.
func didYouMean(word string) string {
	word = strings.ToLower(word)
	letters := strings.TrimRight(word, "0123456789")
	n := word[len(letters):]
	if len(letters) == 0 || len(letters) > 4 {
		return ""
	}
	if n == "" {
		n = "1"
	}
	if _, err := strconv.Atoi(n); err != nil {
		return ""
	}
	near := map[byte]string{'k': "kh", 'd': "dl", 'p': "pl", 'r': "ro", 'e': "e", 'm': "mi", 'h': "kh", 'l': "kl", 'x': "e"}
	candidates := []string{"kh", "kl", "ph", "pl", "rr", "ro", "ra", "mi", "ma"}
	if slices.Contains(candidates, letters) {
		return ""
	}
	if s, ok := near[letters[0]]; ok {
		return "did you mean " + s + n + "?"
	}
	return ""
}
