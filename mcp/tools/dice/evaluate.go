package dice

import (
	"fmt"
	"slices"
	"strconv"
)

// A run is one evaluation: every value that occurs in it is a term, and terms
// point at each other by index. Operators must be able to drop what is deep
// inside brackets, so nothing is added up before the end.
type run struct {
	faces   chooser
	terms   []term
	rolled  int
	picks   int    // how many selections there were, to number them
	members []int  // scratch of selections
	written []byte // scratch of descriptions
}

// kind says which fields of a term count.
type kind uint8

const (
	isNumber kind = iota
	isOneDie
	isDice
	isParen
	isSet
	isUnary
	isBinary
)

// happened are the marks of a die.
type happened uint8

const (
	rerolled happened = 1 << iota
	exploded
	raised
	lowered
	added
)

type term struct {
	node    node
	value   float64 // of a number or die
	shows   float64 // what a die shows, where an operator has moved value
	past    []int   // what a die showed before
	members []int   // of a set
	// first and last are the range of dice of isDice; the dice of one group
	// stand together because its operators run before anything else is rolled.
	// For isParen, isUnary and isBinary they are the operands.
	first, last int
	picked      int // the last selection that chose it
	burst       int // the selection that made it explode
	kind        kind
	marks       happened
	dropped     bool
}

func (r *run) reset(faces chooser) {
	r.faces = faces
	clear(r.terms)
	r.terms = r.terms[:0]
	r.rolled, r.picks = 0, 0
}

func (r *run) add(t term) int {
	r.terms = append(r.terms, t)
	return len(r.terms) - 1
}

// eval rolls n and returns its term.
func (r *run) eval(n node) int {
	switch n := n.(type) {
	case *literal:
		return r.add(term{kind: isNumber, node: n, value: n.value})
	case *dice:
		return r.rollDice(n)
	case *paren:
		inner := r.eval(n.inner)
		i := r.add(term{kind: isParen, node: n, first: inner})
		r.operate(i, n.ops)
		return i
	case *set:
		members := make([]int, len(n.members))
		for k, m := range n.members {
			members[k] = r.eval(m)
		}
		i := r.add(term{kind: isSet, node: n, members: members})
		r.operate(i, n.ops)
		return i
	case *unary:
		inner := r.eval(n.inner)
		return r.add(term{kind: isUnary, node: n, first: inner})
	case *binary:
		left := r.eval(n.left)
		right := r.eval(n.right)
		return r.add(term{kind: isBinary, node: n, first: left, last: right})
	}
	panic(fmt.Sprintf("dice: no evaluation for %T", n))
}

func (r *run) rollDice(n *dice) int {
	i := r.add(term{kind: isDice, node: n, first: len(r.terms) + 1, last: len(r.terms) + 1})
	for range n.count {
		r.another(i, 0)
	}
	r.operate(i, n.ops)
	return i
}

// another rolls one more die into the group at i.
func (r *run) another(i int, marks happened) {
	n := r.terms[i].node.(*dice)
	face := r.face(n)
	r.add(term{kind: isOneDie, node: n, value: face, shows: face, marks: marks})
	r.terms[i].last = len(r.terms)
}

// face rolls one die of n.
func (r *run) face(n *dice) float64 {
	if r.rolled++; r.rolled > MaxDice {
		panic(&Error{
			Class: Limit, Column: n.column,
			Message: fmt.Sprintf("that rolls more than %d dice", MaxDice),
			Hint:    "roll fewer, or reroll and explode less often",
		})
	}
	switch n.faces {
	case tensDie:
		return float64(10 * r.faces.IntN(10))
	case fateDie:
		return float64(r.faces.IntN(3) - 1)
	}
	return float64(r.faces.IntN(n.faces) + 1)
}

// kept appends the members of term i that still count: the dice of dice, the
// values of a set, and through brackets whatever stands inside. Everything
// else is a set of itself.
func (r *run) kept(i int, to []int) []int {
	t := &r.terms[i]
	switch t.kind {
	case isParen:
		return r.kept(t.first, to)
	case isDice:
		for k := t.first; k < t.last; k++ {
			if !r.terms[k].dropped {
				to = append(to, k)
			}
		}
	case isSet:
		for _, k := range t.members {
			if !r.terms[k].dropped {
				to = append(to, k)
			}
		}
	default:
		if !t.dropped {
			to = append(to, i)
		}
	}
	return to
}

