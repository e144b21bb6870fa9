package relational

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/memory"
)

// The forms of a claim.
const (
	textForm      = "text" // an entity's own text: who knows it, knows the entity
	factForm      = "fact"
	attributeForm = "attribute"
	relationForm  = "relation"
)

// fromCampaign is the origin of what the campaign's folder says.
const fromCampaign = "campaign"

// A statement is a claim as PutWorld wants it to be.
type statement struct {
	key, form, subject, predicate, object, text string
	untrue                                      bool
	audience                                    memory.Audience
	names                                       string // further words to find it by
}

// PutWorld makes a campaign's entities equal to those given.
func (s *Store) PutWorld(ctx context.Context, campaign string, world []memory.Entity) error {
	if err := memory.CheckWorld(world); err != nil {
		return err
	}
	return s.within(ctx, "importing the campaign's world", func(t *tx) error {
		c, err := s.intern(ctx, t, 0, campaign)
		if err != nil {
			return err
		}
		p := importer{s: s, t: t, campaign: c, now: time.Now().UnixMicro()}
		if err := p.load(ctx); err != nil {
			return err
		}
		for _, e := range world {
			if err := p.entity(ctx, e); err != nil {
				return fmt.Errorf("entity %q: %w", e.ID, err)
			}
		}
		return p.endRest(ctx)
	})
}

// An importer compares a world with what is stored and writes the difference.
type importer struct {
	s        *Store
	t        *tx
	campaign int64
	now      int64
	// first is set when the campaign has no world yet. What it says then has
	// always been so.
	first    bool
	open     map[string]openClaim
	entities map[string]openEntity
}

type openClaim struct {
	id                       int64
	text, predicate, subject string
	object                   string
	untrue                   bool
	kept                     bool
	audience                 string // sorted actors, as pack has them
}

type openEntity struct {
	id   int64
	kind string
	name string
	also string
}

func (p *importer) load(ctx context.Context) error {
	p.open, p.entities = map[string]openClaim{}, map[string]openEntity{}
	rows, err := p.t.QueryContext(ctx, p.s.d.SQL(`SELECT id, key, subject, predicate, object, text, untrue FROM claim
		WHERE campaign = ?1 AND origin = 'campaign' AND valid_to = 9223372036854775807`), p.campaign)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var o openClaim
		var key string
		if err := rows.Scan(&o.id, &key, &o.subject, &o.predicate, &o.object, &o.text, &o.untrue); err != nil {
			return err
		}
		p.open[key] = o
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	rows, err = p.t.QueryContext(ctx, p.s.d.SQL(`SELECT c.key, k.who FROM knows k JOIN claim c ON c.campaign = k.campaign AND c.id = k.claim
		WHERE c.campaign = ?1 AND c.origin = 'campaign' AND c.valid_to = 9223372036854775807 AND k.how = '' ORDER BY k.who`), p.campaign)
	if err != nil {
		return err
	}
	defer rows.Close()
	knowers := map[string][]int64{}
	for rows.Next() {
		var key string
		var who int64
		if err := rows.Scan(&key, &who); err != nil {
			return err
		}
		knowers[key] = append(knowers[key], who)
	}
	for key, who := range knowers {
		o := p.open[key]
		o.audience = pack(who)
		p.open[key] = o
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	rows, err = p.t.QueryContext(ctx, p.s.d.SQL(`SELECT id, key, kind, name, aliases FROM entity WHERE campaign = ?1`), p.campaign)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var o openEntity
		var key string
		if err := rows.Scan(&o.id, &key, &o.kind, &o.name, &o.also); err != nil {
			return err
		}
		p.entities[key] = o
	}
	p.first = len(p.entities) == 0
	return rows.Err()
}

// from is since when something new in the campaign's folder holds.
func (p *importer) from() int64 {
	if p.first {
		return 0
	}
	return p.now
}

func (p *importer) entity(ctx context.Context, e memory.Entity) error {
	if err := p.node(ctx, e); err != nil {
		return err
	}
	for _, st := range statements(e) {
		if err := p.statement(ctx, st); err != nil {
			return err
		}
	}
	return nil
}

