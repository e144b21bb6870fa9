package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/a-h/templ"
	"github.com/glyphoxa/glyphoxa/bot"
)

// lookLimit is how long a page may wait for the store.
const lookLimit = 5 * time.Second

// A place is a page beside the table's, as the navigation shows it.
type place struct{ path, name string }

// pageBody is what a page beside the table's shows.
type pageBody struct {
	title string
	body  templ.Component
}

// places are the pages that this console has.
func (c *Console) places() []place {
	all := []place{{"/", "Table"}, {"/turns", "Turns"}}
	if c.archive != nil {
		all = append(all, place{"/knowledge", "Knowledge"}, place{"/recap", "Recap"})
	}
	if c.workshop != nil {
		all = append(all, place{"/tools", "Tools"})
	}
	if c.manuscript != nil {
		all = append(all, place{"/campaign", "Campaign"})
	}
	if c.archive != nil {
		all = append(all, place{"/privacy", "Privacy"})
	}
	return all
}

// look makes a page of what show finds; if it fails the page says why.
func (c *Console) look(show func(ctx context.Context, r *http.Request, v viewer) (pageBody, error)) http.Handler {
	return c.only(DM, func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeoutCause(r.Context(), lookLimit, errors.New("the store takes too long: try again in a moment"))
		defer cancel()
		state := c.table.State()
		v := c.viewer(who(r), state.NPCs)
		v.places, v.here, v.campaign = c.places(), r.URL.Path, state.Campaign
		body, err := show(ctx, r, v)
		if err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			c.refuse(w, r, http.StatusUnprocessableEntity, err)
			return
		}
		c.render(w, r, http.StatusOK, sidePage(v, body))
	})
}

// turnsPage takes the last answers apart.
func (c *Console) turnsPage(_ context.Context, r *http.Request, v viewer) (pageBody, error) {
	s := c.table.State()
	turns := slices.Clone(s.Turns)
	slices.Reverse(turns)
	id, _ := strconv.ParseUint(r.URL.Query().Get("turn"), 10, 64)
	i := max(0, slices.IndexFunc(turns, func(t bot.Turn) bool { return t.ID == id }))
	var shown *bot.Turn
	var tools []bot.Tool
	if i < len(turns) {
		shown = &turns[i]
		for _, t := range s.Tools {
			if t.Turn == shown.ID {
				tools = append(tools, t)
			}
		}
	}
	return pageBody{"Turns", turnsView(v, turns, shown, tools)}, nil
}

// knowledgePage shows what somebody knows, and one topic of it.
func (c *Console) knowledgePage(ctx context.Context, r *http.Request, v viewer) (pageBody, error) {
	as, id := r.URL.Query().Get("as"), r.URL.Query().Get("topic")
	if as != "" && !slices.ContainsFunc(v.npcs, func(n bot.NPC) bool { return n.ID == as }) {
		return pageBody{}, fmt.Errorf("there is no NPC %.60q: choose one from the list", as)
	}
	k, err := c.archive.Knowledge(ctx, as, maxNodes)
	if err != nil {
		return pageBody{}, err
	}
	for _, t := range k.Topics {
		if _, ok := v.cast[t.ID]; !ok {
			v.cast[t.ID] = t.Name
		}
	}
	var entry *bot.Entry
	if id != "" {
		e, err := c.archive.Entry(ctx, as, id)
		if err != nil {
			return pageBody{}, fmt.Errorf("%s knows nothing of %.60q", cmp.Or(v.cast[as], "the campaign"), id)
		}
		entry = &e
	}
	waiting, err := c.archive.Proposed(ctx)
	if err != nil {
		return pageBody{}, err
	}
	return pageBody{"Knowledge", knowledgeView(v, as, draw(k), entry, waiting)}, nil
}

