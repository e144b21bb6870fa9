package relational

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/glyphoxa/glyphoxa/memory"
)

// OptOut sets whether somebody's lines are dropped.
func (s *Store) OptOut(ctx context.Context, campaign, player string, out bool) error {
	return s.within(ctx, "opting out", func(t *tx) error {
		c, who, err := s.person(ctx, t, campaign, player)
		if err != nil {
			return err
		}
		if !out {
			return t.exec(ctx, `DELETE FROM optout WHERE campaign = ?1 AND who = ?2`, c, who)
		}
		return t.exec(ctx, `INSERT INTO optout (campaign, who) VALUES (?1, ?2) ON CONFLICT DO NOTHING`, c, who)
	})
}

// OptedOut returns the ids of those whose lines are dropped.
func (s *Store) OptedOut(ctx context.Context, campaign string) ([]string, error) {
	rows, err := s.query(ctx, `SELECT a.key FROM campaign c JOIN optout o ON o.campaign = c.id
		JOIN actor a ON a.campaign = o.campaign AND a.id = o.who WHERE c.key = ?1 ORDER BY a.key`, campaign)
	if err != nil {
		return nil, s.explain("reading who opted out", err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			return nil, s.explain("reading who opted out", err)
		}
		out = append(out, key)
	}
	return out, s.explain("reading who opted out", rows.Err())
}

func (s *Store) person(ctx context.Context, t *tx, campaign, player string) (c, who int64, err error) {
	if player == "" || player == memory.Everyone {
		return 0, 0, fmt.Errorf("%q is nobody's id", player)
	}
	if c, err = s.intern(ctx, t, 0, campaign); err == nil {
		who, err = s.intern(ctx, t, c, player)
	}
	return c, who, err
}

// Forget erases a player.
func (s *Store) Forget(ctx context.Context, campaign, player string) (memory.Forgotten, error) {
	var gone memory.Forgotten
	err := s.within(ctx, "forgetting", func(t *tx) error {
		c, who, err := s.person(ctx, t, campaign, player)
		if err != nil {
			return err
		}
		said, err := numbers(ctx, t, `SELECT seq FROM line WHERE campaign = ?1 AND speaker = ?2`, c, who)
		if err != nil {
			return err
		}
		about, err := numbers(ctx, t, `SELECT id FROM claim WHERE campaign = ?1 AND (subject = ?2 OR object = ?2
			OR source <> '' AND source IN (SELECT key FROM line WHERE campaign = ?1 AND speaker = ?3))`, c, player, who)
		if err != nil {
			return err
		}
		gone = memory.Forgotten{Lines: len(said), Claims: len(about)}
		if err := errors.Join(s.dropLines(ctx, t, c, said), s.dropClaims(ctx, t, c, about)); err != nil {
			return err
		}
		for _, q := range []string{
			`DELETE FROM called WHERE campaign = ?1 AND entity IN (SELECT id FROM entity WHERE campaign = ?1 AND key = ?2)`,
			`DELETE FROM entity WHERE campaign = ?1 AND key = ?2`,
		} {
			if err := t.exec(ctx, q, c, player); err != nil {
				return err
			}
		}
		// Others' lines were heard by somebody, who has no name any more.
		return t.exec(ctx, `UPDATE actor SET key = ?1 WHERE campaign = ?2 AND id = ?3`, fmt.Sprintf("forgotten-%d", who), c, who)
	})
	s.forgetActors()
	s.vectors.clear()
	if err != nil {
		return memory.Forgotten{}, err
	}
	return gone, s.explain("erasing what was forgotten", s.d.Purge(ctx, s.write))
}

// Retain erases what is older than it may get.
func (s *Store) Retain(ctx context.Context, campaign string, r memory.Retention, now time.Time) (memory.Forgotten, error) {
	var gone memory.Forgotten
	err := s.within(ctx, "keeping to the retention times", func(t *tx) error {
		c, err := s.intern(ctx, t, 0, campaign)
		if err != nil {
			return err
		}
		if r.Lines > 0 {
			old, err := numbers(ctx, t, `SELECT seq FROM line WHERE campaign = ?1 AND at < ?2`, c, now.Add(-r.Lines).UnixMicro())
			if err != nil {
				return err
			}
			gone.Lines = len(old)
			if err := t.exec(ctx, `UPDATE claim SET source = '' WHERE campaign = ?1 AND source <> ''
				AND source IN (SELECT key FROM line WHERE campaign = ?1 AND at < ?2)`, c, now.Add(-r.Lines).UnixMicro()); err != nil {
				return err
			}
			if err := s.dropLines(ctx, t, c, old); err != nil {
				return err
			}
		}
		if r.Claims > 0 {
			old, err := numbers(ctx, t, `SELECT id FROM claim WHERE campaign = ?1 AND valid_to < ?2`, c, now.Add(-r.Claims).UnixMicro())
			if err != nil {
				return err
			}
			gone.Claims = len(old)
			return s.dropClaims(ctx, t, c, old)
		}
		return nil
	})
	if err != nil {
		return memory.Forgotten{}, err
	}
	if gone == (memory.Forgotten{}) {
		return gone, nil
	}
	s.vectors.clear()
	return gone, s.explain("erasing what was kept long enough", s.d.Purge(ctx, s.write))
}

func (s *Store) dropLines(ctx context.Context, t *tx, campaign int64, ids []int64) error {
	if err := errors.Join(s.dropVectors(ctx, t, campaign, ids), dropRecaps(ctx, t, campaign, ids)); err != nil {
		return err
	}
	return s.drop(ctx, t, Lines, campaign, ids, `DELETE FROM told WHERE campaign = ?1 AND line IN (%s)`, `DELETE FROM line WHERE +campaign = ?1 AND seq IN (%s)`)
}

func (s *Store) dropClaims(ctx context.Context, t *tx, campaign int64, ids []int64) error {
	return s.drop(ctx, t, Claims, campaign, ids, `DELETE FROM knows WHERE campaign = ?1 AND claim IN (%s)`, `DELETE FROM claim WHERE +campaign = ?1 AND id IN (%s)`)
}

// drop takes rows out of an index and out of tables.
func (s *Store) drop(ctx context.Context, t *tx, in Index, campaign int64, ids []int64, statements ...string) error {
	for _, id := range ids {
		if err := s.d.Remove(ctx, t.Tx, in, campaign, id); err != nil {
			return err
		}
	}
	for chunk := range slices.Chunk(ids, 500) {
		for _, q := range statements {
			if err := t.exec(ctx, fmt.Sprintf(q, list(chunk)), campaign); err != nil {
				return err
			}
		}
	}
	return nil
}

// numbers returns the numbers that a query selects.
func numbers(ctx context.Context, t *tx, q string, args ...any) ([]int64, error) {
	rows, err := t.QueryContext(ctx, t.d.SQL(q), args...)
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
