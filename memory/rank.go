package memory

import (
	"maps"
	"math"
	"slices"
	"strings"
)

// The weights of a search, measured on long two-party dialogues with questions
// and evidence: each doubled and halved changes recall@10 by under a point.
const (
	saturation = 1.2  // BM25's k1: how soon a repeated word stops counting
	lengthBias = 0.55 // BM25's b: spoken lines are short, so their length says less
	meanLength = 12.0 // terms in a spoken line
	// A line's neighbours belong to what it is about, and what was said before it
	// a little more than what came after. An answer seldom repeats the words of
	// the question that was put just before.
	besideWeight, nearWeight = 0.35, 0.15
	beforeBonus              = 0.2
	answerWeight             = 0.4
	fitBonus                 = 0.25 // a number for "how many", a day for "when", a name for "who"
	phraseBonus              = 4.0
	recencyBonus             = 0.02 // only ever decides between equals
)

// A Candidate is a line that may answer a question.
type Candidate struct {
	// Seq numbers lines so that neighbours in a conversation differ by one.
	Seq  int64
	Text string
	// Name is the speaker's, whose words count as the line's.
	Name string
}

// Rarity is how much it says that a line contains a term which n of total lines
// contain.
func Rarity(n, total float64) float64 {
	return math.Log(1 + (max(total, n)-n+0.5)/(n+0.5))
}

// Rank scores candidates against a question and returns the best, best first,
// as indexes into candidates with their scores. rarity is that of each term of
// the question, as [Rarity] has it. beside are rough scores of lines that are no
// candidates but may stand beside one. Candidates whose phrases do not match, or
// that share nothing with the question and stand beside nothing that does, are
// left out.
func Rank(q Question, rarity map[string]float64, beside map[int64]float64, candidates []Candidate, limit int) []Ranked {
	m := newMatcher(q)
	own := make(map[int64]float64, len(candidates)+len(beside))
	maps.Copy(own, beside)
	asked := map[int64]bool{} // lines that are questions themselves
	var newest int64
	for _, c := range candidates {
		own[c.Seq] = m.bm25(rarity, c)
		asked[c.Seq] = strings.HasSuffix(strings.TrimSpace(c.Text), "?")
		newest = max(newest, c.Seq)
	}
	out := make([]Ranked, 0, len(candidates))
	for i, c := range candidates {
		score := Smooth(own, c.Seq)
		if asked[c.Seq-1] {
			score += answerWeight * own[c.Seq-1]
		}
		if q.aim.fits(c.Text, q.said) {
			score *= 1 + fitBonus
		}
		if len(q.Phrases) > 0 {
			if !hasPhrases(q.Phrases, c.Text) {
				continue
			}
			score += phraseBonus
		}
		if score <= 0 {
			continue
		}
		score *= 1 + recencyBonus/(1+float64(newest-c.Seq)/100)
		out = append(out, Ranked{i, score})
	}
	slices.SortStableFunc(out, func(a, b Ranked) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return int(min(1, max(-1, candidates[b.Index].Seq-candidates[a.Index].Seq)))
	})
	return out[:min(len(out), limit)]
}

// Ranked is a candidate's place in a ranking.
type Ranked struct {
	Index int
	Score float64
}

// Smooth is a line's score together with a share of what stands beside it.
func Smooth(own map[int64]float64, seq int64) float64 {
	const before, after = 1 + beforeBonus, 1 - beforeBonus
	return own[seq] + besideWeight*(before*own[seq-1]+after*own[seq+1]) + nearWeight*(before*own[seq-2]+after*own[seq+2])
}

// A matcher counts a question's terms in texts without stemming every word.
type matcher struct {
	q Question
	// begins has the first two bytes of each term and prefix. A word is stemmed
	// only if it begins like one: no stem differs from its word there, except the
	// irregular forms.
	begins map[[2]byte]bool
	place  map[string]int // of a term in q.Terms
}

func newMatcher(q Question) matcher {
	m := matcher{q: q, begins: map[[2]byte]bool{}, place: map[string]int{}}
	for i, t := range q.Terms {
		m.begins[head(t)] = true
		m.place[t] = i
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

// count adds to terms and prefixes how often each occurs among the words.
func (m matcher) count(ws []string, terms, prefixes []float64) {
	for _, w := range ws {
		if _, odd := irregular[w]; !odd && !m.begins[head(w)] {
			continue
		}
		if i, ok := m.place[term(w)]; ok {
			terms[i]++
		}
		for i, p := range m.q.Prefixes {
			if strings.HasPrefix(w, p) {
				prefixes[i]++
			}
		}
	}
}

// bm25 is the usual score of a text for some words, Robertson and Zaragoza's
// "The Probabilistic Relevance Framework", with who said it among its words.
func (m matcher) bm25(rarity map[string]float64, c Candidate) float64 {
	text, name := words(c.Text), words(c.Name)
	terms, prefixes := make([]float64, len(m.q.Terms)), make([]float64, len(m.q.Prefixes))
	m.count(text, terms, prefixes)
	m.count(name, terms, make([]float64, len(prefixes)))
	norm := saturation * (1 - lengthBias + lengthBias*float64(len(text)+len(name))/meanLength)
	score := 0.0
	for i, t := range m.q.Terms {
		score += rarity[t] * terms[i] * (saturation + 1) / (terms[i] + norm)
	}
	for i, p := range m.q.Prefixes {
		score += rarity[p+"*"] * prefixes[i] * (saturation + 1) / (prefixes[i] + norm)
	}
	return score
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
