package discord

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/bot/discord/discordtest"
	"github.com/glyphoxa/glyphoxa/mcp"
)

const thread = "thread-" + discordtest.Text

// posted waits for a message in a channel that has these words.
func (s *scene) posted(t testing.TB, channel, words string) (found discordtest.Post) {
	t.Helper()
	until(t, "there is a message with "+words, func() bool {
		for _, p := range s.Posts(channel) {
			if strings.Contains(p.Content, words) {
				found = p
				return true
			}
		}
		return false
	})
	return found
}

func TestCaptionsStandInAThreadUnderTheNPCsNameAndPortrait(t *testing.T) {
	t.Parallel()
	s := began(t, Options{})
	s.slash(t, discordtest.Admin, "npc speak", "npc", "bartok", "text", "Closing time, @everyone.")
	p := s.posted(t, thread, "Closing time")
	if p.Author != "Bartok the Barkeep · Glyphoxa" || !strings.Contains(p.Avatar, "bartok.png") {
		t.Errorf("written by %q with the picture %q", p.Author, p.Avatar)
	}
	until(t, "the channel says who is there", func() bool {
		st := s.Status(discordtest.Channel)
		return strings.Contains(st, "Listening") && strings.Contains(st, "Bartok")
	})
	s.slash(t, discordtest.Admin, "session stop")
	if st := s.Status(discordtest.Channel); st != "" {
		t.Errorf("after the session the channel still says %q", st)
	}
}

func TestWithoutPermissionsCaptionsAreTheBotsOwnAndTheGameGoesOn(t *testing.T) {
	t.Parallel()
	s := began(t, Options{}, func(d *discordtest.Server) { d.Forbid("threads", "webhooks", "status") })
	s.slash(t, discordtest.Admin, "npc speak", "npc", "bartok", "text", "Closing time.")
	if p := s.posted(t, discordtest.Text, "**Bartok the Barkeep:** Closing time."); p.Author != "" {
		t.Errorf("written by %q", p.Author)
	}
}

func TestNamesThatDiscordRefusesAreReplaced(t *testing.T) {
	for name, want := range map[string]string{
		"Bartok": "Bartok · Glyphoxa", "Clyde the Thief": "NPC · Glyphoxa", "Discordia": "NPC · Glyphoxa",
	} {
		if got := label(name); got != want {
			t.Errorf("%q writes as %q, want %q", name, got, want)
		}
	}
	if n := len([]rune(label(strings.Repeat("é", 200)))); n > maxName {
		t.Errorf("a long name has %d characters", n)
	}
}

func TestWhoComesLateIsAskedOnce(t *testing.T) {
	t.Parallel()
	s := began(t, Options{})
	asked := func(user string) (n int) {
		for _, p := range s.Posts(discordtest.Text) {
			if strings.Contains(p.Content, "<@"+user+">") && slices.Contains(p.Labels, "The NPCs may hear me") {
				n++
			}
		}
		return n
	}
	s.Enter(odo)
	until(t, "Odo was asked", func() bool { return asked(odo) == 1 })
	s.Enter(odo) // muted, or so
	if n := asked(mira); n != 0 {
		t.Errorf("who was there at the start was asked %d times more", n)
	}
	s.slash(t, odo, "privacy optout")
	s.Leave(odo)
	s.Enter(odo)
	// Whatever comes after the second coming would come after this.
	s.slash(t, discordtest.Admin, "npc speak", "npc", "bartok", "text", "Welcome back.")
	s.posted(t, thread, "Welcome back")
	if n := asked(odo); n != 1 {
		t.Errorf("Odo was asked %d times, want once: he has answered", n)
	}
	until(t, "the panel says that Odo declined", func() bool {
		return slices.ContainsFunc(s.Posts(discordtest.Text), func(p discordtest.Post) bool {
			return strings.Contains(p.Content, "Odo (declined)")
		})
	})
}

func TestSessionGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	s := began(t, Options{})
	s.slash(t, mira, "say", "text", "Bartok, remember the blue door.")
	s.stop()
	s.posted(t, discordtest.Text, "The bot is going down")
	s.start(t)
	s.posted(t, discordtest.Text, "The NPCs are back")
	if r := s.slash(t, discordtest.Admin, "session status"); !strings.Contains(r.Content, "The Gilded Flagon") {
		t.Errorf("after the restart: %q", r.Content)
	}
	// Who was DM for having started it still is, and what was said is known.
	if r := s.slash(t, discordtest.Admin, "memory search", "query", "blue door"); !strings.Contains(r.Content, "blue door") {
		t.Errorf("after the restart the memory has %q", r.Content)
	}
}

