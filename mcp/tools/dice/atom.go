package dice

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// atom reads dice, a bracket or a number, with operators and labels.
func (p *parser) atom() node {
	c := p.peek()
	start := p.at
	switch {
	case c == '(' || c == '{':
		return p.bracket()
	case c == 'd' && p.isDie(p.at+1):
		return p.dice(1, start)
	case c >= '0' && c <= '9' || c == '.':
		return p.numeral()
	case c == 0:
		p.fail(p.at, "the expression ends too early", "a number or dice is missing at the end")
	case c == ')' || c == '}' || c == ',':
		p.fail(p.at, fmt.Sprintf("a number or dice is missing before %s", quote(string(c))), "")
	case c == 'd':
		p.fail(p.at, "the die has no number of faces", "write d20, for example")
	}
	word := p.word()
	p.fail(p.at, "I did not understand "+quote(word), "write dice like 2d6+3")
	return nil
}

// isDie reports whether faces of a die stand at i: a number, % or F.
func (p *parser) isDie(i int) bool {
	for i < len(p.text) && (p.text[i] == ' ' || p.text[i] == '\t') {
		i++
	}
	switch c := p.byteAt(i); c {
	case '%':
		return true
	case 'f':
		return p.endsFate(i + 1)
	default:
		return c >= '0' && c <= '9'
	}
}

// endsFate reports whether the F of a fate die can end at i: 4dF and 4dFkh3 are
// dice, "defend" is not.
func (p *parser) endsFate(i int) bool {
	from := i
	for isLetter(p.byteAt(i)) {
		i++
	}
	if i == from {
		return true
	}
	op := strings.TrimRight(strings.ToLower(p.text[from:i]), "hl")
	c := p.byteAt(i)
	return slices.Contains(operatorNames, op) && (c >= '0' && c <= '9' || c == '<' || c == '>')
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= utf8.RuneSelf }

// numeral reads a number, or the dice that it counts.
func (p *parser) numeral() node {
	start := p.at
	digits := p.digits()
	if p.byteAt(p.at) == '.' {
		p.at++
		fraction := p.digits()
		if digits == "" && fraction == "" {
			p.fail(start, "a point alone is no number", "")
		}
		text := strings.TrimSuffix(p.text[start:p.at], ".")
		if strings.HasPrefix(text, ".") {
			text = "0" + text
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || v > maxNumber {
			p.limit(start, "that number is too big", "")
		}
		return &literal{value: v, point: true, labels: p.labels(false)}
	}
	if p.peek() == 'd' && p.isDie(p.at+1) {
		n, err := strconv.Atoi(digits)
		if err != nil || n > MaxDice {
			p.limit(start, fmt.Sprintf("I roll at most %d dice at once", MaxDice), "roll fewer dice")
		}
		return p.dice(n, start)
	}
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil || v > maxNumber {
		p.limit(start, "that number is too big", "")
	}
	return &literal{value: v, labels: p.labels(false)}
}

// digits consumes the digits that come next, without skipping space.
func (p *parser) digits() string {
	start := p.at
	for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
		p.at++
	}
	return p.text[start:p.at]
}

// whole reads a whole number that must come next.
func (p *parser) whole(after string) int {
	p.skip()
	start := p.at
	digits := p.digits()
	if digits == "" {
		p.fail(start, fmt.Sprintf("a number is missing after %s", quote(after)), "")
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n > maxNumber {
		p.limit(start, "that number is too big", "")
	}
	return n
}

// bracket reads a set or a value in brackets. Braces are Roll20's and mean the
// same here.
func (p *parser) bracket() node {
	start := p.at
	closing := ")"
	if p.text[p.at] == '{' {
		closing = "}"
	}
	p.at++
	if p.depth++; p.depth > MaxNesting {
		p.limit(start, fmt.Sprintf("brackets stand more than %d deep", MaxNesting), "use fewer brackets")
	}
	var members []node
	single := true
	for !p.take(closing) {
		if p.peek() == 0 {
			p.fail(start, "a bracket is never closed", "add "+closing+" at the end")
		}
		members = append(members, p.comparison())
		if single = !p.take(","); single && p.peek() != closing[0] {
			if p.peek() == 0 {
				p.fail(start, "a bracket is never closed", "add "+closing+" at the end")
			}
			p.leftover()
		}
	}
	p.depth--
	// The last loop left single true only when no comma came after the last
	// member: (x) is that value, (x,) a set.
	if len(members) == 1 && single {
		return &paren{inner: members[0], ops: p.ops(nil), labels: p.labels(true)}
	}
	return &set{members: members, ops: p.ops(nil), labels: p.labels(true)}
}

// dice reads the die after the count, and its operators.
func (p *parser) dice(count, start int) node {
	p.take("d")
	p.skip()
	d := &dice{count: count, column: p.column(start)}

	at := p.at
	switch {
	case p.take("%"):
		d.faces = tensDie
		p.suggest("d% is the tens die, 0 to 90; for 1 to 100 roll d100")
	case p.take("f"):
		d.faces = fateDie
	default:
		d.faces = p.whole("d")
		if d.faces > MaxFaces {
			p.limit(at, fmt.Sprintf("a die has at most %d faces", MaxFaces), "")
		}
	}
	if d.faces == 0 && count > 0 {
		panic(&Error{
			Class: Value, Column: p.column(at),
			Message: "a die with no faces cannot be rolled", Hint: "try d6",
		})
	}
	d.name = dieName(d.faces)
	d.ops = p.ops(d)
	d.labels = p.labels(true)
	return d
}

// labels reads the annotations in square brackets; operated says that an
// operator behind them would have belonged before them.
func (p *parser) labels(operated bool) labels {
	var all strings.Builder
	for p.peek() == '[' {
		end := strings.IndexByte(p.text[p.at:], ']')
		if end < 0 {
			p.fail(p.at, "a label is never closed", "add ] after it")
		}
		all.WriteString(p.text[p.at : p.at+end+1])
		p.at += end + 1
	}
	if all.Len() > 0 && operated && !p.comments {
		at := p.at
		if op := p.operator(true); op != "" && strings.ContainsAny(p.text[p.at:min(p.at+3, len(p.text))], "0123456789") {
			p.fail(at, "the operator "+quote(op)+" stands behind a label", "put the label last, like 4d6kh3[fire]")
		}
		p.at = at
	}
	return labels{all.String()}
}

// suggest keeps the first hint.
func (p *parser) suggest(hint string) {
	if p.hint == "" {
		p.hint = hint
	}
}
