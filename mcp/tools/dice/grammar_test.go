package dice

import (
	"bufio"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// outcomes is a chooser that goes through everything its caller can roll.
type outcomes struct {
	path, sizes []int
	at          int
}

func (o *outcomes) IntN(n int) int {
	if o.at == len(o.path) {
		o.path, o.sizes = append(o.path, 0), append(o.sizes, n)
	}
	o.at++
	return o.path[o.at-1]
}

// next moves to the following outcome and reports whether there is one.
func (o *outcomes) next() bool {
	o.at = 0
	for i := len(o.path) - 1; i >= 0; i-- {
		if o.path[i]++; o.path[i] < o.sizes[i] {
			o.path, o.sizes = o.path[:i+1], o.sizes[:i+1]
			return true
		}
	}
	return false
}

// chance is the probability of the outcome just rolled.
func (o *outcomes) chance() float64 {
	p := 1.0
	for _, n := range o.sizes[:o.at] {
		p /= float64(n)
	}
	return p
}

// rows reads a file of cells between bars.
func rows(t *testing.T, name string) iter.Seq[[]string] {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return func(yield func([]string) bool) {
		for in := bufio.NewScanner(f); in.Scan(); {
			if line := in.Text(); !strings.HasPrefix(line, "# ") && !yield(strings.Split(line, " | ")) {
				return
			}
		}
	}
}

// spread is what the totals of an expression do.
type spread struct {
	min, max int64
	mean     float64
}

// enumerate goes through all outcomes of e.
func enumerate(t *testing.T, e *Expression) spread {
	t.Helper()
	o := &outcomes{}
	r := newRoller(o)
	s := spread{min: math.MaxInt64, max: math.MinInt64}
	for more := true; more; more = o.next() {
		total, err := r.Total(e, Straight)
		if err != nil {
			t.Fatalf("%s: %v", e.source, err)
		}
		s.min, s.max = min(s.min, total), max(s.max, total)
		s.mean += float64(total) * o.chance()
	}
	return s
}

// sample rolls e often.
func sample(t *testing.T, e *Expression, n int) spread {
	t.Helper()
	r := NewSeeded(20)
	s := spread{min: math.MaxInt64, max: math.MinInt64}
	for range n {
		total, err := r.Total(e, Straight)
		if err != nil {
			t.Fatalf("%s: %v", e.source, err)
		}
		s.min, s.max = min(s.min, total), max(s.max, total)
		s.mean += float64(total) / float64(n)
	}
	return s
}

func TestEveryCaseHasItsExactMinimumMaximumAndMean(t *testing.T) {
	n := 0
	for row := range rows(t, "grammar.txt") {
		n++
		e, err := Parse(row[0])
		if err != nil {
			t.Errorf("%s: %v", row[0], err)
			continue
		}
		low, _ := strconv.ParseInt(row[1], 10, 64)
		high, _ := strconv.ParseInt(row[2], 10, 64)
		fraction, estimated := strings.CutPrefix(row[3], "~")
		exact, ok := new(big.Rat).SetString(fraction)
		if !ok {
			t.Fatalf("%q: bad mean", row)
		}
		want, _ := exact.Float64()
		var got spread
		tolerance := 1e-9
		if estimated {
			got, tolerance = sample(t, e, 20_000), 0.1
		} else {
			got = enumerate(t, e)
		}
		if got.min != low || got.max != high || math.Abs(got.mean-want) > tolerance {
			t.Errorf("%s: got %+v, want %d to %d, mean %v", row[0], got, low, high, want)
		}
	}
	if n < 200 {
		t.Errorf("only %d cases", n)
	}
}

func TestEveryRefusalHasItsClassColumnAndHint(t *testing.T) {
	r := NewSeeded(1)
	for row := range rows(t, "refused.txt") {
		_, err := r.Roll(row[0], Straight)
		e, ok := errors.AsType[*Error](err)
		if !ok {
			t.Errorf("%s: got %v, want an error", row[0], err)
			continue
		}
		said := strings.Join(row[3:], "")
		if got := fmt.Sprintf("%s %d", e.Class, e.Column); got != row[1]+" "+row[2] || !strings.Contains(e.Error(), said) {
			t.Errorf("%s: got %s %q, want %s %s with %q", row[0], got, e, row[1], row[2], said)
		}
	}
}

// classOf is the class of an [*Error], "" for anything else.
func classOf(err error) Class {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Class
	}
	return ""
}