func TestSessionWithoutPlayersOrLongAgoIsClosedAndSaysSo(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(t *testing.T, s *scene){
		"nobody is left": func(_ *testing.T, s *scene) { s.Leave(discordtest.Admin); s.Leave(mira) },
		"an hour ago": func(t *testing.T, s *scene) {
			path := filepath.Join(s.o.Data, "sessions.json")
			was, err := loadSittings(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			for guild, one := range was.of {
				one.Alive = one.Alive.Add(-time.Hour)
				was.of[guild] = one
			}
			b, err := json.Marshal(was.of)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := began(t, Options{})
			s.stop()
			change(t, s)
			s.start(t)
			s.posted(t, discordtest.Text, "was interrupted and is closed")
			if r := s.slash(t, discordtest.Admin, "session status"); r.Content != english.fault(ErrNoSession) {
				t.Errorf("the session goes on: %q", r.Content)
			}
		})
	}
}

func TestBotThatIsSentOutEndsTheSessionAndSaysSo(t *testing.T) {
	t.Parallel()
	s := began(t, Options{})
	s.LeaveAt(discordtest.Bot, discordtest.Guild)
	s.posted(t, discordtest.Text, "were sent out")
	if r := s.slash(t, discordtest.Admin, "session status"); r.Content != english.fault(ErrNoSession) {
		t.Errorf("the session goes on: %q", r.Content)
	}
}

func TestFileThatIsSentInAWindowIsImported(t *testing.T) {
	t.Parallel()
	s := running(t, Options{})
	if r := s.slash(t, discordtest.Admin, "campaign import"); r.Modal == nil || !slices.Equal(r.Modal.Fields, []string{"file"}) {
		t.Fatalf("the window is %+v", r.Modal)
	}
	for _, tc := range []struct {
		file, content, elsewhere, want string
	}{
		{"mine.zip", "a campaign", "", "**My Own** was imported as `mine`"},
		{"mine.zip", "something else", "", "that is not a campaign"},
		{"mine.zip", "a campaign", "https://example.com/mine.zip", "does not keep files"},
		{"mine.zip", "a campaign", "http://cdn.discordapp.com/x", "does not keep files"},
		{"mine.zip", strings.Repeat("x", maxUpload+1), "", "at most"},
		{"mine.zip", "a campaign", "https://cdn.discordapp.com/files/1/gone", "404"},
	} {
		r, err := s.Upload(t.Context(), discordtest.Admin, discordtest.Guild, customID(anywhere, "import"), "file", tc.file, []byte(tc.content), tc.elsewhere)
		if err != nil || !strings.Contains(r.Content, tc.want) || !r.Private {
			t.Errorf("%.20s from %q: %q, %v; want %q", tc.content, tc.elsewhere, r.Content, err, tc.want)
		}
	}
	if r, err := s.Submit(t.Context(), discordtest.Admin, discordtest.Guild, customID(anywhere, "import")); err != nil || !strings.Contains(r.Content, "No file was sent") {
		t.Errorf("without a file: %q, %v", r.Content, err)
	}
}

func TestEntitiesComeFromAFile(t *testing.T) {
	t.Parallel()
	s := began(t, Options{})
	r := s.slash(t, discordtest.Admin, "entity import")
	for content, want := range map[string]string{
		"entities:\n  - id: weir\n    kind: location\n    name: The Weir\n    known_by: everyone\n": "1 are part of the world",
		"entities:\n  - id: weir\n    kind: hat\n    name: The Weir\n":                              "kind",
	} {
		r, err := s.Upload(t.Context(), discordtest.Admin, discordtest.Guild, r.Modal.ID, "file", "world.yaml", []byte(content), "")
		if err != nil || !strings.Contains(r.Content, want) {
			t.Errorf("%q: %q, %v", content, r.Content, err)
		}
	}
	if r := s.slash(t, discordtest.Admin, "entity list"); !strings.Contains(r.Content, "The Weir (added)") {
		t.Errorf("the world has %q", r.Content)
	}
	if r := s.slash(t, discordtest.Admin, "memory entity", "entity", "weir"); !strings.Contains(r.Content, "The Weir") {
		t.Errorf("the memory has %q", r.Content)
	}
}

func TestAnotherCampaignIsPlayedInTheSameCall(t *testing.T) {
	t.Parallel()
	s := began(t, Options{})
	if r := s.slash(t, discordtest.Admin, "campaign switch", "campaign", "drowned-ledger"); !strings.Contains(r.Content+strings.Join(replies(s.Posted()), ""), "is played from now on") {
		t.Errorf("switching said %q", r.Content)
	}
	if r := s.slash(t, discordtest.Admin, "session status"); !strings.Contains(r.Content, "Drowned Ledger") || !strings.Contains(r.Content, "connected") {
		t.Errorf("afterwards: %q", r.Content)
	}
	if r := s.slash(t, discordtest.Admin, "campaign load"); !strings.Contains(r.Content, "read anew") {
		t.Errorf("reading it anew said %q", r.Content)
	}
	s.slash(t, discordtest.Admin, "session stop")
	s.begin(t)
	if r := s.slash(t, discordtest.Admin, "session status"); !strings.Contains(r.Content, "Drowned Ledger") {
		t.Errorf("the next session: %q", r.Content)
	}
}

