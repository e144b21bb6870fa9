package relational

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/glyphoxa/glyphoxa/memory"
)

// StartSession begins a session, or goes on with one that has this id.
func (s *Store) StartSession(ctx context.Context, n memory.Session) error {
	if n.ID == "" || n.Campaign == "" || n.Started.IsZero() {
		return errors.New("memory: a session needs an id, a campaign and a time at which it started")
	}
	return s.within(ctx, "starting a session", func(t *tx) error {
		campaign, err := s.intern(ctx, t, 0, n.Campaign)
		if err != nil {
			return err
		}
		return t.exec(ctx, `INSERT INTO session (campaign, key, title, started) VALUES (?1, ?2, ?3, ?4)
			ON CONFLICT (campaign, key) DO UPDATE SET ended = 0,
			title = CASE WHEN excluded.title = '' THEN session.title ELSE excluded.title END`,
			campaign, n.ID, n.Title, n.Started.UnixMicro())
	})
}

// EndSession marks a session as properly ended.
func (s *Store) EndSession(ctx context.Context, campaign, id string, at time.Time) error {
	return s.within(ctx, "ending a session", func(t *tx) error {
		c, err := s.intern(ctx, t, 0, campaign)
		if err != nil {
			return err
		}
		done, err := t.ExecContext(ctx, s.d.SQL(`UPDATE session SET ended = ?1 WHERE campaign = ?2 AND key = ?3`), at.UnixMicro(), c, id)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n > 0 {
			return err
		}
		return fmt.Errorf("session %q: %w", id, memory.ErrUnknown)
	})
}

// Sessions returns the latest sessions of a campaign, newest first.
func (s *Store) Sessions(ctx context.Context, campaign string, limit int) ([]memory.Session, error) {
	rows, err := s.query(ctx, `SELECT s.key, s.title, s.started, s.ended, s.lines FROM session s
		JOIN campaign c ON c.id = s.campaign WHERE c.key = ?1 ORDER BY s.started DESC, s.id DESC LIMIT ?2`, campaign, clamp(limit, 20))
	if err != nil {
		return nil, s.explain("listing sessions", err)
	}
	defer rows.Close()
	var out []memory.Session
	for rows.Next() {
		n := memory.Session{Campaign: campaign}
		var started, ended int64
		if err := rows.Scan(&n.ID, &n.Title, &started, &ended, &n.Lines); err != nil {
			return nil, s.explain("listing sessions", err)
		}
		n.Started, n.Ended = fromMicros(started), fromMicros(ended)
		out = append(out, n)
	}
	return out, s.explain("listing sessions", rows.Err())
}

// clamp bounds how many of something are returned.
func clamp(n, usual int) int {
	if n <= 0 {
		return usual
	}
	return min(n, memory.MaxHits)
}
