package rules

import (
	"math"
	"slices"
	"strings"
)

// fields weigh where a word was found. People ask with the words of asks and
// name what they know by name; text is long and proves little.
const (
	weighName = 5.0
	weighAlso = 3.0 // aliases and SRD headings
	weighAsks = 1.6
	weighSay  = 0.8
	weighText = 0.5
)

// BM25's usual constants.
const (
	saturation = 1.2
	lengthNorm = 0.5
)

// A posting says how much a term weighs in an entry.
type posting struct {
	entry  int
	weight float64
}

// A called is one of the names of an entry, joined without spaces.
type called struct {
	entry   int
	name    string
	joined  string
	heard   string
	bare    string  // joined without stop words
	letters uint32  // which letters occur, to rule most names out quickly
	says    float64 // how much the name tells: 0.4 for common words, up to 1.6
	// primary names are the entry's own, not an alias.
	primary bool
}

// An index is everything that can be computed before a question comes.
type index struct {
	entries  []*Entry
	postings map[string][]posting
	idf      map[string]float64
	nameIDF  map[string]float64 // the same, counting only names
	// names are grouped by first sound and length of the sound, which is all
	// that a damaged name keeps.
	names map[byte][]called
	exact map[string][]called
	heard map[string][]string // sound to the terms of the vocabulary
}

func newIndex(entries []*Entry) *index {
	ix := &index{
		entries: entries, postings: make(map[string][]posting), idf: make(map[string]float64),
		names: make(map[byte][]called), exact: make(map[string][]called), heard: make(map[string][]string),
	}
	lengths := make([]float64, len(entries))
	counts := make([]map[string]float64, len(entries))
	total := 0.0
	for i, e := range entries {
		tf := make(map[string]float64)
		add := func(text string, weight float64) {
			for _, t := range terms(text) {
				tf[t] += weight
				lengths[i]++
			}
		}
		add(e.Name, weighName)
		for _, a := range slices.Concat(e.Aliases, e.SRD) {
			add(a, weighAlso)
		}
		for _, a := range e.Asks {
			add(a, weighAsks)
		}
		add(e.Say, weighSay)
		add(e.Text, weighText)
		counts[i] = tf
		total += lengths[i]
	}
	mean := total / float64(max(1, len(entries)))
	for i, tf := range counts {
		norm := 1 - lengthNorm + lengthNorm*lengths[i]/mean
		for t, n := range tf {
			ix.postings[t] = append(ix.postings[t], posting{i, n * (saturation + 1) / (n + saturation*norm)})
		}
	}
	for t, list := range ix.postings {
		ix.idf[t] = rarity(float64(len(list)), len(entries))
		key := sound(t)
		ix.heard[key] = append(ix.heard[key], t)
	}
	ix.nameIDF = nameIDF(entries)
	for i, e := range entries {
		ix.call(i, e.Name, true)
		for _, a := range slices.Concat(e.Aliases, e.SRD) {
			ix.call(i, a, false)
		}
	}
	return ix
}

// nameIDF is the rarity of words among names and aliases.
func nameIDF(entries []*Entry) map[string]float64 {
	in := make(map[string]float64)
	for _, e := range entries {
		seen := make(map[string]bool)
		for _, name := range slices.Concat([]string{e.Name}, e.Aliases, e.SRD) {
			for _, t := range terms(name) {
				if !seen[t] {
					seen[t] = true
					in[t]++
				}
			}
		}
	}
	for t, n := range in {
		in[t] = rarity(n, len(entries))
	}
	return in
}

// rarity is BM25's inverse document frequency.
func rarity(n float64, of int) float64 { return math.Log(1 + (float64(of)-n+0.5)/(n+0.5)) }

// says is how much it means that a name was heard: "range" and "turn" occur in
// every other question, "fireball" does not.
func (ix *index) says(name string) float64 {
	sum := 0.0
	for _, t := range terms(name) {
		// Words such as concentration stand in half of all texts and still
		// name one rule.
		sum += max(ix.idf[t], 0.6*ix.nameIDF[t])
	}
	if len(name) <= 3 {
		sum /= 2 // CON, DEX and DC are bits of broken words as often
	}
	return min(1.6, 0.2+0.2*sum)
}

// call records a name under which entry i may be asked for.
func (ix *index) call(i int, name string, primary bool) {
	words := split(strings.TrimSuffix(name, "]"))
	joined := strings.Join(words, "")
	if len(joined) < 2 {
		return
	}
	c := called{i, name, joined, sound(joined), withoutSmallWords(words), letterSet(joined), ix.says(name), primary}
	if !slices.ContainsFunc(ix.exact[joined], func(o called) bool { return o.entry == i }) {
		ix.exact[joined] = append(ix.exact[joined], c)
		if c.heard != "" {
			ix.names[c.heard[0]] = append(ix.names[c.heard[0]], c)
		}
	}
}
