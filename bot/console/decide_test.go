package console_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/bot/console"
)

func TestTheGameMasterDecidesHurriesAndPausesAndNobodyElse(t *testing.T) {
	for role, want := range map[console.Role][]string{
		console.DM: {
			`DM decides q1 f00d: true`, `DM decides q1 f00d: false`, `DM sets "" to deep`, `DM clears ""`, `DM pauses: true`,
		},
		console.Player: nil,
	} {
		h := open(t, newTavern(), console.Options{})
		v := h.guest(role, role.String())
		if role == console.DM {
			v = h.guest(role, "")
		}
		v.do("allow", "id", "q1", "hash", "f00d", "on", "true")
		v.do("allow", "id", "q1", "hash", "f00d", "on", "false")
		v.do("tier", "tier", "deep")
		v.do("tier", "tier", "")
		v.do("pause")
		if got := h.tavern.done(); !slices.Equal(got, want) {
			t.Errorf("%v did %q, want %q", role, got, want)
		}
		if status, _ := v.do("tier", "tier", "eternal"); status != 422 && role == console.DM {
			t.Errorf("a tier that there is not: %d", status)
		}
	}
}

func TestAQuestionShowsExactlyWhatTheToolWouldGetAndGoesWhenDecided(t *testing.T) {
	h := open(t, newTavern(), console.Options{})
	f := h.guest(console.DM, "").follow(0, "")
	q := bot.Question{ID: "q1", Hash: "f00d", NPC: "bartok", Tool: "write_file", Args: `{"path":"notes.md","text":"<b>x</b>"}`, Confidence: 0.62}
	h.tavern.happen(bot.Event{Question: &q})
	asked := f.next("question").data
	for _, want := range []string{"Bartok the Barkeep", "write_file", "62 % sure", "&#34;notes.md&#34;", "&lt;b&gt;x&lt;/b&gt;", "f00d"} {
		if !strings.Contains(asked, want) {
			t.Errorf("the question lacks %q: %s", want, asked)
		}
	}
	q.Decided = true
	h.tavern.happen(bot.Event{Question: &q})
	if decided := f.next("question").data; strings.Contains(decided, "write_file") || !strings.Contains(decided, "question-q1") {
		t.Errorf("a decided question still shows %s", decided)
	}
}

func TestARulesCardIsReadByEverybody(t *testing.T) {
	h := open(t, newTavern(), console.Options{})
	f := h.guest(console.Spectator, "").follow(0, "")
	h.tavern.happen(bot.Event{Card: &bot.Card{Line: "l1", Title: "Grappled", Text: "Your speed is 0.", Source: "SRD 5.1"}})
	if got := f.next("line").data; !strings.Contains(got, "Grappled") || !strings.Contains(got, "Your speed is 0.") {
		t.Errorf("the card is %s", got)
	}
}
