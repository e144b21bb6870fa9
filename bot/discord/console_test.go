package discord

import (
	"strings"
	"testing"

	"github.com/glyphoxa/glyphoxa/bot/discord/discordtest"
)

func TestOnlyTheGameMasterGetsALinkToThePage(t *testing.T) {
	d := began(t, Options{})
	r := d.slash(t, discordtest.Admin, "console")
	if !strings.Contains(r.Content, "http://127.0.0.1/page-for-") || !r.Private {
		t.Errorf("the game master saw %q, alone: %v", r.Content, r.Private)
	}
	if r := d.slash(t, mira, "console"); strings.Contains(r.Content, "http") || !r.Private {
		t.Errorf("a player saw %q, alone: %v", r.Content, r.Private)
	}
}
