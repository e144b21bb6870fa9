package memory

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed senses.txt
var senseList string

// senses are, for a term, the terms that people say for the same thing.
var senses = sync.OnceValue(func() map[string][]string {
	m := map[string][]string{}
	// A word that is the irregular form of another is found under that one, but its
	// own forms are not: child is a kid, children are not kids.
	forms := func(w string) []string { return slices.Compact([]string{term(w), stem(w)}) }
	add := func(from, to string) {
		for _, from := range forms(from) {
			for _, to := range forms(to) {
				if from != to && !slices.Contains(m[from], to) {
					m[from] = append(m[from], to)
				}
			}
		}
	}
	for line := range strings.Lines(senseList) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		left, right, _ := strings.Cut(line, ">")
		general, particular := strings.Fields(left), strings.Fields(right)
		for _, a := range general {
			for _, b := range general {
				add(a, b)
			}
			for _, b := range particular {
				add(a, b)
				add(b, a)
			}
		}
	}
	return m
})
