// Package sqlite keeps memory in one file, without a server and without cgo. It
// is the store that everybody starts with.
//
// One connection writes, with synchronous=FULL in WAL mode: what is acknowledged
// survives a power cut. Readers are as many as there are processors less one,
// because a busy reader in pure Go is only preempted every 10 ms, and the audio
// clock of this program ticks every 20.
package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/memory/relational"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Open opens the file at path, making it and its folder if they are missing.
// The error says what to do when the file cannot be used; test it for
// [memory.ErrReadOnly], [memory.ErrCorrupt], [memory.ErrDiskFull] and
// [memory.ErrLocked].
func Open(ctx context.Context, path string) (*relational.Store, error) {
	return open(ctx, path)
}

// open is Open with more pragmas for the connection that writes.
func open(ctx context.Context, path string, pragmas ...string) (*relational.Store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("memory: making the folder of %s: %w", path, explainFile(err))
	}
	write, err := sql.Open("sqlite", dsn(path, "rwc", pragmas...))
	if err != nil {
		return nil, fmt.Errorf("memory: %s: %w", path, err)
	}
	write.SetMaxOpenConns(1)
	if err := migrate(ctx, write); err != nil {
		_ = write.Close()
		return nil, fmt.Errorf("memory: opening %s: %w", path, dialect{}.Explain(err))
	}
	read, err := sql.Open("sqlite", dsn(path, "rw", "query_only(1)"))
	if err != nil {
		_ = write.Close()
		return nil, fmt.Errorf("memory: %s: %w", path, err)
	}
	read.SetMaxOpenConns(max(1, runtime.GOMAXPROCS(0)-1))
	return relational.New(dialect{}, write, read), nil
}

// dsn names the file and how connections to it behave.
func dsn(path, mode string, more ...string) string {
	q := url.Values{
		"mode":    {mode},
		"_txlock": {"immediate"},
		"_pragma": append([]string{
			// A second process that writes holds the lock for milliseconds. What
			// takes longer is retried by the writer, not waited for here.
			"busy_timeout(1000)",
			"journal_mode(WAL)",
			"synchronous(FULL)",
			// What is forgotten must not stay in free pages.
			"secure_delete(1)",
			"cache_size(-65536)",
			"temp_store(MEMORY)",
			"trusted_schema(0)",
		}, more...),
	}
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}
	return u.String()
}

const (
	// newest is the version of the tables that this program makes.
	newest = 7
	// reindexed is the version from which lines are indexed under today's terms.
	reindexed = 5
)

// analysed are the migrations after which words are analysed otherwise: what was
// written before is indexed anew.
var analysed = goose.WithGoMigrations(
	goose.NewGoMigration(reindexed, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
		return relational.Reindex(ctx, dialect{}, tx)
	}}, nil),
)

func migrate(ctx context.Context, db *sql.DB) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, files, analysed)
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}

func explainFile(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: %w; choose another place or give yourself the right to write there", memory.ErrReadOnly, err)
	}
	return err
}
