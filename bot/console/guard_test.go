package console_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/bot/console"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
)

func TestOnlyOurOwnHostsAreAnswered(t *testing.T) {
	h := open(t, newTavern(), console.Options{Hosts: []string{"gm-laptop.local"}})
	v := h.guest(console.DM, "")
	port := h.base[strings.LastIndex(h.base, ":"):]
	for host, want := range map[string]bool{
		"127.0.0.1" + port: true, "localhost" + port: true, "LOCALHOST" + port: true, "[::1]" + port: true, "localhost." + port: true,
		"127.0.0.1": true, "127.8.8.8" + port: true, "gm-laptop.local" + port: true, "GM-Laptop.local": true,
		"evil.example" + port: false, "127.0.0.1.evil.example" + port: false, "localhost.evil.example": false, "evil.example": false,
		"0.0.0.0" + port: false, "192.168.1.4" + port: false, "10.0.0.1": false, "gm-laptop.local.evil.example": false,
		"evil.example#127.0.0.1": false, "localhost@evil.example": false, "169.254.169.254": false, "[::ffff:8.8.8.8]": false,
	} {
		for _, path := range []string{"/", "/login?token=x", "/assets/page.js", "/events", "/microphone", "/sound"} {
			status, text := v.send(http.MethodHead, path, nil, http.Header{"Host": {host}})
			if got := status != http.StatusMisdirectedRequest; got != want {
				t.Errorf("host %s, %s: %d %q, want answered = %t", host, path, status, text, want)
			}
		}
	}
}

// The matrix of what a browser says about where a request comes from.
func TestActionsOfOtherSitesAreRefused(t *testing.T) {
	h := open(t, newTavern(), console.Options{})
	v := h.guest(console.DM, "")
	own := h.base
	for _, c := range []struct {
		name   string
		header http.Header
		want   int
	}{
		{"own page", http.Header{"Origin": {own}, "Sec-Fetch-Site": {"same-origin"}}, http.StatusNoContent},
		{"own page, old browser", http.Header{"Origin": {own}}, http.StatusNoContent},
		{"no browser", nil, http.StatusNoContent},
		{"typed address", http.Header{"Sec-Fetch-Site": {"none"}}, http.StatusNoContent},
		{"cross-site", http.Header{"Origin": {"https://evil.example"}, "Sec-Fetch-Site": {"cross-site"}}, http.StatusForbidden},
		{"same-site, other port", http.Header{"Origin": {"http://127.0.0.1:1"}, "Sec-Fetch-Site": {"same-site"}}, http.StatusForbidden},
		{"old browser, other origin", http.Header{"Origin": {"https://evil.example"}}, http.StatusForbidden},
		{"old browser, other port", http.Header{"Origin": {"http://127.0.0.1:1"}}, http.StatusForbidden},
		{"sandboxed frame", http.Header{"Origin": {"null"}}, http.StatusForbidden},
		{"cross-site, origin hidden", http.Header{"Origin": {"null"}, "Sec-Fetch-Site": {"cross-site"}}, http.StatusForbidden},
		{"own origin claimed, cross-site told", http.Header{"Origin": {own}, "Sec-Fetch-Site": {"cross-site"}}, http.StatusForbidden},
	} {
		t.Run(c.name, func(t *testing.T) {
			header := http.Header{"X-Table-Token": {v.token}}
			maps.Copy(header, c.header)
			h.tavern.done()
			status, text := v.send(http.MethodPost, "/do/stop", strings.NewReader(""), header)
			if status != c.want {
				t.Errorf("got %d %q, want %d", status, text, c.want)
			}
			if did := len(h.tavern.done()) > 0; did != (c.want == http.StatusNoContent) {
				t.Errorf("the action was taken: %t", did)
			}
		})
	}
}

func TestActionsNeedTheTokenOfThisPage(t *testing.T) {
	h := open(t, newTavern(), console.Options{})
	v, other := h.guest(console.DM, ""), h.guest(console.DM, "")
	for name, token := range map[string]string{"none": "", "made up": "AAAA", "of another browser": other.token, "too long": strings.Repeat("A", 4000)} {
		v.token = token
		if status, text := v.do("stop"); status != http.StatusForbidden || !strings.Contains(text, "load it again") {
			t.Errorf("token %s: %d %q", name, status, text)
		}
	}
	if did := h.tavern.done(); len(did) > 0 {
		t.Errorf("done: %v", did)
	}
}

func TestSocketsOfOtherSitesAreRefused(t *testing.T) {
	h := open(t, newTavern(), console.Options{})
	v := h.guest(console.DM, "")
	for _, path := range []string{"/sound", "/microphone"} {
		for _, origin := range []string{"https://evil.example", "http://127.0.0.1:1", "null"} {
			if _, status := v.dialFrom(origin, path); status != http.StatusForbidden {
				t.Errorf("%s from %s: %d", path, origin, status)
			}
		}
	}
}

