package console_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/glyphoxa/glyphoxa/bot/console"
)

func TestRefusedActionsSayWhatToDo(t *testing.T) {
	h := open(t, newTavern(), console.Options{})
	v := h.guest(console.DM, "")
	for _, c := range []struct {
		name   string
		do     string
		fields []string
		status int
		says   string
	}{
		{"empty", "say", []string{"text", " \n\t "}, 422, "type a line first"},
		{"only invisible characters", "say", []string{"text", "\u200e\u202e\x00"}, 422, "type a line first"},
		{"too long", "say", []string{"text", strings.Repeat("ä", 2001)}, 422, "2000 characters and this one has 2001"},
		{"enormous", "say", []string{"text", strings.Repeat("x", 1<<20)}, 413, "at most 2000"},
		{"unknown action", "explode", nil, 404, "load the page again"},
	} {
		status, text := v.do(c.do, c.fields...)
		if status != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%s: %d %q, want %d with %q", c.name, status, text, c.status, c.says)
		}
	}
	if did := h.tavern.done(); len(did) > 0 {
		t.Errorf("done: %q", did)
	}
	h.tavern.fail = errors.New("Bartok is muted: unmute him first")
	if status, text := v.do("prompt", "npc", "bartok"); status != 422 || strings.TrimSpace(text) != h.tavern.fail.Error() {
		t.Errorf("the table's error came back as %d %q", status, text)
	}
}

func TestLongestLineAndOddCharactersPass(t *testing.T) {
	h := open(t, newTavern(), console.Options{})
	v := h.guest(console.Player, "Mira")
	for sent, want := range map[string]string{
		strings.Repeat("ä", 2000):        strings.Repeat("ä", 2000),
		"two\nlines":                     "two lines",
		"a\u202eb\x1b[31mc\u0000d\ufffd": "ab[31mcd",
		"семья 👩‍👩‍👧 & <b>":              "семья 👩‍👩‍👧 & <b>",
	} {
		if status, text := v.do("say", "text", sent); status != http.StatusNoContent {
			t.Errorf("%.40q: %d %q", sent, status, text)
		}
		if got := strings.Join(h.tavern.done(), ""); got != "Mira (player-mira) says "+want {
			t.Errorf("%.40q arrived as %.80q", sent, got)
		}
	}
}

func TestActionsAreBoundedPerBrowser(t *testing.T) {
	h := open(t, newTavern(), console.Options{})
	v, other := h.guest(console.DM, ""), h.guest(console.DM, "")
	passed, said := 0, ""
	for range 60 {
		status, text := v.do("stop")
		if status == http.StatusNoContent {
			passed++
		} else {
			said = text
		}
	}
	// A burst of 20, and five more for each second that sixty requests took.
	if passed < 20 || passed == 60 || !strings.Contains(said, "wait a moment") {
		t.Errorf("%d of 60 passed, refused with %q", passed, said)
	}
	if status, text := other.do("stop"); status != http.StatusNoContent {
		t.Errorf("another browser got %d %q", status, text)
	}
}
