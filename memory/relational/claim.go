package relational

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/glyphoxa/glyphoxa/memory"
)

// Learn writes claims that came up at the table.
func (s *Store) Learn(ctx context.Context, campaign string, claims ...memory.Claim) error {
	for _, c := range claims {
		if err := c.Check(); err != nil {
			return err
		}
	}
	return s.within(ctx, "learning", func(t *tx) error {
		id, err := s.intern(ctx, t, 0, campaign)
		if err != nil {
			return err
		}
		for _, c := range claims {
			if err := s.learn(ctx, t, id, c); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Store) learn(ctx context.Context, t *tx, campaign int64, c memory.Claim) error {
	if c.ID == "" {
		c.ID = string(c.Form) + ":" + digest(c.Subject, c.Predicate, c.Object, c.Text)
	}
	if c.Confidence == 0 {
		c.Confidence = 1
	}
	if c.Origin == "" {
		c.Origin = memory.Stated
	}
	if c.Status == "" {
		c.Status = memory.Accepted
	}
	from, to := micros(c.From), int64(forever)
	if !c.To.IsZero() {
		to = c.To.UnixMicro()
	}
	if c.Replaces != "" {
		if err := t.exec(ctx, `UPDATE claim SET valid_to = ?1 WHERE campaign = ?2 AND key = ?3 AND valid_to > ?1`,
			from, campaign, c.Replaces); err != nil {
			return err
		}
	}
	// The same claim may come up again, with more who know it.
	var id int64
	err := t.row(ctx, `SELECT id FROM claim WHERE campaign = ?1 AND key = ?2 AND valid_to = 9223372036854775807`, campaign, c.ID).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		err = t.row(ctx, `INSERT INTO claim (campaign, key, form, subject, predicate, object, text, untrue, confidence, source, origin, status, valid_from, valid_to)
			VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) RETURNING id`,
			campaign, c.ID, string(c.Form), c.Subject, c.Predicate, c.Object, c.Text, bit(c.False), c.Confidence, c.Source,
			string(c.Origin), string(c.Status), from, to).Scan(&id)
	}
	if err != nil {
		return err
	}
	for _, key := range c.Audience {
		who, err := s.intern(ctx, t, campaign, key)
		if err != nil {
			return err
		}
		if err := t.exec(ctx, `INSERT INTO knows (campaign, claim, who, since, how) VALUES (?1, ?2, ?3, ?4, 'witnessed') ON CONFLICT DO NOTHING`,
			campaign, id, who, from); err != nil {
			return err
		}
	}
	return s.reindex(ctx, t, campaign, id)
}

// reindex puts a claim into the index anew, after it or its audience changed.
func (s *Store) reindex(ctx context.Context, t *tx, campaign, id int64) error {
	var st statement
	var also sql.NullString
	err := t.row(ctx, `SELECT c.predicate, c.object, c.text, COALESCE(e.name, ''), CASE WHEN c.form = 'text' THEN e.aliases END
		FROM claim c LEFT JOIN entity e ON e.campaign = c.campaign AND e.key = c.subject WHERE c.campaign = ?1 AND c.id = ?2`,
		campaign, id).Scan(&st.predicate, &st.object, &st.text, &st.names, &also)
	if err != nil {
		return err
	}
	st.names += " " + also.String
	return s.index(ctx, t, campaign, id, st.terms())
}

// Tell passes on a line or a claim. Who tells must know it.
func (s *Store) Tell(ctx context.Context, told memory.Telling) error {
	if (told.Line == "") == (told.Claim == "") {
		return errors.New("memory: telling needs either a line or a claim")
	}
	if told.At.IsZero() || len(told.To) == 0 || len(told.To) > memory.MaxAudience {
		return fmt.Errorf("memory: telling needs a time and 1 to %d listeners", memory.MaxAudience)
	}
	return s.within(ctx, "telling", func(t *tx) error {
		campaign, err := s.intern(ctx, t, 0, told.Campaign)
		if err != nil {
			return err
		}
		who := scope{campaign: campaign, asOf: told.At.UnixMicro()}
		if who.everyone, err = s.intern(ctx, t, campaign, memory.Everyone); err != nil {
			return err
		}
		if told.From != "" {
			if who.who, err = s.intern(ctx, t, campaign, told.From); err != nil {
				return err
			}
		}
		var to []int64
		for _, key := range told.To {
			id, err := s.intern(ctx, t, campaign, key)
			if err != nil {
				return err
			}
			to = append(to, id)
		}
		if told.Line != "" {
			return s.tellLine(ctx, t, who, told.Line, to)
		}
		return s.tellClaim(ctx, t, who, told.Claim, to)
	})
}

func (s *Store) tellLine(ctx context.Context, t *tx, from scope, key string, to []int64) error {
	var seq int64
	err := t.row(ctx, `SELECT seq FROM line WHERE campaign = ?1 AND key = ?2 AND at <= ?3`, from.campaign, key, from.asOf).Scan(&seq)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("line %q: %w", key, memory.ErrUnknown)
	}
	if err != nil {
		return err
	}
	known, err := s.rows(ctx, t, from, []int64{seq})
	if err != nil {
		return err
	}
	if len(known) == 0 {
		return fmt.Errorf("line %q: %w to who tells it", key, memory.ErrUnknown)
	}
	for _, who := range to {
		if err := t.exec(ctx, `INSERT INTO told (campaign, line, who, since, teller) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING`,
			from.campaign, seq, who, from.asOf, from.who); err != nil {
			return err
		}
	}
	return s.reindexLine(ctx, t, from.campaign, seq)
}

// reindexLine puts a line into the index anew, with all who were told of it.
func (s *Store) reindexLine(ctx context.Context, t *tx, campaign, seq int64) error {
	var l memory.Line
	var speaker, bits int64
	var heard string
	if err := t.row(ctx, `SELECT text, name, speaker, heard, flags FROM line WHERE campaign = ?1 AND seq = ?2`, campaign, seq).
		Scan(&l.Text, &l.Speaker.Name, &speaker, &heard, &bits); err != nil {
		return err
	}
	tokens := audience(campaign, speaker, unpack(heard), bits&asideFlag != 0)
	rows, err := t.QueryContext(ctx, s.d.SQL(`SELECT who FROM told WHERE campaign = ?1 AND line = ?2 ORDER BY who`), campaign, seq)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var who int64
		if err := rows.Scan(&who); err != nil {
			return err
		}
		tokens = append(tokens, actorToken(who))
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	return s.d.Put(ctx, t.Tx, Lines, campaign, seq, lineTerms(l), tokens)
}

func (s *Store) tellClaim(ctx context.Context, t *tx, from scope, key string, to []int64) error {
	var id int64
	err := t.row(ctx, `SELECT c.id FROM claim c WHERE `+known+` AND c.key = ?5`, from.args(key)...).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("claim %q: %w to who tells it", key, memory.ErrUnknown)
	}
	if err != nil {
		return err
	}
	for _, who := range to {
		if err := t.exec(ctx, `INSERT INTO knows (campaign, claim, who, since, how, teller) VALUES (?1, ?2, ?3, ?4, 'told', ?5) ON CONFLICT DO NOTHING`,
			from.campaign, id, who, from.asOf, from.who); err != nil {
			return err
		}
	}
	return s.reindex(ctx, t, from.campaign, id)
}

