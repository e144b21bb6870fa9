package relational

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/glyphoxa/glyphoxa/memory"
)

// What a search may cost. Each posting costs about 0.5 us, each line read and
// scored about 10 us; a million lines are searched with the same numbers as a
// hundred.
const (
	firstLook  = 256  // newest postings of every term, which also show how common it is
	postings   = 2000 // of the rarest terms, all together
	candidates = 60   // lines read and scored, not counting their neighbours
)

// Search returns the lines that answer a query, best first.
func (s *Store) Search(ctx context.Context, v memory.Viewer, q memory.Query) ([]memory.Hit, error) {
	q.Limit = clamp(q.Limit, 10)
	question := memory.Ask(q.Text)
	if question.Empty() {
		lines, err := s.latest(ctx, v, q, "")
		hits := make([]memory.Hit, len(lines))
		for i, l := range lines {
			hits[i].Line = l
		}
		return hits, s.explain("searching", err)
	}
	c, err := s.scope(ctx, v)
	if err != nil || c.campaign == 0 || len(c.tokens()) == 0 {
		return nil, s.explain("searching", err)
	}
	f, err := s.filter(ctx, c, q)
	if err != nil || f.nothing {
		return nil, s.explain("searching", err)
	}
	hits, err := s.search(ctx, c, f, question)
	return hits, s.explain("searching", err)
}

// search finds candidates by their postings, reads the best of them with their
// neighbours, and ranks those by their text.
func (s *Store) search(ctx context.Context, c scope, f filter, q memory.Question) ([]memory.Hit, error) {
	total, others, err := s.count(ctx, c)
	if err != nil {
		return nil, err
	}
	audience := c.tokens()
	if c.master() && others*10 <= total {
		// Nearly all lines are this campaign's, and fetch leaves out the rest: to
		// ask for the campaign's token as well would cost more than the words.
		audience = nil
	}
	found, rarity, err := s.postings(ctx, audience, f, q, total)
	if err != nil {
		return nil, err
	}
	want := candidates
	if f.narrow() || len(q.Phrases) > 0 {
		want *= 5 // most of them will not pass
	}
	rows, err := s.fetch(ctx, c, withNeighbours(best(found, max(want, f.q.Limit)), f))
	if err != nil {
		return nil, err
	}
	cands := make([]memory.Candidate, len(rows))
	for i, r := range rows {
		cands[i] = memory.Candidate{Seq: r.seq, Text: r.Text, Name: r.Speaker.Name}
	}
	var chosen []row
	var scores []float64
	for _, r := range memory.Rank(q, rarity, cands, len(cands)) {
		if len(chosen) < f.q.Limit && f.passes(rows[r.Index]) {
			chosen = append(chosen, rows[r.Index])
			scores = append(scores, r.Score)
		}
	}
	lines, err := s.lines(ctx, c, chosen)
	if err != nil {
		return nil, err
	}
	hits := make([]memory.Hit, len(lines))
	for i, l := range lines {
		hits[i] = memory.Hit{Line: l, Score: scores[i]}
	}
	return hits, nil
}

// A posting list is where one term of the question occurs.
type postingList struct {
	key    string // the term, or a prefix with its star
	match  Match
	ids    []int64
	common float64 // how many lines have it, measured or estimated
}

