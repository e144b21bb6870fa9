package console

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/glyphoxa/glyphoxa/bot"
)

//go:embed assets
var files embed.FS

// assets serves what the page is made of. The files change only with the
// program, but its address stays the same, so browsers ask again each time.
func assets() http.Handler {
	sub, err := fs.Sub(files, "assets")
	if err != nil {
		panic(err) // "assets" is a valid path
	}
	serve := http.StripPrefix("/assets/", http.FileServerFS(sub))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/") { // no listings
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-cache")
		serve.ServeHTTP(w, r)
	})
}

// viewer is for whom a piece of the page is made.
type viewer struct {
	role Role
	name string
	csrf string
	tint func(id string) string
	// cast are the names of NPCs, and of who has talked, by id
	cast map[string]string
	npcs []bot.NPC
	// what the table can do beyond the least
	speaks, prompts, whispers, ushers, corrects, hurries, pauses bool
	// places are the pages there are; here is this one.
	places         []place
	here, campaign string
}

func (c *Console) viewer(s *session, npcs []bot.NPC) viewer {
	v := viewer{role: s.role, name: s.person.Name, csrf: s.csrf, tint: c.tints.class, cast: map[string]string{}, npcs: npcs}
	for _, n := range npcs {
		v.cast[n.ID] = n.Name
	}
	_, v.speaks = c.table.(speaker)
	_, v.prompts = c.table.(prompter)
	_, v.whispers = c.table.(whisperer)
	_, v.ushers = c.table.(usher)
	_, v.corrects = c.table.(corrector)
	_, v.hurries = c.table.(hurrier)
	_, v.pauses = c.table.(pauser)
	return v
}

// meet learns the names in an event, for lines that are addressed to them.
func (v viewer) meet(e bot.Event) {
	switch {
	case len(v.cast) > maxNames: // whoever talks chooses ids
	case e.NPC != nil:
		v.cast[e.NPC.ID] = e.NPC.Name
	case e.Line != nil:
		v.cast[e.Line.Speaker.ID] = e.Line.Speaker.Name
	}
}

// maxNames is more people than any evening has.
const maxNames = 1000

// DM reports whether the viewer sees what only the game master may see.
func (v viewer) DM() bool { return v.role == DM }

// Plays reports whether the viewer may talk.
func (v viewer) Plays() bool { return v.role >= Player }

// Name is somebody's name, or the id of a stranger.
func (v viewer) Name(id string) string {
	if n, ok := v.cast[id]; ok {
		return n
	}
	return id
}

// tablePage is the table as it is now; the stream goes on from there.
func (c *Console) tablePage(w http.ResponseWriter, r *http.Request) {
	state := c.table.State()
	v := c.viewer(who(r), state.NPCs)
	for i := range state.Lines {
		v.meet(bot.Event{Line: &state.Lines[i]})
	}
	if !v.DM() {
		state.Lines = slices.DeleteFunc(state.Lines, func(l bot.Line) bool { return l.Private })
	}
	if v.DM() {
		v.places, v.here = c.places(), "/"
	}
	c.render(w, r, http.StatusOK, tableView(v, state))
}

// render answers with a page. It is made in memory first, so that a fault in a
// template is an error and not half a page.
func (c *Console) render(w http.ResponseWriter, r *http.Request, status int, page templ.Component) {
	var b bytes.Buffer
	if err := page.Render(r.Context(), &b); err != nil {
		c.log.Error("page", "path", r.URL.Path, "err", err)
		http.Error(w, "this page could not be made; the log says why", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // who has gone away needs no answer
}

// refuse answers with an error that says what to do: as a page to somebody who
// opened one, as plain text to the page's own script, which shows it.
func (c *Console) refuse(w http.ResponseWriter, r *http.Request, status int, err error) {
	if r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html") {
		c.render(w, r, status, refusal(err.Error()))
		return
	}
	http.Error(w, err.Error(), status)
}

// toolID is the same for all news of one tool call.
func toolID(t bot.Tool) string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s\x00%s", t.NPC, t.Name, t.Args)
	return fmt.Sprintf("%d-%x", t.Turn, h.Sum64())
}

// pretty indents JSON that is too long for a line; anything else stays as it is.
func pretty(s string) string {
	var b bytes.Buffer
	if len(s) < 48 || json.Indent(&b, []byte(s), "", "  ") != nil {
		return s
	}
	return b.String()
}

// short is a duration as people read it: 850 µs, 42 ms, 1.24 s.
func short(d time.Duration) string {
	switch {
	case d <= 0:
		return "–"
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	default:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
}

// percentile is the value that p of 100 of the turns' first sounds do not exceed
// (nearest rank), or 0 without any.
func percentile(turns []bot.Turn, p float64) time.Duration {
	var d []time.Duration
	for _, t := range turns {
		if t.FirstSound > 0 {
			d = append(d, t.FirstSound)
		}
	}
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return d[max(0, int(math.Ceil(p/100*float64(len(d))))-1)]
}
