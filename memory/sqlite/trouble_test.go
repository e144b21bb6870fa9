package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/memory/memorytest"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestForgottenWordsAreInNoFile(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(t.Context(), filepath.Join(dir, "memory.db"))
	must(t, err)
	memorytest.History(t, s)
	for i := range 300 {
		must(t, s.Append(t.Context(), memorytest.Said(100+i, "player-mira", fmt.Sprintf("Biscuitzwerg number %d", i), "bartok"),
			memorytest.Said(1000+i, "bartok", "How nice.", "player-mira")))
	}
	// Every layer has something of hers: a claim that rests on a line, a relation to
	// her, a recap that quotes her, a line passed on, and vectors of what she said.
	must(t, s.Learn(t.Context(), "vale",
		memory.Claim{Form: memory.FactForm, Subject: "bartok", Text: "Bartok bakes for Biscuitzwerg.", Source: "line-100", Audience: memory.Audience{"bartok"}},
		memory.Claim{Form: memory.RelationForm, Subject: "bartok", Predicate: "calls Biscuitzwerg", Object: "player-mira", Audience: memory.Audience{"bartok"}}))
	must(t, s.PutRecaps(t.Context(), "vale", memory.Recap{Session: "one", Length: "short", Lines: 1, At: memorytest.Start,
		Sentences: []memory.Sentence{{Text: "Mira spoke of Biscuitzwerg.", Proof: []string{"line-100"}}}}))
	must(t, s.Tell(t.Context(), memory.Telling{Campaign: "vale", To: []string{"vex"}, Line: "line-101", At: memorytest.Start.Add(time.Hour)}))
	embedded, err := memory.EmbedPending(t.Context(), s, memorytest.NewHashed(64), 50)
	must(t, err)
	if embedded == 0 {
		t.Fatal("nothing was embedded")
	}
	_, err = s.Forget(t.Context(), "vale", "player-mira")
	must(t, err)
	defer s.Close()
	var vectors, recaps int
	db, err := sql.Open("sqlite", dsn(filepath.Join(dir, "memory.db"), "rw"))
	must(t, err)
	defer db.Close()
	must(t, db.QueryRow(`SELECT (SELECT COUNT(*) FROM vector v WHERE EXISTS (SELECT 1 FROM line l WHERE l.seq BETWEEN v.seq AND v.seq + 5) IS FALSE), (SELECT COUNT(*) FROM recap)`).Scan(&vectors, &recaps))
	if vectors > 0 || recaps > 0 {
		t.Errorf("%d vectors without their lines and %d recaps are left", vectors, recaps)
	}
	// While the store is still open: nothing waits for it to close.
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		low := strings.ToLower(string(b))
		for _, word := range []string{"biscuitzwerg", memory.Terms("Biscuitzwerg")[0], "player-mira"} {
			if n := strings.Count(low, word); n > 0 {
				t.Errorf("%q is %d times in %s", word, n, d.Name())
			}
		}
		return err
	}))
}

func TestAFullDiskKeepsWhatWasWrittenAndTakesTheRestLater(t *testing.T) {
	s, err := open(t.Context(), filepath.Join(t.TempDir(), "memory.db"), "max_page_count(80)")
	must(t, err)
	defer s.Close()
	written := 0
	for ; err == nil && written < 10_000; written++ {
		err = s.Append(t.Context(), memorytest.Said(written, "bartok", strings.Repeat("stew ", 50)))
	}
	if !errors.Is(err, memory.ErrDiskFull) || !strings.Contains(err.Error(), "make room") {
		t.Fatalf("after %d lines: got %v, want a full disk and advice", written, err)
	}
	lines, err := s.Recent(t.Context(), memory.Viewer{Campaign: "vale"}, memory.Window{Limit: 1})
	must(t, err)
	if want := memorytest.Said(written-2, "bartok", "x").ID; len(lines) != 1 || lines[0].ID != want {
		t.Errorf("last line is %+v, want %s", lines, want)
	}
}

func TestTheGameGoesOnWhileTheDiskIsFullAndNothingIsLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.db")
	s, err := open(t.Context(), path, "max_page_count(120)")
	must(t, err)
	told := make(chan error, 10) // one for the trouble, one for its end; more fail the test
	spool := path + ".spool"
	w, err := memory.NewWriter(s, &memory.WriterOptions{Spool: spool, Trouble: func(err error) { told <- err }})
	must(t, err)
	const lines = 2000
	for i := range lines {
		must(t, w.Write(memorytest.Said(i, "bartok", strings.Repeat("stew ", 50), "mira"))) // never waits, never fails
	}
	if err := <-told; !errors.Is(err, memory.ErrDiskFull) {
		t.Fatalf("told %v, want that the disk is full", err)
	}
	if n, dropped := w.Waiting(); n == 0 || dropped > 0 {
		t.Errorf("%d lines wait, %d were not taken", n, dropped)
	}
	// The evening ends with the disk still full: what waits is in the spool.
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := w.Close(short); !errors.Is(err, memory.ErrDiskFull) {
		t.Errorf("close: %v, want that the disk is full", err)
	}
	must(t, s.Close())
	if len(told) > 0 {
		t.Errorf("told again: %v", <-told)
	}

	s, err = Open(t.Context(), path) // there is room again
	must(t, err)
	defer s.Close()
	w, err = memory.NewWriter(s, &memory.WriterOptions{Spool: spool})
	must(t, err)
	must(t, w.Close(t.Context()))
	stats, err := s.Stats(t.Context(), "vale")
	must(t, err)
	if stats.Lines != lines {
		t.Errorf("%d lines, want each of %d once", stats.Lines, lines)
	}
}

