package bot

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestRecordingsAreNotKeptLongerThanTheyMay(t *testing.T) {
	dir := t.TempDir()
	r, err := OpenRecordings(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	now := time.Now()
	for line, age := range map[string]time.Duration{"l1": 40 * 24 * time.Hour, "l2": time.Hour} {
		if err := r.keep(line, "mira", make([]int16, 1600)); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(dir, recordingName(line, "mira")), now, now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	full := r.size
	if err := r.Expire(now.Add(-30 * 24 * time.Hour)); err != nil {
		t.Fatal(err)
	}
	left, err := r.of("")
	if err != nil || len(left) != 1 || left[0] != recordingName("l2", "mira") {
		t.Errorf("left %q, %v; want the newer one", left, err)
	}
	if r.size != full/2 {
		t.Errorf("%d bytes are counted, want %d", r.size, full/2)
	}
}
