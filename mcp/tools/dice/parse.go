package dice

import (
	"fmt"
	"slices"
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
