package rules

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// The limits of a search. A question is a sentence; what is longer is cut.
const (
	maxQuery   = 400 // characters
	maxTerms   = 40
	maxResults = 20
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
	entry  int
	joined string
	heard  string
	words  int
	// primary names are the entry's own, not an alias.
	primary bool
}

// An index is everything that can be computed before a question comes.
type index struct {
	entries  []*Entry
	postings map[string][]posting
	idf      map[string]float64
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
		ix.call(i, e.Name, true)
		for _, a := range slices.Concat(e.Aliases, e.SRD) {
			ix.call(i, a, false)
		}
	}
	mean := total / float64(max(1, len(entries)))
	for i, tf := range counts {
		norm := 1 - lengthNorm + lengthNorm*lengths[i]/mean
		for t, n := range tf {
			ix.postings[t] = append(ix.postings[t], posting{i, n * (saturation + 1) / (n + saturation*norm)})
		}
	}
	for t, list := range ix.postings {
		n := float64(len(list))
		ix.idf[t] = math.Log(1 + (float64(len(entries))-n+0.5)/(n+0.5))
		key := sound(t)
		ix.heard[key] = append(ix.heard[key], t)
	}
	return ix
}

// call records a name under which entry i may be asked for.
func (ix *index) call(i int, name string, primary bool) {
	words := split(strings.TrimSuffix(name, "]"))
	joined := strings.Join(words, "")
	if len(joined) < 2 {
		return
	}
	c := called{i, joined, sound(joined), len(words), primary}
	if !slices.ContainsFunc(ix.exact[joined], func(o called) bool { return o.entry == i }) {
		ix.exact[joined] = append(ix.exact[joined], c)
		if c.heard != "" {
			ix.names[c.heard[0]] = append(ix.names[c.heard[0]], c)
		}
	}
}

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
	// System is a game's id; empty means all.
	System string
	// Limit is the number of results; zero means 5.
	Limit int
	// DM includes what only the game master may know.
	DM bool
}

// Search answers a question with the entries that fit best, the best first. It
// returns nothing when nothing fits well enough.
func (l *Library) Search(q Query) []Hit {
	l.indexOnce.Do(func() { l.index = newIndex(l.entries) })
	text := q.Text
	if r := []rune(text); len(r) > maxQuery {
		text = string(r[:maxQuery])
	}
	s := &search{ix: l.index, score: make([]float64, len(l.entries)), named: make([]float64, len(l.entries))}
	s.words = split(text)
	s.words = s.words[:min(len(s.words), maxTerms)]
	s.byName()
	s.byTerms()
	s.byKind()
	return l.best(s, q)
}

// A search is one question on its way to an answer.
type search struct {
	ix    *index
	words []string
	score []float64
	named []float64 // how well a name of the entry was heard, 0 to about 1
	// asked is the weight of everything meaningful in the question, matched
	// what the vocabulary knows of it.
	asked   float64
	unknown float64
}

// byName looks for names in windows of neighbouring words: "fire ball" is
// heard as one word, "counter spell" too.
func (s *search) byName() {
	for from := range s.words {
		for n := 1; n <= 5 && from+n <= len(s.words); n++ {
			window := s.words[from : from+n]
			if stopWords[window[0]] && n == 1 || stopWords[window[0]] && stopWords[window[n-1]] && n < 3 {
				continue
			}
			joined := strings.Join(window, "")
			if len(joined) < 3 || len(joined) > 30 {
				continue
			}
			if exact := s.ix.exact[joined]; len(exact) > 0 {
				for _, c := range exact {
					s.name(c, 1, window)
				}
				continue
			}
			s.alike(joined, window)
		}
	}
}

// alike finds names that sound like a window.
func (s *search) alike(joined string, window []string) {
	if len(joined) < 5 {
		return // short words sound like everything
	}
	heard := sound(joined)
	if heard == "" {
		return
	}
	for _, first := range firsts(heard[0]) {
		for _, c := range s.ix.names[first] {
			if len(c.joined) < 5 || len(c.heard)-len(heard) > 2 || len(heard)-len(c.heard) > 2 {
				continue
			}
			like := similarity(joined, c.joined, heard, c.heard)
			// Whole words that mean something else need a closer likeness than
			// what recognition has visibly broken.
			floor := 0.74
			if len(joined) < 8 {
				floor = 0.8
			}
			if like >= floor {
				s.name(c, like*like, window)
			}
		}
	}
}

// firsts are the first sounds to look under: recognition confuses w and nothing
// at the beginning of a word, and loses an h.
func firsts(c byte) []byte {
	switch c {
	case 'W':
		return []byte{'W', 'A'}
	case 'A':
		return []byte{'A', 'W'}
	}
	return []byte{c}
}

// name credits an entry for a name that was heard in a window.
func (s *search) name(c called, like float64, window []string) {
	weight := 0.0
	for _, w := range window {
		if !stopWords[w] {
			weight++
		}
	}
	credit := like * (1 + 0.45*math.Log(1+float64(len(c.joined))/5))
	if !c.primary {
		credit *= 0.9
	}
	s.named[c.entry] = max(s.named[c.entry], credit)
}

// byTerms is BM25 over the stems of the question; words that no entry has are
// replaced by those that sound like them.
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
		if list, ok := s.ix.postings[t]; ok {
			s.asked += s.ix.idf[t]
			s.credit(list, s.ix.idf[t])
			continue
		}
		near := s.near(t)
		rare := math.Log(1 + float64(len(s.ix.entries)))
		s.asked += rare
		if len(near) == 0 {
			s.unknown += rare
		}
		for _, n := range near {
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
		if distance(t, w, 3) <= 3 && w[0] == t[0] || distance(t, w, 1) <= 1 {
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
		s.score[i] += 12 * s.named[i]
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

// The floors of an answer: how much of the question an entry must account for,
// and how far behind the best one it may be.
const (
	floorScore  = 9.0
	floorShare  = 1.25
	floorBehind = 0.25
)

// best filters, collapses the two editions of a rule into one, and cuts.
func (l *Library) best(s *search, q Query) []Hit {
	var hits []Hit
	for i, e := range l.entries {
		if s.score[i] < floorScore || s.score[i] < floorShare*s.asked && s.named[i] < 0.9 {
			continue
		}
		if e.DM && !q.DM || q.System != "" && !e.plays(q.System) || q.Edition != "" && e.Edition != "" && e.Edition != q.Edition {
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
// edition too.
func (e *Entry) plays(system string) bool {
	name, edition, _ := strings.Cut(system, "-")
	if e.System == system {
		return true
	}
	return e.System == name && (e.Edition == "" || string(e.Edition) == edition)
}