func TestEveryAnswerKeepsForeignCodeOut(t *testing.T) {
	h := open(t, newTavern(), console.Options{})
	v := h.guest(console.DM, "")
	for _, path := range []string{"/", "/login?token=x", "/assets/page.js", "/assets/page.css", "/nowhere", "/do/stop"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := v.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		for header, want := range map[string]string{
			"Content-Security-Policy": "default-src 'self'", "X-Content-Type-Options": "nosniff",
			"X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
		} {
			if got := res.Header.Get(header); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s is %q, want %q", path, header, got, want)
			}
		}
		if strings.Contains(res.Header.Get("Content-Security-Policy"), "unsafe") {
			t.Errorf("%s: the policy allows something unsafe", path)
		}
	}
}

// payloads are names and lines that have run as code somewhere.
var payloads = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'><svg onload=alert(1)>`, `</textarea><script>alert(1)</script>`,
	`javascript:alert(1)`, `" onmouseover="alert(1)`, `' autofocus onfocus='alert(1)`, `{{constructor.constructor('alert(1)')()}}`,
	`<a href="javascript:alert(1)">x</a>`, `--><script>alert(1)</script>`, `]]><script>alert(1)</script>`, `<iframe srcdoc="<script>alert(1)</script>">`,
	`<div hx-get="/do/stop" hx-trigger="load">`, `" hx-on:click="alert(1)`, `<meta http-equiv=refresh content=0;url=https://evil.example>`,
	"<scr\x00ipt>alert(1)</scr\x00ipt>", `&lt;script&gt;alert(1)&lt;/script&gt;`, `"}' data-opens="xcard`, `</style><script>alert(1)</script>`, "\u202e<b>",
}

// views are all pieces of page that show words from outside, with p for all of
// them.
func views(t *testing.T, p string) map[string]string {
	t.Helper()
	tavern := newTavern()
	person := bot.Person{ID: p, Name: p}
	s := &tavern.state
	s.Campaign, s.Scene, s.Why, s.Stopped = p, bot.Scene{ID: p, Name: p, Text: p, Mood: p}, p, true
	s.Scenes = []bot.Scene{s.Scene, s.Scene}
	s.NPCs = []bot.NPC{{ID: p, Name: p, Role: p, Mood: p, State: bot.State(p), Why: p, Portrait: p, Tools: []string{p}, Hidden: []bot.Hidden{{Name: p, Reason: p}}}}
	s.Lines = []bot.Line{{ID: p, Speaker: person, Text: p, Coming: p, Why: p, To: []string{p}, Final: true}, {ID: p + "2", Speaker: person, Text: p, Coming: p, Cut: true}}
	s.Turns = []bot.Turn{{ID: 1, NPC: p, Why: p, Brain: p, Error: p, Heard: 1}}
	s.Tools = []bot.Tool{{NPC: p, Name: p, Args: p, Result: p, Error: p}}
	s.Alerts = []bot.Alert{{Text: p}}
	s.Brain = bot.Part{Name: p, Note: p}
	h := open(t, tavern, console.Options{DM: bot.Person{ID: p, Name: p}})
	v := h.guest(console.DM, p)
	got := map[string]string{"page": v.load()}
	f := v.follow(0, "")
	for _, e := range []bot.Event{{Line: &s.Lines[0]}, {NPC: &s.NPCs[0]}, {Turn: &s.Turns[0]}, {Tool: &s.Tools[0]}, {Scene: &s.Scene}, {Alert: &s.Alerts[0]}} {
		h.tavern.happen(e)
	}
	for _, name := range []string{"line", "npc", "turn", "tool", "scene", "alert"} {
		got[name] = f.next(name).data
	}
	_, got["invitation"] = v.do("invite", "role", "player", "name", p)
	return got
}

// skeleton is the markup of a page without any of its words: its elements and
// the names of their attributes.
func skeleton(t *testing.T, page string) []string {
	t.Helper()
	var out []string
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return out
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken, html.CommentToken:
			tag := z.Token()
			words := []string{tag.Type.String(), tag.DataAtom.String()}
			for _, a := range tag.Attr {
				words = append(words, a.Key)
			}
			out = append(out, strings.Join(words, " "))
		}
	}
}

// Whatever people and models are called or say, the markup stays the same.
func TestNamesAndLinesNeverBecomeMarkup(t *testing.T) {
	want := map[string][]string{}
	for where, page := range views(t, "plain") {
		want[where] = skeleton(t, page)
	}
	for _, p := range payloads {
		got := map[string][]string{}
		for where, page := range views(t, p) {
			got[where] = skeleton(t, page)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q changes the markup (-plain +payload):\n%s", p, diff)
		}
	}
}

func TestPortraitsAreOnlyOurOwn(t *testing.T) {
	tavern := newTavern()
	for i, p := range []string{"https://evil.example/x.png", "//evil.example/x.png", `/\evil.example/x.png`, "data:text/html,x", "javascript:alert(1)"} {
		tavern.state.NPCs = append(tavern.state.NPCs, bot.NPC{ID: fmt.Sprint("n", i), Name: "N", Portrait: p})
	}
	tavern.state.NPCs = append(tavern.state.NPCs, bot.NPC{ID: "ok", Name: "N", Portrait: "/portraits/ok.png"})
	page := open(t, tavern, console.Options{}).guest(console.DM, "").load()
	if got := strings.Count(page, "<img src=\"/portraits/"); got != 1 {
		t.Errorf("%d own portraits, want 1", got)
	}
	for _, bad := range []string{"evil.example", "data:text/html"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page points to %s", bad)
		}
	}
}
