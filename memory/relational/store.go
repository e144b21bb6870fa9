// Package relational is a [memory.Store] in any SQL database. It holds all that
// SQLite and PostgreSQL have in common, which is nearly everything; what differs
// is a [Dialect]. It opens nothing itself: memory/sqlite and memory/postgres do.
package relational

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/glyphoxa/glyphoxa/memory"
)

// An Index is one of the two full-text indexes.
type Index string

// The indexes of lines and of claims.
const (
	Lines  Index = "line_index"
	Claims Index = "claim_index"
)

// A Match asks an index for rows.
type Match struct {
	// Campaign is whose rows are asked for, where the index knows it.
	Campaign int64
	// Terms must all occur; with Any, one of them is enough. With Prefix, the last
	// is only a beginning.
	Terms  []string
	Any    bool
	Prefix bool
	// Audience are audience tokens of which one must be there; none is any. Only
	// the game master's searches go without, and what they find is checked again.
	Audience []string
	// Ids must lie in [Low, High].
	Low, High int64
	// Limit is how many ids at most, the highest first.
	Limit int
}

// A Queryer is a database or a transaction.
type Queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// A Dialect is what a database does in its own way.
type Dialect interface {
	// SQL rewrites a statement with parameters ?1, ?2, … for the database. A plus
	// before a campaign's column keeps SQLite from walking a whole campaign where
	// rows are asked for by number; others take it away.
	SQL(statement string) string
	// Locking is what a SELECT ends with to make others that write its rows
	// wait; "" where there is only one writer anyway.
	Locking() string
	// Put indexes a row, replacing what was there under its id.
	Put(ctx context.Context, tx *sql.Tx, in Index, campaign, id int64, terms, audience []string) error
	// Remove takes a row out of an index.
	Remove(ctx context.Context, tx *sql.Tx, in Index, campaign, id int64) error
	// Find returns the ids that match, highest first.
	Find(ctx context.Context, q Queryer, in Index, m Match) ([]int64, error)
	// Purge makes sure that what was deleted is gone from the files.
	Purge(ctx context.Context, db *sql.DB) error
	// Size is how many bytes the database takes.
	Size(ctx context.Context, q Queryer) (int64, error)
	// Explain wraps a driver's error in one of memory's, with advice.
	Explain(err error) error
}

// Store keeps campaigns in a SQL database.
type Store struct {
	d     Dialect
	write *sql.DB
	read  *sql.DB

	vectors vectors

	actorsMu sync.RWMutex // guards the two below
	ids      map[actorKey]int64
	keys     map[int64]string

	commonMu sync.Mutex // guards commons
	commons  map[string]common
}

var _ memory.Store = (*Store)(nil)

// New is the store in a database whose tables exist. write and read may be the
// same; Close closes both.
func New(d Dialect, write, read *sql.DB) *Store {
	return &Store{d: d, write: write, read: read, ids: map[actorKey]int64{}, keys: map[int64]string{}}
}

// Close releases the database.
func (s *Store) Close() error {
	err := s.write.Close()
	if s.read != s.write {
		if rerr := s.read.Close(); err == nil {
			err = rerr
		}
	}
	return err
}

// forever is the end of what has not ended.
const forever = math.MaxInt64

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromMicros(n int64) time.Time {
	if n == 0 || n == forever {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}

// asOf is the moment a viewer looks at, in microseconds.
func asOf(v memory.Viewer) int64 {
	if v.AsOf.IsZero() {
		return forever - 1
	}
	return v.AsOf.UnixMicro()
}

// A tx is a transaction that speaks the dialect.
type tx struct {
	*sql.Tx
	d   Dialect
	ids map[actorKey]int64 // actors made in it, to be remembered once committed
}

func (t *tx) exec(ctx context.Context, q string, args ...any) error {
	_, err := t.ExecContext(ctx, t.d.SQL(q), args...)
	return err
}

func (t *tx) row(ctx context.Context, q string, args ...any) *sql.Row {
	return t.QueryRowContext(ctx, t.d.SQL(q), args...)
}

// within runs f in a transaction that is durable when within returns nil.
func (s *Store) within(ctx context.Context, doing string, f func(t *tx) error) error {
	raw, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return s.explain(doing, err)
	}
	t := &tx{Tx: raw, d: s.d, ids: map[actorKey]int64{}}
	if err := f(t); err != nil {
		_ = raw.Rollback() // the first error says why
		return s.explain(doing, err)
	}
	if err := raw.Commit(); err != nil {
		return s.explain(doing, err)
	}
	s.remember(t.ids)
	return nil
}

func (s *Store) explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("memory: %s: %w", doing, s.d.Explain(err))
}

func (s *Store) query(ctx context.Context, q string, args ...any) (*sql.Rows, error) {
	return s.read.QueryContext(ctx, s.d.SQL(q), args...)
}

func (s *Store) row(ctx context.Context, q string, args ...any) *sql.Row {
	return s.read.QueryRowContext(ctx, s.d.SQL(q), args...)
}

// list renders ids for an IN clause. They are numbers of ours, never text.
func list(ids []int64) string {
	var b strings.Builder
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%d", id)
	}
	return b.String()
}
