package relational

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/glyphoxa/glyphoxa/memory"
)

// What a search may cost. A posting costs about a microsecond, a line read and
// scored about ten; a million lines are searched with the same numbers as a
// hundred.
const (
	firstLook  = 256  // newest postings of every term, which show how common it is
	postings   = 1500 // of the rarest terms, all together
	candidates = 120  // lines read and scored
	// hearsMuch is the share of all lines above which a viewer's lines are found
	// faster among everybody's: most of what is read then passes.
	hearsMuch = 0.05
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
	if err := s.alsoCalled(ctx, c, &question); err != nil {
		return nil, s.explain("searching", err)
	}
	hits, err := s.search(ctx, c, f, question)
	return hits, s.explain("searching", err)
}

// search finds candidates by their postings and by standing beside them, and
// ranks the best of them by their text.
func (s *Store) search(ctx context.Context, c scope, f filter, q memory.Question) ([]memory.Hit, error) {
	n, err := s.count(ctx, c)
	if err != nil {
		return nil, err
	}
	share, err := s.share(ctx, c, n)
	if err != nil {
		return nil, err
	}
	audience := c.tokens()
	if share >= hearsMuch {
		audience = nil
	}
	found, rarity, err := s.postings(ctx, c, audience, f, q, n)
	if err != nil {
		return nil, err
	}
	if len(q.Phrases) > 0 {
		if found, err = s.withPhrases(ctx, c, audience, f, q); err != nil {
			return nil, err
		}
	}
	want := candidates
	if !c.master() && audience == nil {
		want = int(candidates * min(4, 1/share))
	}
	if f.narrow() {
		want *= 5 // most of them will not pass
	}
	picked := promising(found, f, max(want, f.q.Limit))
	if len(q.Phrases) > 0 {
		picked = top(found, len(found)) // what stands beside them has not the phrase
	}
	texts, err := s.texts(ctx, c, picked)
	if err != nil {
		return nil, err
	}
	cands := make([]memory.Candidate, len(texts))
	for i, t := range texts {
		cands[i] = t.Candidate
	}
	if c.asOf < forever-1 || !c.master() && audience == nil {
		// The index knows no past, and without an audience it knows everybody's
		// lines: only what has been read and may be known counts from here on.
		found = nil
	}
	var chosen []int64
	scores := map[int64]float64{}
	for _, r := range memory.Rank(q, rarity, found, cands, len(cands)) {
		if t := texts[r.Index]; f.lets(t) {
			chosen = append(chosen, t.Seq)
			scores[t.Seq] = r.Score
		}
	}
	if f.q.Vector != nil {
		if chosen, scores, err = s.withMeaning(ctx, c, f, chosen); err != nil {
			return nil, err
		}
	}
	chosen = chosen[:min(len(chosen), f.q.Limit)]
	rows, err := s.fetch(ctx, c, chosen)
	if err != nil {
		return nil, err
	}
	lines, err := s.lines(ctx, c, rows)
	if err != nil {
		return nil, err
	}
	hits := make([]memory.Hit, len(lines))
	for i, l := range lines {
		hits[i] = memory.Hit{Line: l, Score: scores[rows[i].seq]}
	}
	return hits, nil
}

// withMeaning fuses lines found by their words with those found by their vectors.
func (s *Store) withMeaning(ctx context.Context, c scope, f filter, words []int64) ([]int64, map[int64]float64, error) {
	near, err := s.near(ctx, c, f)
	if err != nil {
		return nil, nil, err
	}
	texts, err := s.texts(ctx, c, slices.Sorted(maps.Keys(near)))
	if err != nil {
		return nil, nil, err
	}
	let := map[int64]bool{}
	for _, t := range texts {
		let[t.Seq] = f.lets(t)
	}
	maps.DeleteFunc(near, func(seq int64, _ int) bool { return !let[seq] })
	order, scores := fuse(words, near)
	return order, scores, nil
}

// A postingList is where one term of the question occurs.
type postingList struct {
	key    string // the term, or a prefix with its star
	match  Match
	common float64 // how many lines have it, counted or estimated
	weight float64 // how much it counts
}

