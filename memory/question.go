package memory

import "strings"

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

	aim  aim
	said map[string]bool // all folded words of the question
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
	var all []string
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
				all = append(all, w)
				if content(w) {
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
	q.said = map[string]bool{}
	for _, w := range all {
		q.said[w] = true
	}
	q.aim = aimOf(all)
	for i := range q.Prefixes {
		q.Prefixes[i] = strings.TrimSuffix(q.Prefixes[i], "*")
	}
	return q
}

// Empty says whether there is nothing to look for.
func (q Question) Empty() bool { return len(q.Terms) == 0 && len(q.Prefixes) == 0 }
