package console

import "strings"

// A change is one line of a comparison: kept, removed or added.
type change struct {
	sign string // " ", "-" or "+"
	text string
}

// maxDiff bounds the table of the comparison: a thousand lines against a
// thousand are a megabyte, and longer files are shown whole.
const maxDiff = 1000

// nearby is how many unchanged lines are shown around a change.
const nearby = 3

// differences are the lines that changed, by the longest common subsequence, with
// some lines around them. It is empty for equal texts.
func differences(before, after string) []change {
	if before == after {
		return nil
	}
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	var all []change
	// What is the same at both ends needs no table.
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	for _, l := range a[:head] {
		all = append(all, change{" ", l})
	}
	all = append(all, compare(a[head:len(a)-tail], b[head:len(b)-tail])...)
	for _, l := range a[len(a)-tail:] {
		all = append(all, change{" ", l})
	}
	return around(all)
}

func compare(a, b []string) []change {
	var out []change
	if len(a) > maxDiff || len(b) > maxDiff {
		for _, l := range a {
			out = append(out, change{"-", l})
		}
		for _, l := range b {
			out = append(out, change{"+", l})
		}
		return out
	}
	// common[i][j] is the length of the longest common part of a[i:] and b[j:].
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, change{" ", a[i]})
			i, j = i+1, j+1
		case i < len(a) && (j == len(b) || common[i+1][j] >= common[i][j+1]):
			out = append(out, change{"-", a[i]})
			i++
		default:
			out = append(out, change{"+", b[j]})
			j++
		}
	}
	return out
}

// around drops what is far from any change.
func around(all []change) []change {
	near := make([]bool, len(all))
	for i, c := range all {
		if c.sign == " " {
			continue
		}
		for k := max(0, i-nearby); k <= min(len(all)-1, i+nearby); k++ {
			near[k] = true
		}
	}
	var out []change
	for i, c := range all {
		switch {
		case near[i]:
			out = append(out, c)
		case i > 0 && near[i-1]:
			out = append(out, change{" ", "…"})
		}
	}
	return out
}
