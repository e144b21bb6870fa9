package relational

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/glyphoxa/glyphoxa/memory"
)

// An actorKey is somebody's id within a campaign. A campaign itself is kept in
// the same cache with the zero campaign.
type actorKey struct {
	campaign int64
	key      string
}

// maxActors bounds the cache of names. A campaign has hundreds of them.
const maxActors = 100_000

func (s *Store) remember(ids map[actorKey]int64) {
	if len(ids) == 0 {
		return
	}
	s.actorsMu.Lock()
	defer s.actorsMu.Unlock()
	if len(s.ids)+len(ids) > maxActors {
		clear(s.ids)
		clear(s.keys)
	}
	maps.Copy(s.ids, ids)
	for k, id := range ids {
		if k.campaign != 0 {
			s.keys[id] = k.key
		}
	}
}

func (s *Store) cached(k actorKey) (int64, bool) {
	s.actorsMu.RLock()
	defer s.actorsMu.RUnlock()
	id, ok := s.ids[k]
	return id, ok
}

// forgetActors empties the cache after ids have changed hands.
func (s *Store) forgetActors() {
	s.actorsMu.Lock()
	defer s.actorsMu.Unlock()
	clear(s.ids)
	clear(s.keys)
}

// intern returns the number of a campaign (in campaign 0) or actor, making it.
func (s *Store) intern(ctx context.Context, t *tx, campaign int64, key string) (int64, error) {
	k := actorKey{campaign, key}
	if id, ok := t.ids[k]; ok {
		return id, nil
	}
	if id, ok := s.cached(k); ok {
		return id, nil
	}
	find, make, args := `SELECT id FROM actor WHERE campaign = ?1 AND key = ?2`,
		`INSERT INTO actor (campaign, key) VALUES (?1, ?2) ON CONFLICT DO NOTHING`, []any{campaign, key}
	if campaign == 0 {
		find, make, args = `SELECT id FROM campaign WHERE key = ?1`, `INSERT INTO campaign (key) VALUES (?1) ON CONFLICT DO NOTHING`, []any{key}
	}
	var id int64
	err := t.row(ctx, find, args...).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		if err = t.exec(ctx, make, args...); err == nil {
			err = t.row(ctx, find, args...).Scan(&id)
		}
	}
	if err != nil {
		return 0, err
	}
	t.ids[k] = id
	return id, nil
}

// number is intern for readers: what is not there stays so, and is 0.
func (s *Store) number(ctx context.Context, campaign int64, key string) (int64, error) {
	k := actorKey{campaign, key}
	if id, ok := s.cached(k); ok {
		return id, nil
	}
	q, args := `SELECT id FROM actor WHERE campaign = ?1 AND key = ?2`, []any{campaign, key}
	if campaign == 0 {
		q, args = `SELECT id FROM campaign WHERE key = ?1`, []any{key}
	}
	var id int64
	err := s.row(ctx, q, args...).Scan(&id)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, nil
	case err != nil:
		return 0, err
	}
	s.remember(map[actorKey]int64{k: id})
	return id, nil
}

// keysOf names actors by their numbers.
func (s *Store) keysOf(ctx context.Context, campaign int64, ids []int64) (map[int64]string, error) {
	out := make(map[int64]string, len(ids))
	var missing []int64
	s.actorsMu.RLock()
	for _, id := range ids {
		if key, ok := s.keys[id]; ok {
			out[id] = key
		} else if id != 0 {
			missing = append(missing, id)
		}
	}
	s.actorsMu.RUnlock()
	if len(missing) == 0 {
		return out, nil
	}
	slices.Sort(missing)
	missing = slices.Compact(missing)
	rows, err := s.query(ctx, `SELECT id, key FROM actor WHERE campaign = ?1 AND id IN (`+list(missing)+`)`, campaign)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := map[actorKey]int64{}
	for rows.Next() {
		var id int64
		var key string
		if err := rows.Scan(&id, &key); err != nil {
			return nil, err
		}
		out[id] = key
		found[actorKey{campaign, key}] = id
	}
	s.remember(found)
	return out, rows.Err()
}

// A scope is a viewer in numbers.
type scope struct {
	campaign int64
	// who is the viewer's actor, 0 for the game master, -1 for somebody of whom
	// memory has never heard.
	who, everyone int64
	asOf          int64
}

func (c scope) master() bool { return c.who == 0 }

// tokens are the audience tokens of which a row must carry one.
func (c scope) tokens() []string {
	if c.master() {
		return []string{campaignToken(c.campaign)}
	}
	var out []string
	if c.who > 0 {
		out = append(out, actorToken(c.who))
	}
	if c.everyone > 0 {
		out = append(out, actorToken(c.everyone))
	}
	return out
}

func campaignToken(id int64) string { return "c" + strconv.FormatInt(id, 10) }
func actorToken(id int64) string    { return "n" + strconv.FormatInt(id, 10) }

// scope finds the viewer's numbers. A campaign that is not there has number 0,
// and then nothing can be found.
func (s *Store) scope(ctx context.Context, v memory.Viewer) (scope, error) {
	if v.Campaign == "" {
		return scope{}, errors.New("a viewer needs a campaign")
	}
	c := scope{asOf: asOf(v)}
	var err error
	if c.campaign, err = s.number(ctx, 0, v.Campaign); err != nil || c.campaign == 0 {
		return c, err
	}
	if c.everyone, err = s.number(ctx, c.campaign, memory.Everyone); err != nil {
		return c, err
	}
	if v.Entity == "" {
		return c, nil
	}
	// A viewer called "everyone" is nobody in particular: it knows what is common.
	if c.who, err = s.number(ctx, c.campaign, v.Entity); err == nil && c.who == 0 {
		c.who = -1
	}
	return c, err
}

// pack writes actors as ' 4 12 '.
func pack(ids []int64) string {
	if len(ids) == 0 {
		return ""
	}
	var b strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&b, " %d", id)
	}
	b.WriteByte(' ')
	return b.String()
}

func unpack(s string) []int64 {
	fields := strings.Fields(s)
	out := make([]int64, 0, len(fields))
	for _, f := range fields {
		if id, err := strconv.ParseInt(f, 10, 64); err == nil {
			out = append(out, id)
		}
	}
	return out
}