// node writes the entity's row and its names.
func (p *importer) node(ctx context.Context, e memory.Entity) error {
	if e.Aliases == nil {
		e.Aliases = []string{}
	}
	also, err := json.Marshal(e.Aliases)
	if err != nil {
		return err
	}
	old, there := p.entities[e.ID]
	if there && old.kind == string(e.Kind) && old.name == e.Name && old.also == string(also) {
		return nil
	}
	if err := p.t.exec(ctx, `INSERT INTO entity (campaign, key, kind, name, aliases) VALUES (?1, ?2, ?3, ?4, ?5)
		ON CONFLICT (campaign, key) DO UPDATE SET kind = excluded.kind, name = excluded.name, aliases = excluded.aliases`,
		p.campaign, e.ID, string(e.Kind), e.Name, string(also)); err != nil {
		return err
	}
	var id int64
	if err := p.t.row(ctx, `SELECT id FROM entity WHERE campaign = ?1 AND key = ?2`, p.campaign, e.ID).Scan(&id); err != nil {
		return err
	}
	if err := p.t.exec(ctx, `DELETE FROM called WHERE campaign = ?1 AND entity = ?2`, p.campaign, id); err != nil {
		return err
	}
	names := append([]string{e.Name}, e.Aliases...)
	for _, name := range names {
		if err := p.called(ctx, id, name, true); err != nil {
			return err
		}
	}
	for _, name := range names {
		for _, word := range memory.NameWords(name) {
			if err := p.called(ctx, id, word, false); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *importer) called(ctx context.Context, entity int64, name string, whole bool) error {
	return p.t.exec(ctx, `INSERT INTO called (campaign, fold, sound, whole, entity) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING`,
		p.campaign, memory.FoldName(name), memory.Sound(name), bit(whole), entity)
}

// statements takes an entity apart into its claims.
func statements(e memory.Entity) []statement {
	names := strings.Join(append([]string{e.Name}, e.Aliases...), " ")
	out := []statement{{key: "text:" + e.ID, form: textForm, subject: e.ID, text: e.Text, audience: e.Audience, names: names}}
	for _, k := range slices.Sorted(maps.Keys(e.Attributes)) {
		out = append(out, statement{key: "attribute:" + e.ID + ":" + k, form: attributeForm, subject: e.ID,
			predicate: k, text: e.Attributes[k], audience: e.Audience, names: e.Name})
	}
	for _, f := range e.Facts {
		key := f.ID
		if key == "" {
			key = "fact:" + digest(e.ID, f.Text)
		}
		out = append(out, statement{key: key, form: factForm, subject: e.ID, text: f.Text, untrue: f.False, audience: f.Audience, names: e.Name})
	}
	for _, r := range e.Relations {
		out = append(out, statement{key: "relation:" + digest(e.ID, r.Kind, r.To), form: relationForm, subject: e.ID,
			predicate: r.Kind, object: r.To, text: r.Text, audience: r.Audience, names: e.Name})
	}
	return out
}

// digest makes an id from what identifies something.
func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:10])
}

func (p *importer) statement(ctx context.Context, st statement) error {
	var who []int64
	for _, key := range st.audience {
		id, err := p.s.intern(ctx, p.t, p.campaign, key)
		if err != nil {
			return err
		}
		who = append(who, id)
	}
	slices.Sort(who)
	who = slices.Compact(who)
	old, there := p.open[st.key]
	same := there && old.text == st.text && old.predicate == st.predicate && old.object == st.object &&
		old.subject == st.subject && old.untrue == st.untrue
	if same && old.audience == pack(who) {
		old.kept = true
		p.open[st.key] = old
		return nil
	}
	id := old.id
	if !same {
		if there {
			if err := p.end(ctx, old.id); err != nil {
				return err
			}
		}
		var err error
		if id, err = p.insert(ctx, st); err != nil {
			return err
		}
	} else if err := p.t.exec(ctx, `DELETE FROM knows WHERE campaign = ?1 AND claim = ?2 AND how = ''`, p.campaign, id); err != nil {
		return err
	}
	p.open[st.key] = openClaim{id: id, kept: true, text: st.text, predicate: st.predicate, object: st.object,
		subject: st.subject, untrue: st.untrue, audience: pack(who)}
	for _, w := range who {
		if err := p.t.exec(ctx, `INSERT INTO knows (campaign, claim, who, since) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING`, p.campaign, id, w, p.from()); err != nil {
			return err
		}
	}
	return p.s.index(ctx, p.t, p.campaign, id, st.terms())
}

func (p *importer) insert(ctx context.Context, st statement) (id int64, err error) {
	err = p.t.row(ctx, `INSERT INTO claim (campaign, key, form, subject, predicate, object, text, untrue, origin, valid_from)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) RETURNING id`,
		p.campaign, st.key, st.form, st.subject, st.predicate, st.object, st.text, bit(st.untrue), fromCampaign, p.from()).Scan(&id)
	return id, err
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// terms are the terms under which a claim is found.
func (st statement) terms() []string {
	return memory.Terms(strings.Join([]string{st.names, st.predicate, strings.ReplaceAll(st.object, "-", " "), st.text}, " "))
}

// index puts a claim into the index for those who know it now.
func (s *Store) index(ctx context.Context, t *tx, campaign, claim int64, terms []string) error {
	tokens := []string{campaignToken(campaign)}
	rows, err := t.QueryContext(ctx, s.d.SQL(`SELECT who FROM knows WHERE campaign = ?1 AND claim = ?2 ORDER BY who`), campaign, claim)
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
	return s.d.Put(ctx, t.Tx, Claims, campaign, claim, terms, tokens)
}

// end closes a claim. It stays for those who look back.
func (p *importer) end(ctx context.Context, id int64) error {
	return p.t.exec(ctx, `UPDATE claim SET valid_to = ?1 WHERE +campaign = ?2 AND id = ?3`, p.now, p.campaign, id)
}

// endRest ends what the campaign's folder no longer says.
func (p *importer) endRest(ctx context.Context) error {
	gone := slices.Collect(maps.Values(p.open))
	gone = slices.DeleteFunc(gone, func(o openClaim) bool { return o.kept })
	slices.SortFunc(gone, func(a, b openClaim) int { return cmp.Compare(a.id, b.id) })
	for _, o := range gone {
		if err := p.end(ctx, o.id); err != nil {
			return err
		}
	}
	return nil
}
