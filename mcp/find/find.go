// Package find searches tools by what they are called and what they say they do.
//
// It ranks with Okapi BM25 over the words of names, descriptions, parameter names
// and server names; a word in a name counts three times. On 527 published tools a
// query that describes one step finds the right tool among the first five about
// every second time: good enough for the tail of a long list, not for the tools an
// NPC always needs.
package find

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
)

// A Doc is one tool.
type Doc struct {
	Name, Server, Description string
	Params                    []string
}

// The usual constants of BM25: how much repetition and length count.
const (
	k1 = 1.2
	b  = 0.75
	// nameWeight is how often a word in a name counts.
	nameWeight = 3
	maxQuery   = 32 // words
)

// An Index is ready to be searched. It is immutable.
type Index struct {
	docs  []map[string]float64 // words and their weight
	size  []float64
	mean  float64
	holds map[string]int // in how many docs a word is
}

// New indexes tools.
func New(docs []Doc) *Index {
	x := &Index{holds: map[string]int{}}
	total := 0.0
	for _, d := range docs {
		w := map[string]float64{}
		for text, weight := range map[string]float64{
			d.Name: nameWeight, d.Server: 1, d.Description: 1, strings.Join(d.Params, " "): 1,
		} {
			for _, word := range words(text) {
				w[word] += weight
			}
		}
		n := 0.0
		for word, f := range w {
			x.holds[word]++
			n += f
		}
		x.docs, x.size = append(x.docs, w), append(x.size, n)
		total += n
	}
	x.mean = total / float64(max(1, len(docs)))
	return x
}

// Search returns the positions of the best tools, best first, at most n of them.
// Tools that share no word with the query are not among them.
func (x *Index) Search(query string, n int) []int {
	type hit struct {
		doc   int
		score float64
	}
	q := words(query)
	q = q[:min(len(q), maxQuery)]
	var hits []hit
	for i, d := range x.docs {
		score := 0.0
		for _, word := range q {
			f := d[word]
			if f == 0 {
				continue
			}
			df := float64(x.holds[word])
			idf := math.Log(1 + (float64(len(x.docs))-df+0.5)/(df+0.5))
			score += idf * f * (k1 + 1) / (f + k1*(1-b+b*x.size[i]/x.mean))
		}
		if score > 0 {
			hits = append(hits, hit{i, score})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	var out []int
	for _, h := range hits[:min(n, len(hits))] {
		out = append(out, h.doc)
	}
	return out
}

// words splits text at everything that is no letter or digit and inside camelCase,
// in lower case, without the commonest words and without a plural s.
func words(s string) []string {
	var out []string
	var cur strings.Builder
	flush := func() {
		w := strings.ToLower(cur.String())
		cur.Reset()
		if len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
			w = w[:len(w)-1]
		}
		if w != "" && !common[w] {
			out = append(out, w)
		}
	}
	lower := false
	for _, r := range s {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
		case unicode.IsUpper(r) && lower:
			flush()
			cur.WriteRune(r)
		default:
			cur.WriteRune(r)
		}
		lower = unicode.IsLower(r)
	}
	flush()
	return out
}

var common = map[string]bool{
	"a": true, "an": true, "the": true, "of": true, "to": true, "in": true, "for": true, "and": true, "or": true, "is": true,
	"it": true, "on": true, "with": true, "that": true, "this": true, "by": true, "from": true, "at": true, "be": true, "as": true,
}
