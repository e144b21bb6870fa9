package strict

import (
	"slices"
	"strings"
	"unicode"
)

// DidYouMean is `; did you mean "x"?` with the word of among that looks most
// like the given one, or "" if none does. It is made to be put at the end of a
// problem's text.
func DidYouMean(word string, among []string) string {
	if s := closest(word, among); s != "" {
		return `; did you mean "` + s + `"?`
	}
	return ""
}

// closest is the nearest word by number of slips (a letter missing, added,
// changed, or two swapped), if it is near enough to be a slip: one in a short
// word, a third of a long one. Case and punctuation do not count, so that
// "searchRules" finds "search_rules".
func closest(word string, among []string) string {
	const maxWord = 64 // longer words are prose, and comparing costs their square
	w := bare(word)
	if len(w) == 0 || len(w) > maxWord || slices.Contains(among, word) {
		return ""
	}
	best, bestSlips := "", max(1, len(w)/3)+1
	for _, candidate := range among {
		c := bare(candidate)
		if len(c) == 0 || len(c) > maxWord {
			continue
		}
		n := slips(w, c)
		// A plural, or the beginning of a longer word, is nearer than it counts.
		if n > 1 && len(w) >= 4 && strings.HasPrefix(string(c), string(w)) {
			n = 1
		}
		if n < bestSlips {
			best, bestSlips = candidate, n
		}
	}
	return best
}

// bare is a word without case and punctuation.
func bare(s string) []rune {
	var out []rune
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			out = append(out, unicode.ToLower(r))
		}
	}
	return out
}

// slips is the optimal string alignment distance of a and b.
func slips(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(row[j-1]+1, last[j]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
