package relational

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/glyphoxa/glyphoxa/memory"
)

const (
	// maxRecord is above the largest line or claim with its audience.
	maxRecord = 4 << 20
	// batch is how many records share a transaction while importing.
	batch = 1000
)

// Import reads an export. Records are written a thousand at a time; an import
// that fails halfway is repeated whole, because what is there stays as it is.
func (s *Store) Import(ctx context.Context, r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), maxRecord)
	var records []memory.Record
	campaign, n := "", 0
	flush := func() error {
		if len(records) == 0 {
			return nil
		}
		err := s.restore(ctx, campaign, records)
		records = records[:0]
		return err
	}
	for lines.Scan() {
		n++
		if len(lines.Bytes()) == 0 {
			continue
		}
		var rec memory.Record
		if err := json.Unmarshal(lines.Bytes(), &rec); err != nil {
			return fmt.Errorf("memory: importing, line %d: %w", n, err)
		}
		switch {
		case rec.Campaign != "":
			if err := flush(); err != nil {
				return err
			}
			campaign = rec.Campaign
			continue
		case campaign == "":
			return fmt.Errorf("memory: importing, line %d: an export begins with its campaign; is this one?", n)
		}
		if records = append(records, rec); len(records) == batch {
			if err := flush(); err != nil {
				return fmt.Errorf("up to line %d: %w", n, err)
			}
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("memory: importing, after line %d: %w", n, err)
	}
	if campaign == "" {
		return errors.New("memory: importing: the file is empty")
	}
	return flush()
}

// restore writes some records of a campaign.
func (s *Store) restore(ctx context.Context, campaign string, records []memory.Record) error {
	return s.within(ctx, "importing", func(t *tx) error {
		c, err := s.intern(ctx, t, 0, campaign)
		if err != nil {
			return err
		}
		im := restorer{s: s, t: t, campaign: c, lines: appender{s: s, t: t, sessions: map[actorKey]*openSession{}}}
		for _, r := range records {
			if err := im.record(ctx, campaign, r); err != nil {
				return err
			}
		}
		return im.lines.close(ctx)
	})
}

type restorer struct {
	s        *Store
	t        *tx
	campaign int64
	lines    appender
}

func (im *restorer) record(ctx context.Context, campaign string, r memory.Record) error {
	switch {
	case r.Line != nil:
		l := *r.Line
		l.Campaign = campaign
		if err := l.Check(); err != nil {
			return err
		}
		return im.lines.line(ctx, l)
	case r.Session != nil:
		n := r.Session
		return im.t.exec(ctx, `INSERT INTO session (campaign, key, title, started, ended) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING`,
			im.campaign, n.ID, n.Title, n.Started.UnixMicro(), micros(n.Ended))
	case r.OptOut != "":
		who, err := im.s.intern(ctx, im.t, im.campaign, r.OptOut)
		if err != nil {
			return err
		}
		return im.t.exec(ctx, `INSERT INTO optout (campaign, who) VALUES (?1, ?2) ON CONFLICT DO NOTHING`, im.campaign, who)
	case r.Recap != nil:
		return putRecap(ctx, im.t, im.campaign, *r.Recap)
	case r.Told != nil:
		return im.told(ctx, *r.Told)
	case r.Entity != nil:
		if err := memory.CheckWorld([]memory.Entity{*r.Entity}); err != nil {
			return err
		}
		p := importer{s: im.s, t: im.t, campaign: im.campaign}
		return p.node(ctx, *r.Entity)
	case r.Claim != nil:
		return im.claim(ctx, *r.Claim)
	}
	return nil
}

func (im *restorer) told(ctx context.Context, r memory.ToldRecord) error {
	var seq int64
	err := im.t.row(ctx, `SELECT seq FROM line WHERE campaign = ?1 AND key = ?2`, im.campaign, r.Line).Scan(&seq)
	if errors.Is(err, sql.ErrNoRows) {
		return nil // its speaker has opted out here
	}
	if err != nil {
		return err
	}
	to, err := im.s.intern(ctx, im.t, im.campaign, r.To)
	if err != nil {
		return err
	}
	var by int64
	if r.By != "" {
		if by, err = im.s.intern(ctx, im.t, im.campaign, r.By); err != nil {
			return err
		}
	}
	if err := im.t.exec(ctx, `INSERT INTO told (campaign, line, who, since, teller) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING`, im.campaign,
		seq, to, r.At.UnixMicro(), by); err != nil {
		return err
	}
	return im.s.reindexLine(ctx, im.t, im.campaign, seq)
}

func (im *restorer) claim(ctx context.Context, r memory.ClaimRecord) error {
	checked := r.Claim
	if checked.Form == memory.TextForm { // an entity's own text may be empty
		checked.Form, checked.Text = memory.FactForm, checked.Text+"."
	}
	if checked.Form == memory.AttributeForm && checked.Text == "" {
		checked.Text = "." // campaigns may leave a value open
	}
	if err := checked.Check(); err != nil {
		return err
	}
	to := int64(forever)
	if !r.To.IsZero() {
		to = r.To.UnixMicro()
	}
	var id int64
	err := im.t.row(ctx, `SELECT id FROM claim WHERE campaign = ?1 AND key = ?2 AND (valid_from = ?3 OR valid_to = ?4 AND valid_to = 9223372036854775807)`,
		im.campaign, r.ID, micros(r.From), to).Scan(&id)
	if err == nil {
		return nil // there already
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if err := im.t.row(ctx, `INSERT INTO claim (campaign, key, form, subject, predicate, object, text, untrue, confidence, source, origin, status, valid_from, valid_to)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) RETURNING id`,
		im.campaign, r.ID, string(r.Form), r.Subject, r.Predicate, r.Object, r.Text, bit(r.False), r.Confidence, r.Source,
		string(r.Origin), string(r.Status), micros(r.From), to).Scan(&id); err != nil {
		return err
	}
	for _, k := range r.Knowers {
		who, err := im.s.intern(ctx, im.t, im.campaign, k.Who)
		if err != nil {
			return err
		}
		var by int64
		if k.By != "" {
			if by, err = im.s.intern(ctx, im.t, im.campaign, k.By); err != nil {
				return err
			}
		}
		if err := im.t.exec(ctx, `INSERT INTO knows (campaign, claim, who, since, how, teller) VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING`, im.campaign,
			id, who, micros(k.Since), k.How, by); err != nil {
			return err
		}
	}
	return im.s.reindex(ctx, im.t, im.campaign, id)
}
