package relational

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/glyphoxa/glyphoxa/memory"
)

// Recent returns the latest lines the viewer heard, oldest first.
func (s *Store) Recent(ctx context.Context, v memory.Viewer, w memory.Window) ([]memory.Line, error) {
	lines, err := s.latest(ctx, v, memory.Query{Session: w.Session, Scene: w.Scene, Limit: clamp(w.Limit, 20)}, w.Before)
	slices.Reverse(lines)
	return lines, s.explain("reading the latest lines", err)
}

// maxScan bounds how many lines are looked at for those that pass a filter which
// the index does not know: scene, speaker, time.
const maxScan = 5000

// latest returns the newest lines that a viewer may see and that pass the
// filters of a query, newest first.
func (s *Store) latest(ctx context.Context, v memory.Viewer, q memory.Query, before string) ([]memory.Line, error) {
	c, err := s.scope(ctx, v)
	if err != nil || len(c.tokens()) == 0 || c.campaign == 0 {
		return nil, err
	}
	f, err := s.filter(ctx, c, q)
	if err != nil || f.nothing {
		return nil, err
	}
	var out []row
	high := f.high
	if before != "" {
		var seq int64
		switch err := s.row(ctx, `SELECT seq FROM line WHERE campaign = ?1 AND key = ?2`, c.campaign, before).Scan(&seq); {
		case errors.Is(err, sql.ErrNoRows):
			return nil, nil
		case err != nil:
			return nil, err
		}
		high = min(high, seq-1)
	}
	for scanned, step := 0, q.Limit; scanned < maxScan && len(out) < q.Limit; step = min(2*step, 1000) {
		ids, err := s.d.Find(ctx, s.read, Lines, Match{Campaign: c.campaign, Audience: c.tokens(), Low: f.low, High: high, Limit: step})
		if err != nil {
			return nil, err
		}
		rows, err := s.fetch(ctx, c, ids)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			if f.passes(r) && len(out) < q.Limit {
				out = append(out, r)
			}
		}
		if len(ids) < step {
			break
		}
		scanned += len(ids)
		high = ids[len(ids)-1] - 1
	}
	return s.lines(ctx, c, out)
}

// A filter is the part of a query that is not about words.
type filter struct {
	low, high int64
	q         memory.Query
	asOf      int64
	speaker   int64 // of q.Speaker
	npc       int64 // of q.NPC
	nothing   bool  // a session, speaker or NPC that does not exist was asked for
}

func (s *Store) filter(ctx context.Context, c scope, q memory.Query) (filter, error) {
	f := filter{high: forever, q: q, asOf: c.asOf}
	for _, who := range []struct {
		key string
		id  *int64
	}{{q.Speaker, &f.speaker}, {q.NPC, &f.npc}} {
		if who.key == "" {
			continue
		}
		var err error
		if *who.id, err = s.number(ctx, c.campaign, who.key); err != nil || *who.id == 0 {
			f.nothing = true
			return f, err
		}
	}
	if q.Session == "" {
		return f, nil
	}
	rows, err := s.query(ctx, `SELECT id FROM session WHERE campaign = ?1 AND key = ?2`, c.campaign, q.Session)
	if err != nil {
		return f, err
	}
	defer rows.Close()
	f.nothing = true
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return f, err
		}
		f.nothing = false
		f.low, f.high = id<<32, id<<32|(1<<32-1)
	}
	return f, rows.Err()
}

func (f filter) passes(r row) bool {
	at := r.At.UnixMicro()
	switch {
	case at > f.asOf,
		f.q.Scene != "" && r.Scene != f.q.Scene,
		f.q.Speaker != "" && r.Speaker.ID != f.q.Speaker,
		f.npc != 0 && r.Speaker.ID != f.q.NPC && !slices.Contains(r.meant, f.npc),
		!f.q.From.IsZero() && r.At.Before(f.q.From),
		!f.q.To.IsZero() && !r.At.Before(f.q.To):
		return false
	}
	return true
}

// lets is passes for a text.
func (f filter) lets(t text) bool {
	return t.at <= f.asOf && (f.q.Scene == "" || t.scene == f.q.Scene) && (f.speaker == 0 || t.speaker == f.speaker) &&
		(f.npc == 0 || t.speaker == f.npc || slices.Contains(unpack(t.meant), f.npc)) &&
		(f.q.From.IsZero() || t.at >= f.q.From.UnixMicro()) && (f.q.To.IsZero() || t.at < f.q.To.UnixMicro())
}

// narrow says whether the filter has something that only passes can decide.
func (f filter) narrow() bool {
	return f.q.Scene != "" || f.q.Speaker != "" || f.npc != 0 || !f.q.From.IsZero() || !f.q.To.IsZero() || f.asOf < forever-1
}

// A row is a line with its numbers.
type row struct {
	memory.Line
	seq           int64
	heard, meant  []int64
	since, teller int64
}

// A text is as much of a line as ranking needs.
type text struct {
	memory.Candidate
	at, speaker int64
	scene       string
	meant       string // as pack has it
}

// texts reads lines by number for ranking, and only those that the viewer may
// see: what it may not know must not even move the ranking of what it does.
func (s *Store) texts(ctx context.Context, c scope, ids []int64) ([]text, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	all, unheard, err := s.allTexts(ctx, c, ids)
	if err != nil || len(unheard) == 0 {
		return all, err
	}
	// What it did not hear it may have been told.
	numbers := make([]int64, len(unheard))
	for i, t := range unheard {
		numbers[i] = t.Seq
	}
	told, err := s.pick(ctx, `SELECT line FROM told WHERE campaign = ?4 AND line IN (`+list(numbers)+`) AND who IN (?1, ?2) AND since <= ?3`, c.who, c.everyone, c.asOf, c.campaign)
	if err != nil {
		return nil, err
	}
	for _, t := range unheard {
		if slices.Contains(told, t.Seq) {
			all = append(all, t)
		}
	}
	return all, nil
}

