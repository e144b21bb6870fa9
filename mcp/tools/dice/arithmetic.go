package dice

import "math"

// total is the value of a term, 0 if it was dropped.
func (r *run) total(i int) float64 {
	t := &r.terms[i]
	if t.dropped {
		return 0
	}
	switch t.kind {
	case isNumber, isOneDie:
		return t.value
	case isDice:
		sum := 0.0
		for k := t.first; k < t.last; k++ {
			if die := &r.terms[k]; !die.dropped {
				sum += die.value
			}
		}
		return sum
	case isParen:
		return r.total(t.first)
	case isSet:
		sum := 0.0
		for _, k := range t.members {
			sum += r.total(k)
		}
		return bounded(sum, 1)
	case isUnary:
		if t.node.(*unary).minus {
			return -r.total(t.first)
		}
		return r.total(t.first)
	}
	n := t.node.(*binary)
	return n.apply(r.total(t.first), r.total(t.last))
}

// apply calculates; // and % round down, as Python's do.
func (n *binary) apply(l, r float64) float64 {
	switch n.op {
	case "+":
		return bounded(l+r, n.column)
	case "-":
		return bounded(l-r, n.column)
	case "*":
		return bounded(l*r, n.column)
	case "/", "//", "%":
		if r == 0 {
			panic(&Error{Class: Value, Column: n.column, Message: "that divides by zero"})
		}
		if n.op == "/" {
			return bounded(l/r, n.column)
		}
		mod := math.Mod(l, r)
		if mod != 0 && (mod < 0) != (r < 0) {
			mod += r
		}
		if n.op == "%" {
			return mod
		}
		return bounded(math.Round((l-mod)/r), n.column)
	}
	holds := false
	switch n.op {
	case "==":
		holds = l == r
	case "!=":
		holds = l != r
	case "<":
		holds = l < r
	case ">":
		holds = l > r
	case "<=":
		holds = l <= r
	case ">=":
		holds = l >= r
	}
	if holds {
		return 1
	}
	return 0
}

// bounded refuses results that a float64, or a reader of JSON, cannot hold
// exactly.
func bounded(v float64, column int) float64 {
	if math.Abs(v) > maxNumber {
		panic(&Error{Class: Limit, Column: column, Message: "the result is too big to be exact"})
	}
	return v
}
