package discord

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/bot/discord/discordtest"
	"github.com/glyphoxa/glyphoxa/campaigns"
	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/llm/improviser"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/memory/sqlite"
	"github.com/glyphoxa/glyphoxa/npc"
	"github.com/glyphoxa/glyphoxa/secret"
	"github.com/glyphoxa/glyphoxa/voice"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
	"github.com/glyphoxa/glyphoxa/voice/voicetest"
)

const (
	token = "the-token"
	mira  = "900000000000000021"
	odo   = "900000000000000022"
)

// ear recognises everything as the same question.
type ear struct{}

func (ear) Name() string { return "ear" }
func (ear) Basic() bool  { return false }
func (ear) Hear(_ context.Context, _ engine.Hearing, frames iter.Seq[[]int16]) iter.Seq2[engine.Transcript, error] {
	return func(yield func(engine.Transcript, error) bool) {
		for range frames {
		}
		yield(engine.Transcript{Text: "Bartok, what's in the pot tonight?", Final: true}, nil)
	}
}

// hum speaks half a second of a loud tone for each sentence.
type hum struct{}

func (hum) Name() string { return "hum" }
func (hum) Speak(context.Context, engine.Voice, string) iter.Seq2[engine.Speech, error] {
	return func(yield func(engine.Speech, error) bool) {
		yield(engine.Speech{Chunk: pcm.Chunk{Rate: pcm.Rate, Samples: tone(pcm.Rate / 2)}}, nil)
	}
}

func tone(n int) []int16 {
	s := make([]int16, n)
	for i := range s {
		s[i] = int16(12000 * (1 - 2*(i/55%2)))
	}
	return s
}

// open sets a table with the shipped campaign, as cmd does.
func open(t *testing.T) func(context.Context, string) (*bot.Table, func() error, error) {
	return func(ctx context.Context, guild string) (*bot.Table, func() error, error) {
		fsys, err := campaigns.ShippedFolder("gilded-flagon")
		if err != nil {
			return nil, nil, err
		}
		c, problems := campaigns.Load(fsys, campaigns.Options{})
		if err := problems.Err(); err != nil {
			return nil, nil, err
		}
		store, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), guild+".db"))
		if err != nil {
			return nil, nil, err
		}
		host, err := mcp.NewHost(mcp.HostOptions{})
		if err != nil {
			return nil, nil, err
		}
		table, err := bot.Open(ctx, bot.Options{
			Campaign: c, Memory: store, Tools: host, Ear: ear{}, Synth: hum{},
			Brain: func(_ npc.Character, p improviser.Persona) engine.Model { return improviser.New(p, 1) },
		})
		if err != nil {
			return nil, nil, err
		}
		return table, func() error {
			return errors.Join(table.Close(context.WithoutCancel(ctx)), host.Close(), store.Close())
		}, nil
	}
}

// running starts a Discord, a voice server and the bot.
func running(t *testing.T, o Options) (*discordtest.Server, *voicetest.Server) {
	t.Helper()
	calls, err := voicetest.NewServer(nil)
	if err != nil {
		t.Fatal(err)
	}
	d := discordtest.NewServer(token, calls)
	d.Join(mira, "Mira", discordtest.Everyone)
	d.Join(odo, "Odo", discordtest.Everyone)
	o.Token, o.HTTP, o.Data, o.Open = secret.New(token), d.Client(), t.TempDir(), open(t)
	if o.Consent == "" {
		o.Consent = Transcript
	}
	o.Roll = func(context.Context, string) (string, error) { return "a roll", nil }
	o.Rule = func(context.Context, string) (string, error) { return "", errors.New("that is not in the free rules") }
	app, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- app.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		d.Close()
		if err := calls.Close(); err != nil {
			t.Error(err)
		}
	})
	until(t, "the commands are registered", d.Ready)
	return d, calls
}