func TestNestingEndsAtTheLimit(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("(", n) + "1" + strings.Repeat(")", n) }
	if _, err := Parse(deep(MaxNesting)); err != nil {
		t.Errorf("%d brackets: %v", MaxNesting, err)
	}
	if _, err := Parse(deep(MaxNesting + 1)); classOf(err) != Limit {
		t.Errorf("%d brackets: got %v, want a limit", MaxNesting+1, err)
	}
}

func TestLengthEndsAtTheLimit(t *testing.T) {
	long := func(n int) string { return strings.Repeat("-", n-1) + "1" }
	if _, err := Parse(long(MaxLength)); err != nil {
		t.Errorf("%d characters: %v", MaxLength, err)
	}
	if _, err := Parse(long(MaxLength + 1)); classOf(err) != Limit {
		t.Errorf("%d characters: got %v, want a limit", MaxLength+1, err)
	}
}

func TestExplosionsAddDiceUntilNoneMatches(t *testing.T) {
	for expr, want := range map[string]float64{
		"1d6e6":    4.2, // 3.5 / (1 - 1/6)
		"2d6!":     8.4,
		"1d4e>2":   5, // 2.5 / (1 - 1/2)
		"1d2e2":    3,
		"1d10!>9":  5.5 / 0.8, // Roll20 counts the 9 itself
		"1d6e1e6":  5.25,
		"1d6e6ma5": 4.2 - 1.0/5, // the sixes count as five: 1/6 of 1.2 dice
		// A first six is rolled again; a six then explodes into 4.2 more.
		"1d6ro6e6":   15.0/6 + 3.5/6 + 4.2/36,
		"1d20!":      10.5 / 0.95,
		"1d6e6[hot]": 4.2,
	} {
		e, err := Parse(expr)
		if err != nil {
			t.Errorf("%s: %v", expr, err)
			continue
		}
		if got := sample(t, e, 40_000).mean; math.Abs(got-want) > 0.1 {
			t.Errorf("%s: mean %.3f, want %.3f", expr, got, want)
		}
	}
}

func TestCanonicalIsStrictAndStable(t *testing.T) {
	for in, want := range map[string]string{
		"1d20+5":                "1d20 + 5",
		"d20":                   "1d20",
		"D20 - D4":              "1d20 - 1d4",
		"4d6kh":                 "4d6kh1",
		"4d6dl1":                "4d6pl1",
		"4d6d1":                 "4d6pl1",
		"4d6dh2":                "4d6ph2",
		"3d6!":                  "3d6e6",
		"d%!":                   "1d%e90",
		"4dF!":                  "4dFe1",
		"4dfkh3":                "4dFkh3",
		"3d6!>5":                "3d6e>4",
		"3d6!<2":                "3d6e<3",
		"3d6!5":                 "3d6e5",
		"4d6min2max5":           "4d6mi2ma5",
		"{1,2}kh1":              "(1, 2)kh1",
		"(1,)":                  "(1,)",
		"()":                    "()",
		"3d6[fire][hot] +1":     "3d6 [fire][hot] + 1",
		"10d6 k1 k2 ph1":        "10d6k1k2ph1",
		"5.":                    "5.0",
		".75":                   "0.75",
		"--1":                   "--1",
		"7÷2":                   "7 / 2",
		"a d twenty plus five":  "1d20 + 5",
		"1d20 keep watch":       "1d20",
		"(1d4, 2+2, 3d6kl1)kh1": "(1d4, 2 + 2, 3d6kl1)kh1",
	} {
		e, err := Parse(in)
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if e.canonical != want {
			t.Errorf("%s: got %s, want %s", in, e.canonical, want)
		}
		if again, err := Parse(e.canonical); err != nil || again.canonical != want {
			t.Errorf("%s: canonical form reads as %v, %v", in, again, err)
		}
	}
}

