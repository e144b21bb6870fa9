package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/memory/memorytest"
)

// A road is a TCP proxy to the server that can be cut, and on which an answer
// can be lost after the server has done what it was asked.
type road struct {
	to net.Listener

	mu    sync.Mutex // guards all below
	shut  bool
	conns []net.Conn
}

func newRoad(t *testing.T, socket string) *road {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	r := &road{to: l}
	var tasks sync.WaitGroup
	tasks.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s, err := net.Dial("unix", socket)
			if err != nil || !r.take(c, s) {
				c.Close()
				continue
			}
			tasks.Go(func() { _, _ = io.Copy(s, c); s.Close() })
			tasks.Go(func() { _, _ = io.Copy(c, s); c.Close() })
		}
	})
	t.Cleanup(func() {
		l.Close()
		r.cut()
		tasks.Wait()
	})
	return r
}

func (r *road) take(conns ...net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.shut {
		for _, c := range conns {
			c.Close()
		}
		return false
	}
	r.conns = append(r.conns, conns...)
	return true
}

func (r *road) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shut = true
	for _, c := range r.conns {
		c.Close()
	}
	r.conns = nil
}

func (r *road) open() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shut = false
}

func TestLinesWaitWhileTheServerIsAwayAndNoneIsDoubled(t *testing.T) {
	dsn := address(t)
	dir, ok := strings.CutPrefix(strings.Fields(dsn)[0], "host=/")
	if !ok {
		t.Skip("the server named in GLYPHOXA_TEST_POSTGRES is not behind a socket that can be cut")
	}
	r := newRoad(t, "/"+dir+"/.s.PGSQL.5432")
	_, port, err := net.SplitHostPort(r.to.Addr().String())
	must(t, err)
	schema := dsn[strings.LastIndex(dsn, "=")+1:]
	s := open(t, fmt.Sprintf("host=127.0.0.1 port=%s user=tester dbname=postgres sslmode=disable search_path=%s", port, schema))

	var mu sync.Mutex
	var told []error
	away := make(chan struct{}, 10)
	w, err := memory.NewWriter(s, &memory.WriterOptions{Trouble: func(err error) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, err)
		away <- struct{}{}
	}})
	must(t, err)
	for i := range 300 {
		must(t, w.Write(memorytest.Said(i, "bartok", "Ale!", "mira")))
		if i == 100 { // while lines are on their way, so that some answers are lost
			r.cut()
		}
	}
	<-away
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := w.Flush(short); !errors.Is(err, memory.ErrAway) {
		t.Errorf("flush while away: got %v, want ErrAway", err)
	}
	r.open()
	must(t, w.Close(t.Context())) // returns once all are written
	stats, err := s.Stats(t.Context(), "vale")
	must(t, err)
	if stats.Lines != 300 {
		t.Errorf("%d lines, want each of 300 once", stats.Lines)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(told) != 2 || !errors.Is(told[0], memory.ErrAway) || told[1] != nil {
		t.Errorf("told %v, want once that it is away and once that it is back", told)
	}
}