func (s *Store) allTexts(ctx context.Context, c scope, ids []int64) (heard, unheard []text, err error) {
	rows, err := s.query(ctx, `SELECT seq, text, name, at, speaker, scene, heard, meant, flags FROM line WHERE +campaign = ?1 AND seq IN (`+list(ids)+`)`, c.campaign)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var t text
		var r row
		var ears string
		var bits int64
		if err := rows.Scan(&t.Seq, &t.Text, &t.Name, &t.at, &t.speaker, &t.scene, &ears, &t.meant, &bits); err != nil {
			return nil, nil, err
		}
		if t.at > c.asOf {
			continue
		}
		t.At = fromMicros(t.at)
		if !c.master() {
			r.Aside, r.heard = bits&asideFlag != 0, unpack(ears)
		}
		if c.master() || c.witnessed(r, t.speaker) {
			heard = append(heard, t)
		} else {
			unheard = append(unheard, t)
		}
	}
	return heard, unheard, rows.Err()
}

const lineColumns = `l.seq, l.key, s.key, l.scene, a.key, l.name, l.kind, l.at, l.duration, l.text, l.raw, l.confidence,
	l.heard, l.meant, l.flags, l.cut_at, l.speaker, COALESCE(d.since, 0), COALESCE(d.teller, 0), COALESCE(e.since, 0), COALESCE(e.teller, 0)`

// fetch reads lines by number, in the order of the numbers given. It leaves out
// whatever the viewer may not see, whoever asked for it: this is the last gate.
func (s *Store) fetch(ctx context.Context, c scope, ids []int64) ([]row, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := s.rows(ctx, s.read, c, ids)
	if err != nil {
		return nil, err
	}
	out := make([]row, 0, len(found))
	for _, id := range ids {
		if r, ok := found[id]; ok {
			out = append(out, r)
		}
	}
	return out, nil
}

func (s *Store) rows(ctx context.Context, from Queryer, c scope, ids []int64) (map[int64]row, error) {
	rows, err := from.QueryContext(ctx, s.d.SQL(`SELECT `+lineColumns+` FROM line l JOIN session s ON s.campaign = l.campaign AND s.id = l.seq >> 32 JOIN actor a ON a.campaign = l.campaign AND a.id = l.speaker
		LEFT JOIN told d ON d.campaign = l.campaign AND d.line = l.seq AND d.who = ?1
		LEFT JOIN told e ON e.campaign = l.campaign AND e.line = l.seq AND e.who = ?3 WHERE +l.campaign = ?2 AND l.seq IN (`+list(ids)+`)`), c.who, c.campaign, c.everyone)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := make(map[int64]row, len(ids))
	for rows.Next() {
		var r row
		var at, duration, bits, cutAt, speaker, toAll, crier int64
		var heard, meant string
		if err := rows.Scan(&r.seq, &r.ID, &r.Session, &r.Scene, &r.Speaker.ID, &r.Speaker.Name, &r.Speaker.Kind, &at, &duration,
			&r.Text, &r.Raw, &r.Confidence, &heard, &meant, &bits, &cutAt, &speaker, &r.since, &r.teller, &toAll, &crier); err != nil {
			return nil, err
		}
		r.At, r.Duration, r.CutAt = fromMicros(at), microseconds(duration), microseconds(cutAt)
		r.Cut, r.Whisper, r.Aside = bits&cutFlag != 0, bits&whisperFlag != 0, bits&asideFlag != 0
		r.heard, r.meant = unpack(heard), unpack(meant)
		if toAll > 0 && (r.since == 0 || toAll < r.since) {
			r.since, r.teller = toAll, crier
		}
		switch {
		case c.master(), c.witnessed(r, speaker):
			r.since = 0
		case r.since == 0 || r.since > c.asOf:
			continue
		}
		found[r.seq] = r
	}
	return found, rows.Err()
}

func (c scope) witnessed(r row, speaker int64) bool {
	return !r.Aside && (speaker == c.who || slices.Contains(r.heard, c.who) || c.everyone > 0 && slices.Contains(r.heard, c.everyone))
}

// lines gives rows back as lines, with the names of whom they were meant for
// and, for the game master, of who heard them.
func (s *Store) lines(ctx context.Context, c scope, rows []row) ([]memory.Line, error) {
	var ids []int64
	for _, r := range rows {
		ids = append(append(append(ids, r.meant...), r.heard...), r.teller)
	}
	keys, err := s.keysOf(ctx, c.campaign, ids)
	if err != nil {
		return nil, err
	}
	named := func(ids []int64) (out []string) {
		for _, id := range ids {
			out = append(out, keys[id])
		}
		return out
	}
	out := make([]memory.Line, len(rows))
	for i, r := range rows {
		l := r.Line
		l.To = named(r.meant)
		if c.master() {
			l.Audience = named(r.heard)
		}
		if r.since > 0 {
			l.Told = &memory.Hearsay{By: keys[r.teller], At: fromMicros(r.since)}
		}
		out[i] = l
	}
	return out, nil
}

func microseconds(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
