// Package dice rolls dice as people at a table write and say them.
//
// The grammar is that of Avrae's d20, in full: dice, sets, the operators
// k p rr ro ra e mi ma with selectors N hN lN <N >N, labels, arithmetic and
// comparisons. What people bring from other tools (capital D, dl1, !, dF,
// braces, a bare kh) is understood too, with a hint where the same letters
// mean something else elsewhere. Sentences such as "two d six plus three with
// advantage" are read as well; see [Spoken].
//
// # Promises
//
//   - Every roll is decided by one random source, in the order in which the
//     dice appear, so that a known seed replays a session; see [NewFair].
//   - Whatever is typed, a roll ends: at most [MaxDice] dice, [MaxLength]
//     characters and [MaxNesting] brackets, all counted before they cost
//     anything.
//   - Every refusal is an [Error] with the column and a sentence that can be
//     said aloud.
package dice

import (
	"math"
	"strings"
	"sync"
)

// The limits on one expression. They bound both the work and what has to be
// read to the table afterwards.
const (
	// MaxLength is the longest expression in characters.
	MaxLength = 256
	// MaxDice is how many dice one expression may roll, counting rerolls and
	// explosions; Avrae's own limit.
	MaxDice = 1000
	// MaxFaces is the largest die.
	MaxFaces = 1_000_000
	// MaxNesting is how deep brackets may stand within brackets.
	MaxNesting = 64
	// MaxRepeat is how often one request may repeat its expression.
	MaxRepeat = 20
	// maxNumber keeps every whole number exact in a float64 and in JSON.
	maxNumber = 1<<53 - 1
)

// Advantage says whether the first d20 of an expression is rolled twice.
type Advantage int8

// The three ways to roll a d20.
const (
	Straight Advantage = iota
	WithAdvantage
	WithDisadvantage
)

// ParseAdvantage reads "adv", "advantage", "dis", "disadvantage" and, for
// neither, "" and "none".
func ParseAdvantage(s string) (Advantage, error) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "", "none", "straight", "normal":
		return Straight, nil
	case "adv", "advantage":
		return WithAdvantage, nil
	case "dis", "disadvantage":
		return WithDisadvantage, nil
	}
	return Straight, &Error{
		Class: Value, Column: 1,
		Message: "I do not know the advantage " + quote(s),
		Hint:    "say adv, dis or none",
	}
}

// A Result is one roll of one expression.
type Result struct {
	// Expression is what was asked for, Canonical the same in Avrae's strict
	// spelling after aliases, spoken words and advantage were resolved.
	Expression string `json:"expression"`
	Canonical  string `json:"canonical"`
	// Total is the value, cut off towards zero.
	Total int64 `json:"total"`
	// Dice are all dice in the order in which they stand in the expression.
	Dice []Die `json:"dice"`
	// Crit is "crit" when the first dice of the expression keep one d20 that
	// shows 20, "fail" when it shows 1.
	Crit string `json:"crit,omitempty"`
	// Text is the expression with what every die showed: "1d20 (15) + 5 = 20".
	Text string `json:"text"`
	// Comment is what was written behind the expression.
	Comment string `json:"comment,omitempty"`
	// Hint tells where another tool would have rolled something else.
	Hint string `json:"hint,omitempty"`
}

// A Die is one die and what became of it.
type Die struct {
	// Type is the die as written: d20, d%, dF. Faces is how many sides it has.
	Type  string `json:"type"`
	Faces int    `json:"faces"`
	// Value is what counts, after rerolls and bounds.
	Value int `json:"value"`
	// Rolls is everything the die showed, the first roll first.
	Rolls []int `json:"rolls"`
	// Kept is false for a die that does not count in its set.
	Kept bool `json:"kept"`
	// Happened names, in order, what operators did to the die: rerolled,
	// exploded, raised, lowered, added, dropped.
	Happened []string `json:"happened,omitempty"`
}

// An Expression has been parsed and can be rolled any number of times, by
// several goroutines at once.
type Expression struct {
	source    string
	canonical string
	root      node
	comment   string
	hint      string
	said      Advantage // what the spoken form asked for
}

// A chooser picks one of n faces, 0 to n-1. *rand.Rand is one; tests enumerate
// all outcomes with another.
type chooser interface{ IntN(n int) int }

// A Roller rolls expressions from one random source. It is safe for concurrent
// use; rolls are served one after the other.
type Roller struct {
	mu    sync.Mutex // guards everything below
	faces chooser
	run   run // scratch, so that a roll does not allocate its working set
	// parsed holds the latest expressions: a table repeats a few all evening.
	parsed map[string]*Expression
}

// cacheSize is how many parsed expressions a Roller remembers; Avrae's number.
const cacheSize = 256

func newRoller(faces chooser) *Roller {
	return &Roller{faces: faces, parsed: make(map[string]*Expression)}
}

// Roll parses expr, unless it was rolled lately, and rolls it once. The error
// is always an [*Error].
func (r *Roller) Roll(expr string, adv Advantage) (Result, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, err := r.parse(expr)
	if err != nil {
		return Result{}, err
	}
	root, err := r.evaluate(e, adv)
	if err != nil {
		return Result{}, err
	}
	return r.run.result(e, root, adv), nil
}

// Total rolls e and returns nothing but the total; many rolls of one
// expression need no list of dice each.
func (r *Roller) Total(e *Expression, adv Advantage) (int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	root, err := r.evaluate(e, adv)
	if err != nil {
		return 0, err
	}
	return truncate(r.run.total(root)), nil
}

// parse answers from the cache. When it is full, one entry goes: map order
// picks it, which is as good as knowing and costs no bookkeeping.
func (r *Roller) parse(expr string) (*Expression, error) {
	if e, ok := r.parsed[expr]; ok {
		return e, nil
	}
	e, err := Parse(expr)
	if err != nil {
		return nil, err
	}
	if len(r.parsed) >= cacheSize {
		for old := range r.parsed {
			delete(r.parsed, old)
			break
		}
	}
	r.parsed[strings.Clone(expr)] = e
	return e, nil
}

// evaluate rolls e into r.run and checks that it has a value.
func (r *Roller) evaluate(e *Expression, adv Advantage) (root int, err error) {
	defer func() {
		// Division by zero and limits can turn up deep inside sorting and
		// selecting; one recover here keeps every arithmetic step plain.
		switch p := recover().(type) {
		case nil:
		case *Error:
			err = p
		default:
			panic(p)
		}
	}()
	r.run.reset(r.faces)
	root = r.run.eval(withAdvantage(e.root, either(adv, e.said)))
	r.run.total(root)
	return root, nil
}

// either prefers what the caller asked for to what the sentence said.
func either(asked, said Advantage) Advantage {
	if asked != Straight {
		return asked
	}
	return said
}

// truncate cuts towards zero, as Avrae's totals do. The evaluation has already
// refused everything beyond maxNumber.
func truncate(v float64) int64 { return int64(math.Trunc(v)) }
