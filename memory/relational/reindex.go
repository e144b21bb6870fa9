package relational

import (
	"context"
	"database/sql"
	"errors"

	"github.com/glyphoxa/glyphoxa/memory"
)

// reindexPage is how many rows are read before they are written.
const reindexPage = 1000

// Reindex analyses every line and claim anew and indexes it under its new terms.
// It is the migration after which [memory.Terms] has changed.
func Reindex(ctx context.Context, d Dialect, raw *sql.Tx) error {
	s := &Store{d: d, ids: map[actorKey]int64{}, keys: map[int64]string{}}
	t := &tx{Tx: raw, d: d, ids: map[actorKey]int64{}}
	for from := int64(-1); ; {
		page, err := linesToIndex(ctx, t, from)
		if err != nil {
			return err
		}
		for _, l := range page {
			if err := d.Put(ctx, raw, Lines, l.campaign, l.seq, l.terms, l.tokens); err != nil {
				return err
			}
			from = l.seq
		}
		if len(page) < reindexPage {
			break
		}
	}
	claims, err := numbers(ctx, t, `SELECT id FROM claim ORDER BY id`)
	if err != nil {
		return err
	}
	for _, id := range claims {
		var campaign int64
		if err := t.row(ctx, `SELECT campaign FROM claim WHERE id = ?1`, id).Scan(&campaign); err != nil {
			return err
		}
		if err := s.reindex(ctx, t, campaign, id); err != nil {
			return err
		}
	}
	return nil
}

type lineToIndex struct {
	campaign, seq int64
	terms, tokens []string
}

// linesToIndex reads the lines after a number, with all who may see them.
func linesToIndex(ctx context.Context, t *tx, after int64) ([]lineToIndex, error) {
	rows, err := t.QueryContext(ctx, t.d.SQL(`SELECT seq, campaign, text, name, speaker, heard, flags FROM line
		WHERE seq > ?1 ORDER BY seq LIMIT ?2`), after, reindexPage)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []lineToIndex
	place := map[int64]int{}
	for rows.Next() {
		var seq, campaign, speaker, bits int64
		var l memory.Line
		var heard string
		if err := rows.Scan(&seq, &campaign, &l.Text, &l.Speaker.Name, &speaker, &heard, &bits); err != nil {
			return nil, err
		}
		place[seq] = len(out)
		out = append(out, lineToIndex{campaign, seq, lineTerms(l), audience(campaign, speaker, unpack(heard), bits&asideFlag != 0)})
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil || len(out) == 0 {
		return nil, err
	}
	rows, err = t.QueryContext(ctx, t.d.SQL(`SELECT line, who FROM told WHERE line BETWEEN ?1 AND ?2 ORDER BY line, who`), out[0].seq, out[len(out)-1].seq)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var line, who int64
		if err := rows.Scan(&line, &who); err != nil {
			return nil, err
		}
		if i, ok := place[line]; ok {
			out[i].tokens = append(out[i].tokens, actorToken(who))
		}
	}
	return out, rows.Err()
}
