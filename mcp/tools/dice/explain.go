package dice

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is what stands at p.at up to the next space or sign, for messages.
func (p *parser) word() string {
	rest := p.text[p.at:]
	end := strings.IndexFunc(rest, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("+-*/%()[]{},", r)
	})
	switch {
	case end < 0:
		return rest
	case end == 0:
		_, size := utf8.DecodeRuneInString(rest)
		return rest[:size]
	}
	return rest[:end]
}

// before is the last thing that was understood, for messages.
func (p *parser) before() string {
	read := strings.TrimRightFunc(p.text[:p.at], unicode.IsSpace)
	if i := strings.LastIndexFunc(read, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("+-*/%(,{", r)
	}); i >= 0 && i < len(read)-1 {
		_, size := utf8.DecodeRuneInString(read[i:])
		return read[i+size:]
	}
	return read
}

// leftover explains why the text does not go on as it does at p.at.
func (p *parser) leftover() {
	p.skip()
	c := p.peek()
	word := p.word()
	switch {
	case c == ')' || c == '}':
		p.fail(p.at, "a bracket is closed that was never opened", "remove "+string(c))
	case c == ',':
		p.fail(p.at, "a comma stands outside brackets", "put the set in brackets, like (1d6, 1d8)kh1")
	case c == 'd' && !isLetter(p.byteAt(p.at+1)) && !p.isDie(p.at+1):
		p.fail(p.at, "the die has no number of faces", "write d20, for example")
	case c == 'd' && p.at > 0 && strings.ContainsRune(")}", rune(p.text[p.at-1])):
		p.fail(p.at, "the number of dice cannot be calculated", "write it out, like 2d6")
	case c >= '0' && c <= '9' || c == '.' || c == '(' || c == '{' || c == 'd' && p.isDie(p.at+1):
		p.fail(p.at, fmt.Sprintf("a sign is missing between %s and %s", quote(p.before()), quote(word)),
			"put +, - or * between them")
	}
	message := fmt.Sprintf("I did not understand %s after %s", quote(word), quote(p.before()))
	p.fail(p.at, message, didYouMean(word))
}

// comment reports whether rest can be words behind the expression. What looks
// like a mistyped operator is not taken for one.
func (p *parser) comment(rest string) (string, bool) {
	if mark, ok := strings.CutPrefix(rest, "#"); ok {
		return strings.TrimSpace(mark), true
	}
	if !p.comments || rest == "" || p.at == 0 || !unicode.IsSpace(rune(p.text[p.at-1])) {
		return "", false
	}
	first, _, _ := strings.Cut(rest, " ")
	letters := 0
	for _, r := range first {
		if unicode.IsDigit(r) {
			return "", false
		}
		if unicode.IsLetter(r) {
			letters++
		}
	}
	// Dice behind words were meant to be rolled: "two thousand d six".
	later := &speech{words: words(rest)}
	for i, word := range later.words {
		_, faces, glued := strings.Cut(word, "d")
		if _, _, used := later.die(i); used > 0 || glued && isDigits(faces) {
			return "", false
		}
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return rest, unicode.IsLetter(r) && letters > 1
}

// holdsDice reports whether anything in n is rolled. Words behind a plain
// number are no comment: "two apples" is not an expression.
func holdsDice(n node) bool {
	switch n := n.(type) {
	case *dice:
		return true
	case *paren:
		return holdsDice(n.inner)
	case *set:
		return slices.ContainsFunc(n.members, holdsDice)
	case *unary:
		return holdsDice(n.inner)
	case *binary:
		return holdsDice(n.left) || holdsDice(n.right)
	}
	return false
}

// hintComparison explains dice > number, which other tools read as counting
// successes.
func (p *parser) hintComparison(root node) {
	if b, ok := root.(*binary); ok {
		if d, dice := b.left.(*dice); dice && d.count > 1 && strings.ContainsAny(b.op, "<>") {
			p.suggest(fmt.Sprintf("this compares the sum of %s, giving 1 or 0; to keep single dice write k%sN",
				d.text(), b.op[:1]))
		}
	}
}
