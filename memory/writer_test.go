package memory_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/glyphoxa/glyphoxa/memory"
)

// A disk is a store of which only what a writer needs is there, and which can be
// made to fail.
type disk struct {
	memory.Store
	mu    sync.Mutex // guards all below
	fails error
	slow  time.Duration
	ids   []string
	seen  map[string]bool
	out   []string // who has opted out
}

func (d *disk) OptedOut(context.Context, string) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.out, nil
}

func (d *disk) Append(ctx context.Context, lines ...memory.Line) error {
	d.mu.Lock()
	slow, fails := d.slow, d.fails
	d.mu.Unlock()
	if slow > 0 {
		select {
		case <-time.After(slow):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if fails != nil {
		return fails
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seen == nil {
		d.seen = map[string]bool{}
	}
	for _, l := range lines {
		if !d.seen[l.ID] {
			d.seen[l.ID] = true
			d.ids = append(d.ids, l.ID)
		}
	}
	return nil
}

func (d *disk) set(fails error, slow time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fails, d.slow = fails, slow
}

func (d *disk) got() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string(nil), d.ids...)
}

func line(n int) memory.Line {
	return memory.Line{ID: fmt.Sprint(n), Campaign: "vale", Session: "one", At: time.UnixMilli(int64(n + 1)), Text: "hello"}
}

func numbers(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprint(i))
	}
	return out
}

func newWriter(t *testing.T, s memory.Store, o *memory.WriterOptions) *memory.Writer {
	t.Helper()
	w, err := memory.NewWriter(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestLinesOfWhoOptedOutAreNotEvenSpooled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spool := filepath.Join(t.TempDir(), "spool")
		d := disk{fails: memory.ErrDiskFull, out: []string{"player-tom"}}
		w := newWriter(t, &d, &memory.WriterOptions{Spool: spool})
		for i, who := range []string{"player-mira", "player-tom", "player-mira"} {
			l := line(i)
			l.Speaker.ID, l.Text = who, "said by "+who
			if err := w.Write(l); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait() // it has failed once, and waits
		b, err := os.ReadFile(spool)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(b), "player-mira") || strings.Contains(string(b), "player-tom") {
			t.Errorf("the spool holds %q, want only what mira said", b)
		}
		d.set(nil, 0)
		if err := w.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := d.got(); !slices.Equal(got, []string{"0", "2"}) {
			t.Errorf("stored %q", got)
		}
	})
}

func TestFlushedLinesAreInTheStoreInOrder(t *testing.T) {
	var d disk
	w := newWriter(t, &d, nil)
	for i := range 1000 {
		if err := w.Write(line(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(numbers(1000), d.got()); diff != "" {
		t.Error(diff)
	}
	if err := w.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := w.Write(line(1)); !errors.Is(err, memory.ErrClosed) {
		t.Errorf("write after close: got %v, want ErrClosed", err)
	}
}

// The troubles of an evening, each as long as it may last: the writer's side of
// them, in virtual time. What the databases themselves do then is tested with them.
func TestTroubleIsToldOnceAndTheLinesWaitForItsEnd(t *testing.T) {
	for _, c := range []struct {
		what  error
		lasts time.Duration
		slow  time.Duration // how long each attempt takes before it fails
	}{
		{memory.ErrDiskFull, 10 * time.Second, 0},
		{memory.ErrDiskFull, 4 * time.Hour, 0},
		{memory.ErrLocked, time.Second, time.Second},
		{memory.ErrLocked, 5 * time.Second, time.Second},
		{memory.ErrLocked, time.Minute, time.Second},
		{memory.ErrAway, 30 * time.Second, 0},
		{memory.ErrAway, 30 * time.Second, 5 * time.Second},
	} {
		t.Run(fmt.Sprintf("%v for %v", c.what, c.lasts), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var d disk
				var told []error
				w := newWriter(t, &d, &memory.WriterOptions{Trouble: func(err error) { told = append(told, err) }})
				d.set(c.what, c.slow)
				const lines = 500
				for i := range lines {
					start := time.Now()
					if err := w.Write(line(i)); err != nil {
						t.Fatal(err)
					}
					if took := time.Since(start); took > 0 {
						t.Fatalf("line %d waited %v", i, took)
					}
					time.Sleep(c.lasts / lines)
				}
				short, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if err := w.Flush(short); !errors.Is(err, c.what) && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("flush: got %v, want a deadline that names the trouble", err)
				}
				d.set(nil, 0)
				start := time.Now()
				if err := w.Close(t.Context()); err != nil {
					t.Error(err)
				}
				if took := time.Since(start); took > 2*time.Second+c.slow {
					t.Errorf("written %v after the trouble's end, want at most 2 s", took)
				}
				if diff := cmp.Diff(numbers(lines), d.got()); diff != "" {
					t.Error(diff)
				}
				if len(told) != 2 || !errors.Is(told[0], c.what) || told[1] != nil {
					t.Errorf("told %v, want the trouble and its end, once each", told)
				}
			})
		})
	}
}

func TestWriteNeverWaitsForASlowStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d disk
		d.set(nil, 5*time.Second)
		w := newWriter(t, &d, nil)
		start := time.Now()
		for i := range 600 {
			if err := w.Write(line(i)); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("600 writes took %v of the store's time, want none", took)
		}
		if err := w.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if got := len(d.got()); got != 600 {
			t.Errorf("%d lines stored, want 600", got)
		}
	})
}

func TestABacklogIsBoundedAndSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d disk
		d.set(memory.ErrAway, 0)
		w := newWriter(t, &d, nil)
		var err error
		n := 0
		for ; err == nil && n < 20_000; n++ {
			err = w.Write(line(n))
			if n == 0 {
				synctest.Wait() // let it fail once, so that it knows why
			}
		}
		if !errors.Is(err, memory.ErrBacklog) || !errors.Is(err, memory.ErrAway) || n != 10_001 {
			t.Errorf("line %d was answered %v, want the 10,001st to be refused because the server is away", n, err)
		}
		d.set(nil, 0)
		if err := w.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if got := len(d.got()); got != 10_000 {
			t.Errorf("%d lines stored, want 10,000", got)
		}
	})
}

func TestLinesLeftInTheSpoolAreWrittenNextTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spool")
	var d disk
	d.set(memory.ErrAway, 0)
	waiting := make(chan struct{})
	w := newWriter(t, &d, &memory.WriterOptions{Spool: path, Trouble: func(error) { close(waiting) }})
	for i := range 50 {
		if err := w.Write(line(i)); err != nil {
			t.Fatal(err)
		}
	}
	<-waiting
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	// The store was away at least once; by the time Close has given up, a second
	// round may or may not have spooled the rest, as with a kill.
	for w.Close(ended) == nil {
		t.Fatal("closed although the store is away")
	}
	file, err := os.ReadFile(path)
	if err != nil || len(file) == 0 {
		t.Fatalf("spool has %d bytes, %v", len(file), err)
	}
	// A process killed while it wrote leaves a torn record.
	if err := os.WriteFile(path, append(file, 200, 0, 0, 0, 1, 2, 3, 4, '{'), 0o600); err != nil {
		t.Fatal(err)
	}
	d.set(nil, 0)
	w = newWriter(t, &d, &memory.WriterOptions{Spool: path})
	if err := w.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := d.got()
	if len(got) == 0 {
		t.Fatal("nothing came out of the spool")
	}
	if diff := cmp.Diff(numbers(len(got)), got); diff != "" {
		t.Error(diff)
	}
	if left, err := os.ReadFile(path); err != nil || len(left) != 0 {
		t.Errorf("spool still has %d bytes, %v", len(left), err)
	}
}
