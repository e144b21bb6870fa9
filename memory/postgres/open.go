// Package postgres keeps memory in a PostgreSQL database, version 15 or newer,
// for tables that run in more than one process or whose operator has backups and
// replicas already. It needs no extension.
//
// What is deleted is gone from the tables once they are vacuumed, which Forget
// does; the server's write-ahead archive and its backups keep copies until they
// expire.
package postgres

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/glyphoxa/glyphoxa/memory/relational"
)

//go:embed migrations/*.sql
var migrations embed.FS

const (
	// connections is how many this process opens at most. A table writes with
	// one and reads with one or two at a time.
	connections = 8
	// connectWithin bounds the wait for a server that does not answer.
	connectWithin = 5 * time.Second
)

// Open connects to the database that dsn names ("postgres://user@host/name" or
// "host=… dbname=…") and brings its tables up to date. Several processes may do
// so at once. Test the error for [memory.ErrAway].
func Open(ctx context.Context, dsn string) (*relational.Store, error) {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("memory: the address of the database: %w", err)
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = connectWithin
	}
	db := stdlib.OpenDB(*cfg)
	db.SetMaxOpenConns(connections)
	db.SetConnMaxIdleTime(5 * time.Minute)
	if err := migrate(ctx, db); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("memory: opening the database: %w", dialect{}.Explain(err))
	}
	return relational.New(dialect{}, db, db), nil
}

const (
	// newest is the version of the tables that this program makes.
	newest = 6
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
	// One process migrates, the others wait for it.
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithSessionLocker(locker), analysed)
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}
