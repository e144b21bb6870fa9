package relational

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/glyphoxa/glyphoxa/memory"
)

// known is the condition that the viewer knows claim c at its moment: it held
// then, was accepted, and somebody it is was in on it. Parameters: ?1 campaign,
// ?2 the moment, ?3 the viewer, ?4 everyone; the game master's viewer is 0.
const known = `c.campaign = ?1 AND c.valid_from <= ?2 AND c.valid_to > ?2 AND c.status = 'accepted'
	AND (?3 = 0 OR EXISTS (SELECT 1 FROM knows k WHERE k.campaign = c.campaign AND k.claim = c.id AND k.who IN (?3, ?4) AND k.since <= ?2))`

func (c scope) args(more ...any) []any {
	return append([]any{c.campaign, c.asOf, c.who, c.everyone}, more...)
}

// Entity returns what the viewer knows of an entity.
func (s *Store) Entity(ctx context.Context, v memory.Viewer, id string) (memory.Entity, error) {
	c, err := s.scope(ctx, v)
	if err != nil {
		return memory.Entity{}, s.explain("reading an entity", err)
	}
	found, err := s.entities(ctx, c, []string{id}, true)
	if err != nil {
		return memory.Entity{}, s.explain("reading an entity", err)
	}
	if len(found) == 0 {
		return memory.Entity{}, fmt.Errorf("memory: entity %q: %w", id, memory.ErrUnknown)
	}
	return found[0], nil
}

// maxClaims bounds what is read of one entity. A famous one has thousands of
// relations, and nobody reads more.
const maxClaims = 500

// entities returns those of the entities that the viewer knows, in the order of
// the ids, with all it knows of each if whole is set.
func (s *Store) entities(ctx context.Context, c scope, ids []string, whole bool) ([]memory.Entity, error) {
	nodes, err := s.nodes(ctx, c, ids)
	if err != nil {
		return nil, err
	}
	out := make([]memory.Entity, 0, len(nodes))
	for _, id := range ids {
		e, ok := nodes[id]
		if !ok {
			continue
		}
		if whole {
			if err := s.fill(ctx, c, &e); err != nil {
				return nil, err
			}
		}
		out = append(out, e)
	}
	return out, nil
}

