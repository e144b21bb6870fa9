package discord

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/glyphoxa/glyphoxa/bot/discord/discordtest"
)

var update = flag.Bool("update", false, "write what users see into testdata")

// varying is what differs between two runs.
var varying = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`<t:\d+:`), "<t:0:"},
	{regexp.MustCompile(`ping \d[\w.µ]*`), "ping 1ms"},
	{regexp.MustCompile(`Ping \d[\w.µ]*`), "Ping 1ms"},
	{regexp.MustCompile(`glyphoxa:2:[0-9a-f]{8}:`), "glyphoxa:2:00000000:"},
	{regexp.MustCompile(`(after|nach|tras) \d[\w.µ]* \([^)]*\)`), "$1 1s (why)"},
	{regexp.MustCompile(`(?m)^(.*: \d+|Voice privacy code: .*|Sprach-Datenschutzcode: .*|Código de privacidad de voz: .*) ?$`), "$1"},
	{regexp.MustCompile(`(Voice privacy code|Sprach-Datenschutzcode|Código de privacidad de voz): [\d ]+`), "$1: 00000"},
	{regexp.MustCompile(`Gateway:\*\* \S+`), "Gateway:** 1ms"},
}

// play writes down what somebody does and what they see.
type play struct {
	*scene
	b strings.Builder
}

func (p *play) wrote(what string, r discordtest.Reply) {
	who := "everybody sees"
	if r.Private {
		who = "only they see"
	}
	fmt.Fprintf(&p.b, "## %s\n", what)
	if r.Modal != nil {
		fmt.Fprintf(&p.b, "a window: %s\n", r.Modal.Title)
		for _, l := range r.Modal.Labels {
			fmt.Fprintf(&p.b, "  [____] %s\n", l)
		}
		p.b.WriteByte('\n')
		return
	}
	fmt.Fprintf(&p.b, "%s:\n%s\n", who, strings.TrimSpace(r.Content))
	for _, l := range r.Labels {
		fmt.Fprintf(&p.b, "  [%s]\n", l)
	}
	for name := range r.Files {
		fmt.Fprintf(&p.b, "  (%s)\n", name)
	}
	p.b.WriteByte('\n')
}

func (p *play) does(t *testing.T, user, name string, options ...string) {
	t.Helper()
	var what strings.Builder
	what.WriteString("/" + name)
	for i := 0; i+1 < len(options); i += 2 {
		what.WriteString(" " + options[i] + ":" + options[i+1])
	}
	p.wrote(what.String(), p.slash(t, user, name, options...))
}

// TestWhatUsersSee plays a session in each language and compares every word and
// button with the files in testdata. 'go test -update' writes them; read the
// difference.
func TestWhatUsersSee(t *testing.T) {
	for _, l := range []struct{ name, locale string }{{"en", "en-US"}, {"de", "de"}, {"es", "es-ES"}} {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			p := &play{scene: running(t, Options{}, func(d *discordtest.Server) {
				d.Locale(discordtest.Guild, l.locale)
				d.Translate(discordtest.Admin, l.locale)
				d.Translate(mira, l.locale)
			})}
			// A busy machine is no reason to see something else.
			p.stop()
			p.soon = time.Minute
			p.start(t)
			p.session(t)
			got := p.b.String()
			for _, v := range varying {
				got = v.pattern.ReplaceAllString(got, v.with)
			}
			path := filepath.Join("testdata", "session."+l.name+".txt")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s\n'go test ./bot/discord -run WhatUsersSee -update' accepts it", path, diff)
			}
		})
	}
}

// session is an evening with everything in it.
func (p *play) session(t *testing.T) {
	dm := discordtest.Admin
	p.does(t, mira, "help")
	p.does(t, dm, "help")
	p.does(t, mira, "npc list")
	p.does(t, mira, "session start")
	p.does(t, dm, "session start")
	p.does(t, mira, "setup")
	p.does(t, dm, "setup")
	p.does(t, mira, "privacy show")
	p.does(t, mira, "session recap")
	p.Enter(dm)
	p.Enter(mira)
	until(t, "the session has begun", func() bool {
		r := p.slash(t, dm, "session start")
		if !r.Private {
			p.wrote("/session start, in the voice channel", r)
		}
		return !r.Private // until then the bot has not heard that they are in the channel
	})
	until(t, "the NPCs can be commanded", func() bool {
		return strings.Contains(p.slash(t, dm, "npc list").Content, "Bartok")
	})
	p.does(t, dm, "npc list")
	p.does(t, dm, "session status")
	p.does(t, mira, "privacy optin")
	p.does(t, mira, "privacy show")
	p.does(t, mira, "say", "text", "Hello to all.")
	p.does(t, dm, "npc mute", "npc", "bartok")
	p.does(t, dm, "npc mute", "npc", "nobody")
	p.does(t, dm, "npc speak", "npc", "bartok", "text", "Closing time.")
	p.does(t, dm, "npc unmute", "npc", "Bartok")
	p.does(t, dm, "npc direct", "npc", "bartok", "gist", "be kind")
	p.does(t, dm, "npc whisper", "npc", "bartok", "text", "he is lying")
	p.does(t, dm, "tier set", "tier", "fast")
	p.does(t, dm, "tier set", "tier", "deep", "npc", "pip", "minutes", "10")
	p.does(t, mira, "tier show")
	p.does(t, dm, "tier clear")
	p.does(t, dm, "scene", "scene", "mill-yard")
	p.does(t, dm, "scene", "scene", "nowhere")
	p.does(t, mira, "roll", "dice", "2d6", "label", "Perception", "repeat", "2")
	p.does(t, mira, "roll", "dice", "2d6", "private", "true")
	p.does(t, mira, "rule", "question", "how do I fly")
	p.does(t, dm, "memory search", "query", "nothing like it")
	p.does(t, dm, "memory who-knows", "entity", "nobody-at-all")
	p.does(t, dm, "entity add", "name", "The Weir", "kind", "location", "about", "A weir.", "known", "true")
	p.does(t, dm, "entity remove", "added", "the-weir")
	p.does(t, dm, "entity import")
	p.does(t, dm, "campaign info")
	p.does(t, dm, "campaign import")
	p.does(t, dm, "campaign switch", "campaign", "nowhere")
	p.does(t, dm, "tools list")
	p.does(t, dm, "tools disable", "tool", "roll")
	p.does(t, dm, "tools approve")
	p.does(t, mira, "feedback", "text", "lovely")
	p.does(t, mira, "x")
	p.does(t, mira, "session pause", "on", "false")
	p.does(t, dm, "session pause", "on", "false")
	p.does(t, mira, "session pause")
	p.does(t, mira, "privacy export")
	p.does(t, mira, "privacy delete")
	p.wrote("Delete everything", p.press(t, mira, customID(anywhere, "forget", mira)))
	p.wrote("a button of last week", p.press(t, mira, "glyphoxa:2:00000000:stop"))
	until(t, "the panel says that it is paused", func() bool {
		for _, post := range p.Posts(discordtest.Text) {
			if len(post.Labels) > 2 && strings.Contains(post.Content, p.app.guildTongue(discordtest.Guild).say("The table is paused: nobody is heard until the DM goes on.")) {
				p.wrote("the panel", post.Reply)
				return true
			}
		}
		return false
	})
	p.does(t, dm, "session stop")
}

func replies(list []discordtest.Reply) (out []string) {
	for _, r := range list {
		out = append(out, r.Content)
	}
	return out
}
