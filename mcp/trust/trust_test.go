package trust

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func check(t *testing.T, b *Book, server string, defs ...Definition) map[string]Verdict {
	t.Helper()
	v, err := b.Check(server, defs)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestFirstSightIsPinnedAndChangesWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pins.json")
	b, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	one, two := Definition{"one", "h1", "t1"}, Definition{"two", "h2", "t2"}
	changed := Definition{"one", "evil", "t9"}
	steps := []struct {
		defs []Definition
		want map[string]Verdict
	}{
		{[]Definition{one}, map[string]Verdict{"one": First}},
		{[]Definition{one}, map[string]Verdict{"one": Known}},
		{[]Definition{one, two}, map[string]Verdict{"one": Known, "two": New}},
		{[]Definition{changed, two}, map[string]Verdict{"one": Changed, "two": New}},
		{[]Definition{one, two}, map[string]Verdict{"one": Known, "two": New}}, // it thought better of it
		{[]Definition{changed}, map[string]Verdict{"one": Changed}},
	}
	for i, s := range steps {
		if d := cmp.Diff(s.want, check(t, b, "srv", s.defs...)); d != "" {
			t.Errorf("step %d: %s", i, d)
		}
	}
	// Another program sees the same, and what it approves is seen here.
	other, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := other.Waiting()
	want := []Waiting{{"srv", "one", Changed, "t1", "t9", "evil"}, {"srv", "two", New, "", "t2", "h2"}}
	if d := cmp.Diff(want, w); d != "" || err != nil {
		t.Error(err, d)
	}
	if _, err := other.Approve("srv", "one", "h1"); !errors.Is(err, ErrNothingWaits) {
		t.Errorf("approved what was not shown: %v", err)
	}
	if _, err := other.Approve("srv", "one", "evil"); err != nil {
		t.Fatal(err)
	}
	if !b.Changed() {
		t.Error("the other program's approval is not noticed")
	}
	if d := cmp.Diff(map[string]Verdict{"one": Known}, check(t, b, "srv", changed)); d != "" {
		t.Error(d)
	}
	if err := b.Forget("srv"); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]Verdict{"two": First}, check(t, b, "srv", two)); d != "" {
		t.Error(d)
	}
}

func TestBrokenBookIsAnErrorAndNotAnEmptyOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pins.json")
	if err := os.WriteFile(path, []byte(`{"srv":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil {
		t.Error("a broken book was opened: everything would be new, and accepted")
	}
}
