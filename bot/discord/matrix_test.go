package discord

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/glyphoxa/glyphoxa/bot/discord/discordtest"
)

// role is somebody who tries everything.
type role struct {
	name, user string
	dm, admin  bool
}

// The roles of the matrix: an administrator, somebody who steers by a role of the
// configuration, by a role of /setup, by name, by having started the session, and
// two who do not.
const (
	byConfig   = "900000000000000031"
	bySetup    = "900000000000000032"
	byName     = "900000000000000033"
	byStarting = "900000000000000034"
	wrongRole  = "900000000000000035"
)

var cast = []role{
	{"administrator", discordtest.Admin, true, true},
	{"DM by a role of the configuration", byConfig, true, false},
	{"DM by a role of /setup", bySetup, true, false},
	{"DM by name", byName, true, false},
	{"who started the session", byStarting, true, false},
	{"player", mira, false, false},
	{"player with another role", wrongRole, false, false},
}

// stage is a session that byStarting started, with everybody in it.
func stage(t *testing.T) *scene {
	t.Helper()
	s := running(t, Options{Guild: discordtest.Guild, DMRoles: []string{"77"}, DMUsers: []string{byName}}, func(d *discordtest.Server) {
		d.Join(byConfig, "Configured", discordtest.Everyone, "77")
		d.Join(bySetup, "Setup", discordtest.Everyone, "78")
		d.Join(byName, "Named", discordtest.Everyone)
		d.Join(byStarting, "Starter", discordtest.Everyone, "78")
		d.Join(wrongRole, "Other", discordtest.Everyone, "79")
	})
	if r := s.press(t, discordtest.Admin, customID(anywhere, "roles"), "78"); !strings.Contains(r.Content, "78") {
		t.Fatalf("choosing a role said %q", r.Content)
	}
	s.Enter(byStarting)
	until(t, "the session has begun", func() bool {
		return strings.Contains(s.slash(t, byStarting, "session start").Content, "session is running")
	})
	// Who started it has the role no more, and steers for having started it.
	s.Join(byStarting, "Starter", discordtest.Everyone)
	return s
}

// refusal is what somebody without the right is told.
func refusal(admin bool) string {
	if admin {
		return english.fault(ErrAdmins)
	}
	return english.fault(ErrForbidden)
}

func refuses(content string) bool { return content == refusal(true) || content == refusal(false) }

