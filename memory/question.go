package memory

import (
	"slices"
	"strings"
)

// maxTerms bounds a question. The longest sentences people say have about 25
// content words; the rest of a longer one is left out, rarest words first kept
// by nobody's guess but the order in which they were said.
const maxTerms = 24

// A Question is a query's text, analysed.
type Question struct {
	// Terms are what to look for, each once, in the order they were said.
	Terms []string
	// Prefixes are beginnings of terms.
	Prefixes []string
	// Phrases must occur as they are: each is a sequence of folded words.
	Phrases [][]string
	// Senses are, for some of the terms, others that people say for the same
	// thing. A line that has one of them answers a little of the term.
	Senses map[string][]string

	aim   aim
	when  span
	words []string        // all folded words of the question
	said  map[string]bool // the same
}

// Ask analyses the text of a query. Any text is a question; none is an error.
func Ask(text string) Question {
	if len(text) > MaxQuery {
		text = strings.ToValidUTF8(text[:MaxQuery], "")
	}
	var q Question
	seen := map[string]bool{}
	add := func(list *[]string, t string) {
		if !seen[t] && len(seen) < maxTerms {
			seen[t] = true
			*list = append(*list, t)
		}
	}
	all := words(text)
	small := smallWords[languageOf(all)]
	for i, part := range strings.Split(text, `"`) {
		if i%2 == 1 {
			// An odd number of quotes leaves the last part outside, which harms
			// nothing: its words are looked for either way.
			if p := words(part); len(p) > 1 && len(q.Phrases) < 4 {
				q.Phrases = append(q.Phrases, p)
			}
		}
		for field := range strings.FieldsSeq(part) {
			ws := words(field)
			if len(ws) == 1 && strings.HasSuffix(field, "*") && len(ws[0]) >= 2 {
				add(&q.Prefixes, ws[0]+"*")
				continue
			}
			for _, w := range ws {
				if !small[w] {
					add(&q.Terms, term(w))
				}
			}
		}
	}
	if len(seen) == 0 { // "who are you": better its small words than nothing
		for _, w := range all {
			add(&q.Terms, term(w))
		}
	}
	q.words, q.said = all, map[string]bool{}
	for _, w := range all {
		q.said[w] = true
	}
	q.aim, q.when = aimOf(all), spanOf(all)
	q.Senses = map[string][]string{}
	for _, t := range q.Terms {
		if others := senses()[t]; len(others) > 0 {
			q.Senses[t] = others
		}
	}
	for i := range q.Prefixes {
		q.Prefixes[i] = strings.TrimSuffix(q.Prefixes[i], "*")
	}
	return q
}

// maxNamesSaid bounds the names that are looked for in a question: each of its
// words alone and with one or two after it.
const maxNamesSaid = 48

// Names are what may be a name in the question: its words, folded, and runs of
// two and three of them, with the term under which each is looked for.
func (q Question) Names() map[string]string {
	out := map[string]string{}
	for i, w := range q.words {
		if content(w) {
			out[w] = term(w)
		}
		for n := 2; n <= 3 && i+n <= len(q.words); n++ {
			if run := q.words[i : i+n]; content(w) || content(run[n-1]) {
				for _, w := range run {
					if content(w) {
						out[strings.Join(run, " ")] = term(w)
						break
					}
				}
			}
		}
		if len(out) > maxNamesSaid {
			break
		}
	}
	return out
}

// Mean adds a name that stands for the same as a term of the question.
func (q *Question) Mean(t, name string) {
	for _, w := range words(name) {
		if u := term(w); content(w) && u != t && !slices.Contains(q.Senses[t], u) {
			q.Senses[t] = append(slices.Clip(q.Senses[t]), u)
		}
	}
}

// Empty says whether there is nothing to look for.
func (q Question) Empty() bool { return len(q.Terms) == 0 && len(q.Prefixes) == 0 }
