package discord

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/bot/discord/discordtest"
	"github.com/glyphoxa/glyphoxa/campaigns"
	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/llm/improviser"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/memory/sqlite"
	"github.com/glyphoxa/glyphoxa/npc"
	"github.com/glyphoxa/glyphoxa/secret"
	"github.com/glyphoxa/glyphoxa/voice"
	"github.com/glyphoxa/glyphoxa/voice/music"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
	"github.com/glyphoxa/glyphoxa/voice/voicetest"
)

const (
	botToken = "the-token"
	mira     = "900000000000000021"
	odo      = "900000000000000022"
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

// world is what the application stands on in tests: a shipped campaign and a memory
// for each server, as cmd has it.
type world struct {
	dir   string
	mu    sync.Mutex // guards hosts
	hosts map[string]*mcp.Host
	// ran counts what the tool that writes was given.
	ran []string
	// table is the one that was opened last.
	table atomic.Pointer[bot.Table]
}

func (w *world) store(ctx context.Context, guild string) (memory.Store, error) {
	return sqlite.Open(ctx, filepath.Join(w.dir, guild+".db"))
}

func (w *world) open(ctx context.Context, p Place) (*Seat, error) {
	name := p.Campaign
	if name == "" {
		name = "gilded-flagon"
	}
	fsys, err := campaigns.ShippedFolder(name)
	if err != nil {
		return nil, err
	}
	c, problems := campaigns.Load(fsys, campaigns.Options{})
	if err := problems.Err(); err != nil {
		return nil, err
	}
	store, err := w.store(ctx, p.Guild)
	if err != nil {
		return nil, err
	}
	host, err := mcp.NewHost(mcp.HostOptions{})
	if err != nil {
		return nil, err
	}
	dice := mcp.Builtin{
		Tool: mcp.Tool{Name: "roll", Description: "rolls", Category: mcp.Core, Schema: []byte(`{"type":"object"}`), Estimated: time.Millisecond, Max: time.Second},
		Call: func(context.Context, mcp.Caller, json.RawMessage) (string, error) { return `{"total":9}`, nil },
	}
	post := mcp.Builtin{
		Tool: mcp.Tool{Name: "post", Description: "writes", Category: mcp.Core, Schema: []byte(`{"type":"object"}`), Estimated: time.Millisecond, Max: time.Second, Writes: true},
		Call: func(_ context.Context, _ mcp.Caller, args json.RawMessage) (string, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.ran = append(w.ran, string(args))
			return "posted", nil
		},
	}
	if err := host.Add(dice, post); err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.hosts[p.Guild] = host
	w.mu.Unlock()
	c.NPCs[0].Portrait = "bartok.png"
	recordings, err := bot.OpenRecordings(filepath.Join(w.dir, p.Guild+"-audio"))
	if err != nil {
		return nil, err
	}
	about := struct{ Brain, Ear, Mouth bot.Part }{bot.Part{Name: "the improviser"}, bot.Part{Name: "ear"}, bot.Part{Name: "hum"}}
	table, err := bot.Open(ctx, bot.Options{
		Campaign: c, Memory: store, Tools: host, Ear: ear{}, Synth: hum{}, Recordings: recordings, About: about, Music: music.NewLibrary(nil),
		Feedback: filepath.Join(w.dir, "feedback.jsonl"), Additions: filepath.Join(w.dir, p.Guild+"-added.json"),
		Brain: func(_ npc.Character, p improviser.Persona) engine.Model { return improviser.New(p, 1) },
	})
	if err != nil {
		return nil, err
	}
	w.table.Store(table)
	return &Seat{
		Table: table, Archive: bot.NewArchive(store, c.ID), Tools: bot.NewWorkshop(host), Recordings: recordings,
		Roll: func(_ context.Context, r Roll) (string, error) { return "`" + r.Dice + "` = **4**", nil }, Portrait: portrait,
		Console: func(name string) string { return "http://127.0.0.1/page-for-" + name },
		Reload:  func(ctx context.Context) error { return table.Reload(ctx, c) },
		Close: func() error {
			return errors.Join(table.Close(context.WithoutCancel(ctx)), host.Close(), store.Close(), recordings.Close())
		},
	}, nil
}

func portrait(string) ([]byte, error) { return []byte("a picture"), nil }

func (w *world) shelf(ctx context.Context, p Place) (Shelf, error) {
	store, err := w.store(ctx, p.Guild)
	if err != nil {
		return Shelf{}, err
	}
	name := p.Campaign
	if name == "" {
		name = "gilded-flagon"
	}
	return Shelf{Archive: bot.NewArchive(store, name), Close: store.Close}, nil
}

func (*world) Stories(context.Context, string) ([]Story, error) {
	return []Story{{"gilded-flagon", "The Gilded Flagon", "An inn."}, {"drowned-ledger", "The Drowned Ledger", "A city."}}, nil
}

func (*world) Import(_ context.Context, _ Place, file string, data []byte) (Story, []string, error) {
	if string(data) != "a campaign" {
		return Story{}, nil, errors.New(file + ": line 1: that is not a campaign")
	}
	return Story{Name: "mine", Title: "My Own"}, []string{"3 NPCs"}, nil
}

// scene is a Discord with voice servers and a bot on it, which can be stopped and
// started again.
type scene struct {
	*discordtest.Server
	calls *voicetest.Server
	world *world
	o     Options
	soon  time.Duration // at least, for tests that want every answer at once
	app   *App
	stop  func()
}

// running starts a Discord, a voice server and the bot.
func running(t testing.TB, o Options, before ...func(*discordtest.Server)) *scene {
	t.Helper()
	calls, err := voicetest.NewServer(nil)
	if err != nil {
		t.Fatal(err)
	}
	d := discordtest.NewServer(botToken, calls)
	d.Join(mira, "Mira", discordtest.Everyone)
	d.Join(odo, "Odo", discordtest.Everyone)
	w := &world{dir: t.TempDir(), hosts: map[string]*mcp.Host{}}
	o.Token, o.HTTP, o.Open, o.Shelf, o.Library = secret.New(botToken), d.Client(), w.open, w.shelf, w
	o.Data = w.dir
	if o.Consent == "" {
		o.Consent = Transcript
	}
	if o.Rule == nil {
		o.Rule = func(context.Context, string) (string, error) { return "", bot.Refuse("that is not in the free rules") }
	}
	o.Roll = func(_ context.Context, r Roll) (string, error) { return "`" + r.Dice + "` = **3**", nil }
	o.Processors = func() []Processor { return []Processor{{"audio", "ear", ""}, {"text", "a model", "api.example.com"}} }
	for _, f := range before {
		f(d)
	}
	s := &scene{Server: d, calls: calls, world: w, o: o}
	s.start(t)
	t.Cleanup(func() {
		s.stop()
		d.Close()
		if err := calls.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// start runs the bot, until stop.
func (s *scene) start(t testing.TB) {
	t.Helper()
	app, err := New(s.o)
	if err != nil {
		t.Fatal(err)
	}
	app.panelEvery = 20 * time.Millisecond
	app.soon = max(app.soon, s.soon)
	s.app = app
	before := s.Logins()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- app.Run(ctx) }()
	s.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	until(t, "the commands are registered", func() bool { return s.Ready() && s.Logins() > before })
}

// began starts a session as the administrator, with a player.
func began(t testing.TB, o Options, before ...func(*discordtest.Server)) *scene {
	t.Helper()
	s := running(t, o, before...)
	s.Enter(discordtest.Admin)
	s.Enter(mira)
	s.begin(t)
	return s
}

func (s *scene) begin(t testing.TB) {
	t.Helper()
	until(t, "the session has begun", func() bool {
		return strings.Contains(s.slash(t, discordtest.Admin, "session start").Content, "session is running")
	})
}

// until waits for something that other goroutines bring about.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(60 * time.Second)
	for !ok() {
		select {
		case <-deadline:
			t.Fatalf("gave up waiting until %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (s *scene) slash(t testing.TB, user, name string, options ...string) discordtest.Reply {
	t.Helper()
	return s.slashAt(t, user, discordtest.Guild, name, options...)
}

func (s *scene) slashAt(t testing.TB, user, guild, name string, options ...string) discordtest.Reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	r, err := s.SlashAt(ctx, user, guild, name, options...)
	if err != nil {
		t.Fatalf("/%s: %v", name, err)
	}
	return r
}

func (s *scene) press(t testing.TB, user, id string, values ...string) discordtest.Reply {
	t.Helper()
	r, err := s.PressAt(t.Context(), user, discordtest.Guild, id, values...)
	if err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	return r
}

func TestPlayerSpeaksInTheVoiceChannelAndAnNPCAnswersThere(t *testing.T) {
	t.Parallel()
	d := began(t, Options{})
	calls := d.calls
	if r := d.slash(t, mira, "privacy optin"); !strings.Contains(r.Content, "hear you") {
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
	switch r := d.slash(t, discordtest.Admin, "session stop"); {
	case r.Content == "Done.": // a slow answer is promised first, and follows
		d.posted(t, discordtest.Text, "has ended")
	case !strings.Contains(r.Content, "has ended"):
		t.Errorf("stopping said %q", r.Content)
	}
}

func number(id string) (n uint64) {
	for _, c := range id {
		n = 10*n + uint64(c-'0')
	}
	return n
}

func TestSessionNeedsSomebodyInAVoiceChannel(t *testing.T) {
	t.Parallel()
	d := running(t, Options{})
	if r := d.slash(t, discordtest.Admin, "session start"); r.Content != english.fault(ErrNotInVoice) {
		t.Errorf("got %q, want %q", r.Content, english.fault(ErrNotInVoice))
	}
}

func TestWrongTokenIsOneSentenceThatNamesTheFix(t *testing.T) {
	calls, err := voicetest.NewServer(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer calls.Close()
	d := discordtest.NewServer(botToken, calls)
	defer d.Close()
	app, err := New(Options{Token: secret.New("another"), HTTP: d.Client(), Data: t.TempDir()})
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
	t.Parallel()
	d := running(t, Options{})
	for _, tc := range []struct {
		token, guild, want string
	}{
		{botToken, discordtest.Guild, "The Table"}, {botToken, "", "every server"}, {"another", "", "Bot page"}, {botToken, "12345", "not in that server"},
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

func TestCheckNamesPermissionsThatLack(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		has  int64
		want string
		bad  bool
	}{
		{discordtest.All, "The Table", false},
		{discordtest.All &^ discordtest.SendMessages, "the bot cannot show the panel", true},
		{discordtest.Everyone, "captions have no names and portraits", false},
		{discordtest.Administrator, "need not be", false},
	} {
		d := running(t, Options{}, func(d *discordtest.Server) { d.Grant(discordtest.Guild, tc.has) })
		note, err := Check(t.Context(), Options{Token: secret.New(botToken), Guild: discordtest.Guild, HTTP: d.Client(), Data: t.TempDir()})
		if err != nil {
			note = err.Error()
		}
		if (err != nil) != tc.bad || !strings.Contains(note, tc.want) {
			t.Errorf("permissions %b: %q, want it to mention %q", tc.has, note, tc.want)
		}
		r := d.slash(t, discordtest.Admin, "setup")
		if got := strings.Contains(r.Content, tc.want); !got && tc.has == discordtest.Everyone {
			t.Errorf("/setup with %b: %q", tc.has, r.Content)
		}
	}
}

func TestConsentSurvivesARestartAndIsRefusedByDefault(t *testing.T) {
	path := filepath.Join(t.TempDir(), "consent.json")
	c, err := loadConsents(path)
	if err != nil {
		t.Fatal(err)
	}
	if c.agreed("g", "u") || c.given("g", "u") != "" {
		t.Error("somebody who was never asked has agreed")
	}
	if err := c.decide("g", "u", heard); err != nil {
		t.Fatal(err)
	}
	if c, err = loadConsents(path); err != nil {
		t.Fatal(err)
	}
	if !c.agreed("g", "u") {
		t.Error("the consent was lost")
	}
	if c.agreed("other", "u") {
		t.Error("the consent holds on another server")
	}
	// What cannot be written does not count as agreed, and a refusal always counts.
	c.path = filepath.Join(t.TempDir(), "no", "such", "folder")
	if err := c.decide("g", "v", heard); err == nil || c.agreed("g", "v") {
		t.Errorf("agreed %v although it was not kept: %v", c.agreed("g", "v"), err)
	}
	if err := c.decide("g", "u", refused); err == nil || c.agreed("g", "u") {
		t.Errorf("still heard after a refusal that was not kept: %v", err)
	}
}