// until waits for something that other goroutines bring about.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for !ok() {
		select {
		case <-deadline:
			t.Fatalf("gave up waiting until %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func slash(t *testing.T, d *discordtest.Server, user, name string, options ...string) discordtest.Reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r, err := d.Slash(ctx, user, name, options...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPlayerSpeaksInTheVoiceChannelAndAnNPCAnswersThere(t *testing.T) {
	d, calls := running(t, Options{})
	d.Enter(discordtest.Admin)
	d.Enter(mira)
	until(t, "the bot knows where everybody is", func() bool {
		return slash(t, d, discordtest.Admin, "session start").Content == "Done."
	})
	if r := slash(t, d, mira, "privacy optin"); !strings.Contains(r.Content, "hear you") {
		t.Fatalf("opting in said %q", r.Content)
	}

	ticket := calls.Admit(number(discordtest.Guild), number(discordtest.Channel), number(mira))
	player, err := voice.Join(t.Context(), voice.Server{
		Guild: number(discordtest.Guild), Channel: number(discordtest.Channel), User: number(mira),
		Session: ticket.Session, Token: ticket.Token, Endpoint: ticket.Endpoint,
	}, &voice.Options{HTTP: calls.HTTP()})
	if err != nil {
		t.Fatal(err)
	}
	defer player.Close()
	player.Present(number(discordtest.Bot))
	until(t, "the call is encrypted", func() bool { return player.Status().Encrypted })

	go func() {
		v := player.Voice(1)
		defer v.Close()
		sound := tone(2 * pcm.Rate)
		for f := range slices.Chunk(sound, pcm.FrameSize) {
			if v.Play(t.Context(), f) != nil {
				return
			}
		}
		until(t, "everything has left", func() bool { return v.Pending() == 0 })
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	loud := 0
	for f := range player.Hear(ctx) {
		if f.User == number(discordtest.Bot) && len(f.Samples) > 0 && pcm.Level(f.Samples) > -30 {
			if loud++; loud == 10 {
				break
			}
		}
	}
	if loud < 10 {
		t.Fatalf("heard %d loud frames of the NPC, want its answer", loud)
	}
	if r := slash(t, d, discordtest.Admin, "session stop"); r.Content != "Done." {
		t.Errorf("stopping said %q", r.Content)
	}
}

func number(id string) (n uint64) {
	for _, c := range id {
		n = 10*n + uint64(c-'0')
	}
	return n
}

// TestWhoMaySteer tries every command as everybody, on the right server and on
// another, without a session.
func TestWhoMaySteer(t *testing.T) {
	d, _ := running(t, Options{Guild: discordtest.Guild, DMRoles: []string{"77"}})
	d.Join(odo, "Odo", discordtest.Everyone, "77")
	for _, c := range commands() {
		name := strings.TrimSpace(c.group + " " + c.name)
		for who, user := range map[string]string{"player": mira, "dm by role": odo, "administrator": discordtest.Admin} {
			r := slash(t, d, user, name, "dice", "1d6", "question", "grappled")
			forbidden := strings.EqualFold(r.Content, sentence(ErrForbidden))
			if want := c.dm && user == mira; forbidden != want {
				t.Errorf("/%s by the %s: %q, forbidden %v, want %v", name, who, r.Content, forbidden, want)
			}
			if forbidden && !r.Private {
				t.Errorf("/%s by the %s was refused in public", name, who)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if r, err := d.SlashElsewhere(ctx, discordtest.Admin, name); err != nil || !strings.Contains(r.Content, "its own server") {
			t.Errorf("/%s on another server: %q, %v", name, r.Content, err)
		}
		cancel()
	}
}

func TestStaleButtonAnswersPolitely(t *testing.T) {
	d, _ := running(t, Options{})
	r, err := d.Press(t.Context(), mira, "glyphoxa:0:whatever")
	if err != nil || !r.Private || !strings.Contains(r.Content, "older session") {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestSessionNeedsSomebodyInAVoiceChannel(t *testing.T) {
	d, _ := running(t, Options{})
	if r := slash(t, d, discordtest.Admin, "session start"); !strings.EqualFold(r.Content, sentence(ErrNotInVoice)) {
		t.Errorf("got %q, want %q", r.Content, sentence(ErrNotInVoice))
	}
}

func TestWrongTokenIsOneSentenceThatNamesTheFix(t *testing.T) {
	calls, err := voicetest.NewServer(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer calls.Close()
	d := discordtest.NewServer(token, calls)
	defer d.Close()
	app, err := New(Options{Token: secret.New("another"), HTTP: d.Client(), Data: t.TempDir(), Open: open(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := app.Run(t.Context()); !errors.Is(err, ErrBadToken) {
		t.Errorf("got %v, want %v", err, ErrBadToken)
	}
	if _, err := New(Options{}); !errors.Is(err, ErrNoToken) {
		t.Errorf("without a token: %v, want %v", err, ErrNoToken)
	}
}

func TestCheckNamesWhatIsWrongBeforehand(t *testing.T) {
	d, _ := running(t, Options{})
	for _, tc := range []struct {
		token, guild, want string
	}{
		{token, discordtest.Guild, "The Table"}, {token, "", "every server"}, {"another", "", "Bot page"}, {token, "12345", "not in that server"},
	} {
		note, err := Check(t.Context(), Options{Token: secret.New(tc.token), Guild: tc.guild, HTTP: d.Client(), Data: t.TempDir()})
		if err != nil {
			note = err.Error()
		}
		if !strings.Contains(note, tc.want) {
			t.Errorf("token %s, server %q: %q, want it to mention %q", tc.token, tc.guild, note, tc.want)
		}
	}
}

func TestLoginsOfADayAreLimited(t *testing.T) {
	path := filepath.Join(t.TempDir(), "logins.json")
	for n := range maxLogins {
		if err := spend(path); err != nil {
			t.Fatalf("login %d: %v", n+1, err)
		}
	}
	if err := spend(path); err == nil {
		t.Error("one login too many was allowed")
	}
}

func TestConsentSurvivesARestartAndIsRefusedByDefault(t *testing.T) {
	path := filepath.Join(t.TempDir(), "consent.json")
	c, err := loadConsents(path)
	if err != nil {
		t.Fatal(err)
	}
	if yes, asked := c.agreed("g", "u"); yes || asked {
		t.Error("somebody who was never asked has agreed")
	}
	if err := c.decide("g", "u", true); err != nil {
		t.Fatal(err)
	}
	if c, err = loadConsents(path); err != nil {
		t.Fatal(err)
	}
	if yes, _ := c.agreed("g", "u"); !yes {
		t.Error("the consent was lost")
	}
	if yes, _ := c.agreed("other", "u"); yes {
		t.Error("the consent holds on another server")
	}
}
