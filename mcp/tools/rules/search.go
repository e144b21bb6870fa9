package rules

import (
	"cmp"
	"math"
	"math/bits"
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
	s.words = split(text)
	s.words = s.words[:min(len(s.words), maxTerms)]
	s.byName()
	s.byTerms()
	s.byKind()
	return l.best(s, q)
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

// A match is a name that was heard in the words from to to.
type match struct {
	called
	from, to int
	length   int // of the words in letters
	like     float64
}

// byName looks for names in windows of neighbouring words: "fire ball" is
// heard as one word, "counter spell" too. Of overlapping names the longer and
// better one counts: in "un canny dodge" nobody dodges.
func (s *search) byName() {
	whole := s.meaning(0, len(s.words))
	for from := range s.words {
		for n := 1; n <= maxWindow && from+n <= len(s.words); n++ {
			window := s.words[from : from+n]
			joined := strings.Join(window, "")
			if len(joined) < 3 || len(joined) > 30 || n == 1 && stopWords[joined] {
				continue
			}
			if exact := s.ix.exact[joined]; len(exact) > 0 {
				for _, c := range exact {
					like := 1.0
					if s.meaning(from, from+n) == whole && n < 4 {
						like = 1.15 // the question is nothing but the name
					}
					s.heard = append(s.heard, match{c, from, from + n, len(joined), like})
				}
				continue
			}
			// A name may be heard to end in a small word ("hold purse on"), but of
			// two words neither is small: "healing work" is no spell.
			if !stopWords[window[0]] && (n > 2 || !stopWords[window[n-1]]) || slices.ContainsFunc(window, func(w string) bool { return !s.known(w) }) {
				s.alike(joined, from, from+n)
			}
		}
	}
	slices.SortStableFunc(s.heard, func(a, b match) int { return cmp.Compare(b.weight(), a.weight()) })
	covered := make([]float64, len(s.words))
	var rewritten []match
	for _, m := range s.heard {
		over := 0.0
		for i := m.from; i < m.to; i++ {
			over = max(over, covered[i])
		}
		credit := m.credit()
		switch {
		case over > m.weight()*1.15:
			credit *= 0.35 // a part of something that was heard better
		case over == 0:
			rewritten = append(rewritten, m)
		}
		for i := m.from; i < m.to; i++ {
			covered[i] = max(covered[i], m.weight())
		}
		if !m.primary {
			credit *= 0.85
		}
		s.named[m.entry] = max(s.named[m.entry], credit)
	}
	s.rewrite(rewritten)
}

// credit is what hearing the name is worth.
func (m match) credit() float64 { return m.like * m.like * m.says }

// meaning counts the words from to to that are no stop words.
func (s *search) meaning(from, to int) int {
	n := 0
	for _, w := range s.words[from:to] {
		if !stopWords[w] {
			n++
		}
	}
	return n
}

// weight decides between names heard in the same words: the one that explains
// more of them.
func (m match) weight() float64 { return m.credit() * (1 + float64(m.length)/12) }

// rewrite puts the words of the names that were heard in the place of those
// that were recognized, so that the rest of the search sees them whole.
func (s *search) rewrite(heard []match) {
	slices.SortFunc(heard, func(a, b match) int { return a.from - b.from })
	var words []string
	next := 0
	for _, m := range heard {
		words = append(words, s.words[next:m.from]...)
		if m.joined == strings.Join(s.words[m.from:m.to], "") && m.to-m.from == 1 {
			words = append(words, s.words[m.from])
		} else {
			words = append(words, split(m.name)...)
		}
		next = m.to
	}
	s.words = append(words, s.words[next:]...)
}

// known reports whether some entry has the word.
func (s *search) known(w string) bool { return stopWords[w] || len(s.ix.postings[stem(w)]) > 0 }

// alike finds names that sound like the words from to to. Words that mean
// something need a closer likeness than those that recognition has visibly
// broken.
func (s *search) alike(joined string, from, to int) {
	// Short words sound like everything, unless they are none at all.
	shortest := 5
	if to-from == 1 && !s.known(joined) {
		shortest = 4
	}
	if len(joined) < shortest {
		return
	}
	heard := sound(joined)
	if heard == "" {
		return
	}
	floor := 0.74
	broken := 0
	for _, w := range s.words[from:to] {
		if !s.known(w) || len(w) < 3 && !stopWords[w] {
			broken++
		}
	}
	switch {
	case broken == 0 && to-from == 1:
		floor = 0.9
	case broken == 0:
		floor = 0.77
	case len(joined) < 8, to-from == 1:
		floor = 0.78
	}
	set := letterSet(joined)
	for _, first := range firsts(heard[0]) {
		for _, c := range s.ix.names[first] {
			if len(c.joined) < shortest || len(c.heard)-len(heard) > 2 || len(heard)-len(c.heard) > 2 ||
				bits.OnesCount32(set^c.letters) > 2+len(joined)/3 {
				continue
			}
			if like := similarity(joined, c.joined, heard, c.heard); like >= floor && alikeWithoutSmallWords(s.words[from:to], c) {
				s.heard = append(s.heard, match{c, from, to, len(joined), like})
			}
		}
	}
}

// alikeWithoutSmallWords keeps "talk to the mayor" from being heard as "talk to
// the dead" for the words that they share by accident.
func alikeWithoutSmallWords(window []string, c called) bool {
	if c.bare == c.joined {
		return true
	}
	bare := withoutSmallWords(window)
	return similarity(bare, c.bare, sound(bare), sound(c.bare)) >= 0.6
}

// withoutSmallWords joins the words that mean something.
func withoutSmallWords(words []string) string {
	var b strings.Builder
	for _, w := range words {
		if !stopWords[w] {
			b.WriteString(w)
		}
	}
	return b.String()
}

// letterSet has a bit for each letter that occurs.
func letterSet(s string) uint32 {
	var set uint32
	for i := range len(s) {
		set |= 1 << (s[i] & 31)
	}
	return set
}

// firsts are the first sounds to look under: recognition confuses w and nothing
// at the beginning of a word, and a hard g with a soft one.
func firsts(c byte) []byte {
	switch c {
	case 'W':
		return []byte{'W', 'A'}
	case 'A':
		return []byte{'A', 'W'}
	case 'J', 'K':
		return []byte{'J', 'K'}
	}
	return []byte{c}
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
