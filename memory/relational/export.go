package relational

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/glyphoxa/glyphoxa/memory"
)

// page is how many lines or claims are read at once while exporting. Between
// pages others may read.
const page = 500

// Campaigns lists the campaigns there are.
func (s *Store) Campaigns(ctx context.Context) ([]string, error) {
	rows, err := s.query(ctx, `SELECT key FROM campaign ORDER BY key`)
	if err != nil {
		return nil, s.explain("listing campaigns", err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			return nil, s.explain("listing campaigns", err)
		}
		out = append(out, key)
	}
	return out, s.explain("listing campaigns", rows.Err())
}

// Stats says how much a campaign remembers.
func (s *Store) Stats(ctx context.Context, campaign string) (memory.Stats, error) {
	out := memory.Stats{Campaign: campaign}
	c, err := s.number(ctx, 0, campaign)
	if err != nil {
		return out, s.explain("counting", err)
	}
	var first, last int64
	err = s.row(ctx, `SELECT (SELECT COUNT(*) FROM session WHERE campaign = ?1), (SELECT COUNT(*) FROM line WHERE campaign = ?1),
		(SELECT COUNT(*) FROM entity WHERE campaign = ?1), (SELECT COUNT(*) FROM claim WHERE campaign = ?1 AND valid_to = 9223372036854775807),
		(SELECT COUNT(*) FROM claim WHERE campaign = ?1 AND status = 'proposed'),
		(SELECT COALESCE(MIN(at), 0) FROM line WHERE campaign = ?1), (SELECT COALESCE(MAX(at), 0) FROM line WHERE campaign = ?1)`, c).
		Scan(&out.Sessions, &out.Lines, &out.Entities, &out.Claims, &out.Proposed, &first, &last)
	if err == nil {
		out.First, out.Last = fromMicros(first), fromMicros(last)
		out.Bytes, err = s.d.Size(ctx, s.read)
	}
	return out, s.explain("counting", err)
}

// Export writes a campaign as JSON lines.
func (s *Store) Export(ctx context.Context, w io.Writer, campaign, player string) error {
	c, err := s.number(ctx, 0, campaign)
	if err != nil {
		return s.explain("exporting", err)
	}
	if c == 0 {
		return fmt.Errorf("memory: campaign %q: %w", campaign, memory.ErrUnknown)
	}
	buffered := bufio.NewWriter(w)
	e := exporter{s: s, c: scope{campaign: c, asOf: forever - 1}, campaign: campaign, player: player, out: json.NewEncoder(buffered)}
	if player != "" {
		if e.who, err = s.number(ctx, c, player); err != nil {
			return s.explain("exporting", err)
		}
		if e.who == 0 {
			return fmt.Errorf("memory: player %q: %w", player, memory.ErrUnknown)
		}
	}
	if err := e.run(ctx); err != nil {
		return s.explain("exporting", err)
	}
	return buffered.Flush()
}

type exporter struct {
	s                *Store
	c                scope
	campaign, player string
	who              int64
	out              *json.Encoder
}