// operate runs the operators of term i in order.
func (r *run) operate(i int, ops []operation) {
	for _, op := range ops {
		switch op.op {
		case "k":
			r.pick(i, op)
			for _, k := range r.kept(i, nil) {
				if r.terms[k].picked != r.picks {
					r.terms[k].dropped = true
				}
			}
		case "p":
			for _, k := range r.pick(i, op) {
				r.terms[k].dropped = true
			}
		case "rr":
			for chosen := r.pick(i, op); len(chosen) > 0; chosen = r.pick(i, op) {
				r.reroll(chosen)
			}
		case "ro":
			r.reroll(r.pick(i, op))
		case "ra":
			if chosen := r.pick(i, op); len(chosen) > 0 {
				r.terms[chosen[0]].marks |= exploded
				r.another(i, added)
			}
		case "e":
			r.explode(i, op)
		case "mi", "ma":
			r.bound(i, op)
		}
	}
}

func (r *run) reroll(chosen []int) {
	for _, k := range chosen {
		n := r.terms[k].node.(*dice)
		face := r.face(n)
		t := &r.terms[k]
		t.past = append(t.past, int(t.shows))
		t.value, t.shows = face, face
		t.marks &^= raised | lowered
		t.marks |= rerolled
	}
}

// explode adds a die for each chosen one, and for those that were added, each
// of them once.
func (r *run) explode(i int, op operation) {
	from := r.picks // what this operator has exploded is marked by a later pick
	for {
		again := false
		for _, k := range r.pick(i, op) {
			if r.terms[k].burst <= from {
				r.terms[k].burst = r.picks
				r.terms[k].marks |= exploded
				r.another(i, added)
				again = true
			}
		}
		if !again {
			return
		}
	}
}

// bound raises or lowers what lies beyond the operator's number.
func (r *run) bound(i int, op operation) {
	limit := float64(op.picks[0].n)
	for _, k := range r.kept(i, nil) {
		t := &r.terms[k]
		switch {
		case op.op == "mi" && t.value < limit:
			t.marks |= raised
		case op.op == "ma" && t.value > limit:
			t.marks |= lowered
		default:
			continue
		}
		t.value = limit
	}
}

// pick is what the operator's selectors choose together, in the order in which
// the selectors name it.
func (r *run) pick(i int, op operation) []int {
	var chosen []int
	r.picks++
	for _, s := range op.picks {
		r.members = r.kept(i, r.members[:0])
		for _, k := range r.matching(r.members, s) {
			if t := &r.terms[k]; t.picked != r.picks {
				t.picked = r.picks
				chosen = append(chosen, k)
			}
		}
	}
	return chosen
}

// matching keeps those of members that s selects, reusing their array.
func (r *run) matching(members []int, s selector) []int {
	switch s.cat {
	case 'h', 'l':
		// Stable, so that of equal dice the first one counts.
		slices.SortStableFunc(members, func(a, b int) int {
			x, y := r.total(a), r.total(b)
			if s.cat == 'h' {
				x, y = y, x
			}
			switch {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return 0
		})
		return members[:min(s.n, len(members))]
	}
	n := float64(s.n)
	return slices.DeleteFunc(members, func(k int) bool {
		v := r.total(k)
		switch s.cat {
		case '<':
			return v >= n
		case '>':
			return v <= n
		}
		return v != n
	})
}

// result describes the finished run.
func (r *run) result(e *Expression, root int, adv Advantage) Result {
	res := Result{
		Expression: e.source,
		Canonical:  e.canonical,
		Total:      truncate(r.total(root)),
		Dice:       make([]Die, 0, r.rolled),
		Crit:       r.crit(root),
		Comment:    e.comment,
		Hint:       e.hint,
	}
	if adv = either(adv, e.said); adv != Straight {
		rolled := withAdvantage(e.root, adv)
		res.Canonical = rolled.text()
		if rolled == e.root {
			res.Hint = "advantage changes only an expression that begins with a single d20"
		}
	}
	d := description{run: r, text: r.written[:0], dice: res.Dice, rolls: make([]int, 0, r.rolled)}
	d.term(root, false)
	d.text = strconv.AppendInt(append(d.text, " = "...), res.Total, 10)
	r.written = d.text
	res.Dice, res.Text = d.dice, string(d.text)
	return res
}

// crit looks at the leftmost part of the expression, as Avrae does: dice of
// which exactly one d20 is kept.
func (r *run) crit(i int) string {
	for {
		t := &r.terms[i]
		switch t.kind {
		case isParen, isUnary, isBinary:
			i = t.first
			continue
		case isSet:
			if len(t.members) > 0 {
				i = t.members[0]
				continue
			}
		case isDice:
			r.members = r.kept(i, r.members[:0])
			if t.node.(*dice).faces == 20 && len(r.members) == 1 {
				switch r.total(i) {
				case 1:
					return "fail"
				case 20:
					return "crit"
				}
			}
		}
		return ""
	}
}
