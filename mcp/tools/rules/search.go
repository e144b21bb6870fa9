package rules

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"
)

// The limits of a search. A question is a sentence; what is longer is cut.
const (
	maxQuery   = 400 // characters
	maxTerms   = 40
	maxResults = 20
	// maxWindow is the longest name in words: "getting into and out of armor".
	maxWindow = 6
)

// A Hit is an entry that may answer a question.
type Hit struct {
	*Entry
	// Score is comparable within one answer only.
	Score float64 `json:"score"`
}

// A Query is a question and where to look.
type Query struct {
	Text string
	// Edition narrows the answer to what holds in it. Empty means the library's
	// own edition where the two differ.
	Edition Edition
	// System is a game's id; empty means fifth edition and homebrew.
	System string
	// Limit is the number of results; zero means 5.
	Limit int
	// DM includes what only the game master may know.
	DM bool
}

// Search answers a question with the entries that fit best, the best first. It
// returns nothing when nothing fits well enough.
func (l *Library) Search(q Query) []Hit {
	l.indexed()
	text := q.Text
	if r := []rune(text); len(r) > maxQuery {
		text = string(r[:maxQuery])
	}
	s := &search{ix: l.index, score: make([]float64, len(l.entries)), named: make([]float64, len(l.entries))}
	s.words = spell(split(text))
	s.words = s.words[:min(len(s.words), maxTerms)]
	s.byName()
	s.byTerms()
	s.byKind()
	return l.best(s, q)
}

// Names yields what the entries of one kind are called, or of all if kind is "":
// the imported ones too, and more than once where two editions share a name.
func (l *Library) Names(kind string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, e := range l.entries {
			if (kind == "" || e.Kind == kind) && !yield(e.Name) {
				return
			}
		}
	}
}

// indexed makes the index, once.
func (l *Library) indexed() { l.indexOnce.Do(func() { l.index = newIndex(l.entries) }) }

// A search is one question on its way to an answer.
type search struct {
	ix    *index
	words []string
	score []float64
	named []float64 // how well a name of the entry was heard, 0 to about 2
	heard []match
	// asked is the weight of everything meaningful in the question.
	asked float64
}

// byTerms is BM25 over the stems of the question, with what else the words may
// mean; words that no entry has are replaced by those that sound like them.
func (s *search) byTerms() {
	seen := make(map[string]bool)
	for _, w := range s.words {
		if stopWords[w] {
			continue
		}
		t := stem(w)
		if seen[t] {
			continue
		}
		seen[t] = true
		for _, other := range means[t] {
			if !seen[other] {
				s.credit(s.ix.postings[other], 0.6*s.ix.idf[other])
			}
		}
		if list, ok := s.ix.postings[t]; ok {
			weight := s.ix.idf[t]
			if t[0] >= '0' && t[0] <= '9' {
				weight *= 0.4 // how many they are is seldom what is asked
			}
			s.asked += weight
			s.credit(list, weight)
			continue
		}
		s.asked += math.Log(1 + float64(len(s.ix.entries)))
		for _, n := range s.near(t) {
			s.credit(s.ix.postings[n], 0.6*s.ix.idf[n])
		}
	}
}

func (s *search) credit(list []posting, weight float64) {
	for _, p := range list {
		s.score[p.entry] += weight * p.weight
	}
}

// near are the words of the vocabulary that t may be a damaged form of.
func (s *search) near(t string) []string {
	if len(t) < 4 {
		return nil
	}
	var out []string
	for _, w := range s.ix.heard[sound(t)] {
		if most := 1 + len(t)/5; distance(t, w, most) <= most {
			out = append(out, w)
		}
	}
	return out
}

// kindWords point at a kind without naming an entry.
var kindWords = map[string]string{
	"spell": "spell", "cast": "spell", "casting": "spell", "casts": "spell", "upcast": "spell", "slot": "spell",
	"condition": "condition", "skill": "skill", "weapon": "weapon", "armor": "armor", "armour": "armor",
	"wear": "armor", "feature": "feature", "feat": "feat", "property": "property",
	"barbarian": "feature", "bard": "feature", "cleric": "feature", "druid": "feature", "fighter": "feature",
	"monk": "feature", "paladin": "feature", "ranger": "feature", "rogue": "feature", "sorcerer": "feature",
	"warlock": "feature", "wizard": "feature",
}

// byKind turns names into points and lifts the kinds that the question hints
// at. Core rules are asked for more than their share of entries.
func (s *search) byKind() {
	hinted := make(map[string]bool)
	for _, w := range s.words {
		if k := kindWords[w]; k != "" {
			hinted[k] = true
		}
	}
	for i, e := range s.ix.entries {
		if s.score[i] == 0 && s.named[i] == 0 {
			continue
		}
		s.score[i] += 12 * s.named[i] * s.covers(e)
		weight := 1.0
		switch e.Kind {
		case "condition", "combat":
			weight = 1.12
		case "general", "spellcasting":
			weight = 1.06
		case "weapon", "armor", "equipment", "ability":
			weight = 0.95
		}
		if hinted[e.Kind] {
			weight *= 1.15
		}
		s.score[i] *= weight
	}
}

// covers lowers what a name is worth in a long question about something else:
// a gate that is lifted is not the spell.
func (s *search) covers(e *Entry) float64 {
	sum := 0.0
	for _, t := range terms(e.Name) {
		sum += s.ix.idf[t]
	}
	return 0.55 + 0.9*min(0.5, sum/max(1, s.asked))
}

// The floors of an answer. The best entry must have a score and account for
// its share of the question; behind it, entries may be weaker by far.
const (
	floorScore  = 7.5
	floorShare  = 0.9
	floorBehind = 0.2
)

// best filters, collapses the two editions of a rule into one, and cuts.
func (l *Library) best(s *search, q Query) []Hit {
	var hits []Hit
	for i, e := range l.entries {
		if s.score[i] == 0 || e.DM && !q.DM || !e.plays(q.System) || q.Edition != "" && e.Edition != "" && e.Edition != q.Edition {
			continue
		}
		// Without an edition asked for, the library's own speaks for both.
		if q.Edition == "" && e.Differs != "" && e.Edition != l.edition {
			continue
		}
		hits = append(hits, Hit{e, s.score[i]})
	}
	slices.SortStableFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.ID, b.ID))
	})
	if len(hits) == 0 || hits[0].Score < max(floorScore, floorShare*s.asked) {
		return nil
	}
	limit := min(cmp.Or(q.Limit, 5), maxResults)
	hits = hits[:min(len(hits), limit)]
	for i, h := range hits {
		if h.Score < floorBehind*hits[0].Score {
			return hits[:i]
		}
	}
	return hits
}

// plays reports whether the entry belongs to a system; dnd5e-2024 names an
// edition too. Where none is asked for, fifth edition and what the table made
// itself answer: another game's rules would be wrong answers.
func (e *Entry) plays(wanted string) bool {
	if wanted == "" {
		return e.System == system || strings.HasPrefix(e.System, "homebrew")
	}
	name, edition, _ := strings.Cut(wanted, "-")
	return e.System == wanted || e.System == name && (e.Edition == "" || string(e.Edition) == edition)
}
