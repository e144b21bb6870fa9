package memory

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// The weights of a search, chosen on one half of the dialogues that
// memorytest.NewGossip makes up and kept because they hold on the other half:
// each doubled or halved changes recall@10 by about a point.
const (
	saturation = 1.2  // BM25's k1: how soon a repeated word stops counting
	lengthBias = 0.4  // BM25's b: spoken lines are short, so their length says less
	meanLength = 12.0 // terms in a spoken line
	// A line's neighbours belong to what it is about, and what was said before it
	// a little more than what came after. An answer seldom repeats the words of
	// the question that was put just before.
	besideWeight, nearWeight = 0.35, 0.4
	beforeBonus              = 0.2
	answerWeight             = 0.4
	// onceWeight is how far a word counts once, however many of the lines around
	// have it: all of a question's words in a few lines say more than one of them
	// in each.
	onceWeight = 0.5
	onceShare  = 1.5 // of a neighbour's weight, where its word counts once
	// SenseWeight is how much another word for the same thing counts.
	SenseWeight     = 0.8
	fitBonus        = 0.4 // a number for "how many", a day for "when", a name for "who"
	speakerBonus    = 0.4 // said by somebody whom the question names
	timeBonus       = 0.5 // said at the time for which the question asks
	questionPenalty = 0.3 // what asks seldom answers
	shortPenalty    = 0.4 // nor does what is hardly a sentence
	shortLine       = 4.0 // words of a line that is hardly a sentence
	phraseBonus     = 4.0
	recencyBonus    = 0.02 // only ever decides between equals
)

// SenseKey begins the key of a term's senses among rarities.
const SenseKey = "~"

// A Candidate is a line that may answer a question.
type Candidate struct {
	// Seq numbers lines so that neighbours in a conversation differ by one.
	Seq  int64
	Text string
	// Name is the speaker's, whose words count as the line's.
	Name string
	At   time.Time
}

// Rarity is how much it says that a line contains a term which n of total lines
// contain.
func Rarity(n, total float64) float64 {
	return math.Log(1 + (max(total, n)-n+0.5)/(n+0.5))
}

// Rank scores candidates against a question and returns the best, best first,
// as indexes into candidates with their scores. rarity is that of each term of
// the question, as [Rarity] has it, and of its senses under [SenseKey] and the
// term. beside are rough scores of lines that are no candidates but may stand
// beside one. Candidates whose phrases do not match, or that share nothing with
// the question and stand beside nothing that does, are left out.
func Rank(q Question, rarity map[string]float64, beside map[int64]float64, candidates []Candidate, limit int) []Ranked {
	m := newMatcher(q)
	r := ranking{q: q, own: maps.Clone(beside), terms: make(map[int64][]float64, len(candidates)), asks: map[int64]bool{}, length: map[int64]int{}}
	if r.own == nil {
		r.own = map[int64]float64{}
	}
	var newest int64
	for _, c := range candidates {
		r.length[c.Seq], r.own[c.Seq], r.terms[c.Seq] = m.bm25(rarity, c)
		r.asks[c.Seq] = strings.HasSuffix(strings.TrimSpace(c.Text), "?")
		newest = max(newest, c.Seq)
	}
	out := make([]Ranked, 0, len(candidates))
	for i, c := range candidates {
		if len(q.Phrases) > 0 && !hasPhrases(q.Phrases, c.Text) {
			continue
		}
		if score := r.score(c); score > 0 {
			out = append(out, Ranked{i, score * (1 + recencyBonus/(1+float64(newest-c.Seq)/100))})
		}
	}
	slices.SortStableFunc(out, func(a, b Ranked) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(candidates[b.Index].Seq, candidates[a.Index].Seq))
	})
	return out[:min(len(out), limit)]
}

// A ranking is what is known of all candidates while each is scored.
type ranking struct {
	q     Question
	own   map[int64]float64   // what a line's own words say
	terms map[int64][]float64 // the same, for each term of the question
	asks  map[int64]bool      // lines that are questions themselves
	// length is how many words each line has.
	length map[int64]int
}

// score is how well a line answers, by its words, those around it and what it is.
func (r ranking) score(c Candidate) float64 {
	score := (1-onceWeight)*Smooth(r.own, c.Seq) + onceWeight*r.once(c.Seq)
	if r.asks[c.Seq-1] {
		score += answerWeight * r.own[c.Seq-1]
	}
	if r.asks[c.Seq] {
		score *= 1 - questionPenalty
	}
	if r.q.aim.fits(c.Text, r.q.said) {
		score *= 1 + fitBonus
	}
	if slices.ContainsFunc(words(c.Name), func(w string) bool { return r.q.said[w] && content(w) }) {
		score *= 1 + speakerBonus
	}
	if r.q.when.holds(c.At) {
		score *= 1 + timeBonus
	}
	score *= 1 - shortPenalty*math.Exp(-float64(r.length[c.Seq])/shortLine)
	if len(r.q.Phrases) > 0 {
		score += phraseBonus
	}
	return score
}