func TestAdvantageRewritesOnlyALeadingD20(t *testing.T) {
	for in, want := range map[string][2]string{
		"1d20":          {"2d20kh1", "2d20kl1"},
		"d20+1":         {"2d20kh1 + 1", "2d20kl1 + 1"},
		"1d20ro1 - 1d4": {"2d20kh1ro1 - 1d4", "2d20kl1ro1 - 1d4"},
		"-1d20[a]":      {"-2d20kh1 [a]", "-2d20kl1 [a]"},
		"(1d20, 5)kh1":  {"(2d20kh1, 5)kh1", "(2d20kl1, 5)kh1"},
		"((1d20))":      {"((2d20kh1))", "((2d20kl1))"},
		"1d6+1d20":      {"1d6 + 1d20", "1d6 + 1d20"},
		"2d20":          {"2d20", "2d20"},
		"5+1d20":        {"5 + 1d20", "5 + 1d20"},
		"()":            {"()", "()"},
	} {
		for i, adv := range []Advantage{WithAdvantage, WithDisadvantage} {
			got, err := NewSeeded(3).Roll(in, adv)
			if err != nil || got.Canonical != want[i] {
				t.Errorf("%s: got %s, %v, want %s", in, got.Canonical, err, want[i])
			}
			if changed := strings.Contains(want[i], "2d20k"); changed != (got.Hint == "") {
				t.Errorf("%s: hint %q", in, got.Hint)
			}
		}
	}
}

func TestDiceTellWhatHappenedToThem(t *testing.T) {
	// The script is what the dice show, counted from 0.
	for _, c := range []struct {
		expr   string
		script []int
		text   string
		crit   string
	}{
		{"1d20+5", []int{14}, "1d20 (15) + 5 = 20", ""},
		{"1d20", []int{19}, "1d20 (20) = 20", "crit"},
		{"1d20-1", []int{0}, "1d20 (1) - 1 = 0", "fail"},
		{"2d20kh1", []int{19, 3}, "2d20kh1 (20, ~~4~~) = 20", "crit"},
		{"2d20", []int{19, 3}, "2d20 (20, 4) = 24", ""},
		{"(2d20)kl1", []int{0, 3}, "(2d20 (1, ~~4~~))kl1 = 1", "fail"},
		{"5+1d20", []int{19}, "5 + 1d20 (20) = 25", ""},
		{"1d6", []int{0}, "1d6 (1) = 1", ""},
		{"2d6ro<3", []int{0, 3, 4}, "2d6ro<3 (1→5, 4) = 9", ""},
		{"2d6e6", []int{5, 1, 5, 0}, "2d6e6 (6!, 2, 6!, 1) = 15", ""},
		{"2d6mi2", []int{0, 4}, "2d6mi2 (1→2, 5) = 7", ""},
		{"2d6ma3ro3", []int{5, 0, 1}, "2d6ma3ro3 (6→2, 1) = 3", ""},
		{"1d6ra1e1", []int{0, 2, 4}, "1d6ra1e1 (1!, 3, 5) = 9", ""},
		{"4dF", []int{0, 1, 2, 2}, "4dF (-1, 0, 1, 1) = 1", ""},
		{"1d%", []int{9}, "1d% (90) = 90", ""},
		{"(1d4, 2d6kl1)kh1", []int{3, 4, 1}, "(1d4 (4), 2d6kl1 (~~5~~, ~~2~~))kh1 = 4", ""},
		{"-(1d8 + 3) [healing]", []int{6}, "-(1d8 (7) + 3) [healing] = -10", ""},
		{"3d6kh2", []int{2, 2, 2}, "3d6kh2 (3, 3, ~~3~~) = 6", ""},
	} {
		got, err := newRoller(&outcomes{path: c.script, sizes: make([]int, len(c.script))}).Roll(c.expr, Straight)
		if err != nil || got.Text != c.text || got.Crit != c.crit {
			t.Errorf("%s: got %q %q, %v, want %q %q", c.expr, got.Text, got.Crit, err, c.text, c.crit)
		}
	}
}

