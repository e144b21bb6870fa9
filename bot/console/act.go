package console

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/mcp"
)

// An action is one button of the page.
type action struct {
	least Role
	do    func(ctx context.Context, c *Console, f form) error
}

// form is who pressed the button, and the fields around it.
type form struct {
	who bot.Person
	get func(field string) string
}

// actions are all buttons by the last part of their path.
var actions = map[string]action{
	"say": {Player, func(ctx context.Context, c *Console, f form) error {
		text, err := words(f.get("text"))
		if err != nil {
			return err
		}
		return c.table.Say(ctx, f.who, text)
	}},
	"stop": {DM, func(ctx context.Context, c *Console, f form) error {
		return c.table.Stop(ctx, f.who)
	}},
	"mute": {DM, func(ctx context.Context, c *Console, f form) error {
		return c.table.Mute(ctx, f.who, f.get("npc"), f.get("on") == "true")
	}},
	"scene": {DM, func(ctx context.Context, c *Console, f form) error {
		return c.table.SetScene(ctx, f.who, f.get("scene"))
	}},
	"answer": {DM, func(ctx context.Context, c *Console, f form) error {
		return c.table.Answer(ctx, f.who, f.get("line"), f.get("npc"))
	}},
	// Whoever is uneasy may stop play; only the DM takes it up again.
	"xcard": {Spectator, func(ctx context.Context, c *Console, f form) error {
		return c.table.XCard(ctx, f.who, true)
	}},
	"resume": {DM, func(ctx context.Context, c *Console, f form) error {
		return c.table.XCard(ctx, f.who, false)
	}},
	"correct": {Player, able(func(ctx context.Context, t corrector, f form) error {
		text, err := words(f.get("text"))
		if err != nil {
			return err
		}
		return t.Correct(ctx, f.who, f.get("line"), text)
	})},
	"speak": {DM, able(func(ctx context.Context, t speaker, f form) error {
		text, err := words(f.get("text"))
		if err != nil {
			return err
		}
		return t.SpeakAs(ctx, f.who, f.get("npc"), text)
	})},
	"whisper": {DM, able(func(ctx context.Context, t whisperer, f form) error {
		text, err := words(f.get("text"))
		if err != nil {
			return err
		}
		return t.Whisper(ctx, f.who, f.get("npc"), text)
	})},
	"prompt": {DM, able(func(ctx context.Context, t prompter, f form) error {
		return t.Prompt(ctx, f.who, f.get("npc"))
	})},
	"allow": {DM, able(func(ctx context.Context, t decider, f form) error {
		return t.Decide(ctx, f.who, f.get("id"), f.get("hash"), f.get("on") == "true")
	})},
	"tier": {DM, able(func(ctx context.Context, t hurrier, f form) error {
		if f.get("tier") == "" {
			return t.ClearTier(ctx, f.who, "")
		}
		tier, err := mcp.ParseTier(f.get("tier"))
		if err != nil {
			return err
		}
		return t.SetTier(ctx, f.who, "", tier, 0)
	})},
	"pause": {DM, able(func(ctx context.Context, t pauser, f form) error {
		return t.Pause(ctx, f.who, true)
	})},
	"enter": {DM, able(func(ctx context.Context, t usher, f form) error {
		return t.Enter(ctx, f.who, f.get("npc"), f.get("on") == "true")
	})},
}

// tendings are the actions of the pages beside the table.
var tendings = tend()

var errNotHere = errors.New("this table cannot do that")

// able makes an action of what only some tables can do.
func able[T any](do func(context.Context, T, form) error) func(context.Context, *Console, form) error {
	return func(ctx context.Context, c *Console, f form) error {
		t, ok := c.table.(T)
		if !ok {
			return errNotHere
		}
		return do(ctx, t, f)
	}
}

