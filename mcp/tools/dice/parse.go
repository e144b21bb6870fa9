package dice

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Parse reads an expression. It tries the strict grammar with its aliases
// first, then spoken words, then words behind the expression as a comment; the
// error is that of the strict reading, because its column is in what was
// typed. The error is always an [*Error].
func Parse(expr string) (*Expression, error) {
	if n := utf8.RuneCountInString(expr); n > MaxLength {
		return nil, &Error{
			Class: Limit, Column: MaxLength + 1,
			Message: fmt.Sprintf("that is %d characters long, and I read at most %d", n, MaxLength),
			Hint:    "roll it in parts",
		}
	}
	e, strict := parse(expr, false)
	if strict == nil {
		e.source = expr
		return e, nil
	}
	if strict.Class != Syntax {
		return nil, strict
	}
	plain, said := Spoken(expr)
	for _, try := range []struct {
		text     string
		comments bool
	}{{plain, false}, {expr, true}, {plain, true}} {
		if e, err := parse(try.text, try.comments); err == nil {
			e.source = expr
			if try.text == plain {
				e.said = said
			}
			return e, nil
		} else if err.Class != Syntax && try.text == plain {
			// It was understood, it is only too much or has no value.
			err.Column = 1
			return nil, err
		}
	}
	return nil, strict
}

// parse reads text by the grammar; comments allows words behind it.
func parse(text string, comments bool) (_ *Expression, err *Error) {
	p := &parser{text: text}
	defer func() {
		// A parser that returned an error from each of its steps would be
		// twice as long; the panic never leaves this function.
		switch e := recover().(type) {
		case nil:
		case *Error:
			err = e
		default:
			panic(e)
		}
	}()
	if p.skip(); p.at == len(text) {
		p.fail(p.at, "there is nothing to roll", "try 1d20")
	}
	p.comments = comments
	root := p.comparison()
	p.skip()
	e := &Expression{root: root, canonical: root.text()}
	rest := text[p.at:]
	if comment, ok := p.comment(rest); ok && (rest[0] == '#' || holdsDice(root)) {
		e.comment = comment
		rest = ""
	}
	if rest != "" {
		p.leftover()
	}
	p.hintComparison(root)
	e.hint = p.hint
	return e, nil
}

// A parser reads one expression from left to right. It keeps no tokens: the
// meaning of "<" and "d" depends on what came before.
type parser struct {
	text     string
	at       int // byte offset of the next character
	depth    int
	comments bool
	hint     string
}

// fail ends the parse; at is a byte offset.
func (p *parser) fail(at int, message, hint string) {
	panic(&Error{Class: Syntax, Column: p.column(at), Message: message, Hint: hint})
}

func (p *parser) limit(at int, message, hint string) {
	panic(&Error{Class: Limit, Column: p.column(at), Message: message, Hint: hint})
}

// column counts characters, not bytes, from 1.
func (p *parser) column(at int) int { return utf8.RuneCountInString(p.text[:at]) + 1 }

// skip passes over white space.
func (p *parser) skip() {
	for p.at < len(p.text) {
		r, size := utf8.DecodeRuneInString(p.text[p.at:])
		if !unicode.IsSpace(r) {
			return
		}
		p.at += size
	}
}

// peek is the next byte in lower case, after white space, or 0 at the end.
func (p *parser) peek() byte {
	p.skip()
	return p.byteAt(p.at)
}

func (p *parser) byteAt(i int) byte {
	if i >= len(p.text) {
		return 0
	}
	if c := p.text[i]; c < 'A' || c > 'Z' {
		return c
	}
	return p.text[i] + 'a' - 'A'
}

// take consumes s, which is in lower case, if it comes next.
func (p *parser) take(s string) bool {
	p.skip()
	if len(p.text)-p.at < len(s) {
		return false
	}
	for i := range len(s) {
		if p.byteAt(p.at+i) != s[i] {
			return false
		}
	}
	p.at += len(s)
	return true
}

// anyOf consumes the first of ops that comes next. Word processors and phones
// write other signs for minus, times and division; each is followed in ops by
// the sign it stands for.
func (p *parser) anyOf(ops ...string) string {
	for _, op := range ops {
		if p.take(op) {
			return op
		}
	}
	return ""
}

func (p *parser) comparison() node {
	left := p.sum()
	for {
		p.skip()
		at := p.at
		op := p.anyOf("==", ">=", "<=", "!=", "<", ">")
		switch {
		case op != "":
			left = &binary{op: op, left: left, right: p.sum(), column: p.column(at)}
		case p.peek() == '=':
			p.fail(at, "a single equals sign compares nothing", "write == to compare")
		default:
			return left
		}
	}
}

func (p *parser) sum() node {
	left := p.product()
	for {
		p.skip()
		at := p.at
		op := p.sign()
		if op == "" {
			return left
		}
		left = &binary{op: op, left: left, right: p.product(), column: p.column(at)}
	}
}

func (p *parser) sign() string {
	switch op := p.anyOf("+", "-", "−", "–"); op {
	case "−", "–":
		return "-"
	default:
		return op
	}
}

func (p *parser) product() node {
	left := p.signed()
	for {
		p.skip()
		at := p.at
		op := p.anyOf("*", "//", "/", "%", "×", "÷")
		switch op {
		case "":
			return left
		case "*":
			if p.byteAt(p.at) == '*' {
				p.fail(at, "I cannot raise to a power", "multiply instead")
			}
		case "×":
			op = "*"
		case "÷":
			op = "/"
		}
		left = &binary{op: op, left: left, right: p.signed(), column: p.column(at)}
	}
}

// signed reads any number of signs. The loop keeps a long row of them from
// being a deep recursion.
func (p *parser) signed() node {
	var signs []bool
	for s := p.sign(); s != ""; s = p.sign() {
		signs = append(signs, s == "-")
	}
	n := p.atom()
	for _, minus := range slices.Backward(signs) {
		n = &unary{minus: minus, inner: n}
	}
	return n
}

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