func TestHintsTellWhereDialectsDiffer(t *testing.T) {
	for expr, part := range map[string]string{
		"4d6k3": "kh3", "8d6>4": "sum", "d%": "d100", "3d6!>5": "Roll20",
	} {
		if got, err := NewSeeded(1).Roll(expr, Straight); err != nil || !strings.Contains(got.Hint, part) {
			t.Errorf("%s: hint %q, %v, want %q in it", expr, got.Hint, err, part)
		}
	}
	for _, expr := range []string{"1d20+5", "4d6kh3", "1d20>10", "(1,2)k1", "1d20k20"} {
		if got, err := NewSeeded(1).Roll(expr, Straight); err != nil || got.Hint != "" {
			t.Errorf("%s: hint %q, %v, want none", expr, got.Hint, err)
		}
	}
}

// grammatical draws expressions from the grammar itself.
func grammatical(t *rapid.T, depth int) string {
	atom := func() string {
		switch rapid.IntRange(0, 3).Draw(t, "atom") {
		case 0:
			return fmt.Sprint(rapid.IntRange(0, 99).Draw(t, "literal"))
		case 1:
			var s strings.Builder
			s.WriteString(fmt.Sprintf("%dd%d", rapid.IntRange(0, 9).Draw(t, "count"), rapid.IntRange(1, 20).Draw(t, "faces")))
			for range rapid.IntRange(0, 2).Draw(t, "ops") {
				op := rapid.SampledFrom([]string{"k", "p", "rr", "ro", "ra", "e", "mi", "ma"}).Draw(t, "op")
				s.WriteString(op + rapid.SampledFrom([]string{"", "h", "l", "<", ">"}).Draw(t, "cat") + fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "n")))
			}
			return s.String()
		}
		if depth == 0 {
			return "1"
		}
		members := make([]string, rapid.IntRange(0, 2).Draw(t, "members"))
		for i := range members {
			members[i] = grammatical(t, depth-1)
		}
		return "(" + strings.Join(members, ",") + ")" + rapid.SampledFrom([]string{"", "kh1", "p3", "[x]"}).Draw(t, "suffix")
	}
	var s strings.Builder
	s.WriteString(atom())
	for range rapid.IntRange(0, 2).Draw(t, "terms") {
		s.WriteString(rapid.SampledFrom([]string{"+", "-", "*", "/", "//", "%", "<", ">=", "=="}).Draw(t, "operator") + atom())
	}
	return s.String()
}

func TestWhateverIsGrammaticalIsRolledOrRefusedWithValueOrLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		expr := grammatical(t, 2)
		got, err := NewSeeded(7).Roll(expr, Straight)
		if e, ok := errors.AsType[*Error](err); ok && e.Class == Syntax {
			t.Fatalf("%s: %v", expr, err)
		}
		if err == nil && strings.Count(got.Text, "~~")%2 != 0 {
			t.Fatalf("%s: %s", expr, got.Text)
		}
	})
}

func FuzzRoll(f *testing.F) {
	for _, s := range []string{"1d20+5", "(1d4, 2+2, 3d6kl1)kh1", "4d6kx3", "{1,2}dl", "a d twenty plus five", "1d20[", "5.", "d%!", "−1", "4dF!>1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := NewSeeded(1).Roll(s, WithAdvantage)
		if e, ok := errors.AsType[*Error](err); err != nil && (!ok || e.Column < 1 || e.Message == "") {
			t.Fatalf("%q: %#v", s, err)
		}
		if err != nil {
			return
		}
		if len(got.Dice) > MaxDice {
			t.Fatalf("%q rolled %d dice", s, len(got.Dice))
		}
		if len([]rune(got.Canonical)) > MaxLength {
			return
		}
		again, err := Parse(got.Canonical)
		if err != nil || again.canonical != got.Canonical {
			t.Fatalf("%q: canonical %q reads as %v, %v", s, got.Canonical, again, err)
		}
	})
}

func BenchmarkRoll(b *testing.B) {
	r := NewFair()
	for b.Loop() {
		if _, err := r.Roll("1d20+5", Straight); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := Parse("1d20+5"); err != nil {
			b.Fatal(err)
		}
	}
}
