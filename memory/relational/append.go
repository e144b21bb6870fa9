package relational

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/glyphoxa/glyphoxa/memory"
)

// The bits of line.flags.
const (
	cutFlag = 1 << iota
	whisperFlag
	asideFlag
)

// Append writes lines and returns once they are durable.
func (s *Store) Append(ctx context.Context, lines ...memory.Line) error {
	for _, l := range lines {
		if err := l.Check(); err != nil {
			return err
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return s.within(ctx, "writing lines", func(t *tx) error {
		w := appender{s: s, t: t, sessions: map[actorKey]*openSession{}}
		for _, l := range lines {
			if err := w.line(ctx, l); err != nil {
				return err
			}
		}
		return w.close(ctx)
	})
}

// An appender writes the lines of one transaction.
type appender struct {
	s        *Store
	t        *tx
	insert   *sql.Stmt
	sessions map[actorKey]*openSession
	silent   map[int64]map[int64]bool // by campaign, who has opted out
}

// openSession is where the next line of a session goes.
type openSession struct{ id, lines, before int64 }

func (w *appender) line(ctx context.Context, l memory.Line) error {
	campaign, err := w.s.intern(ctx, w.t, 0, l.Campaign)
	if err != nil {
		return err
	}
	speaker, err := w.s.intern(ctx, w.t, campaign, l.Speaker.ID)
	if err != nil {
		return err
	}
	if out, err := w.optedOut(ctx, campaign, speaker); err != nil || out {
		return err
	}
	heard, err := w.actors(ctx, campaign, l.Audience)
	if err != nil {
		return err
	}
	meant, err := w.actors(ctx, campaign, l.To)
	if err != nil {
		return err
	}
	session, err := w.session(ctx, campaign, l)
	if err != nil {
		return err
	}
	if w.insert == nil {
		w.insert, err = w.t.PrepareContext(ctx, w.s.d.SQL(`INSERT INTO line (seq, campaign, key, scene, speaker, name, kind, at,
			duration, text, raw, confidence, heard, meant, flags, cut_at)
			VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
			ON CONFLICT (campaign, key) DO NOTHING`))
		if err != nil {
			return err
		}
	}
	seq := session.id<<32 | session.lines
	done, err := w.insert.ExecContext(ctx, seq, campaign, l.ID, l.Scene, speaker, l.Speaker.Name, string(l.Speaker.Kind),
		l.At.UnixMicro(), l.Duration.Microseconds(), l.Text, l.Raw, l.Confidence, pack(heard), pack(meant), flags(l),
		l.CutAt.Microseconds())
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		return err // already there
	}
	session.lines++
	return w.s.d.Put(ctx, w.t.Tx, Lines, campaign, seq, lineTerms(l), audience(campaign, speaker, heard, l.Aside))
}

// optedOut says whether somebody's words are not to be remembered.
func (w *appender) optedOut(ctx context.Context, campaign, who int64) (bool, error) {
	if silent, ok := w.silent[campaign]; ok {
		return silent[who], nil
	}
	rows, err := w.t.QueryContext(ctx, w.s.d.SQL(`SELECT who FROM optout WHERE campaign = ?1`), campaign)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	silent := map[int64]bool{}
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return false, err
		}
		silent[id] = true
	}
	if w.silent == nil {
		w.silent = map[int64]map[int64]bool{}
	}
	w.silent[campaign] = silent
	return silent[who], rows.Err()
}

// lineTerms are the terms under which a line is found: its words, and who said
// it, because people ask "what did Mira say about …".
func lineTerms(l memory.Line) []string {
	return append(memory.Terms(l.Text), memory.Terms(l.Speaker.Name)...)
}

// audience are the tokens of those who may see a line.
func audience(campaign, speaker int64, heard []int64, aside bool) []string {
	out := []string{campaignToken(campaign)}
	if aside {
		return out
	}
	if !slices.Contains(heard, speaker) {
		out = append(out, actorToken(speaker))
	}
	for _, id := range heard {
		out = append(out, actorToken(id))
	}
	return out
}

func flags(l memory.Line) (f int64) {
	if l.Cut {
		f |= cutFlag
	}
	if l.Whisper {
		f |= whisperFlag
	}
	if l.Aside {
		f |= asideFlag
	}
	return f
}

func (w *appender) actors(ctx context.Context, campaign int64, keys []string) ([]int64, error) {
	out := make([]int64, 0, len(keys))
	for _, key := range keys {
		id, err := w.s.intern(ctx, w.t, campaign, key)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out, nil
}

// session finds the line's session, beginning it if nobody has.
func (w *appender) session(ctx context.Context, campaign int64, l memory.Line) (*openSession, error) {
	k := actorKey{campaign, l.Session}
	if o, ok := w.sessions[k]; ok {
		return o, nil
	}
	o, err := findSession(ctx, w.t, campaign, l.Session)
	if errors.Is(err, sql.ErrNoRows) {
		err = w.t.exec(ctx, `INSERT INTO session (campaign, key, started) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING`, campaign, l.Session, l.At.UnixMicro())
		if err == nil {
			o, err = findSession(ctx, w.t, campaign, l.Session)
		}
	}
	if err != nil {
		return nil, err
	}
	w.sessions[k] = o
	return o, nil
}

func findSession(ctx context.Context, t *tx, campaign int64, key string) (*openSession, error) {
	var o openSession
	err := t.row(ctx, `SELECT id, lines FROM session WHERE campaign = ?1 AND key = ?2`+t.d.Locking(), campaign, key).Scan(&o.id, &o.lines)
	o.before = o.lines
	return &o, err
}

// close writes down how far the sessions have grown.
func (w *appender) close(ctx context.Context) error {
	if w.insert != nil {
		_ = w.insert.Close()
	}
	for k, o := range w.sessions {
		if o.lines == o.before {
			continue
		}
		if err := w.t.exec(ctx, `UPDATE session SET lines = ?1 WHERE campaign = ?2 AND id = ?3`, o.lines, k.campaign, o.id); err != nil {
			return err
		}
	}
	return nil
}