// recapPage retells an evening.
func (c *Console) recapPage(ctx context.Context, r *http.Request, v viewer) (pageBody, error) {
	sittings, err := c.archive.Sittings(ctx)
	if err != nil {
		return pageBody{}, err
	}
	q := r.URL.Query()
	choice := recapChoice{sitting: q.Get("sitting"), length: cmp.Or(q.Get("length"), "short"), players: q.Get("for") == "players"}
	if choice.sitting == "" && len(sittings) > 0 {
		choice.sitting = sittings[0].ID
	}
	var lines []bot.Line
	if choice.sitting != "" {
		if lines, err = c.archive.Recap(ctx, choice.sitting, choice.length, choice.players); err != nil {
			return pageBody{}, err
		}
	}
	return pageBody{"Recap", recapView(v, sittings, choice, lines)}, nil
}

// recapChoice is which recap is shown.
type recapChoice struct {
	sitting, length string
	players         bool
}

// with is the address of the same recap but for one choice.
func (r recapChoice) with(length string, players bool) string {
	to := "gm"
	if players {
		to = "players"
	}
	return "/recap?" + query("sitting", r.sitting, "length", length, "for", to)
}

// toolsPage shows servers, tools, and what waits for a decision.
func (c *Console) toolsPage(_ context.Context, _ *http.Request, v viewer) (pageBody, error) {
	changes, err := c.workshop.Changes()
	if err != nil {
		return pageBody{}, err
	}
	return pageBody{"Tools", toolsView(v, c.workshop.Servers(), c.workshop.Tools(), c.workshop.Wishes(), changes)}, nil
}

// privacyPage says what is kept, of whom, and who gets to see it.
func (c *Console) privacyPage(ctx context.Context, _ *http.Request, v viewer) (pageBody, error) {
	h, err := c.archive.Holdings(ctx)
	if err != nil {
		return pageBody{}, err
	}
	return pageBody{"Privacy", privacyView(v, h, c.table.State())}, nil
}

// export hands out what is kept, as a file.
func (c *Console) export(w http.ResponseWriter, r *http.Request) {
	player := r.URL.Query().Get("player")
	name := cmp.Or(slug(player), "campaign") + ".jsonl"
	w.Header().Set("Content-Type", "application/jsonl; charset=utf-8")
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	if err := c.archive.Export(r.Context(), w, player); err != nil {
		c.log.Error("export", "player", player, "err", err)
		// The head has left with the first line: a broken connection is the only
		// way to tell that the file is not whole.
		panic(http.ErrAbortHandler)
	}
}

// tend are the actions of the pages beside the table.
func tend() map[string]action {
	archive := func(do func(ctx context.Context, a *bot.Archive, f form) error) func(context.Context, *Console, form) error {
		return func(ctx context.Context, c *Console, f form) error {
			if c.archive == nil {
				return errNotHere
			}
			return do(ctx, c.archive, f)
		}
	}
	workshop := func(do func(ctx context.Context, w *bot.Workshop, f form) error) func(context.Context, *Console, form) error {
		return func(ctx context.Context, c *Console, f form) error {
			if c.workshop == nil {
				return errNotHere
			}
			return do(ctx, c.workshop, f)
		}
	}
	return map[string]action{
		"judge": {DM, archive(func(ctx context.Context, a *bot.Archive, f form) error {
			return a.Judge(ctx, f.get("id"), f.get("canon") == "true")
		})},
		"opt-out": {DM, archive(func(ctx context.Context, a *bot.Archive, f form) error {
			return a.OptOut(ctx, f.get("player"), f.get("out") == "true")
		})},
		"forget": {DM, archive(func(ctx context.Context, a *bot.Archive, f form) error {
			if f.get("player") == "" {
				return errors.New("say whose words are to be erased")
			}
			_, err := a.Forget(ctx, f.get("player"))
			return err
		})},
		"decide": {DM, workshop(func(ctx context.Context, w *bot.Workshop, f form) error {
			_, err := w.Decide(ctx, f.who, f.get("id"), f.get("hash"), f.get("grant") == "true")
			return err
		})},
		"agree": {DM, workshop(func(_ context.Context, w *bot.Workshop, f form) error {
			if f.get("hash") == "" {
				return errors.New("this page is out of date: load it again")
			}
			return w.Agree(f.who, f.get("server"), f.get("tool"), f.get("hash"))
		})},
		"restart": {DM, workshop(func(_ context.Context, w *bot.Workshop, f form) error {
			return w.Restart(f.get("server"))
		})},
	}
}
