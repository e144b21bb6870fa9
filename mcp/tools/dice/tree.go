package dice

import (
	"strconv"
	"strings"
)

// A node is one part of a parsed expression. Nodes never change once parsed.
type node interface {
	// text is the node in strict spelling, with Avrae's spacing.
	text() string
	// label is what was written in square brackets behind the node, brackets
	// included.
	label() string
}

// labels is embedded by the nodes that can carry one.
type labels struct{ tag string }

func (l labels) label() string { return l.tag }

// tagged appends a node's label.
func (l labels) tagged(s string) string {
	if l.tag == "" {
		return s
	}
	return s + " " + l.tag
}

// literal is a number; point says that it was written with a decimal point.
type literal struct {
	labels
	value float64
	point bool
}

func (n *literal) text() string { return n.tagged(number(n.value, n.point)) }

// number spells a literal as Python would: a decimal keeps its point.
func number(v float64, point bool) string {
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if point && !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// Special dice have letters for faces.
const (
	tensDie = -1 // d%: 0, 10, … 90
	fateDie = -2 // dF: -1, 0, 1
)

// dieName is the die as written: d20, d%, dF.
func dieName(faces int) string {
	switch faces {
	case tensDie:
		return "d%"
	case fateDie:
		return "dF"
	}
	return "d" + strconv.Itoa(faces)
}

// highest is what a die explodes on when nothing else is said.
func highest(faces int) int {
	switch faces {
	case tensDie:
		return 90
	case fateDie:
		return 1
	}
	return faces
}

// dice is a number of equal dice with operators.
type dice struct {
	labels
	count, faces int
	name         string // of one die: d20, d%, dF
	column       int
	ops          []operation
}

func (n *dice) text() string {
	return n.tagged(strconv.Itoa(n.count) + n.name + operations(n.ops))
}

// paren is one value in brackets, set any number of them; (x) is a paren and
// (x,) is a set of one.
type paren struct {
	labels
	inner node
	ops   []operation
}

func (n *paren) text() string {
	return n.tagged("(" + n.inner.text() + ")" + operations(n.ops))
}

type set struct {
	labels
	members []node
	ops     []operation
}

func (n *set) text() string {
	var b strings.Builder
	b.WriteByte('(')
	for i, m := range n.members {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(m.text())
	}
	if len(n.members) == 1 {
		b.WriteByte(',')
	}
	b.WriteByte(')')
	b.WriteString(operations(n.ops))
	return n.tagged(b.String())
}

// unary is a sign, binary everything between two values.
type unary struct {
	labels
	minus bool
	inner node
}

func (n *unary) text() string {
	if n.minus {
		return "-" + n.inner.text()
	}
	return "+" + n.inner.text()
}

type binary struct {
	labels
	op          string
	left, right node
	column      int
}

func (n *binary) text() string { return n.left.text() + " " + n.op + " " + n.right.text() }

// An operation is an operator with its selectors; equal operators in a row
// share one operation, whose selectors then select together.
type operation struct {
	op     string
	picks  []selector
	column int
}

// A selector picks members of a set: cat is 'h', 'l', '<', '>' or 0 for those
// that equal n.
type selector struct {
	cat byte
	n   int
}

func operations(ops []operation) string {
	var b strings.Builder
	for _, o := range ops {
		for _, s := range o.picks {
			b.WriteString(o.op)
			if s.cat != 0 {
				b.WriteByte(s.cat)
			}
			b.WriteString(strconv.Itoa(s.n))
		}
	}
	return b.String()
}

// withAdvantage rewrites a leftmost 1d20 to the better or worse of two, before
// its other operators. Expressions without one are returned unchanged.
func withAdvantage(root node, adv Advantage) node {
	if adv == Straight {
		return root
	}
	switch n := root.(type) {
	case *dice:
		if n.count != 1 || n.faces != 20 {
			return root
		}
		pick := selector{'h', 1}
		if adv == WithDisadvantage {
			pick.cat = 'l'
		}
		twice := *n
		twice.count = 2
		twice.ops = append([]operation{{op: "k", picks: []selector{pick}, column: n.column}}, n.ops...)
		return &twice
	case *paren:
		if inner := withAdvantage(n.inner, adv); inner != n.inner {
			c := *n
			c.inner = inner
			return &c
		}
	case *set:
		if len(n.members) == 0 {
			break
		}
		if first := withAdvantage(n.members[0], adv); first != n.members[0] {
			c := *n
			c.members = append([]node{first}, n.members[1:]...)
			return &c
		}
	case *unary:
		if inner := withAdvantage(n.inner, adv); inner != n.inner {
			c := *n
			c.inner = inner
			return &c
		}
	case *binary:
		if left := withAdvantage(n.left, adv); left != n.left {
			c := *n
			c.left = left
			return &c
		}
	}
	return root
}
