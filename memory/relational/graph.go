package relational

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/glyphoxa/glyphoxa/memory"
)

// Neighbours walks the graph step by step from here rather than in one recursive
// statement: the bounds hold for every step, and each step asks what the viewer
// knows.
func (s *Store) Neighbours(ctx context.Context, v memory.Viewer, id string, depth int) (memory.Graph, error) {
	c, err := s.scope(ctx, v)
	if err != nil {
		return memory.Graph{}, s.explain("walking the graph", err)
	}
	middle, err := s.entities(ctx, c, []string{id}, false)
	if err != nil {
		return memory.Graph{}, s.explain("walking the graph", err)
	}
	if len(middle) == 0 {
		return memory.Graph{}, fmt.Errorf("memory: entity %q: %w", id, memory.ErrUnknown)
	}
	w, err := s.prepareWalk(ctx)
	if err != nil {
		return memory.Graph{}, s.explain("walking the graph", err)
	}
	defer func() { _ = w.close() }() // read from, not written to
	g := memory.Graph{Entities: middle}
	seen := map[string]bool{id: true}
	drawn := map[memory.Edge]bool{}
	edge := []string{id}
	for range min(max(depth, 1), memory.MaxDepth) {
		var next []string
		for _, from := range edge {
			edges, more, err := w.edges(ctx, c, from)
			if err != nil {
				return g, s.explain("walking the graph", err)
			}
			g.Cut = g.Cut || more
			for _, e := range edges {
				other := e.To
				if other == from {
					other = e.From
				}
				if !seen[other] && len(seen) >= memory.MaxNodes {
					g.Cut = true
					continue
				}
				if !seen[other] {
					seen[other] = true
					next = append(next, other)
				}
				if !drawn[e] {
					drawn[e] = true
					g.Edges = append(g.Edges, e)
				}
			}
		}
		found, err := s.entities(ctx, c, next, false)
		if err != nil {
			return g, s.explain("walking the graph", err)
		}
		g.Entities = append(g.Entities, found...)
		edge = next
	}
	return g, nil
}

// acquainted is the condition that the viewer knows the entity in a column.
const acquainted = `EXISTS (SELECT 1 FROM claim t WHERE t.campaign = c.campaign AND t.form = 'text' AND t.subject = %s
	AND t.valid_from <= ?2 AND t.valid_to > ?2 AND (?3 = 0 OR EXISTS (SELECT 1 FROM knows k WHERE k.campaign = t.campaign AND k.claim = t.id AND k.who IN (?3, ?4) AND k.since <= ?2)))`

// A walk is the two statements of every step through the graph, prepared once.
type walk struct{ out, in *sql.Stmt }

// prepareWalk prepares a walk. That an object is not empty has to be said for the
// index of objects to be used: without it, SQLite reads every claim of the campaign.
func (s *Store) prepareWalk(ctx context.Context) (w walk, err error) {
	const columns = `SELECT c.subject, c.predicate, c.object, c.text FROM claim c WHERE ` + known + ` AND c.form = 'relation' AND `
	const order = ` ORDER BY c.id LIMIT ?6`
	if w.out, err = s.read.PrepareContext(ctx, s.d.SQL(columns+`c.subject = ?5 AND `+fmt.Sprintf(acquainted, "c.object")+order)); err != nil {
		return w, err
	}
	w.in, err = s.read.PrepareContext(ctx, s.d.SQL(columns+`c.object = ?5 AND c.object <> '' AND c.subject <> ?5 AND `+fmt.Sprintf(acquainted, "c.subject")+order))
	if err != nil {
		err = errors.Join(err, w.out.Close())
	}
	return w, err
}

func (w walk) close() error { return errors.Join(w.out.Close(), w.in.Close()) }

// edges returns the relations of an entity, whichever end it is, to others that
// the viewer knows.
func (w walk) edges(ctx context.Context, c scope, id string) ([]memory.Edge, bool, error) {
	var out []memory.Edge
	more := false
	for _, q := range []*sql.Stmt{w.out, w.in} {
		rows, err := q.QueryContext(ctx, c.args(id, memory.MaxEdges-len(out)+1)...)
		if err != nil {
			return nil, false, err
		}
		defer rows.Close()
		for rows.Next() {
			var e memory.Edge
			if err := rows.Scan(&e.From, &e.Kind, &e.To, &e.Text); err != nil {
				return nil, false, err
			}
			if len(out) == memory.MaxEdges {
				more = true
				continue
			}
			out = append(out, e)
		}
		if err := rows.Err(); err != nil {
			return nil, false, err
		}
		rows.Close()
	}
	return out, more, nil
}

// Path looks for the shortest chain, step by step from its beginning.
func (s *Store) Path(ctx context.Context, v memory.Viewer, from, to string) ([]memory.Edge, error) {
	c, err := s.scope(ctx, v)
	if err != nil {
		return nil, s.explain("looking for a path", err)
	}
	ends, err := s.nodes(ctx, c, []string{from, to})
	if err != nil {
		return nil, s.explain("looking for a path", err)
	}
	for _, id := range []string{from, to} {
		if _, ok := ends[id]; !ok {
			return nil, fmt.Errorf("memory: entity %q: %w", id, memory.ErrUnknown)
		}
	}
	w, err := s.prepareWalk(ctx)
	if err != nil {
		return nil, s.explain("looking for a path", err)
	}
	defer func() { _ = w.close() }() // read from, not written to
	came := map[string]memory.Edge{from: {}}
	front := []string{from}
	for step := 0; step < memory.MaxPath && len(front) > 0 && len(came) < memory.MaxWalk; step++ {
		if _, ok := came[to]; ok {
			break
		}
		var next []string
		for _, id := range front {
			edges, _, err := w.edges(ctx, c, id)
			if err != nil {
				return nil, s.explain("looking for a path", err)
			}
			for _, e := range edges {
				other := e.To
				if other == id {
					other = e.From
				}
				if _, ok := came[other]; !ok {
					came[other] = e
					next = append(next, other)
				}
			}
		}
		front = next
	}
	if _, ok := came[to]; !ok {
		return nil, fmt.Errorf("memory: a way from %q to %q: %w", from, to, memory.ErrUnknown)
	}
	var path []memory.Edge
	for at := to; at != from; {
		e := came[at]
		path = append(path, e)
		if e.To == at {
			at = e.From
		} else {
			at = e.To
		}
	}
	slices.Reverse(path)
	return path, nil
}