// postings looks every term up and adds up, for each line, how much the terms it
// contains say. Rare terms are looked up completely. Common ones say little, and
// what they say of a candidate is found when it is read.
func (s *Store) postings(ctx context.Context, c scope, audience []string, f filter, q memory.Question, n counted) (map[int64]float64, map[string]float64, error) {
	base := Match{Campaign: c.campaign, Low: f.low, High: f.high, Limit: firstLook}
	var lists []*postingList
	for _, t := range q.Terms {
		lists = append(lists, &postingList{key: t, match: base, weight: 1})
		lists[len(lists)-1].match.Terms = []string{t}
		if others := q.Senses[t]; len(others) > 0 {
			l := &postingList{key: memory.SenseKey + t, match: base, weight: memory.SenseWeight}
			l.match.Terms, l.match.Any = others, true
			lists = append(lists, l)
		}
	}
	for _, p := range q.Prefixes {
		lists = append(lists, &postingList{key: p + "*", match: base, weight: 1})
		lists[len(lists)-1].match.Terms, lists[len(lists)-1].match.Prefix = []string{p}, true
	}
	// The first look is at everybody's lines, because that is quickest, and only
	// to see how common a term is; nothing of it is used for a narrower scope.
	for _, l := range lists {
		if err := s.commonness(ctx, l, n); err != nil {
			return nil, nil, err
		}
	}
	slices.SortStableFunc(lists, func(a, b *postingList) int { return cmp.Compare(a.common, b.common) })
	rarity := map[string]float64{}
	found := map[int64]float64{}
	budget := float64(postings)
	for i, l := range lists {
		rarity[l.key] = memory.Rarity(l.common, n.own)
		if len(q.Phrases) > 0 {
			continue // lines are looked up by all words of their phrases
		}
		limit := postings
		// A session has few enough lines to look at all that have the term.
		if f.low == 0 && (l.common > budget && i > 0 || l.common > 2*postings) {
			budget = 0
			if audience != nil || len(found) >= candidates {
				continue // what it says of a candidate is seen when that is read
			}
			limit = firstLook
		}
		l.match.Limit, l.match.Audience = limit, audience
		ids, err := s.d.Find(ctx, s.read, Lines, l.match)
		if err != nil {
			return nil, nil, err
		}
		budget -= l.common
		for _, id := range ids {
			found[id] += l.weight * rarity[l.key]
		}
	}
	if len(q.Phrases) == 0 && f.low == 0 && len(lists) > 0 && lists[0].common > 2*postings {
		return found, rarity, s.together(ctx, audience, lists, found, rarity)
	}
	return found, rarity, nil
}

// together looks for the lines that have both of the two rarest terms, where
// even the rarest is too common to be read to its end.
func (s *Store) together(ctx context.Context, audience []string, lists []*postingList, found map[int64]float64, rarity map[string]float64) error {
	m := lists[0].match
	m.Audience, m.Limit = audience, firstLook
	says := rarity[lists[0].key]
	if len(lists) > 1 && !m.Prefix && !lists[1].match.Prefix && !m.Any && !lists[1].match.Any {
		m.Terms = []string{lists[0].key, lists[1].key}
		says += rarity[lists[1].key]
	}
	ids, err := s.d.Find(ctx, s.read, Lines, m)
	for _, id := range ids {
		found[id] = max(found[id], says)
	}
	return err
}

// share is the part of the store's lines that a viewer may see, as far as the
// newest show.
func (s *Store) share(ctx context.Context, c scope, n counted) (float64, error) {
	all := max(1, n.own+n.others)
	if c.master() {
		if n.others*10 <= n.own {
			return 1, nil // reading leaves out the rest
		}
		return 0, nil
	}
	l := &postingList{match: Match{Campaign: c.campaign, Audience: c.tokens(), High: forever, Limit: firstLook}}
	err := s.commonness(ctx, l, n)
	return l.common / all, err
}

// counted is how many lines there are.
type counted struct {
	own, others float64 // in the viewer's campaign, and not
	sessions    float64 // in the store
}

// estimate says how many lines have a term, given the newest of them: if the
// newest 256 are spread over the last tenth of all lines, there are 2,560.
func (n counted) estimate(newest []int64, limit int) float64 {
	if len(newest) < limit {
		return float64(len(newest))
	}
	high, low := newest[0], newest[len(newest)-1]
	perSession := (n.own + n.others) / max(1, n.sessions)
	span := float64(high>>32-low>>32)*perSession + float64(high&0xffffffff) - float64(low&0xffffffff)
	return min(n.own+n.others, float64(limit)*(n.own+n.others)/max(span, float64(limit)))
}

// count is how many lines a campaign has, and how many the others.
func (s *Store) count(ctx context.Context, c scope) (n counted, err error) {
	err = s.row(ctx, `SELECT COALESCE(SUM(CASE WHEN campaign = ?1 THEN lines END), 0), COALESCE(SUM(CASE WHEN campaign <> ?1 THEN lines END), 0),
		COUNT(*) FROM session`, c.campaign).Scan(&n.own, &n.others, &n.sessions)
	return n, err
}

// promising returns the n lines that look best before they are read, counting
// what stands beside them as the ranking will. A line that shares no word with
// the question may well be its answer.
func promising(found map[int64]float64, f filter, n int) []int64 {
	seeds := top(found, 2*n) // what stands beside less than these is not promising
	promise := make(map[int64]float64, 4*len(seeds))
	for _, id := range seeds {
		for _, d := range [...]int64{0, 1, -1, 2, -2} {
			if at := id + d; at >= f.low && at <= f.high {
				if _, ok := promise[at]; !ok {
					promise[at] = memory.Smooth(found, at)
				}
			}
		}
	}
	return top(promise, n)
}

// top returns the n ids with the highest scores, of equals the newest.
func top(score map[int64]float64, n int) []int64 {
	type scored struct {
		id    int64
		score float64
	}
	all := make([]scored, 0, len(score))
	for id, s := range score {
		all = append(all, scored{id, s})
	}
	slices.SortFunc(all, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.id, a.id))
	})
	ids := make([]int64, min(n, len(all)))
	for i := range ids {
		ids[i] = all[i].id
	}
	return ids
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