func TestAWriteThatFailsAnywhereIsUndoneWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.db")
	s, err := Open(t.Context(), path)
	must(t, err)
	defer s.Close()
	must(t, s.Append(t.Context(), memorytest.Said(0, "bartok", "Evening.", "mira")))
	db, err := sql.Open("sqlite", dsn(path, "rw"))
	must(t, err)
	defer db.Close()
	batch := make([]memory.Line, 20)
	for i := range batch {
		batch[i] = memorytest.Said(i+1, "bartok", fmt.Sprintf("Ale number %d.", i), "mira")
	}
	// The n-th line of the transaction fails, for each n: by then the lines before
	// it and their index have been written.
	for n := range batch {
		_, err = db.Exec(fmt.Sprintf(`CREATE TRIGGER broken BEFORE INSERT ON line WHEN NEW.key = '%s' BEGIN SELECT RAISE(ABORT, 'disk I/O error'); END`, batch[n].ID))
		must(t, err)
		if err := s.Append(t.Context(), batch...); err == nil {
			t.Fatalf("line %d failed, and nobody was told", n)
		}
		_, err = db.Exec(`DROP TRIGGER broken`)
		must(t, err)
		var ok string
		var lines, indexed, counted int
		must(t, db.QueryRow(`PRAGMA integrity_check`).Scan(&ok))
		must(t, db.QueryRow(`SELECT (SELECT COUNT(*) FROM line), (SELECT COUNT(*) FROM line_index), (SELECT SUM(lines) FROM session)`).Scan(&lines, &indexed, &counted))
		if ok != "ok" || lines != 1 || indexed != 1 || counted != 1 {
			t.Errorf("after line %d failed: %s, %d lines, %d indexed, %d counted; want one of each", n, ok, lines, indexed, counted)
		}
	}
	must(t, s.Append(t.Context(), batch...))
	if stats, err := s.Stats(t.Context(), "vale"); err != nil || stats.Lines != 1+len(batch) {
		t.Errorf("at last %d lines, %v", stats.Lines, err)
	}
}

func TestALockedDatabaseIsSaidToBeAndIsWrittenAfterwards(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.db")
	s, err := Open(t.Context(), path)
	must(t, err)
	defer s.Close()
	other, err := sql.Open("sqlite", dsn(path, "rw"))
	must(t, err)
	defer other.Close()
	tx, err := other.Begin() // immediate, as the dsn says
	must(t, err)

	err = s.Append(t.Context(), memorytest.Said(1, "bartok", "Evening."))
	if !errors.Is(err, memory.ErrLocked) {
		t.Fatalf("got %v, want ErrLocked", err)
	}
	var troubles atomic.Int32
	waiting := make(chan struct{})
	w, err := memory.NewWriter(s, &memory.WriterOptions{Trouble: func(err error) {
		if troubles.Add(1) == 1 {
			close(waiting)
		}
	}})
	must(t, err)
	must(t, w.Write(memorytest.Said(1, "bartok", "Evening.")))
	<-waiting
	must(t, tx.Rollback())
	must(t, w.Close(t.Context())) // returns once the line is written
	if n := troubles.Load(); n != 2 {
		t.Errorf("told %d times, want once of the trouble and once of its end", n)
	}
}

func TestUnusableFilesAreExplained(t *testing.T) {
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage.db")
	must(t, os.WriteFile(garbage, []byte(strings.Repeat("this is no database ", 1000)), 0o600))
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, nil, 0o600))
	for _, c := range []struct {
		path string
		kind error
		says string
	}{
		{garbage, memory.ErrCorrupt, "restore a backup"},
		{filepath.Join(file, "memory.db"), nil, "not a directory"},
		{dir, memory.ErrReadOnly, "right to write"},
	} {
		s, err := Open(t.Context(), c.path)
		if err == nil {
			s.Close()
			t.Errorf("%s was opened", c.path)
			continue
		}
		if c.kind != nil && !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %v that says %q", c.path, err, c.kind, c.says)
		}
	}
}

func TestDatabasesOfEachEarlierVersionAreMigratedWithWhatIsInThem(t *testing.T) {
	files, err := fs.Sub(migrations, "migrations")
	must(t, err)
	for version := range int64(newest) {
		path := filepath.Join(t.TempDir(), "memory.db")
		db, err := sql.Open("sqlite", dsn(path, "rwc"))
		must(t, err)
		p, err := goose.NewProvider(goose.DialectSQLite3, db, files, analysed)
		must(t, err)
		if version > 0 && version < reindexed { // 0 is a file that somebody has only made
			_, err = p.UpTo(t.Context(), version)
			must(t, err)
			_, err = db.Exec(memorytest.OldRows(version) + `INSERT INTO line_index (rowid, text, aud) VALUES (4294967296, 'an old analysi', 'c1 n1')`)
			must(t, err)
		}
		must(t, db.Close())
		s, err := Open(t.Context(), path)
		must(t, err)
		memorytest.History(t, s)
		if version > 0 && version < reindexed {
			memorytest.OldRowsAreThere(t, s)
		}
		must(t, s.Close())
	}
}

func TestACanceledReadEndsAtOnce(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"))
	must(t, err)
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Search(ctx, memory.Viewer{Campaign: "vale"}, memory.Query{Text: "stew"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}
