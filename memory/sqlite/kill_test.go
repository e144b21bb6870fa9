package sqlite

import (
	"bufio"
	"context"
	"database/sql"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/memory/memorytest"
)

var kills = flag.Int("kills", 8, "how often TestKilledWritersLoseNothingTheyAcknowledged kills")

// A child of the test writes lines until it is killed and prints each id once the
// line is acknowledged.
const childOf = "GLYPHOXA_TEST_KILL_DB"

func TestMain(m *testing.M) {
	if path := os.Getenv(childOf); path != "" {
		if err := writeUntilKilled(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

func writeUntilKilled(path string) error {
	ctx := context.Background()
	s, err := open(ctx, path, os.Getenv(childOf+"_PRAGMA"))
	if err != nil {
		return err
	}
	w, err := memory.NewWriter(s, &memory.WriterOptions{Spool: path + ".spool"})
	if err != nil {
		return err
	}
	before, err := s.Stats(ctx, "vale")
	if err != nil {
		return err
	}
	for n := before.Lines; ; n += 3 {
		for i := range 3 {
			if err := w.Write(memorytest.Said(n+i, "bartok", fmt.Sprintf("line number %d of the evening", n+i), "mira")); err != nil {
				return err
			}
		}
		if err := w.Flush(ctx); err != nil {
			return err
		}
		fmt.Println(n + 2)
	}
}

func TestKilledWritersLoseNothingTheyAcknowledged(t *testing.T) {
	for _, pragma := range []string{"synchronous(FULL)", "synchronous(NORMAL)"} {
		t.Run(pragma, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "memory.db")
			total := 0
			for range *kills {
				acknowledged := killOne(t, path, pragma)
				total = max(total, acknowledged+1)
				checkWhole(t, path, acknowledged)
			}
			t.Logf("%d kills, %d lines acknowledged", *kills, total)
			if total == 0 {
				t.Error("nothing was ever acknowledged")
			}
		})
	}
}

// killOne starts a writer, kills it at a random moment of its work and returns
// the number of the last line it acknowledged, or -1.
func killOne(t *testing.T, path, pragma string) int {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childOf+"="+path, childOf+"_PRAGMA="+pragma)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	last := -1
	if lines.Scan() { // it is at work
		_, err = fmt.Sscan(lines.Text(), &last)
		must(t, err)
		time.AfterFunc(time.Duration(rand.IntN(60_000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
	}
	for lines.Scan() {
		if n, err := strconv.Atoi(lines.Text()); err == nil { // the last may be torn
			last = n
		}
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the writer ended by itself")
	}
	return last
}

func checkWhole(t *testing.T, path string, acknowledged int) {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path, "rw"))
	must(t, err)
	defer db.Close()
	var ok string
	must(t, db.QueryRow(`PRAGMA integrity_check`).Scan(&ok))
	if ok != "ok" {
		t.Errorf("integrity: %s", ok)
	}
	var lines, indexed, counted int
	must(t, db.QueryRow(`SELECT (SELECT COUNT(*) FROM line), (SELECT COUNT(*) FROM line_index), (SELECT COALESCE(SUM(lines), 0) FROM session)`).
		Scan(&lines, &indexed, &counted))
	if lines <= acknowledged || indexed != lines || counted != lines {
		t.Errorf("%d lines, %d indexed, %d counted; line %d was acknowledged", lines, indexed, counted, acknowledged)
	}
	var key string
	var ended int64
	must(t, db.QueryRow(`SELECT key, ended FROM session`).Scan(&key, &ended))
	if key != "one" || ended != 0 {
		t.Errorf("session %q ended at %d, want it open, to be resumed", key, ended)
	}
}