func (e *exporter) run(ctx context.Context) error {
	if err := e.out.Encode(memory.Record{Campaign: e.campaign}); err != nil {
		return err
	}
	if e.player == "" {
		for _, part := range []func(context.Context) error{e.optouts, e.sessions, e.entities} {
			if err := part(ctx); err != nil {
				return err
			}
		}
	}
	for _, part := range []func(context.Context) error{e.lines, e.told, e.claims, e.recaps} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (e *exporter) optouts(ctx context.Context) error {
	rows, err := e.s.query(ctx, `SELECT a.key FROM optout o JOIN actor a ON a.campaign = o.campaign AND a.id = o.who WHERE o.campaign = ?1 ORDER BY a.key`, e.c.campaign)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var r memory.Record
		if err := rows.Scan(&r.OptOut); err != nil {
			return err
		}
		if err := e.out.Encode(r); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (e *exporter) sessions(ctx context.Context) error {
	rows, err := e.s.query(ctx, `SELECT key, title, started, ended, lines FROM session WHERE campaign = ?1 ORDER BY id`, e.c.campaign)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var n memory.Session
		var started, ended int64
		if err := rows.Scan(&n.ID, &n.Title, &started, &ended, &n.Lines); err != nil {
			return err
		}
		n.Started, n.Ended = fromMicros(started), fromMicros(ended)
		if err := e.out.Encode(memory.Record{Session: &n}); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (e *exporter) lines(ctx context.Context) error {
	for last := int64(-1); ; {
		q, args := `SELECT seq FROM line WHERE campaign = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3`, []any{e.c.campaign, last, page}
		if e.who != 0 {
			q, args = `SELECT seq FROM line WHERE campaign = ?1 AND seq > ?2 AND speaker = ?4 ORDER BY seq LIMIT ?3`, append(args, e.who)
		}
		ids, err := e.s.pick(ctx, q, args...)
		if err != nil || len(ids) == 0 {
			return err
		}
		rows, err := e.s.fetch(ctx, e.c, ids)
		if err != nil {
			return err
		}
		lines, err := e.s.lines(ctx, e.c, rows)
		if err != nil {
			return err
		}
		for i := range lines {
			if err := e.out.Encode(memory.Record{Line: &lines[i]}); err != nil {
				return err
			}
		}
		last = ids[len(ids)-1]
	}
}

// pick is numbers for readers.
func (s *Store) pick(ctx context.Context, q string, args ...any) ([]int64, error) {
	rows, err := s.query(ctx, q, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []int64
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, rows.Err()
}

func (e *exporter) told(ctx context.Context) error {
	rows, err := e.s.query(ctx, `SELECT l.key, a.key, COALESCE(b.key, ''), t.since FROM told t JOIN line l ON l.campaign = t.campaign AND l.seq = t.line
		JOIN actor a ON a.campaign = t.campaign AND a.id = t.who LEFT JOIN actor b ON b.campaign = t.campaign AND b.id = t.teller
		WHERE t.campaign = ?1 AND (?2 = 0 OR l.speaker = ?2) ORDER BY t.line, t.who`, e.c.campaign, e.who)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var t memory.ToldRecord
		var at int64
		if err := rows.Scan(&t.Line, &t.To, &t.By, &at); err != nil {
			return err
		}
		t.At = fromMicros(at)
		if err := e.out.Encode(memory.Record{Told: &t}); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (e *exporter) entities(ctx context.Context) error {
	rows, err := e.s.query(ctx, `SELECT key, kind, name, aliases FROM entity WHERE campaign = ?1 ORDER BY id`, e.c.campaign)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var n memory.Entity
		var also string
		if err := rows.Scan(&n.ID, &n.Kind, &n.Name, &also); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(also), &n.Aliases); err != nil {
			return fmt.Errorf("%w: aliases of %q: %w", memory.ErrCorrupt, n.ID, err)
		}
		if err := e.out.Encode(memory.Record{Entity: &n}); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (e *exporter) claims(ctx context.Context) error {
	for last := int64(-1); ; {
		q, args := `SELECT id FROM claim WHERE campaign = ?1 AND id > ?2 ORDER BY id LIMIT ?3`, []any{e.c.campaign, last, page}
		if e.who != 0 {
			q = `SELECT id FROM claim WHERE campaign = ?1 AND id > ?2 AND (subject = ?4 OR object = ?4 OR source <> '' AND source IN
				(SELECT key FROM line WHERE campaign = ?1 AND speaker = ?5)) ORDER BY id LIMIT ?3`
			args = append(args, e.player, e.who)
		}
		ids, err := e.s.pick(ctx, q, args...)
		if err != nil || len(ids) == 0 {
			return err
		}
		knowers, err := e.knowers(ctx, ids)
		if err != nil {
			return err
		}
		if err := e.claimPage(ctx, ids, knowers); err != nil {
			return err
		}
		last = ids[len(ids)-1]
	}
}

func (e *exporter) knowers(ctx context.Context, ids []int64) (map[int64][]memory.Knower, error) {
	rows, err := e.s.query(ctx, `SELECT k.claim, a.key, k.since, k.how, COALESCE(b.key, '') FROM knows k JOIN actor a ON a.campaign = k.campaign AND a.id = k.who
		LEFT JOIN actor b ON b.campaign = k.campaign AND b.id = k.teller WHERE k.campaign = ?1 AND k.claim IN (`+list(ids)+`) ORDER BY k.claim, k.who`, e.c.campaign)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[int64][]memory.Knower{}
	for rows.Next() {
		var id, since int64
		var k memory.Knower
		if err := rows.Scan(&id, &k.Who, &since, &k.How, &k.By); err != nil {
			return nil, err
		}
		k.Since = fromMicros(since)
		out[id] = append(out[id], k)
	}
	return out, rows.Err()
}

func (e *exporter) claimPage(ctx context.Context, ids []int64, knowers map[int64][]memory.Knower) error {
	rows, err := e.s.query(ctx, `SELECT id, key, form, subject, predicate, object, text, untrue, confidence, source, origin, status, valid_from, valid_to
		FROM claim WHERE campaign = ?1 AND id IN (`+list(ids)+`) ORDER BY id`, e.c.campaign)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var m memory.ClaimRecord
		var id, from, to int64
		if err := rows.Scan(&id, &m.ID, &m.Form, &m.Subject, &m.Predicate, &m.Object, &m.Text, &m.False, &m.Confidence, &m.Source,
			&m.Origin, &m.Status, &from, &to); err != nil {
			return err
		}
		m.From, m.To, m.Knowers = fromMicros(from), fromMicros(to), knowers[id]
		if err := e.out.Encode(memory.Record{Claim: &m}); err != nil {
			return err
		}
	}
	return rows.Err()
}
