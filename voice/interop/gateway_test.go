//go:build interop

package interop

import (
	"context"
	"encoding/json"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/glyphoxa/glyphoxa/bot/discord/discordtest"
	"github.com/glyphoxa/glyphoxa/voice/voicetest"
)

const (
	mira = "900000000000000021"
	odo  = "900000000000000022"
)

// A town is our whole Discord, judged by discord.js.
type town struct {
	*node
	discord *discordtest.Server
	calls   *voicetest.Server
}

func newTown(t *testing.T) *town {
	t.Helper()
	calls, err := voicetest.NewServer(nil)
	if err != nil {
		t.Fatal(err)
	}
	d := discordtest.NewServer("the-token", calls)
	t.Cleanup(func() {
		d.Close()
		if err := calls.Close(); err != nil {
			t.Error(err)
		}
	})
	d.Join(mira, "Mira", discordtest.Everyone)
	d.Join(odo, "Odo", discordtest.Everyone)
	return &town{startNode(t, calls.Certificate()), d, calls}
}

func number(id string) uint64 {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// seen is what a client knows once it has logged in.
type seen struct {
	Name, Guild, Owner                    string
	Available, Joinable, Speakable, Admin bool
	Channels, InVoice                     []string
	Members                               int
}

func (w *town) login(user, token string) (s seen) {
	w.t.Helper()
	w.ask(request{Op: "login", User: user, Token: token, API: w.discord.API()})
	if err := json.Unmarshal([]byte(w.event("logged in", number(user)).Text), &s); err != nil {
		w.t.Fatal(err)
	}
	return s
}

func TestDiscordJSLogsInAndSeesWhatThereIs(t *testing.T) {
	w := newTown(t)
	w.discord.Enter(odo)
	want := seen{
		Name: "Glyphoxa", Guild: "The Table", Owner: discordtest.Admin, Available: true, Joinable: true, Speakable: true,
		Channels: []string{"Voice", "text"}, InVoice: []string{odo}, Members: 4,
	}
	if diff := cmp.Diff(want, w.login(discordtest.Bot, "the-token")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	w.discord.Enter(mira)
	e := w.event("state", number(discordtest.Bot))
	if e.From != mira || e.Text != "Voice Mira" {
		t.Errorf("%+v, want Mira in the voice channel", e)
	}
}

func TestDiscordJSSeesWhatIsDenied(t *testing.T) {
	w := newTown(t)
	w.discord.Deny(discordtest.Speak)
	if s := w.login(discordtest.Bot, "the-token"); !s.Joinable || s.Speakable {
		t.Errorf("%+v, want a channel that may be joined but not spoken in", s)
	}
}

func TestDiscordJSResumesAndLogsInAnew(t *testing.T) {
	w := newTown(t)
	bot := number(discordtest.Bot)
	w.login(discordtest.Bot, "the-token")
	for name, disturb := range map[string]func(){"cut": w.discord.Cut, "reconnect": w.discord.Reconnect} {
		disturb()
		w.event("resumed", bot)
		w.discord.Enter(mira)
		if e := w.event("state", bot); e.From != mira {
			t.Errorf("after %s: %+v", name, e)
		}
		w.discord.Leave(mira)
		w.event("state", bot)
	}
	if n := w.discord.Logins(); n != 1 {
		t.Errorf("%d logins, want one and resumed sessions", n)
	}
	w.discord.Invalidate()
	w.wait("a new login", func() bool { return w.discord.Logins() == 2 })
}

func TestDiscordJSIsABotHere(t *testing.T) {
	w := newTown(t)
	bot := number(discordtest.Bot)
	w.login(discordtest.Bot, "the-token")
	w.ask(request{Op: "register", User: discordtest.Bot, Guild: discordtest.Guild})
	if e := w.event("registered", bot); e.Text != "ask echo slow" {
		t.Errorf("registered %q", e.Text)
	}
	if diff := cmp.Diff([]string{"echo", "slow talk", "ask"}, w.discord.Commands()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	ask := func(r discordtest.Reply, err error) discordtest.Reply {
		t.Helper()
		if err != nil {
			w.event("nothing, but an error perhaps", bot)
			t.Fatal(err)
		}
		return r
	}
	for _, c := range []struct {
		got, want discordtest.Reply
	}{
		{ask(w.discord.Slash(ctx, mira, "echo", "text", "hello")), discordtest.Reply{Content: "Mira in The Table, #text: hello"}},
		{ask(w.discord.Slash(ctx, mira, "slow talk", "text", "hello")), discordtest.Reply{Content: "talk: hello", Private: true}},
		{ask(w.discord.Complete(ctx, mira, "echo", "text", "hel")), discordtest.Reply{Choices: []string{"hel!"}}},
		{ask(w.discord.Slash(ctx, mira, "ask")), discordtest.Reply{Content: "Well?", Buttons: []string{"yes"}, Labels: []string{"Yes"}}},
		{ask(w.discord.Press(ctx, mira, "yes")), discordtest.Reply{Content: "pressed yes in text", Private: true}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	if e := w.event("edited", bot); e.Text != "talk: hello" {
		t.Errorf("edited to %q", e.Text)
	}
}

func TestDiscordJSPlayersMeetThroughTheGateway(t *testing.T) {
	w := newTown(t)
	for _, user := range []string{mira, odo} {
		w.login(user, w.discord.Token(user))
		w.ask(request{Op: "enter", User: user, Guild: discordtest.Guild, Channel: discordtest.Channel})
		w.event("ready", number(user))
	}
	w.hears(mira, odo)
	// Discord moves calls to other servers, and to new sessions on the same one.
	w.discord.MoveCall(w.calls)
	w.event("ready", number(mira))
	w.event("ready", number(odo))
	w.hears(odo, mira)
}

// hears lets one player hear what another one says.
func (w *town) hears(listener, speaker string) {
	w.t.Helper()
	w.wait("one privacy code", func() bool {
		var codes []string
		for _, user := range []string{listener, speaker} {
			w.ask(request{Op: "code", User: user})
			codes = append(codes, w.event("code", number(user)).Text)
		}
		return codes[0] != "" && codes[0] == codes[1]
	})
	w.ask(request{Op: "hear", User: listener, From: speaker})
	w.event("hearing", number(listener))
	w.ask(request{Op: "speak", User: speaker, Packets: tone(w.t, 440, 50)})
	if n := len(w.event("heard", number(listener)).Packets); n < 45 {
		w.t.Errorf("%d packets heard of 50", n)
	}
}