// Judge sets whether a claim counts.
func (s *Store) Judge(ctx context.Context, campaign, id string, status memory.Status) error {
	switch status {
	case memory.Accepted, memory.Proposed, memory.Rejected:
	default:
		return fmt.Errorf("memory: unknown status %q", status)
	}
	return s.within(ctx, "judging a claim", func(t *tx) error {
		c, err := s.intern(ctx, t, 0, campaign)
		if err != nil {
			return err
		}
		done, err := t.ExecContext(ctx, s.d.SQL(`UPDATE claim SET status = ?1, origin = CASE WHEN ?1 = 'accepted' AND origin <> 'campaign' THEN 'confirmed' ELSE origin END
			WHERE campaign = ?2 AND key = ?3 AND valid_to = 9223372036854775807`), string(status), c, id)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n > 0 {
			return err
		}
		return fmt.Errorf("claim %q: %w", id, memory.ErrUnknown)
	})
}

// Claims returns what the viewer knows, newest first, or best first when words
// are searched for.
func (s *Store) Claims(ctx context.Context, v memory.Viewer, q memory.ClaimQuery) ([]memory.Claim, error) {
	c, err := s.scope(ctx, v)
	if err != nil || c.campaign == 0 {
		return nil, s.explain("reading claims", err)
	}
	out, err := s.claims(ctx, c, q)
	return out, s.explain("reading claims", err)
}

