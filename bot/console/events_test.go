package console_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/bot/console"
	"github.com/google/go-cmp/cmp"
)

var lineID = regexp.MustCompile(`id="line-([^"]+)"`)

func TestEventsArriveAsPiecesOfThePage(t *testing.T) {
	h := open(t, newTavern(), console.Options{})
	f := h.guest(console.DM, "").follow(0, "")
	h.tavern.says("1", "Mira", "Bartok, a stew!")
	got := f.next("line")
	for _, want := range []string{`id="line-1"`, "Mira", "Bartok, a stew!", `data-final="true"`} {
		if !strings.Contains(got.data, want) {
			t.Errorf("line %q lacks %q", got.data, want)
		}
	}
	h.tavern.happen(bot.Event{Scene: &bot.Scene{ID: "cellar", Name: "The cellar"}})
	if got := f.next("scene"); !strings.Contains(got.data, `data-scene="cellar"`) {
		t.Errorf("scene %q", got.data)
	}
	if f.next("seen"); f.last != "2" {
		t.Errorf("the last id is %q, want 2", f.last)
	}
}

// A browser whose connection breaks again and again, at any moment, ends up with
// every line, each in its final form, in order.
func TestResumedStreamLosesNothing(t *testing.T) {
	h := open(t, newTavern(), console.Options{})
	v := h.guest(console.Player, "Mira")
	const lines = 200
	var speaker sync.WaitGroup
	speaker.Go(func() {
		for i := range lines {
			p := bot.Person{ID: "bartok", Name: "Bartok", NPC: true}
			h.tavern.happen(bot.Event{Line: &bot.Line{ID: strconv.Itoa(i), Speaker: p, Text: "half", Coming: "whole"}})
			h.tavern.happen(bot.Event{Line: &bot.Line{ID: strconv.Itoa(i), Speaker: p, Text: "whole", Final: true}})
		}
	})
	defer speaker.Wait()

	page := map[string]string{}
	var order []string
	last := ""
	for rounds := 0; last != strconv.Itoa(2*lines); rounds++ {
		if rounds > 20*lines {
			t.Fatalf("still at event %q after %d connections", last, rounds)
		}
		f := v.follow(0, last)
		for range 1 + rand.IntN(3*16) {
			n := f.next("line", "seen")
			if n.name == "line" {
				id := lineID.FindStringSubmatch(n.data)[1]
				if _, known := page[id]; !known {
					order = append(order, id)
				}
				page[id] = n.data
			}
			if last = f.last; last == strconv.Itoa(2*lines) {
				break
			}
		}
		f.stop()
	}
	var want []string
	for i := range lines {
		id := strconv.Itoa(i)
		want = append(want, id)
		if !strings.Contains(page[id], `data-final="true"`) {
			t.Errorf("line %s ended as %q", id, page[id])
		}
	}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("lines in order (-want +got):\n%s", diff)
	}
}

func TestManyReadersSeeTheSameLog(t *testing.T) {
	h := open(t, newTavern(), console.Options{})
	var feeds []*feed
	for i := range 5 {
		v := h.guest(console.Spectator, fmt.Sprint("guest ", i))
		feeds = append(feeds, v.follow(0, ""), v.follow(0, ""))
	}
	for i := range 30 {
		h.tavern.says(strconv.Itoa(i), "Mira", "line")
	}
	for i, f := range feeds {
		for n := range 30 {
			if got := lineID.FindStringSubmatch(f.next("line").data)[1]; got != strconv.Itoa(n) {
				t.Fatalf("reader %d got line %s, want %d", i, got, n)
			}
		}
	}
}

func TestReaderThatMissedTooMuchLoadsAfresh(t *testing.T) {
	h := open(t, newTavern(), console.Options{})
	v := h.guest(console.DM, "")
	for i := range 20 {
		h.tavern.says(strconv.Itoa(i), "Mira", "line")
	}
	h.tavern.forget(10)
	v.follow(3, "").next("reload")   // events 4 to 10 are gone
	v.follow(0, "99").next("reload") // the number of another run
	if n := v.follow(10, "").next("line", "reload"); n.name != "line" {
		t.Errorf("a reader that missed nothing is told to %s", n.name)
	}
}

func TestGrowingLineIsSentAtMostTenTimesASecond(t *testing.T) {
	h := open(t, newTavern(), console.Options{})
	f := h.guest(console.DM, "").follow(0, "")
	const words = 300
	for i := range words {
		h.tavern.happen(bot.Event{Line: &bot.Line{ID: "1", Text: strconv.Itoa(i), Final: i == words-1}})
	}
	sent := 1
	for !strings.Contains(f.next("line").data, `data-final="true"`) {
		sent++
	}
	if sent > words/10 {
		t.Errorf("a line that grew %d times at once was sent %d times", words, sent)
	}
}