// once adds up the best that any line around says of each term.
func (r ranking) once(seq int64) float64 {
	sum := 0.0
	for i, best := range r.terms[seq] {
		for _, a := range around {
			if beside, ok := r.terms[seq+a.distance]; ok {
				best = max(best, onceShare*a.weight*beside[i])
			}
		}
		sum += best
	}
	return sum
}

// around is the weight of the lines around one.
var around = [...]struct {
	distance int64
	weight   float64
}{
	{-1, besideWeight * (1 + beforeBonus)}, {1, besideWeight * (1 - beforeBonus)},
	{-2, nearWeight * (1 + beforeBonus)}, {2, nearWeight * (1 - beforeBonus)},
}

// Ranked is a candidate's place in a ranking.
type Ranked struct {
	Index int
	Score float64
}

// Smooth is a line's score together with a share of what stands beside it.
func Smooth(own map[int64]float64, seq int64) float64 {
	sum := own[seq]
	for _, a := range around {
		sum += a.weight * own[seq+a.distance]
	}
	return sum
}

// A matcher counts a question's terms in texts without stemming every word.
type matcher struct {
	q Question
	// begins has the first two bytes of each term and prefix. A word is stemmed
	// only if it begins like one: hardly any stem differs from its word there.
	begins map[[2]byte]bool
	place  map[string]int   // of a term in q.Terms
	sense  map[string][]int // of the terms in q.Terms for which a term may stand
}

func newMatcher(q Question) matcher {
	m := matcher{q: q, begins: map[[2]byte]bool{}, place: map[string]int{}, sense: map[string][]int{}}
	for i, t := range q.Terms {
		m.begins[head(t)] = true
		m.place[t] = i
		for _, other := range q.Senses[t] {
			m.begins[head(other)] = true
			m.sense[other] = append(m.sense[other], i)
		}
	}
	for _, p := range q.Prefixes {
		m.begins[head(p)] = true
	}
	return m
}

func head(w string) (h [2]byte) {
	copy(h[:], w)
	return h
}

// count adds to terms and prefixes how often each occurs among the words, and to
// alike how often another word for the term does.
func (m matcher) count(ws []string, terms, alike, prefixes []float64) {
	for _, w := range ws {
		if !m.begins[head(w)] && !changesHead(w) {
			continue
		}
		t := term(w)
		if i, ok := m.place[t]; ok {
			terms[i]++
		}
		for _, i := range m.sense[t] {
			alike[i]++
		}
		for i, p := range m.q.Prefixes {
			if strings.HasPrefix(w, p) {
				prefixes[i]++
			}
		}
	}
}

// bm25 is the usual score of a text for some words, Robertson and Zaragoza's
// "The Probabilistic Relevance Framework", with who said it among its words; in
// all and for each term, and how many words it has.
func (m matcher) bm25(rarity map[string]float64, c Candidate) (length int, sum float64, each []float64) {
	text, name := words(c.Text), words(c.Name)
	n := len(m.q.Terms)
	counts := make([]float64, 3*n+len(m.q.Prefixes))
	terms, alike, ignored, prefixes := counts[:n], counts[n:2*n], counts[2*n:3*n], counts[3*n:]
	m.count(text, terms, alike, prefixes)
	m.count(name, terms, ignored, prefixes)
	norm := saturation * (1 - lengthBias + lengthBias*float64(len(text)+len(name))/meanLength)
	saturate := func(n float64) float64 { return n * (saturation + 1) / (n + norm) }
	each = make([]float64, n)
	for i, t := range m.q.Terms {
		each[i] = max(rarity[t]*saturate(terms[i]), SenseWeight*rarity[SenseKey+t]*saturate(alike[i]))
		sum += each[i]
	}
	for i, p := range m.q.Prefixes {
		sum += rarity[p+"*"] * saturate(prefixes[i])
	}
	return len(text), sum, each
}

func hasPhrases(phrases [][]string, text string) bool {
	ws := words(text)
	for _, p := range phrases {
		found := false
		for i := 0; i+len(p) <= len(ws) && !found; i++ {
			found = slices.Equal(ws[i:i+len(p)], p)
		}
		if !found {
			return false
		}
	}
	return true
}