func TestWhisperReachesOnePlayerAsThatNPC(t *testing.T) {
	t.Parallel()
	s := began(t, Options{})
	r, err := s.On(t.Context(), discordtest.Admin, discordtest.Guild, "Whisper to", mira, "")
	if err != nil || r.Modal == nil {
		t.Fatalf("got %+v, %v", r, err)
	}
	if r, err = s.Submit(t.Context(), discordtest.Admin, discordtest.Guild, r.Modal.ID, "npc", "Bartok", "text", "Meet me at the mill."); err != nil || r.Content != "Done." {
		t.Fatalf("got %+v, %v", r, err)
	}
	if p := s.posted(t, "direct-"+mira, "Meet me at the mill"); !strings.Contains(p.Content, "played by software") {
		t.Errorf("the player reads %q", p.Content)
	}
	for _, p := range append(s.Posts(discordtest.Text), s.Posts(thread)...) {
		if strings.Contains(p.Content, "Meet me") {
			t.Errorf("everybody reads %q", p.Content)
		}
	}
	s.Forbid("direct")
	if r, err = s.On(t.Context(), discordtest.Admin, discordtest.Guild, "Whisper to", mira, ""); err != nil {
		t.Fatal(err)
	}
	if r, err = s.Submit(t.Context(), discordtest.Admin, discordtest.Guild, r.Modal.ID, "npc", "Bartok", "text", "Again."); err != nil || !strings.Contains(r.Content, "did not deliver") {
		t.Errorf("a player who takes no messages: %+v, %v", r, err)
	}
}

func TestMessagesAreRememberedOfThoseWhoAgreed(t *testing.T) {
	t.Parallel()
	s := began(t, Options{})
	remember := func() string {
		r, err := s.On(t.Context(), discordtest.Admin, discordtest.Guild, "Remember this", mira, "The mill burned in spring.")
		if err != nil {
			t.Fatal(err)
		}
		return r.Content
	}
	if got := remember(); !strings.Contains(got, "has not agreed") {
		t.Errorf("without consent: %q", got)
	}
	s.slash(t, mira, "privacy optin")
	if got := remember(); !strings.Contains(got, "will remember") {
		t.Errorf("with consent: %q", got)
	}
}

func TestCallIsGrantedAsItWasShownAndOnce(t *testing.T) {
	t.Parallel()
	s := began(t, Options{})
	mark := s.mark(t)
	s.world.mu.Lock()
	host := s.world.hosts[discordtest.Guild]
	s.world.mu.Unlock()
	belt := host.Belt(mcp.Grant{Caller: mcp.Caller{NPC: "bartok"}, Allow: []string{"post"}, Tier: mcp.Deep, Writes: mcp.WriteAsk})
	belt.Call(t.Context(), "post", json.RawMessage(`{"text":"the **bill**"}`))
	until(t, "the panel offers to decide", func() bool {
		return slices.ContainsFunc(s.Posts(discordtest.Text), func(p discordtest.Post) bool { return slices.Contains(p.Labels, "Tool calls: 1") })
	})
	if r := s.press(t, mira, customID(mark, "calls")); !refuses(r.Content) {
		t.Errorf("a player sees the calls: %q", r.Content)
	}
	r := s.press(t, discordtest.Admin, customID(mark, "calls"))
	if !r.Private || !strings.Contains(r.Content, `{"text":"the **bill**"}`) || len(r.Buttons) != 2 {
		t.Fatalf("the DM sees %+v", r)
	}
	approve := r.Buttons[0]
	if r := s.press(t, mira, approve); !refuses(r.Content) {
		t.Errorf("a player granted it: %q", r.Content)
	}
	forged := approve[:len(approve)-1] + "0"
	if forged == approve {
		forged = approve[:len(approve)-1] + "1"
	}
	if r := s.press(t, discordtest.Admin, forged); strings.Contains(r.Content, "Approved") {
		t.Errorf("something else was granted: %q", r.Content)
	}
	if r := s.press(t, discordtest.Admin, approve); !strings.Contains(r.Content, "Approved") || !strings.Contains(r.Content, "posted") {
		t.Errorf("granting said %q", r.Content)
	}
	if r := s.press(t, discordtest.Admin, approve); strings.Contains(r.Content, "Approved") {
		t.Errorf("it was granted twice: %q", r.Content)
	}
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	if !slices.Equal(s.world.ran, []string{`{"text":"the **bill**"}`}) {
		t.Errorf("what ran: %v", s.world.ran)
	}
}

