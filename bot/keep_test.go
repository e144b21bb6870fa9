package bot

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

func TestFeedbackIsKeptWithWhatWasGoingOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "feedback.jsonl")
	table, _ := setup{brain: reply{text: "Aye."}, feedback: path}.open(t)
	ctx := t.Context()
	if err := table.Say(ctx, mira, "Bartok, hello."); err != nil {
		t.Fatal(err)
	}
	settle(t, table)
	if err := table.Feedback(ctx, mira, "he was too slow"); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var n Note
	if err := json.Unmarshal(b, &n); err != nil || n.Text != "he was too slow" || n.By != "Mira" || n.Session == "" || n.Turn == nil || n.Line == "" {
		t.Errorf("kept %s: %v", b, err)
	}
	if err := table.Feedback(ctx, mira, "  "); err == nil {
		t.Error("empty feedback was kept")
	}
	if err := os.Truncate(path, maxFeedback+1); err != nil {
		t.Fatal(err)
	}
	if err := table.Feedback(ctx, mira, "again"); err == nil {
		t.Error("feedback went on past the file's limit")
	}
}

func TestSoundIsKeptOfThoseWhoAgreedOnly(t *testing.T) {
	dir := t.TempDir()
	r, err := OpenRecordings(dir)
	if err != nil {
		t.Fatal(err)
	}
	table, _ := setup{brain: reply{text: "Aye."}, recordings: r}.open(t)
	agreed := Person{ID: "900000000000000021", Name: "Mira", Recorded: true}
	sound := make([]int16, pcm.Rate)
	for _, who := range []Person{agreed, odo} {
		if err := table.do(t.Context(), func() error {
			table.hearing++
			table.heard(who, engine.Utterance{ID: "000-" + who.ID + "-1", Text: "hello there", Sound: sound}, nil)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	settle(t, table)
	if err := table.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for who, want := range map[string]int{agreed.ID: 1, odo.ID: 0, "": 1} {
		if n, err := r.Count(who); err != nil || n != want {
			t.Errorf("%d recordings of %q, %v; want %d", n, who, err, want)
		}
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	if err := r.Export(w, agreed.ID); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil || len(z.File) != 1 || !strings.HasPrefix(z.File[0].Name, "audio/") {
		t.Fatalf("exported %v, %v", z, err)
	}
	if err := r.Forget(agreed.ID); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
}

func TestRecordingsHaveALimit(t *testing.T) {
	r, err := OpenRecordings(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.size = maxRecorded
	if err := r.keep("../../line", "../x", make([]int16, 10)); err == nil {
		t.Error("more than the limit was kept")
	}
	r.size = 0
	if err := r.keep("../../line", "../x", make([]int16, 10)); err != nil {
		t.Errorf("an id that looks like a path: %v", err)
	}
}

func TestAnnouncementIsHeardAndIsNobodysLine(t *testing.T) {
	table, _ := setup{brain: reply{text: "Aye."}, synth: hum{}, unpaced: true}.open(t)
	heard := make(chan int, 1)
	sounds := table.Sound(t.Context())
	go func() {
		n := 0
		for s := range sounds {
			if s.Line == "notice" {
				n++
			}
			if n == len("Software listens.") {
				break
			}
		}
		heard <- n
	}()
	if err := table.Announce(t.Context(), "Software listens."); err != nil {
		t.Fatal(err)
	}
	if n := <-heard; n != len("Software listens.") {
		t.Errorf("heard %d frames", n)
	}
	if lines := table.State().Lines; len(lines) > 0 {
		t.Errorf("it was remembered as %+v", lines)
	}
}
