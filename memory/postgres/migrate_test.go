package postgres

import (
	"database/sql"
	"io/fs"
	"testing"

	"github.com/pressly/goose/v3"

	"github.com/glyphoxa/glyphoxa/memory/memorytest"
)

func TestDatabasesOfEachEarlierVersionAreMigratedWithWhatIsInThem(t *testing.T) {
	files, err := fs.Sub(migrations, "migrations")
	must(t, err)
	for version := range int64(newest) {
		dsn := address(t)
		db, err := sql.Open("pgx", dsn)
		must(t, err)
		p, err := goose.NewProvider(goose.DialectPostgres, db, files, analysed)
		must(t, err)
		if version > 0 && version < reindexed {
			_, err = p.UpTo(t.Context(), version)
			must(t, err)
			_, err = db.Exec(memorytest.OldRows(version))
			must(t, err)
			for _, table := range []string{"campaign", "actor", "session", "entity", "claim"} {
				_, err = db.Exec(`SELECT setval(pg_get_serial_sequence('` + table + `', 'id'), 10)`)
				must(t, err)
			}
		}
		must(t, db.Close())
		s := open(t, dsn)
		memorytest.History(t, s)
		if version > 0 && version < reindexed {
			memorytest.OldRowsAreThere(t, s)
		}
	}
}

func TestEveryKeyBeginsWithTheCampaign(t *testing.T) {
	dsn := address(t)
	open(t, dsn)
	db, err := sql.Open("pgx", dsn)
	must(t, err)
	defer db.Close()
	rows, err := db.Query(`SELECT c.relname, i.indexrelid::regclass::text, a.attname FROM pg_index i
		JOIN pg_class c ON c.oid = i.indrelid JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
		WHERE i.indisunique AND c.relnamespace = current_schema()::regnamespace AND c.relname NOT IN ('campaign', 'goose_db_version')`)
	must(t, err)
	defer rows.Close()
	keys := 0
	for rows.Next() {
		var table, index, column string
		must(t, rows.Scan(&table, &index, &column))
		keys++
		if column != "campaign" {
			t.Errorf("%s of table %s begins with %s: Citus could not shard it by campaign", index, table, column)
		}
	}
	must(t, rows.Err())
	if keys < 12 {
		t.Errorf("only %d keys were looked at", keys)
	}
}
