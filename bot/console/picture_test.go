package console_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/bot/console"
)

// painted is a tavern with one picture.
type painted struct{ *tavern }

func (painted) PictureFile(id string) ([]byte, string) {
	if id != "mill" {
		return nil, ""
	}
	return []byte("\x89PNG..."), "image/png"
}

func TestPictureHangsAmongTheLinesForEverybodyWithALink(t *testing.T) {
	room := newTavern()
	room.state.Pictures = []bot.Picture{{ID: "mill", NPC: "bartok", Prompt: `A mill "by" a <stream>`, Type: "image/png"}}
	h := open(t, painted{room}, console.Options{})
	v := h.guest(console.Spectator, "Sue")
	_, page := v.get("/")
	for _, want := range []string{`src="/pictures/mill"`, `A mill &#34;by&#34; a &lt;stream&gt;`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	status, file := v.get("/pictures/mill")
	if status != http.StatusOK || !bytes.Equal([]byte(file), []byte("\x89PNG...")) {
		t.Errorf("the picture: got %d and %q", status, file)
	}
	if status, _ := v.get("/pictures/other"); status != http.StatusNotFound {
		t.Errorf("another picture: got %d, want 404", status)
	}
	if status, _ := h.visitor().get("/pictures/mill"); status == http.StatusOK {
		t.Error("somebody without a link got the picture")
	}
}