// TestEveryCommandByEverybodyEverywhere tries each command as everybody, on the
// right server and on another, typed and while it is being typed. What ends the
// session is tried by those who may not; the others' tests end it.
func TestEveryCommandByEverybodyEverywhere(t *testing.T) {
	t.Parallel()
	s := stage(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	tried := 0
	for _, c := range commands() {
		name := strings.TrimSpace(c.group + " " + c.name)
		for _, who := range cast {
			may := (who.dm || !c.dm) && (who.admin || !c.admin)
			if may && (name == "session stop" || name == "campaign switch") {
				continue
			}
			tried++
			var r discordtest.Reply
			var err error
			switch c.kind {
			case discordgo.MessageApplicationCommand:
				r, err = s.On(ctx, who.user, discordtest.Guild, c.name, who.user, "some text")
			case discordgo.UserApplicationCommand:
				r, err = s.On(ctx, who.user, discordtest.Guild, c.name, discordtest.Bot, "")
			default:
				r, err = s.Slash(ctx, who.user, name, sample(c)...)
			}
			if err != nil {
				t.Fatalf("/%s by the %s: %v", name, who.name, err)
			}
			if got := refuses(r.Content); got == may {
				t.Errorf("/%s by the %s: %q, refused %v, want %v", name, who.name, r.Content, got, !may)
			}
			if !may && (!r.Private || r.Content != refusal(c.admin) && who.dm || r.Modal != nil || len(r.Buttons) > 0) {
				t.Errorf("/%s by the %s was refused with %+v", name, who.name, r)
			}
			if r, err := s.SlashElsewhere(ctx, who.user, name); err != nil || r.Content != english.fault(ErrElsewhere) || !r.Private {
				t.Errorf("/%s by the %s on another server: %+v, %v", name, who.name, r, err)
			}
			for _, o := range c.options {
				if !o.suggest {
					continue
				}
				r, err := s.Complete(ctx, who.user, name, o.name, "")
				if err != nil || !may && len(r.Choices) > 0 {
					t.Errorf("/%s %s: suggested %v to the %s (%v)", name, o.name, r.Choices, who.name, err)
				}
				if may && len(r.Choices) == 0 && o.name != "call" && o.name != "added" {
					t.Errorf("/%s %s: nothing was suggested to the %s", name, o.name, who.name)
				}
				if r, err := s.CompleteAt(ctx, who.user, discordtest.Elsewhere, name, o.name, ""); err != nil || len(r.Choices) > 0 {
					t.Errorf("/%s %s: on another server %v, %v", name, o.name, r.Choices, err)
				}
			}
		}
	}
	t.Logf("%d commands tried", tried)
}

// sample are options with which a command does something harmless.
func sample(c command) []string {
	values := map[string]string{
		"npc": "bartok", "scene": "taproom", "text": "hello", "gist": "be kind", "tier": "fast", "dice": "1d6", "question": "grappled",
		"query": "stew", "entity": "bartok", "name": "The Weir", "kind": "location", "added": "weir", "campaign": "nowhere", "tool": "roll",
		"pauses": "normal", "on": "false", "private": "true",
	}
	var out []string
	for _, o := range c.options {
		if v, ok := values[o.name]; ok && (o.required || o.name == "on" || o.name == "private") {
			out = append(out, o.name, v)
		}
	}
	return out
}

// TestEveryButtonAndWindowByEverybody tries each component and each window as
// everybody: of this session, of another one, of an older program, made up, on
// another server, and a second time.
func TestEveryButtonAndWindowByEverybody(t *testing.T) {
	t.Parallel()
	s := stage(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	mark := s.mark(t)
	stale := english.fault(errStale)
	for _, b := range buttons() {
		right, wrong := anywhere, mark
		if b.session {
			right, wrong = mark, "00000000"
		}
		for _, who := range cast {
			may := (who.dm || !b.dm) && (who.admin || !b.admin)
			press := func() (discordtest.Reply, error) {
				return s.PressAt(ctx, who.user, discordtest.Guild, customID(right, b.name, "x", "y"), "78")
			}
			submit := func() (discordtest.Reply, error) {
				return s.Submit(ctx, who.user, discordtest.Guild, customID(right, b.name, "x"), "npc", "bartok", "text", "hush")
			}
			use, pretend := press, submit
			if b.window {
				use, pretend = submit, press
			}
			for range 2 { // replayed: never by somebody else
				r, err := use()
				if err != nil {
					t.Fatalf("%s by the %s: %v", b.name, who.name, err)
				}
				if got := refuses(r.Content); got == may {
					t.Errorf("%s by the %s: %q, refused %v, want %v", b.name, who.name, r.Content, got, !may)
				}
			}
			if r, err := pretend(); err != nil || r.Content != stale {
				t.Errorf("%s by the %s as what it is not: %q, %v", b.name, who.name, r.Content, err)
			}
			for _, id := range []string{
				customID(wrong, b.name, "x"), "glyphoxa:1:" + right + ":" + b.name, "glyphoxa:2:" + right, "glyphoxa:2:" + right + ":nothing", "other:2:-:" + b.name, "",
			} {
				r, err := s.Press(ctx, who.user, id)
				if err != nil || r.Content != stale || !r.Private {
					t.Errorf("%q by the %s: %+v, %v", id, who.name, r, err)
				}
				r, err = s.Submit(ctx, who.user, discordtest.Guild, id)
				if err != nil || r.Content != stale {
					t.Errorf("the window %q by the %s: %+v, %v", id, who.name, r, err)
				}
			}
			r, err := s.PressAt(ctx, who.user, discordtest.Elsewhere, customID(right, b.name))
			if err != nil || r.Content != english.fault(ErrElsewhere) {
				t.Errorf("%s by the %s on another server: %+v, %v", b.name, who.name, r, err)
			}
			if r, err = s.Submit(ctx, who.user, discordtest.Elsewhere, customID(right, b.name)); err != nil || r.Content != english.fault(ErrElsewhere) {
				t.Errorf("the window %s by the %s on another server: %+v, %v", b.name, who.name, r, err)
			}
		}
	}
	// Once the session has ended its buttons are of an older one.
	s.slash(t, discordtest.Admin, "session stop")
	for _, b := range buttons() {
		if b.session {
			if r := s.press(t, discordtest.Admin, customID(mark, b.name)); r.Content != stale {
				t.Errorf("%s after the session: %q", b.name, r.Content)
			}
		}
	}
}

// mark reads the session's mark off the panel's buttons.
func (s *scene) mark(t testing.TB) (mark string) {
	t.Helper()
	until(t, "there is a panel", func() bool {
		for _, p := range s.Posts(discordtest.Text) {
			for _, id := range p.Buttons {
				if m, b, _, ok := pressed(id); ok && b.session {
					mark = m
					return true
				}
			}
		}
		return false
	})
	return mark
}

func TestWithoutAnyConfigurationOnlyAdministratorsSteer(t *testing.T) {
	t.Parallel()
	s := running(t, Options{})
	for user, may := range map[string]bool{discordtest.Admin: true, mira: false} {
		r := s.slash(t, user, "session start")
		if got := !refuses(r.Content); got != may {
			t.Errorf("%s: %q", user, r.Content)
		}
	}
}