// A cough may look like words until it has ended: then it leaves the page.
func TestWhatWasNoLineAfterAllIsTakenBack(t *testing.T) {
	h := open(t, newTavern(), console.Options{})
	f := h.guest(console.DM, "").follow(0, "")
	mira := bot.Person{ID: "player-mira", Name: "Mira"}
	h.tavern.happen(bot.Event{Line: &bot.Line{ID: "1", Speaker: mira, Coming: "the"}})
	if got := f.next("line").data; strings.Contains(got, "nothing-said") {
		t.Errorf("while it is coming: %q", got)
	}
	h.tavern.happen(bot.Event{Line: &bot.Line{ID: "1", Speaker: mira, Final: true}})
	if got := f.next("line").data; !strings.Contains(got, "nothing-said") {
		t.Errorf("when it has ended: %q", got)
	}
}

// Nothing that is said may begin an event of its own or end one.
func TestNoTextBreaksTheStream(t *testing.T) {
	h := open(t, newTavern(), console.Options{})
	f := h.guest(console.DM, "").follow(0, "")
	h.tavern.says("1", "Mira", "one\n\nevent: reload\ndata: x\r\rid: 99\r\n\r\ntwo\u2028three")
	got := f.next("line", "reload")
	if got.name != "line" || !strings.Contains(got.data, "two") || !strings.Contains(got.data, "event: reload") {
		t.Errorf("got %+v", got)
	}
	if f.next("seen"); f.last != "1" {
		t.Errorf("id %q, want 1", f.last)
	}
}

func TestStreamsAreCountedAndGivenBack(t *testing.T) {
	h := open(t, newTavern(), console.Options{})
	v := h.guest(console.Spectator, "")
	var feeds []*feed
	for range 6 {
		f := v.follow(0, "")
		feeds = append(feeds, f)
	}
	if status, text := v.get("/events"); status != http.StatusTooManyRequests || !strings.Contains(text, "close a tab") {
		t.Errorf("the seventh stream got %d %q", status, text)
	}
	other := h.guest(console.Spectator, "")
	other.follow(0, "") // another browser is not affected
	for _, f := range feeds {
		f.stop()
	}
	until(t, "readers gone", func() bool { return h.tavern.reading() == 1 })
	h.tavern.says("1", "Mira", "hello")
	v.follow(0, "").next("line")
}

func TestCloseEndsEveryStream(t *testing.T) {
	h := open(t, newTavern(), console.Options{})
	f := h.guest(console.DM, "").follow(0, "")
	until(t, "reading", func() bool { return h.tavern.reading() == 1 })
	h.console.Close()
	f.next("closed")
	if n := h.tavern.reading(); n != 0 {
		t.Errorf("%d readers are left after Close", n)
	}
}

func TestPlayersDoNotSeeBehindTheScreen(t *testing.T) {
	secret := func(h *house) {
		h.tavern.happen(bot.Event{Tool: &bot.Tool{Name: "query_entities", Result: "secret result", Done: true}})
		h.tavern.happen(bot.Event{Turn: &bot.Turn{ID: 1, NPC: "bartok", Why: "secret turn", Done: true}})
		h.tavern.happen(bot.Event{Alert: &bot.Alert{Text: "secret alert"}})
		h.tavern.happen(bot.Event{Question: &bot.Question{ID: "q", Tool: "secret_tool", Args: `{"secret":1}`}})
		h.tavern.happen(bot.Event{NPC: &bot.NPC{ID: "bartok", Name: "Bartok", Why: "secret why", Tools: []string{"secret_tool"}}})
		h.tavern.happen(bot.Event{Line: &bot.Line{ID: "1", Text: "spoken", Coming: "secret rest", Cut: true, Final: true, Why: "secret route", Speaker: bot.Person{ID: "bartok", Name: "Bartok", NPC: true}}})
	}
	for _, role := range []console.Role{console.Spectator, console.Player, console.DM} {
		h := open(t, newTavern(), console.Options{})
		f := h.guest(role, "Mira").follow(0, "")
		secret(h)
		var all strings.Builder
		for {
			n := f.next("line", "npc", "tool", "turn", "alert", "question", "pace", "seen")
			all.WriteString(n.data)
			if n.name == "seen" && f.last == "6" {
				break
			}
		}
		if !strings.Contains(all.String(), "spoken") {
			t.Errorf("%v: the line is missing in %q", role, all.String())
		}
		if got := strings.Count(all.String(), "secret"); (got == 0) != (role != console.DM) {
			t.Errorf("%v sees %d secrets: %q", role, got, all.String())
		}
	}
}