// act runs one action. It answers nothing on success: what the action did comes
// back as events, to everybody.
func (c *Console) act(w http.ResponseWriter, r *http.Request) {
	s := who(r)
	limit := int64(maxBody)
	if name := r.PathValue("action"); s.role == DM && (name == "check" || name == "write") {
		limit = maxDraft
	}
	r.Body = http.MaxBytesReader(w, r.Body, limit)
	if err := r.ParseForm(); err != nil {
		c.refuse(w, r, http.StatusRequestEntityTooLarge, fmt.Errorf("that is too much at once: at most %d characters", maxText))
		return
	}
	token := r.Header.Get("X-Table-Token")
	if subtle.ConstantTimeCompare([]byte(token), []byte(s.csrf)) != 1 {
		c.refuse(w, r, http.StatusForbidden, errors.New("this page is out of date: load it again"))
		return
	}
	if !s.pace.take(1, actionRate, actionBurst, time.Now()) {
		c.refuse(w, r, http.StatusTooManyRequests, fmt.Errorf("too fast: at most %d actions a second; wait a moment", actionRate))
		return
	}
	name := r.PathValue("action")
	if answer := c.answering(name); answer != nil {
		if s.role != DM {
			c.refuse(w, r, http.StatusForbidden, errors.New("only the game master may do this"))
			return
		}
		answer(w, r)
		return
	}
	a, ok := actions[name]
	reload := false // the pages beside the table have no stream
	if t, tends := tendings[name]; tends {
		a, ok, reload = t, true, true
	}
	if !ok {
		c.refuse(w, r, http.StatusNotFound, fmt.Errorf("there is no action %.40q: load the page again", name))
		return
	}
	if s.role < a.least {
		c.refuse(w, r, http.StatusForbidden, fmt.Errorf("only the role %q may do this, and yours is %q: ask the game master", a.least, s.role))
		return
	}
	f := form{who: c.speaker(s, r.PostForm.Get("as")), get: r.PostForm.Get}
	if err := a.do(r.Context(), c, f); err != nil {
		c.refuse(w, r, http.StatusUnprocessableEntity, err)
		return
	}
	if reload {
		w.Header().Set("HX-Refresh", "true")
	}
	w.WriteHeader(http.StatusNoContent)
}

// speaker is who acts. The DM may lend their page to any player's name; nobody
// else may borrow one.
func (c *Console) speaker(s *session, as string) bot.Person {
	if s.role == DM && strings.TrimSpace(as) != "" {
		return named(as, DM, c.dm)
	}
	return s.person
}

// words is typed text as the table gets it.
func words(s string) (string, error) {
	s = strings.TrimSpace(strings.Map(visible, s))
	if s == "" {
		return "", errors.New("there is nothing to say: type a line first")
	}
	if n := utf8.RuneCountInString(s); n > maxText {
		return "", fmt.Errorf("a line may have %d characters and this one has %d: send it in parts", maxText, n)
	}
	return s, nil
}

// answering are the DM's actions that answer with a piece of page.
func (c *Console) answering(name string) http.HandlerFunc {
	switch {
	case name == "invite":
		return c.invite
	case name == "check" && c.manuscript != nil:
		return func(w http.ResponseWriter, r *http.Request) { c.draft(w, r, false) }
	case name == "write" && c.manuscript != nil:
		return func(w http.ResponseWriter, r *http.Request) { c.draft(w, r, true) }
	}
	return nil
}

// invite makes a login link and shows it to the DM, once.
func (c *Console) invite(w http.ResponseWriter, r *http.Request) {
	role, err := parseRole(r.PostForm.Get("role"))
	if err != nil {
		c.refuse(w, r, http.StatusUnprocessableEntity, err)
		return
	}
	name := oneLine(r.PostForm.Get("name"))
	if role == Player && name == "" {
		c.refuse(w, r, http.StatusUnprocessableEntity, errors.New("a player needs a name: NPCs will call them by it"))
		return
	}
	// The browser knows under which address it sees the page, also behind a proxy;
	// the guard has made sure that it is ours.
	base := cmp.Or(r.Header.Get("Origin"), "http://"+r.Host)
	c.render(w, r, http.StatusOK, inviteLink(c.Link(base, role, name), role, name))
}
