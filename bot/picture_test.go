package bot

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/llm/improviser"
)

func TestPictureIsShownToAllAndItsNPCSaysThatItIsDone(t *testing.T) {
	for name, c := range map[string]struct {
		brain engine.Model
		want  string
	}{
		"a model":        {reply{text: "Behold my work."}, "Bartok the Barkeep: Behold my work."},
		"the improviser": {improviser.New(improviser.Persona{Name: "Bartok"}, 1), "Bartok the Barkeep: There, it is done. Look!"},
	} {
		table, _ := setup{brain: c.brain}.open(t)
		file := []byte("\x89PNG and so on")
		table.ShowPicture("bartok", "a mill\x1b[2J by a stream", "image/png", file)
		settle(t, table)
		st := table.State()
		if len(st.Pictures) != 1 || st.Pictures[0].NPC != "bartok" || st.Pictures[0].Prompt != "a mill[2J by a stream" {
			t.Fatalf("%s: the table shows %+v", name, st.Pictures)
		}
		got, media := table.PictureFile(st.Pictures[0].ID)
		if !bytes.Equal(got, file) || media != "image/png" {
			t.Errorf("%s: the file is %q of %s", name, got, media)
		}
		if lines := talk(table); !slices.Contains(lines, c.want) {
			t.Errorf("%s: the talk is %q, want %q in it", name, lines, c.want)
		}
		shown := false
		for e := range table.Events(t.Context(), 0) {
			if shown = shown || e.Picture != nil; shown {
				break
			}
		}
	}
}

func TestMutedNPCShowsItsPictureInSilence(t *testing.T) {
	table, _ := setup{brain: reply{text: "Behold my work."}}.open(t)
	if err := table.Mute(t.Context(), lead, "bartok", true); err != nil {
		t.Fatal(err)
	}
	table.ShowPicture("bartok", "a mill", "image/png", []byte("x"))
	table.FailPicture("nobody", errors.New("no credit is left"))
	settle(t, table)
	st := table.State()
	if len(st.Pictures) != 1 || len(st.Lines) != 0 {
		t.Errorf("%d pictures and the lines %q, want one picture and silence", len(st.Pictures), talk(table))
	}
	if !slices.ContainsFunc(st.Alerts, func(a Alert) bool { return strings.Contains(a.Text, "no credit is left") }) {
		t.Errorf("the game master is told %+v, want why there is no picture", st.Alerts)
	}
}

func TestOnlyTheLatestPicturesAreKept(t *testing.T) {
	table, _ := setup{brain: reply{text: "There."}}.open(t)
	for range maxPictures + 3 {
		table.ShowPicture("", "a mill", "image/png", []byte("x"))
	}
	settle(t, table)
	if n := len(table.State().Pictures); n != maxPictures {
		t.Errorf("%d pictures are kept, want %d", n, maxPictures)
	}
	if file, _ := table.PictureFile("no-such"); file != nil {
		t.Error("a picture that never was has a file")
	}
}