// postings looks every term up and adds up, for each line, how much the terms it
// contains say. Rare terms are looked up completely, common ones only among the
// newest lines: they say little, and what they say of older candidates is found
// when those are read.
func (s *Store) postings(ctx context.Context, audience []string, f filter, q memory.Question, total float64) (map[int64]float64, map[string]float64, error) {
	base := Match{Audience: audience, Low: f.low, High: f.high, Limit: firstLook}
	var lists []*postingList
	for _, t := range q.Terms {
		m := base
		m.Terms = []string{t}
		lists = append(lists, &postingList{key: t, match: m})
	}
	for _, p := range q.Prefixes {
		m := base
		m.Terms, m.Prefix = []string{p}, true
		lists = append(lists, &postingList{key: p + "*", match: m})
	}
	for _, l := range lists {
		if err := s.look(ctx, l, total); err != nil {
			return nil, nil, err
		}
	}
	slices.SortStableFunc(lists, func(a, b *postingList) int { return cmp.Compare(a.common, b.common) })
	budget := postings
	for _, l := range lists {
		if len(l.ids) == l.match.Limit && budget > l.match.Limit {
			l.match.Limit = budget
			if err := s.look(ctx, l, total); err != nil {
				return nil, nil, err
			}
		}
		budget -= len(l.ids)
	}
	rarity := map[string]float64{}
	found := map[int64]float64{}
	for _, l := range lists {
		rarity[l.key] = memory.Rarity(l.common, total)
		for _, id := range l.ids {
			found[id] += rarity[l.key]
		}
	}
	// Where even the rarest word is too common to be read to its end, lines that
	// have both of the two rarest are what was meant.
	if len(lists) > 1 && len(lists[0].ids) == lists[0].match.Limit && !lists[0].match.Prefix && !lists[1].match.Prefix {
		both := base
		both.Terms, both.Limit = []string{lists[0].key, lists[1].key}, firstLook
		ids, err := s.d.Find(ctx, s.read, Lines, both)
		if err != nil {
			return nil, nil, err
		}
		for _, id := range ids {
			found[id] = max(found[id], rarity[lists[0].key]+rarity[lists[1].key])
		}
	}
	return found, rarity, nil
}

func (s *Store) look(ctx context.Context, l *postingList, total float64) (err error) {
	l.ids, err = s.d.Find(ctx, s.read, Lines, l.match)
	l.common = float64(len(l.ids))
	if n := len(l.ids); n == l.match.Limit && n > 1 {
		// Sessions are numbered apart, so a span of numbers says little about how
		// many lines lie in it; that the list goes on says at least this much.
		l.common = min(total, 4*l.common)
	}
	return err
}

// count is how many lines a campaign has, and how many the others.
func (s *Store) count(ctx context.Context, c scope) (own, others float64, err error) {
	err = s.row(ctx, `SELECT COALESCE(SUM(CASE WHEN campaign = ?1 THEN lines END), 0), COALESCE(SUM(CASE WHEN campaign <> ?1 THEN lines END), 0)
		FROM session`, c.campaign).Scan(&own, &others)
	return own, others, err
}

// best returns the n lines that look most promising, counting what stands beside
// them as the ranking will.
func best(found map[int64]float64, n int) []int64 {
	promise := make(map[int64]float64, len(found))
	for id := range found {
		promise[id] = memory.Smooth(found, id)
	}
	return top(promise, n)
}

// top returns the n ids with the highest scores, of equals the newest.
func top(score map[int64]float64, n int) []int64 {
	ids := slices.SortedFunc(maps.Keys(score), func(a, b int64) int {
		return cmp.Or(cmp.Compare(score[b], score[a]), cmp.Compare(b, a))
	})
	return ids[:min(n, len(ids))]
}

// sortBy orders things, each with its number, by the places of the numbers.
func sortBy[T any](things []T, numbers []int64, place map[int64]int) {
	byPlace := make([]int, len(things))
	for i := range byPlace {
		byPlace[i] = i
	}
	slices.SortFunc(byPlace, func(a, b int) int { return cmp.Compare(place[numbers[a]], place[numbers[b]]) })
	sorted := make([]T, len(things))
	for i, j := range byPlace {
		sorted[i] = things[j]
	}
	copy(things, sorted)
}

// withNeighbours adds the two lines on either side of each, within the filter's
// session.
func withNeighbours(ids []int64, f filter) []int64 {
	seen := make(map[int64]bool, 5*len(ids))
	out := make([]int64, 0, 5*len(ids))
	for _, id := range ids {
		for _, d := range [...]int64{0, 1, -1, 2, -2} {
			if n := id + d; !seen[n] && n >= f.low && n <= f.high {
				seen[n] = true
				out = append(out, n)
			}
		}
	}
	return out
}
