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
	add := func(from, to string) {
		from, to = term(from), term(to)
		if from != to && !slices.Contains(m[from], to) {
			m[from] = append(m[from], to)
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
