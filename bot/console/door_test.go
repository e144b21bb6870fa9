package console_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/glyphoxa/glyphoxa/bot/console"
)

func TestLinkWorksOnce(t *testing.T) {
	h := open(t, newTavern(), console.Options{})
	link := strings.TrimPrefix(h.console.Link(h.base, console.DM, ""), h.base)
	first, second := h.visitor(), h.visitor()
	if status, _ := first.get(link); status != http.StatusOK {
		t.Fatalf("the first use answered %d", status)
	}
	first.load()
	if status, text := second.get(link); status != http.StatusForbidden || !strings.Contains(text, "newest one from the terminal") {
		t.Errorf("the second use answered %d %q", status, text)
	}
	if status, _ := first.get(link); status != http.StatusSeeOther { // from the same browser's history
		t.Errorf("the same browser got %d, want to be led to the table", status)
	}
}

func TestLoginCookieStaysInTheBrowser(t *testing.T) {
	h := open(t, newTavern(), console.Options{})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.console.Link(h.base, console.DM, ""), nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := h.visitor().client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	c := res.Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Domain != "" || c.Path != "/" {
		t.Errorf("cookie %+v", c)
	}
}

func TestNobodyGetsInWithoutALink(t *testing.T) {
	h := open(t, newTavern(), console.Options{})
	v := h.visitor()
	for _, path := range []string{"/", "/events", "/sound", "/microphone"} {
		if status, text := v.get(path); status != http.StatusUnauthorized || !strings.Contains(text, "open the link") {
			t.Errorf("%s: %d %q", path, status, text)
		}
	}
	if status, _ := v.do("stop"); status != http.StatusUnauthorized {
		t.Errorf("an action answered %d", status)
	}
}

func TestAThousandGuessesOpenNothingAndLockNobodyOut(t *testing.T) {
	h := open(t, newTavern(), console.Options{})
	link := strings.TrimPrefix(h.console.Link(h.base, console.DM, ""), h.base)
	v := h.visitor()
	for i := range 1000 {
		if status, _ := v.get(fmt.Sprintf("/login?token=%s%d", link[len("/login?token="):len(link)-4], i)); status != http.StatusForbidden {
			t.Fatalf("guess %d answered %d", i, status)
		}
	}
	if status, _ := v.get(link); status != http.StatusOK {
		t.Errorf("after them the right link answered %d", status)
	}
}

// The eleventh browser comes in, and the one that has been away longest goes.
func TestSessionsAreBounded(t *testing.T) {
	h := open(t, newTavern(), console.Options{})
	var guests []*visitor
	for i := range 11 {
		guests = append(guests, h.guest(console.Player, fmt.Sprint("guest ", i)))
	}
	in := 0
	for _, g := range guests {
		if status, _ := g.get("/"); status == http.StatusOK {
			in++
		}
	}
	if in != 10 {
		t.Errorf("%d sessions are open, want 10", in)
	}
	if status, _ := guests[0].get("/"); status != http.StatusUnauthorized {
		t.Errorf("the one who was away longest got %d", status)
	}
}

// Every action by every role, from one table of who may.
func TestRolesMayDoWhatTheyMay(t *testing.T) {
	dm, player, all := []console.Role{console.DM}, []console.Role{console.DM, console.Player}, []console.Role{console.DM, console.Player, console.Spectator}
	for action, c := range map[string]struct {
		may    []console.Role
		fields []string
		deed   string
	}{
		"say":     {player, []string{"text", "hello"}, "NAME (ID) says hello"},
		"correct": {player, []string{"line", "7", "text", "hello"}, "NAME corrects 7: hello"},
		"stop":    {dm, nil, "NAME stops all"},
		"mute":    {dm, []string{"npc", "bartok", "on", "true"}, "NAME mutes bartok: true"},
		"scene":   {dm, []string{"scene", "cellar"}, "NAME goes to cellar"},
		"answer":  {dm, []string{"line", "7", "npc", "bartok"}, "NAME has bartok answer 7"},
		"xcard":   {all, nil, "X-card: true"},
		"resume":  {dm, nil, "X-card: false"},
		"speak":   {dm, []string{"npc", "bartok", "text", "hm"}, "NAME as bartok: hm"},
		"whisper": {dm, []string{"npc", "bartok", "text", "hm"}, "NAME to bartok: hm"},
		"prompt":  {dm, []string{"npc", "bartok"}, "NAME prompts bartok"},
		"enter":   {dm, []string{"npc", "bartok", "on", "false"}, "NAME lets bartok enter: false"},
	} {
		for _, role := range []console.Role{console.Spectator, console.Player, console.DM} {
			h := open(t, newTavern(), console.Options{})
			v := h.guest(role, "Mira")
			may := false
			for _, r := range c.may {
				may = may || r == role
			}
			status, text := v.do(action, c.fields...)
			did := strings.Join(h.tavern.done(), "; ")
			want, wantStatus := "", http.StatusForbidden
			if may {
				want, wantStatus = strings.NewReplacer("NAME", "Mira", "ID", "player-mira").Replace(c.deed), http.StatusNoContent
			}
			if status != wantStatus || did != want {
				t.Errorf("%s by %v: %d %q, did %q; want %d, %q", action, role, status, text, did, wantStatus, want)
			}
		}
	}
}

func TestOnlyTheDMLendsThePageToAnotherName(t *testing.T) {
	h := open(t, newTavern(), console.Options{})
	for role, want := range map[console.Role]string{
		console.DM:     "Jonas of the Hill (player-jonas-of-the-hill) says hello",
		console.Player: "Mira (player-mira) says hello",
	} {
		h.guest(role, "Mira").do("say", "text", "hello", "as", " Jonas  of\tthe Hill ")
		if got := strings.Join(h.tavern.done(), "; "); got != want {
			t.Errorf("%v: %q, want %q", role, got, want)
		}
	}
	h.guest(console.DM, "").do("say", "text", "hello", "as", "dm")
	if got := strings.Join(h.tavern.done(), "; "); got != "DM (dm) says hello" {
		t.Errorf("as the DM: %q", got)
	}
}

func TestInvitationsLetTheRightPersonIn(t *testing.T) {
	h := open(t, newTavern(), console.Options{})
	gm := h.guest(console.DM, "")
	_, text := gm.do("invite", "role", "player", "name", "Mira")
	at := strings.Index(text, "/login?token=")
	if at < 0 {
		t.Fatalf("no link in %q", text)
	}
	v := h.visitor()
	if status, _ := v.get(text[at : at+strings.IndexByte(text[at:], '"')]); status != http.StatusOK {
		t.Fatalf("the invitation answered %d", status)
	}
	v.load()
	v.do("say", "text", "hello")
	if got := strings.Join(h.tavern.done(), "; "); got != "Mira (player-mira) says hello" {
		t.Errorf("said: %q", got)
	}
	for _, c := range [][]string{{"role", "king", "name", "x"}, {"role", "player", "name", "\u200e  "}} {
		if status, text := gm.do("invite", c...); status != http.StatusUnprocessableEntity {
			t.Errorf("invite %q: %d %q", c, status, text)
		}
	}
	if status, _ := v.do("invite", "role", "dm"); status != http.StatusForbidden {
		t.Errorf("a player invited a DM: %d", status)
	}
}
