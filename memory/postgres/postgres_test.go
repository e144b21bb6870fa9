package postgres

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/memory/memorytest"
)

// server is the address of the server that the tests use: the one that
// GLYPHOXA_TEST_POSTGRES names, or one of their own, if PostgreSQL is installed.
var server string

func TestMain(m *testing.M) {
	// A world takes a hundred round trips here; -rapid.checks asks for more.
	if err := flag.Set("rapid.checks", "20"); err != nil {
		panic(err)
	}
	server = os.Getenv("GLYPHOXA_TEST_POSTGRES")
	if server == "" {
		stop, err := startServer()
		if err != nil {
			fmt.Println("memory/postgres is not tested:", err)
			fmt.Println("install Debian's postgresql, or name a server in GLYPHOXA_TEST_POSTGRES")
		} else {
			code := m.Run()
			stop()
			os.Exit(code)
		}
	}
	os.Exit(m.Run())
}

// startServer makes a database cluster in a temporary folder and runs it on a
// socket there. PostgreSQL refuses to run as root, so root uses its user.
func startServer() (stop func(), err error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return nil, errors.New("PostgreSQL is not installed")
	}
	bin := filepath.Dir(found[len(found)-1])
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		return nil, err
	}
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGINT}
	if os.Geteuid() == 0 {
		u, err := user.Lookup("postgres")
		if err != nil {
			return nil, err
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, uid, gid); err != nil {
			return nil, err
		}
	}
	run := func(name string, args ...string) *exec.Cmd {
		c := exec.Command(filepath.Join(bin, name), args...)
		c.Dir, c.SysProcAttr = dir, attr
		return c
	}
	if out, err := run("initdb", "-D", dir+"/data", "-U", "tester", "--no-sync", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	// Nothing here has to survive the machine, so fsync is off.
	c := run("postgres", "-D", dir+"/data", "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=60")
	if err := c.Start(); err != nil {
		return nil, err
	}
	stop = func() {
		_ = c.Process.Signal(syscall.SIGINT) // "fast shutdown"
		_ = c.Wait()
		_ = os.RemoveAll(dir)
	}
	server = "host=" + dir + " user=tester dbname=postgres sslmode=disable"
	for deadline := time.Now().Add(20 * time.Second); ; {
		conn, err := net.Dial("unix", dir+"/.s.PGSQL.5432")
		if err == nil {
			conn.Close()
			db, err := sql.Open("pgx", server)
			if err == nil {
				err = db.Ping()
				db.Close()
			}
			if err == nil {
				return stop, nil
			}
		}
		if time.Now().After(deadline) {
			stop()
			return nil, errors.New("the server did not start within 20 s")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

var schemas atomic.Int32

// address is that of an empty schema of its own for each test.
func address(t testing.TB) string {
	t.Helper()
	if server == "" {
		t.Skip("no PostgreSQL here: install Debian's postgresql, or name a server in GLYPHOXA_TEST_POSTGRES")
	}
	db, err := sql.Open("pgx", server)
	must(t, err)
	defer db.Close()
	name := fmt.Sprintf("t%d_%d", os.Getpid(), schemas.Add(1))
	_, err = db.ExecContext(t.Context(), "CREATE SCHEMA "+name)
	must(t, err)
	t.Cleanup(func() {
		db, err := sql.Open("pgx", server)
		must(t, err)
		defer db.Close()
		_, err = db.Exec("DROP SCHEMA " + name + " CASCADE")
		must(t, err)
	})
	if strings.HasPrefix(server, "postgres") {
		sep := "?"
		if strings.Contains(server, "?") {
			sep = "&"
		}
		return server + sep + "search_path=" + name
	}
	return server + " search_path=" + name
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, dsn string) memory.Store {
	t.Helper()
	s, err := Open(t.Context(), dsn)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

func TestContract(t *testing.T) {
	memorytest.Contract(t, func(t testing.TB) memory.Store { return open(t, address(t)) })
}

func TestManyProcessesMayOpenAndWriteAtOnce(t *testing.T) {
	dsn := address(t)
	done := make(chan error)
	const writers, each = 4, 25
	for w := range writers {
		go func() {
			done <- func() error {
				s, err := Open(context.Background(), dsn)
				if err != nil {
					return err
				}
				defer s.Close()
				for i := range each {
					if err := s.Append(context.Background(), memorytest.Said(1000*w+i, "bartok", "Ale!", "mira")); err != nil {
						return err
					}
				}
				return nil
			}()
		}()
	}
	for range writers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	stats, err := open(t, dsn).Stats(t.Context(), "vale")
	must(t, err)
	if stats.Lines != writers*each || stats.Sessions != 1 {
		t.Errorf("got %d lines in %d sessions, want %d in one", stats.Lines, stats.Sessions, writers*each)
	}
}

func TestAServerThatIsAwayIsSaidToBe(t *testing.T) {
	for _, dsn := range []string{"host=/nowhere user=x", "postgres://x@127.0.0.1:1/x?connect_timeout=1"} {
		_, err := Open(t.Context(), dsn)
		if !errors.Is(err, memory.ErrAway) || !strings.Contains(err.Error(), "check the address") {
			t.Errorf("%s: got %v, want ErrAway and advice", dsn, err)
		}
	}
	if _, err := Open(t.Context(), "postgres://[::1"); err == nil {
		t.Error("a broken address was taken")
	}
}
