package relational

import (
	"context"
	"slices"
	"strings"

	"github.com/glyphoxa/glyphoxa/memory"
)

const (
	// maxCommon bounds how many terms' commonness is remembered. A campaign of a
	// million lines has some 50,000 terms, of which few are asked for.
	maxCommon = 20_000
	// grown is by how much the lines may have grown before it is looked at again.
	grown = 1.1
	// phraseLook is how many lines with all words of a phrase are read for it.
	phraseLook = 200
)

// common is in how many lines something was, of how many there were.
type common struct{ lines, of float64 }

// commonness says how many lines a list has, as its newest show. It is the same
// for weeks, and looked up about once.
func (s *Store) commonness(ctx context.Context, l *postingList, n counted) error {
	m := l.match
	m.Low, m.High, m.Limit = 0, forever, firstLook
	key := strings.Join(slices.Concat(m.Audience, m.Terms), " ")
	if m.Prefix {
		key += "*"
	}
	total := n.own + n.others
	s.commonMu.Lock()
	have, ok := s.commons[key]
	s.commonMu.Unlock()
	if ok && have.of >= firstLook && total >= have.of && total < grown*have.of {
		l.common = have.lines * total / have.of
		return nil
	}
	newest, err := s.d.Find(ctx, s.read, Lines, m)
	if err != nil {
		return err
	}
	l.common = n.estimate(newest, firstLook)
	s.commonMu.Lock()
	defer s.commonMu.Unlock()
	if len(s.commons) >= maxCommon || s.commons == nil {
		s.commons = map[string]common{}
	}
	s.commons[key] = common{l.common, total}
	return nil
}

// withPhrases finds the newest lines that have all words of the phrases. That
// the words follow one another is seen when they are read.
func (s *Store) withPhrases(ctx context.Context, c scope, audience []string, f filter, q memory.Question) (map[int64]float64, error) {
	m := Match{Campaign: c.campaign, Audience: audience, Low: f.low, High: f.high, Limit: phraseLook}
	for _, p := range q.Phrases {
		m.Terms = append(m.Terms, memory.Ask(strings.Join(p, " ")).Terms...)
	}
	ids, err := s.d.Find(ctx, s.read, Lines, m)
	found := make(map[int64]float64, len(ids))
	for _, id := range ids {
		found[id] = 1
	}
	return found, err
}