func (s *Store) claims(ctx context.Context, c scope, q memory.ClaimQuery) ([]memory.Claim, error) {
	limit := clamp(q.Limit, 20)
	if q.Status == "" || !c.master() {
		q.Status = memory.Accepted // what waits for judgement is the game master's
	}
	where := []string{"c.campaign = ?1", "c.valid_from <= ?2", "c.status = ?5",
		"(?3 = 0 OR EXISTS (SELECT 1 FROM knows k WHERE k.campaign = c.campaign AND k.claim = c.id AND k.who IN (?3, ?4) AND k.since <= ?2))",
		// A relation to somebody of whom the viewer has not heard would give it away.
		"(?3 = 0 OR c.form <> 'relation' OR " + fmt.Sprintf(acquainted, "c.object") + ")"}
	args := c.args(string(q.Status))
	if !q.Ended {
		where = append(where, "c.valid_to > ?2")
	}
	for _, f := range []struct{ condition, value string }{
		{"c.key = $", q.ID}, {"(c.subject = $ OR c.object = $ AND c.object <> '')", q.Subject}, {"c.form = $", string(q.Form)}, {"c.source = $ AND c.source <> ''", q.Source},
	} {
		if f.value != "" {
			args = append(args, f.value)
			where = append(where, strings.ReplaceAll(f.condition, "$", fmt.Sprintf("?%d", len(args))))
		}
	}
	order := map[int64]int{}
	if question := memory.Ask(q.Text); !question.Empty() {
		if err := s.alsoCalled(ctx, c, &question); err != nil {
			return nil, err
		}
		ranked, err := s.rankClaims(ctx, c, question)
		if err != nil || len(ranked) == 0 {
			return nil, err
		}
		for i, id := range ranked {
			order[id] = i
		}
		where = append(where, "c.id IN ("+list(ranked)+")")
		limit = max(limit, len(ranked))
	}
	return s.readClaims(ctx, c, where, args, order, limit, clamp(q.Limit, 20))
}

// readClaims runs the query and orders its answer.
func (s *Store) readClaims(ctx context.Context, c scope, where []string, args []any, order map[int64]int, limit, want int) ([]memory.Claim, error) {
	rows, err := s.query(ctx, `SELECT c.id, c.key, c.form, c.subject, c.predicate, c.object, c.text, c.untrue, c.confidence, c.source, c.origin,
		c.status, c.valid_from, c.valid_to, COALESCE(h.how, e.how, ''), COALESCE(h.since, e.since, 0), COALESCE(a.key, '')
		FROM claim c LEFT JOIN knows h ON h.campaign = c.campaign AND h.claim = c.id AND h.who = ?3
		LEFT JOIN knows e ON e.campaign = c.campaign AND e.claim = c.id AND e.who = ?4
		LEFT JOIN actor a ON a.campaign = c.campaign AND a.id = COALESCE(h.teller, e.teller)
		WHERE `+strings.Join(where, " AND ")+fmt.Sprintf(" ORDER BY c.valid_from DESC, c.id DESC LIMIT %d", limit), args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []memory.Claim
	var numbers []int64
	for rows.Next() {
		var m memory.Claim
		var id, from, to, since int64
		var how, teller string
		if err := rows.Scan(&id, &m.ID, &m.Form, &m.Subject, &m.Predicate, &m.Object, &m.Text, &m.False, &m.Confidence, &m.Source,
			&m.Origin, &m.Status, &from, &to, &how, &since, &teller); err != nil {
			return nil, err
		}
		m.From, m.To = fromMicros(from), fromMicros(to)
		if !c.master() {
			m.False = false
			if how == "told" {
				m.Told = &memory.Hearsay{By: teller, At: fromMicros(since)}
			}
		}
		out, numbers = append(out, m), append(numbers, id)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	rows.Close()
	audiences, err := s.audiences(ctx, c, numbers)
	if err != nil {
		return nil, err
	}
	for i, id := range numbers {
		out[i].Audience = audiences[id]
	}
	if len(order) > 0 {
		sortBy(out, numbers, order)
	}
	return out[:min(want, len(out))], nil
}

// rankClaims returns the claims that share words with a question, best first.
func (s *Store) rankClaims(ctx context.Context, c scope, q memory.Question) ([]int64, error) {
	if len(c.tokens()) == 0 {
		return nil, nil
	}
	found := map[int64]float64{}
	add := func(m Match, weight float64) error {
		m.Campaign, m.Audience, m.High, m.Limit = c.campaign, c.tokens(), forever, firstLook
		ids, err := s.d.Find(ctx, s.read, Claims, m)
		for _, id := range ids {
			found[id] += weight * memory.Rarity(float64(len(ids)), 10*firstLook)
		}
		return err
	}
	for _, t := range q.Terms {
		if err := add(Match{Terms: []string{t}}, 1); err != nil {
			return nil, err
		}
		if others := q.Senses[t]; len(others) > 0 {
			if err := add(Match{Terms: others, Any: true}, memory.SenseWeight); err != nil {
				return nil, err
			}
		}
	}
	for _, p := range q.Prefixes {
		if err := add(Match{Terms: []string{p}, Prefix: true}, 1); err != nil {
			return nil, err
		}
	}
	return top(found, memory.MaxHits), nil
}
