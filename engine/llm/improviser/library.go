package improviser

import (
	"math"
	"slices"
	"strings"
)

// A library is a persona's knowledge, made ready for looking things up.
type library struct {
	tongue *tongue
	// names are words that say nothing as a rule and are somebody's name here: Will,
	// Till, Hope.
	names   map[string]bool
	lore    []shelf
	world   []shelf
	persona Persona
	weight  map[string]float64 // stem to how telling it is
	usual   float64            // the weight of a word that is in no shelf
}

// A shelf is one thing to be told, under the words that bring it up.
type shelf struct {
	about [][]string // stems of each phrase
	text  []string   // stems of the text
	lore  *Lore
	// known is the entity that this is, or that the lore is about; nil if none.
	known *Known
}

func newLibrary(p Persona, t *tongue) *library {
	l := &library{tongue: t, persona: p, weight: map[string]float64{}, names: map[string]bool{}}
	for _, e := range p.World {
		if e.Kind == "npc" || e.Kind == "player" {
			l.learn(append([]string{e.Name}, e.Aliases...))
		}
	}
	in := map[string]int{}
	add := func(s shelf) shelf {
		seen := map[string]bool{}
		for _, phrase := range s.about {
			for _, w := range phrase {
				if !seen[w] {
					seen[w] = true
					in[w]++
				}
			}
		}
		return s
	}
	for i := range p.Knowledge {
		k := &p.Knowledge[i]
		s := shelf{lore: k, text: l.content(k.Text)}
		for _, a := range k.About {
			if words := l.content(a); len(words) > 0 {
				s.about = append(s.about, words)
			}
		}
		l.lore = append(l.lore, add(s))
	}
	defer l.connect()
	for i := range p.World {
		e := &p.World[i]
		s := shelf{known: e, text: l.content(e.Text + " " + strings.Join(e.Facts, " "))}
		for _, name := range append([]string{e.Name}, e.Aliases...) {
			if words := l.content(name); len(words) > 0 {
				s.about = append(s.about, words)
			}
		}
		l.world = append(l.world, add(s))
	}
	n := float64(len(l.lore) + len(l.world) + 1)
	for w, k := range in {
		l.weight[w] = math.Log(1 + n/float64(k))
	}
	l.usual = math.Log(1 + n)
	return l
}

// learn keeps the words of phrases that would have none left without them.
func (l *library) learn(phrases []string) {
	for _, phrase := range phrases {
		if words := strings.Fields(plain(phrase)); len(l.tongue.content(phrase, nil)) == 0 && len(words) == 1 && len(words[0]) > 2 {
			l.names[words[0]] = true
		}
	}
}

// content is the stems of a text's words that say what it is about.
func (l *library) content(text string) []string { return l.tongue.content(text, l.names) }

// connect finds the entity that each piece of lore is about: the one whose name
// stands first among the words that bring it up.
func (l *library) connect() {
	for i := range l.lore {
		s := &l.lore[i]
		for _, phrase := range s.about {
			for j := range l.world {
				if s.known == nil && slices.ContainsFunc(l.world[j].about, func(name []string) bool { return slices.Equal(name, phrase) }) {
					s.known = l.world[j].known
				}
			}
		}
	}
}

func (l *library) weigh(w string) float64 {
	if x, ok := l.weight[w]; ok {
		return x
	}
	return l.usual
}

// A find is a shelf that fits a question.
type find struct {
	shelf *shelf
	// score is the weight of the question's words that the shelf is about, as a
	// share of all of them; exact says that one of them was matched as it is.
	score float64
	exact bool
	// whole says that a phrase of several words, or a name, was matched whole.
	whole bool
}

// find looks up the content words of a question, best first. Words that sound
// alike count nearly whole, words of like meaning half.
func (l *library) find(shelves []shelf, question []string) []find {
	if len(question) == 0 {
		return nil
	}
	var total float64
	for _, w := range question {
		total += l.weigh(w)
	}
	var out []find
	for i := range shelves {
		s := &shelves[i]
		f := find{shelf: s}
		var score float64
		for _, w := range question {
			best := 0.0
			for k, phrase := range s.about {
				m := l.match(w, phrase)
				if len(phrase) > 1 && !allIn(phrase, question) {
					// Of a longer phrase the last word says most: the old mill is a mill.
					if l.match(w, phrase[len(phrase)-1:]) == 0 {
						m *= 0.4
					} else {
						m *= 0.75
					}
				} else if m == 1 {
					f.exact = true
				}
				// What is named first is what it is mostly about.
				m *= 1 - 0.04*float64(min(k, 5))
				best = max(best, m)
			}
			if best == 0 && slices.Contains(s.text, w) {
				best = 0.25
				if s.lore == nil { // names do not say what a thing is about
					best = 0.45
				}
			}
			score += best * l.weigh(w)
		}
		f.whole = slices.ContainsFunc(s.about, func(phrase []string) bool {
			return allIn(phrase, question) && (len(phrase) > 1 || s.lore == nil)
		})
		if f.whole {
			score += 0.3 * total
		}
		if f.score = score / total; f.score >= 0.2 {
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b find) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	return out
}

// match is how well a word of the question fits a phrase: 1 for the same word.
func (l *library) match(w string, phrase []string) float64 {
	best := 0.0
	for _, p := range phrase {
		switch {
		case p == w:
			return 1
		case alike(p, w):
			best = max(best, 0.85)
		case l.tongue.related(p, w):
			best = max(best, 0.5)
		}
	}
	return best
}

func allIn(phrase, question []string) bool {
	for _, p := range phrase {
		if !slices.ContainsFunc(question, func(w string) bool { return alike(p, w) }) {
			return false
		}
	}
	return true
}

// entity is the one known by a name that is said in the question, or nil. Names
// that were torn in two ("gun dren") are found as well.
func (l *library) entity(question []string) *Known {
	best, bestScore := (*Known)(nil), 0.0
	for _, q := range [][]string{question, joined(question)} {
		for i := range l.world {
			for _, phrase := range l.world[i].about {
				if !allIn(phrase, q) {
					continue
				}
				score := float64(len(phrase))
				for _, p := range phrase {
					if slices.Contains(q, p) {
						score++
					}
				}
				if score > bestScore {
					best, bestScore = l.world[i].known, score
				}
			}
		}
		if best != nil {
			return best
		}
	}
	return nil
}

// covers reports whether a shelf is about an entity: it has all words of one of
// the entity's names that the question has.
func (l *library) covers(s *shelf, e *Known, question []string) bool {
	for _, name := range append([]string{e.Name}, e.Aliases...) {
		words := l.content(name)
		if len(words) == 0 || !allIn(words, question) {
			continue
		}
		has := func(w string) bool {
			return len(words) > 1 && slices.Contains(s.text, w) || slices.ContainsFunc(s.about, func(p []string) bool { return allIn([]string{w}, p) })
		}
		if !slices.ContainsFunc(words, func(w string) bool { return !has(w) }) {
			return true
		}
	}
	return false
}

// joined closes up each pair of neighbouring words.
func joined(words []string) []string {
	out := slices.Clone(words)
	for i := 0; i+1 < len(words); i++ {
		out = append(out, words[i]+words[i+1])
	}
	return out
}

// called finds the known entity with this id or name, or nil.
func (l *library) called(name string) *Known {
	for i := range l.persona.World {
		if e := &l.persona.World[i]; e.ID == name || strings.EqualFold(e.Name, name) {
			return e
		}
	}
	return nil
}
