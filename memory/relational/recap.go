package relational

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/glyphoxa/glyphoxa/memory"
)

// PutRecaps keeps recaps.
func (s *Store) PutRecaps(ctx context.Context, campaign string, recaps ...memory.Recap) error {
	return s.within(ctx, "keeping recaps", func(t *tx) error {
		c, err := s.intern(ctx, t, 0, campaign)
		if err != nil {
			return err
		}
		for _, r := range recaps {
			if err := putRecap(ctx, t, c, r); err != nil {
				return err
			}
		}
		return nil
	})
}

func putRecap(ctx context.Context, t *tx, campaign int64, r memory.Recap) error {
	if r.Session == "" || len(r.Session) > memory.MaxID {
		return errors.New("memory: a recap needs its session")
	}
	if _, err := memory.LengthOf(r.Length); err != nil {
		return err
	}
	sentences, err := json.Marshal(r.Sentences)
	if err != nil {
		return err
	}
	if len(sentences) > memory.MaxText {
		return fmt.Errorf("memory: a recap of %d bytes, the most is %d", len(sentences), memory.MaxText)
	}
	return t.exec(ctx, `INSERT INTO recap (campaign, session, length, players, author, lines, at, sentences) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
		ON CONFLICT (campaign, session, length, players) DO UPDATE SET author = excluded.author, lines = excluded.lines, at = excluded.at,
		sentences = excluded.sentences`, campaign, r.Session, r.Length, bit(r.Players), r.Author, r.Lines, micros(r.At), string(sentences))
}

// Recaps returns what was written about a session as it is now.
func (s *Store) Recaps(ctx context.Context, v memory.Viewer, session string) ([]memory.Recap, error) {
	c, err := s.scope(ctx, v)
	if err != nil || c.campaign == 0 || !c.master() {
		return nil, s.explain("reading recaps", err)
	}
	out, err := s.recaps(ctx, `SELECT r.session, r.length, r.players, r.author, r.lines, r.at, r.sentences FROM recap r
		JOIN session s ON s.campaign = r.campaign AND s.key = r.session AND s.lines = r.lines
		WHERE r.campaign = ?1 AND r.session = ?2 AND r.at <= ?3 ORDER BY r.length, r.players`, c.campaign, session, c.asOf)
	return out, s.explain("reading recaps", err)
}

func (s *Store) recaps(ctx context.Context, q string, args ...any) ([]memory.Recap, error) {
	rows, err := s.query(ctx, q, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []memory.Recap
	for rows.Next() {
		var r memory.Recap
		var players, at int64
		var sentences string
		if err := rows.Scan(&r.Session, &r.Length, &players, &r.Author, &r.Lines, &at, &sentences); err != nil {
			return nil, err
		}
		r.Players, r.At = players != 0, fromMicros(at)
		if err := json.Unmarshal([]byte(sentences), &r.Sentences); err != nil {
			return nil, fmt.Errorf("%w: recap of session %q: %w", memory.ErrCorrupt, r.Session, err)
		}
		out = append(out, r)
	}
	return out, rows.Err()
}

// dropRecaps removes what was written about the sessions of lines that go: it
// quotes them, and can be written again from the rest.
func dropRecaps(ctx context.Context, t *tx, campaign int64, lines []int64) error {
	gone := map[int64]bool{}
	for _, seq := range lines {
		if id := seq >> 32; !gone[id] {
			gone[id] = true
			if err := t.exec(ctx, `DELETE FROM recap WHERE campaign = ?1 AND session IN (SELECT key FROM session WHERE campaign = ?1 AND id = ?2)`,
				campaign, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// recaps writes them; of one player, the sentences that rest on the
// player's lines.
func (e *exporter) recaps(ctx context.Context) error {
	all, err := e.s.recaps(ctx, `SELECT session, length, players, author, lines, at, sentences FROM recap WHERE campaign = ?1
		ORDER BY session, length, players`, e.c.campaign)
	if err != nil {
		return err
	}
	for _, r := range all {
		if e.who != 0 {
			if r.Sentences, err = e.own(ctx, r.Sentences); err != nil {
				return err
			}
		}
		if len(r.Sentences) == 0 {
			continue
		}
		if err := e.out.Encode(memory.Record{Recap: &r}); err != nil {
			return err
		}
	}
	return nil
}

// own are the sentences that rest on a line of the player.
func (e *exporter) own(ctx context.Context, sentences []memory.Sentence) ([]memory.Sentence, error) {
	var out []memory.Sentence
	for _, s := range sentences {
		for _, id := range s.Proof {
			said, err := e.s.pick(ctx, `SELECT seq FROM line WHERE campaign = ?1 AND key = ?2 AND speaker = ?3`, e.c.campaign, id, e.who)
			if err != nil {
				return nil, err
			}
			if len(said) > 0 {
				out = append(out, s)
				break
			}
		}
	}
	return out, nil
}
