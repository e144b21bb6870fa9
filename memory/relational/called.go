package relational

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/glyphoxa/glyphoxa/memory"
)

// maxCalled bounds how many entities lend a question their other names.
const maxCalled = 8

// alsoCalled adds to a question the other names of the people, places and things
// that it names: whoever asks for the Butcher means Grimjaw. Only those that the
// viewer knows have other names for it.
func (s *Store) alsoCalled(ctx context.Context, c scope, q *memory.Question) error {
	said := q.Names()
	if len(said) == 0 {
		return nil
	}
	args := []any{c.campaign}
	var marks []string
	for _, name := range slices.Sorted(maps.Keys(said)) {
		args = append(args, name)
		marks = append(marks, fmt.Sprintf("?%d", len(args)))
	}
	rows, err := s.query(ctx, `SELECT n.fold, e.key, e.name, e.aliases FROM called n JOIN entity e ON e.campaign = n.campaign AND e.id = n.entity
		WHERE n.campaign = ?1 AND n.fold IN (`+strings.Join(marks, ", ")+fmt.Sprintf(`) ORDER BY n.fold, e.key LIMIT %d`, maxCalled), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	type called struct{ by, key, name, also string }
	var found []called
	var keys []string
	for rows.Next() {
		var f called
		if err := rows.Scan(&f.by, &f.key, &f.name, &f.also); err != nil {
			return err
		}
		found, keys = append(found, f), append(keys, f.key)
	}
	if err := rows.Err(); err != nil || len(found) == 0 {
		return err
	}
	rows.Close()
	known, err := s.nodes(ctx, c, keys)
	if err != nil {
		return err
	}
	for _, f := range found {
		if _, ok := known[f.key]; !ok {
			continue
		}
		var also []string
		if err := json.Unmarshal([]byte(f.also), &also); err != nil {
			return fmt.Errorf("%w: aliases of %q: %w", memory.ErrCorrupt, f.key, err)
		}
		for _, name := range append(also, f.name) {
			q.Mean(said[f.by], name)
		}
	}
	return nil
}