func TestSlowAnswerIsPromisedAndEveryMessageIsStillRight(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	s := running(t, Options{Rule: func(ctx context.Context, q string) (string, error) {
		select {
		case <-release:
		case <-ctx.Done():
		}
		return "**Flying** @everyone", nil
	}})
	time.AfterFunc(2*soon, func() { close(release) })
	if r := s.slash(t, mira, "rule", "question", "flying"); r.Content != "Done." || !r.Private {
		t.Errorf("the promise became %+v", r)
	}
	s.posted(t, discordtest.Text, "**Flying**")
}

func TestSoundIsKeptOnlyWhereTheServerDoesAndThePlayerAgreed(t *testing.T) {
	t.Parallel()
	s := running(t, Options{})
	for _, tc := range []struct {
		mode            Consent
		given           assent
		heard, recorded bool
	}{
		{Off, kept, false, false}, {Live, heard, true, false}, {Transcript, kept, true, false}, {Transcript, "", false, false},
		{Audio, heard, true, false}, {Audio, kept, true, true}, {Audio, refused, false, false}, {Audio, "", false, false},
	} {
		if err := s.app.consent.decide(discordtest.Guild, mira, tc.given); err != nil {
			t.Fatal(err)
		}
		g := &game{app: s.app, guild: discordtest.Guild, consent: tc.mode, people: map[string]person{mira: {name: "Mira"}}}
		who, ok := g.person(number(mira))
		if ok != tc.heard || who.Recorded != tc.recorded {
			t.Errorf("%s, agreed %q: heard %v, recorded %v; want %v, %v", tc.mode, tc.given, ok, who.Recorded, tc.heard, tc.recorded)
		}
	}
}

func TestAgreeingToMoreThanThereIsDoesNotCountLater(t *testing.T) {
	t.Parallel()
	s := running(t, Options{})
	s.slash(t, mira, "privacy optin", "voice", "true")
	if got := s.app.consent.given(discordtest.Guild, mira); got != heard {
		t.Errorf("where no sound is kept, agreeing to it counts as %q", got)
	}
	if r := s.press(t, discordtest.Admin, customID(anywhere, "consent"), "audio"); !strings.Contains(r.Content, "audio") {
		t.Errorf("choosing it said %q", r.Content)
	}
	if got := s.app.place(discordtest.Guild).Consent; got != Audio {
		t.Errorf("the next session does %q", got)
	}
	s.slash(t, mira, "privacy optin", "voice", "true")
	if got := s.app.consent.given(discordtest.Guild, mira); got != kept {
		t.Errorf("agreeing to it counts as %q", got)
	}
	if r := s.press(t, discordtest.Admin, customID(anywhere, "consent"), "everything"); !strings.Contains(r.Content, english.fault(errEmptyMenu)) {
		t.Errorf("a state that does not exist: %q", r.Content)
	}
}

func TestPlayerGetsAndDeletesWhatIsKept(t *testing.T) {
	t.Parallel()
	s := began(t, Options{})
	for _, user := range []string{mira, discordtest.Admin} {
		s.slash(t, user, "say", "text", "I hid the key under the stone, says "+user)
	}
	r := s.slash(t, mira, "privacy export")
	z, err := zip.NewReader(bytes.NewReader(r.Files["glyphoxa.zip"]), int64(len(r.Files["glyphoxa.zip"])))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, f := range z.File {
		b, err := z.Open(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if _, err := out.ReadFrom(b); err != nil {
			t.Fatal(err)
		}
		text.WriteString(out.String())
	}
	if !strings.Contains(text.String(), mira) || strings.Contains(text.String(), "says "+discordtest.Admin) {
		t.Errorf("the export has %s", text.String())
	}
	if r := s.press(t, odo, customID(anywhere, "forget", mira)); !strings.Contains(r.Content, english.fault(errStale)) {
		t.Errorf("somebody else deleted it: %q", r.Content)
	}
	if r := s.press(t, mira, customID(anywhere, "forget", mira)); !strings.Contains(r.Content, "were deleted") {
		t.Errorf("deleting said %q", r.Content)
	}
	if r := s.slash(t, discordtest.Admin, "memory search", "query", "key under the stone"); strings.Contains(r.Content, "says "+mira) || !strings.Contains(r.Content, "says "+discordtest.Admin) {
		t.Errorf("the memory still has %q", r.Content)
	}
	found := make(chan *game, 1)
	s.app.post(func() { found <- s.app.games[discordtest.Guild] })
	for _, l := range (<-found).table().State().Lines {
		if l.Speaker.ID == mira {
			t.Errorf("the table still shows %q", l.Text)
		}
	}
	if s.app.consent.agreed(discordtest.Guild, mira) {
		t.Error("who deleted everything is still heard")
	}
}
