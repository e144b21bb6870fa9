package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/memory/relational"
)

// dialect is SQLite with FTS5.
type dialect struct{}

func (dialect) SQL(statement string) string { return statement }

// Locking is not needed: transactions that write begin by locking the file.
func (dialect) Locking() string { return "" }

func (d dialect) Put(ctx context.Context, tx *sql.Tx, in relational.Index, _, id int64, terms, audience []string) error {
	_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO `+string(in)+` (rowid, text, aud) VALUES (?1, ?2, ?3)`,
		id, strings.Join(terms, " "), strings.Join(audience, " "))
	return err
}

func (dialect) Remove(ctx context.Context, tx *sql.Tx, in relational.Index, _, id int64) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM `+string(in)+` WHERE rowid = ?1`, id)
	return err
}

// Find asks FTS5, which yields rows newest first and stops at the limit. The ids
// come back as one text, because a row costs database/sql more than FTS5.
func (dialect) Find(ctx context.Context, q relational.Queryer, in relational.Index, m relational.Match) ([]int64, error) {
	var packed sql.NullString
	err := q.QueryRowContext(ctx, `SELECT group_concat(rowid, ' ') FROM (SELECT rowid FROM `+string(in)+
		` WHERE `+string(in)+` MATCH ?1 AND rowid BETWEEN ?2 AND ?3 ORDER BY rowid DESC LIMIT ?4)`,
		expression(m), m.Low, m.High, m.Limit).Scan(&packed)
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

// expression is the match in FTS5's language. Terms are letters and digits, so
// nothing that a player says can leave its quotes.
func expression(m relational.Match) string {
	var b strings.Builder
	if m.Any {
		b.WriteString(`text:("` + strings.Join(m.Terms, `" OR "`) + `") AND `)
		m.Terms = nil
	}
	for i, t := range m.Terms {
		b.WriteString(`text:"` + t + `"`)
		if m.Prefix && i == len(m.Terms)-1 {
			b.WriteString(` *`)
		}
		b.WriteString(" AND ")
	}
	if len(m.Audience) == 0 {
		return strings.TrimSuffix(b.String(), " AND ")
	}
	b.WriteString(`aud:("` + strings.Join(m.Audience, `" OR "`) + `")`)
	return b.String()
}

// Purge rewrites the full-text indexes, which keep deleted terms until then, and
// empties the write-ahead log. Pages have been overwritten by secure_delete.
func (dialect) Purge(ctx context.Context, db *sql.DB) error {
	for _, q := range []string{
		`INSERT INTO line_index (line_index) VALUES ('optimize')`,
		`INSERT INTO claim_index (claim_index) VALUES ('optimize')`,
	} {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	var busy, frames, moved int
	if err := db.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &frames, &moved); err != nil {
		return err
	}
	if busy != 0 {
		return fmt.Errorf("the write-ahead log could not be emptied: %w; close other programs that read the file and forget again", memory.ErrLocked)
	}
	return nil
}

// Size counts the pages of the file.
func (dialect) Size(ctx context.Context, q relational.Queryer) (n int64, err error) {
	err = q.QueryRowContext(ctx, `SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()`).Scan(&n)
	return n, err
}

// Explain says what a person can do about SQLite's errors.
func (dialect) Explain(err error) error {
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*driver.Error](err)
	if !ok {
		if errors.Is(err, sql.ErrConnDone) || strings.Contains(err.Error(), "database is closed") {
			return fmt.Errorf("%w: %w", memory.ErrClosed, err)
		}
		return explainFile(err)
	}
	switch e.Code() & 0xff { // the rest is the extended code
	case codes.SQLITE_FULL:
		return fmt.Errorf("%w: %w; make room on it", memory.ErrDiskFull, err)
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED:
		return fmt.Errorf("%w: %w; close the other program that uses the file", memory.ErrLocked, err)
	case codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB:
		return fmt.Errorf("%w: %w; move the file away and restore a backup with 'glyphoxa memory restore'", memory.ErrCorrupt, err)
	case codes.SQLITE_READONLY, codes.SQLITE_CANTOPEN, codes.SQLITE_PERM:
		return fmt.Errorf("%w: %w; give yourself the right to write the file and its folder", memory.ErrReadOnly, err)
	}
	return err
}