// nodes returns the known ones among the entities, without their claims.
func (s *Store) nodes(ctx context.Context, c scope, ids []string) (map[string]memory.Entity, error) {
	out := map[string]memory.Entity{}
	for chunk := range slices.Chunk(ids, 200) {
		args := c.args()
		var marks []string
		for _, id := range chunk {
			args = append(args, id)
			marks = append(marks, fmt.Sprintf("?%d", len(args)))
		}
		rows, err := s.query(ctx, `SELECT e.key, e.kind, e.name, e.aliases, c.text FROM entity e
			JOIN claim c ON c.campaign = e.campaign AND c.subject = e.key AND c.form = 'text'
			WHERE `+known+` AND e.key IN (`+strings.Join(marks, ", ")+`)`, args...)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		for rows.Next() {
			var e memory.Entity
			var also string
			if err := rows.Scan(&e.ID, &e.Kind, &e.Name, &also, &e.Text); err != nil {
				return nil, err
			}
			if err := json.Unmarshal([]byte(also), &e.Aliases); err != nil {
				return nil, fmt.Errorf("%w: aliases of %q: %w", memory.ErrCorrupt, e.ID, err)
			}
			out[e.ID] = e
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
		rows.Close()
	}
	return out, nil
}

// fill reads the known claims about an entity. A relation to somebody whom the
// viewer does not know is left out: its other end would give it away.
func (s *Store) fill(ctx context.Context, c scope, e *memory.Entity) error {
	type held struct {
		id           int64
		form         string
		fact         memory.Fact
		pred, object string
	}
	rows, err := s.query(ctx, `SELECT c.id, c.key, c.form, c.predicate, c.object, c.text, c.untrue FROM claim c
		WHERE `+known+` AND c.subject = ?5 ORDER BY c.id LIMIT ?6`, c.args(e.ID, maxClaims)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	var claims []held
	var ends []string
	for rows.Next() {
		var h held
		if err := rows.Scan(&h.id, &h.fact.ID, &h.form, &h.pred, &h.object, &h.fact.Text, &h.fact.False); err != nil {
			return err
		}
		if h.form == relationForm {
			ends = append(ends, h.object)
		}
		claims = append(claims, h)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	rows.Close()
	visible, err := s.nodes(ctx, c, ends)
	if err != nil {
		return err
	}
	numbers := make([]int64, len(claims))
	for i, h := range claims {
		numbers[i] = h.id
	}
	audiences, err := s.audiences(ctx, c, numbers)
	if err != nil {
		return err
	}
	for _, h := range claims {
		switch h.form {
		case textForm:
			e.Audience = audiences[h.id]
		case factForm:
			h.fact.Audience = audiences[h.id]
			e.Facts = append(e.Facts, h.fact)
		case attributeForm:
			if e.Attributes == nil {
				e.Attributes = map[string]string{}
			}
			e.Attributes[h.pred] = h.fact.Text
		case relationForm:
			if _, ok := visible[h.object]; ok {
				e.Relations = append(e.Relations, memory.Relation{Kind: h.pred, To: h.object, Text: h.fact.Text, Audience: audiences[h.id]})
			}
		}
	}
	return nil
}

// audiences says who knows each claim. Only the game master may ask.
func (s *Store) audiences(ctx context.Context, c scope, claims []int64) (map[int64]memory.Audience, error) {
	if !c.master() || len(claims) == 0 {
		return nil, nil
	}
	rows, err := s.query(ctx, `SELECT k.claim, a.key FROM knows k JOIN actor a ON a.campaign = k.campaign AND a.id = k.who
		WHERE k.campaign = ?2 AND k.claim IN (`+list(claims)+`) AND k.since <= ?1 ORDER BY k.claim, a.key`, c.asOf, c.campaign)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[int64]memory.Audience{}
	for rows.Next() {
		var id int64
		var key string
		if err := rows.Scan(&id, &key); err != nil {
			return nil, err
		}
		out[id] = append(out[id], key)
	}
	return out, rows.Err()
}

// How well a name fits, best first.
const (
	exact = iota
	alike // sounds the same
	begins
	shares   // a word of the name
	likeness // a word of the name that sounds the same
	mentions // only what is said of it has the word
)

// FindEntities returns the entities that the viewer knows by a name, or one that
// looks or sounds like it, best first.
func (s *Store) FindEntities(ctx context.Context, v memory.Viewer, name string, kind memory.Kind, limit int) ([]memory.Entity, error) {
	limit = clamp(limit, 10)
	c, err := s.scope(ctx, v)
	if err != nil || c.campaign == 0 || len(c.tokens()) == 0 {
		return nil, s.explain("finding entities", err)
	}
	fit, err := s.named(ctx, c, name, kind)
	if err != nil {
		return nil, s.explain("finding entities", err)
	}
	ids := slices.SortedFunc(maps.Keys(fit), func(a, b string) int {
		return cmp.Or(cmp.Compare(fit[a], fit[b]), cmp.Compare(a, b))
	})
	var out []memory.Entity
	for chunk := range slices.Chunk(ids, limit) { // the first may be unknown to the viewer, or of another kind
		es, err := s.entities(ctx, c, chunk, false)
		if err != nil {
			return nil, s.explain("finding entities", err)
		}
		for _, e := range es {
			if len(out) < limit && (kind == "" || e.Kind == kind) {
				out = append(out, e)
			}
		}
		if len(out) == limit {
			break
		}
	}
	for i := range out {
		if err := s.fill(ctx, c, &out[i]); err != nil {
			return nil, s.explain("finding entities", err)
		}
	}
	return out, nil
}

// maxNamed bounds how many entities are compared for one name.
const maxNamed = 1000

// named returns entities whose name fits, and how well. Without a name it
// returns those of the kind that the viewer knows.
func (s *Store) named(ctx context.Context, c scope, name string, kind memory.Kind) (map[string]int, error) {
	fit := map[string]int{}
	collect := func(how int, q string, args ...any) error {
		rows, err := s.query(ctx, q, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var key string
			if err := rows.Scan(&key); err != nil {
				return err
			}
			if old, ok := fit[key]; !ok || how < old {
				fit[key] = how
			}
		}
		return rows.Err()
	}
	folded := memory.FoldName(name)
	if folded == "" {
		err := collect(exact, `SELECT e.key FROM entity e JOIN claim c ON c.campaign = e.campaign AND c.subject = e.key AND c.form = 'text'
			WHERE `+known+` AND (?5 = '' OR e.kind = ?5) ORDER BY e.name LIMIT ?6`, c.args(string(kind), maxNamed)...)
		return fit, err
	}
	const byName = `SELECT e.key FROM called n JOIN entity e ON e.campaign = n.campaign AND e.id = n.entity WHERE n.campaign = ?1 AND `
	if err := collect(exact, byName+`n.fold = ?2 LIMIT 200`, c.campaign, folded); err != nil {
		return nil, err
	}
	if err := collect(exact, `SELECT e.key FROM entity e WHERE e.campaign = ?1 AND e.key = ?2`, c.campaign, name); err != nil {
		return nil, err
	}
	if err := collect(alike, byName+`n.sound = ?2 AND n.whole = 1 LIMIT 200`, c.campaign, memory.Sound(name)); err != nil {
		return nil, err
	}
	if err := collect(begins, byName+`n.fold >= ?2 AND n.fold < ?3 LIMIT 200`, c.campaign, folded, folded+"\U0010ffff"); err != nil {
		return nil, err
	}
	for _, word := range bounded(memory.NameWords(name), 8) {
		if err := collect(shares, byName+`n.fold = ?2 LIMIT 200`, c.campaign, word); err != nil {
			return nil, err
		}
		if err := collect(likeness, byName+`n.sound = ?2 LIMIT 200`, c.campaign, memory.Sound(word)); err != nil {
			return nil, err
		}
	}
	if len(fit) > 0 {
		return fit, nil
	}
	for _, term := range memory.Ask(name).Terms {
		ids, err := s.d.Find(ctx, s.read, Claims, Match{Campaign: c.campaign, Terms: []string{term}, Audience: c.tokens(), High: forever, Limit: 200})
		if err != nil {
			return nil, err
		}
		if len(ids) == 0 {
			continue
		}
		if err := collect(mentions, `SELECT c.subject FROM claim c WHERE c.campaign = ?1 AND c.form = 'text' AND c.id IN (`+list(ids)+`)`, c.campaign); err != nil {
			return nil, err
		}
	}
	return fit, nil
}

func bounded[T any](list []T, n int) []T { return list[:min(n, len(list))] }
