package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/memory/relational"
)

// dialect is PostgreSQL with its own full-text index, filled from here: its
// dictionaries are not used.
type dialect struct{}

var parameter = regexp.MustCompile(`\?(\d+)`)

// plus keeps SQLite from a plan that would be the right one here.
var plus = regexp.MustCompile(`\+(l\.)?campaign`)

func (dialect) SQL(statement string) string {
	return plus.ReplaceAllString(parameter.ReplaceAllString(statement, "$$$1"), "${1}campaign")
}

// Locking makes a row wait for others that write it: several processes may
// append to one session.
func (dialect) Locking() string { return " FOR UPDATE" }

func (dialect) Put(ctx context.Context, tx *sql.Tx, in relational.Index, campaign, id int64, terms, audience []string) error {
	lexemes := make([]string, 0, len(terms)+len(audience))
	lexemes = append(lexemes, terms...)
	for _, a := range audience {
		lexemes = append(lexemes, "@"+a)
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO `+string(in)+` (campaign, id, tsv) VALUES ($1, $2, array_to_tsvector($3::text[]))
		ON CONFLICT (campaign, id) DO UPDATE SET tsv = excluded.tsv`, campaign, id, lexemes)
	return err
}

func (dialect) Remove(ctx context.Context, tx *sql.Tx, in relational.Index, campaign, id int64) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM `+string(in)+` WHERE campaign = $1 AND id = $2`, campaign, id)
	return err
}

func (dialect) Find(ctx context.Context, q relational.Queryer, in relational.Index, m relational.Match) ([]int64, error) {
	var packed sql.NullString
	err := q.QueryRowContext(ctx, `SELECT string_agg(id::text, ' ' ORDER BY id DESC) FROM (SELECT id FROM `+string(in)+
		` WHERE campaign = $1 AND tsv @@ $2::tsquery AND id BETWEEN $3 AND $4 ORDER BY id DESC LIMIT $5) newest`,
		m.Campaign, expression(m), m.Low, m.High, m.Limit).Scan(&packed)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, 0, strings.Count(packed.String, " ")+1)
	for f := range strings.FieldsSeq(packed.String) {
		id, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%w: row number %q", memory.ErrCorrupt, f)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// expression is the match as a tsquery. Terms are letters and digits, so nothing
// that a player says can leave its quotes.
func expression(m relational.Match) string {
	var b strings.Builder
	if m.Any {
		b.WriteString("('" + strings.Join(m.Terms, "' | '") + "') & ")
		m.Terms = nil
	}
	for i, t := range m.Terms {
		b.WriteString("'" + t + "'")
		if m.Prefix && i == len(m.Terms)-1 {
			b.WriteString(":*")
		}
		b.WriteString(" & ")
	}
	if len(m.Audience) == 0 {
		return strings.TrimSuffix(b.String(), " & ")
	}
	b.WriteString("('@" + strings.Join(m.Audience, "' | '@") + "')")
	return b.String()
}

// Purge frees the space of deleted rows, so that their bytes are overwritten.
func (dialect) Purge(ctx context.Context, db *sql.DB) error {
	for _, table := range []string{"line", "line_index", "claim", "claim_index", "told", "knows", "called", "entity", "actor", "vector", "recap"} {
		if _, err := db.ExecContext(ctx, `VACUUM (FULL) `+table); err != nil {
			return err
		}
	}
	return nil
}

func (dialect) Size(ctx context.Context, q relational.Queryer) (n int64, err error) {
	err = q.QueryRowContext(ctx, `SELECT pg_database_size(current_database())`).Scan(&n)
	return n, err
}

// Explain says what a person can do about PostgreSQL's errors. Appendix A of its
// manual has the codes.
func (dialect) Explain(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch {
		case e.Code == "53100":
			return fmt.Errorf("%w: %w; make room on the server", memory.ErrDiskFull, err)
		case e.Code == "55P03" || e.Code == "40P01" || e.Code == "40001":
			return fmt.Errorf("%w: %w", memory.ErrLocked, err)
		case e.Code == "25006" || e.Code == "42501":
			return fmt.Errorf("%w: %w; give the database's user the right to write", memory.ErrReadOnly, err)
		case strings.HasPrefix(e.Code, "XX"):
			return fmt.Errorf("%w: %w; restore a backup with 'glyphoxa memory restore'", memory.ErrCorrupt, err)
		case strings.HasPrefix(e.Code, "08") || strings.HasPrefix(e.Code, "57P") || e.Code == "53300":
			return fmt.Errorf("%w: %w; start it, or check the address", memory.ErrAway, err)
		case e.Code == "28P01" || e.Code == "28000" || e.Code == "3D000":
			return fmt.Errorf("%w: %w; check user, password and database in the address", memory.ErrAway, err)
		}
		return err
	}
	_, refused := errors.AsType[*pgconn.ConnectError](err)
	_, network := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded) && !refused:
		return err
	case refused, network, errors.Is(err, driver.ErrBadConn), pgconn.SafeToRetry(err), strings.Contains(err.Error(), "conn closed"),
		strings.Contains(err.Error(), "unexpected EOF"):
		return fmt.Errorf("%w: %w; start it, or check the address", memory.ErrAway, err)
	case strings.Contains(err.Error(), "database is closed"):
		return fmt.Errorf("%w: %w", memory.ErrClosed, err)
	}
	return err
}
