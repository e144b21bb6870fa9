package discord

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glyphoxa/glyphoxa/bot/discord/discordtest"
	"github.com/glyphoxa/glyphoxa/secret"
	"github.com/glyphoxa/glyphoxa/voice/voicetest"
)

// What can go wrong with the main gateway, what must hold then, and the tests that
// show it. R6 to R16 are the call's: see package voice. discordgo sleeps with a
// lock held, so that these run in real time, with short pauses; what does not need
// it is in virtual time.
//
//	R1  connection lost, session alive      resumed, nothing missed, calls go on
//	R2  session invalid, new connection     a login after the pause that Discord
//	    asked for                           asks for; the commands stay
//	R3  heartbeats unanswered               noticed, resumed
//	R4  gateway down, crash loop            at most 20 logins an hour, 500 a day,
//	                                        restarts included
//	R5  token or intents refused            one sentence that names the fix, no
//	                                        second try

// A lobby is a bot without sessions on a Discord on loopback.
type lobby struct {
	*discordtest.Server
	data  string
	stop  context.CancelFunc
	ended chan error
}

func newLobby(t *testing.T) *lobby {
	t.Helper()
	calls, err := voicetest.NewServer(nil)
	if err != nil {
		t.Fatal(err)
	}
	l := &lobby{Server: discordtest.NewServer(botToken, calls), data: t.TempDir()}
	l.Join(mira, "Mira", discordtest.Everyone)
	l.Join(odo, "Odo", discordtest.Everyone)
	t.Cleanup(func() {
		l.Close()
		if err := calls.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// shortPause stands for the one that Discord asks for.
const shortPause = 100 * time.Millisecond

// bot starts the application.
func (l *lobby) bot(t *testing.T, change func(*App)) *App {
	t.Helper()
	app, err := New(Options{Token: secret.New(botToken), HTTP: l.Client(), Data: l.data})
	if err != nil {
		t.Fatal(err)
	}
	app.door.pause = func() time.Duration { return shortPause }
	if change != nil {
		change(app)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	l.stop, l.ended = cancel, ended
	over := make(chan struct{})
	go func() {
		ended <- app.Run(ctx)
		close(over)
	}()
	t.Cleanup(func() {
		cancel()
		<-over
	})
	return app
}

// online waits until the bot answers.
func (l *lobby) online(t *testing.T) {
	t.Helper()
	until(t, "the bot has commands", l.Ready)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if r, err := l.Slash(ctx, mira, "help"); err != nil || !strings.Contains(r.Content, "Say an NPC's name") {
		t.Errorf("the bot answers %q, %v", r.Content, err)
	}
}

func TestR1ConnectionCutAtAnyPointIsMended(t *testing.T) {
	for _, point := range []string{"hello", "READY", "GUILD_CREATE", "ack", "INTERACTION_CREATE", "RESUMED"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			l := newLobby(t)
			l.CutInstead(point)
			l.bot(t, nil)
			until(t, "the bot has commands", l.Ready)
			if point == "RESUMED" {
				l.Cut()
			}
			l.online(t)
			if n := l.Registrations(); n != 1 {
				t.Errorf("the commands were registered %d times", n)
			}
		})
	}
}

func TestR1MissedEventsComeInOrderAfterAResume(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	app := l.bot(t, nil)
	l.online(t)
	l.Cut()
	for range 10 {
		l.Enter(mira)
		l.Leave(mira)
	}
	l.Enter(odo)
	l.online(t)
	if l.Resumes() != 1 || l.Logins() != 1 {
		t.Errorf("%d resumes, %d logins; want one each", l.Resumes(), l.Logins())
	}
	if _, err := app.session.State.VoiceState(discordtest.Guild, mira); err == nil {
		t.Error("Mira is still in the voice channel")
	}
	if v, err := app.session.State.VoiceState(discordtest.Guild, odo); err != nil || v.ChannelID != discordtest.Channel {
		t.Errorf("Odo is not in the voice channel: %v", err)
	}
}

func TestR1CallsDoNotNoticeALostGateway(t *testing.T) {
	t.Parallel()
	d := began(t, Options{})
	channel := number(discordtest.Channel)
	before := d.calls.Epoch(channel)
	d.Cut()
	until(t, "the gateway is back", func() bool { return d.Resumes() == 1 })
	d.slash(t, discordtest.Admin, "session status")
	if in := d.calls.Members(channel); len(in) != 1 || d.calls.Epoch(channel) != before || d.Logins() != 1 {
		t.Errorf("%v in the call, epoch %d, %d logins; want all as it was", in, d.calls.Epoch(channel), d.Logins())
	}
}

func TestR2NewConnectionThatIsAskedForResumes(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	l.bot(t, nil)
	l.online(t)
	l.Reconnect()
	until(t, "a resume", func() bool { return l.Resumes() == 1 })
	if l.online(t); l.Logins() != 1 {
		t.Errorf("%d logins, want one", l.Logins())
	}
}

func TestR2InvalidSessionIsFollowedByALoginAfterAPause(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	l.bot(t, nil)
	l.online(t)
	start := time.Now()
	l.Invalidate()
	until(t, "a second login", func() bool { return l.Logins() == 2 })
	if took := l.LoginTimes()[1].Sub(start); took < shortPause {
		t.Errorf("logged in after %v, want a pause", took)
	}
	until(t, "the new session", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := l.Slash(ctx, mira, "help")
		return err == nil
	})
	if n := l.Registrations(); n != 1 {
		t.Errorf("the commands were registered %d times", n)
	}
	for range 1000 {
		if p := randomPause(); p < time.Second || p > 5*time.Second {
			t.Fatalf("a pause of %v, and Discord asks for 1 to 5 s", p)
		}
	}
}

func TestR3UnansweredHeartbeatsAreNoticed(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	l.Heartbeat(time.Second) // after five of them discordgo ends the session itself
	l.bot(t, func(a *App) { a.patience = 2500 * time.Millisecond })
	l.online(t)
	l.ForgetHeartbeats(true)
	until(t, "a resume", func() bool {
		l.Enter(mira) // other events go on coming
		return l.Resumes() > 0
	})
	l.ForgetHeartbeats(false)
	if l.online(t); l.Logins() != 1 {
		t.Errorf("%d logins, want the session resumed", l.Logins())
	}
}

func TestR4GatewayThatIsDownCostsNoLogin(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	l.bot(t, nil)
	l.online(t)
	l.Down(true)
	l.Cut()
	until(t, "three attempts", func() bool { return l.TurnedAway() >= 3 })
	l.Down(false)
	if l.online(t); l.Logins() != 1 || l.Resumes() != 1 {
		t.Errorf("%d logins and %d resumes, want one each", l.Logins(), l.Resumes())
	}
}

// TestR4SessionsThatAreAlwaysInvalidKeepTheLoginBudget has Discord answer every
// login with an invalid session for 30 hours.
func TestR4SessionsThatAreAlwaysInvalidKeepTheLoginBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &door{budget: &budget{path: filepath.Join(t.TempDir(), "logins.json")}, life: t.Context(), pause: randomPause}
		var logins []time.Time
		for start := time.Now(); time.Since(start) < 30*time.Hour; {
			err := d.admit()
			if err == nil {
				logins = append(logins, time.Now())
				continue
			}
			e, ok := errors.AsType[*tooManyLogins](err)
			if !ok || !strings.Contains(e.Error(), "find out why") || !e.until.After(time.Now()) {
				t.Fatalf("refused with %v", err)
			}
			time.Sleep(time.Until(e.until))
		}
		if n := within(logins, time.Hour); n != maxHourly {
			t.Errorf("%d logins within an hour, want %d", n, maxHourly)
		}
		if n := within(logins, 24*time.Hour); n > maxLogins || n < 400 {
			t.Errorf("%d logins within a day", n)
		}
	})
}

// within is the largest number of times that lie in any span.
func within(times []time.Time, span time.Duration) (most int) {
	for i := range times {
		n := 0
		for _, t := range times[i:] {
			if t.Sub(times[i]) < span {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

func TestR4RestartsCountInTheLoginBudget(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	b := &budget{path: filepath.Join(l.data, "logins.json")}
	for range maxHourly - 1 {
		if err := b.spend(); err != nil {
			t.Fatal(err)
		}
	}
	l.bot(t, nil)
	l.online(t)
	l.stop()
	if err := <-l.ended; err != nil {
		t.Fatal(err)
	}
	l.bot(t, nil)
	if err := <-l.ended; !strings.Contains(err.Error(), "find out why") {
		t.Errorf("ended with %v, want a sentence about logins", err)
	}
	if n := l.Logins(); n != 1 {
		t.Errorf("%d logins, want one", n)
	}
}

func TestLoginsOfADayAreLimitedAndADamagedCountIsForgiven(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &budget{path: filepath.Join(t.TempDir(), "logins.json")}
		allowed := 0
		for range 24 * 12 {
			for range 3 {
				if b.spend() == nil {
					allowed++
				}
			}
			time.Sleep(5 * time.Minute)
		}
		if allowed != min(24*maxHourly, maxLogins) {
			t.Errorf("%d logins in a day", allowed)
		}
		if err := os.WriteFile(b.path, []byte("{damaged"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := b.spend(); err != nil {
			t.Errorf("a damaged counter keeps the bot out: %v", err)
		}
	})
}

func TestR5RefusedBotSaysWhatToDoAndDoesNotTryAgain(t *testing.T) {
	for code, want := range map[int]string{4004: "Bot page", 4013: "update Glyphoxa", 4014: "switch it on"} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			l := newLobby(t)
			l.Refuse(code)
			l.bot(t, nil)
			if err := <-l.ended; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("ended with %v, want %q", err, want)
			}
			if n := l.Logins(); n != 1 {
				t.Errorf("%d logins, want one", n)
			}
		})
	}
}

func TestR5TokenThatIsResetWhileTheBotRunsEndsIt(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	l.bot(t, nil)
	l.online(t)
	l.Refuse(4004)
	l.Invalidate()
	if err := <-l.ended; !errors.Is(err, ErrBadToken) {
		t.Errorf("ended with %v, want %v", err, ErrBadToken)
	}
}

func TestStoppingDoesNotWaitForAGatewayThatSaysNothing(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	dialled := make(chan struct{}, 10)
	l.bot(t, func(a *App) {
		a.door.dial = func(context.Context, string, string) (net.Conn, error) {
			dialled <- struct{}{}
			ours, _ := net.Pipe() // nobody at the other end
			return ours, nil
		}
	})
	<-dialled
	start := time.Now()
	l.stop()
	if err := <-l.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	if took := time.Since(start); took > openTime/2 {
		t.Errorf("stopped after %v", took)
	}
}

func TestOnlyLoginsAreStoppedAtTheDoor(t *testing.T) {
	frame := func(payload string, long bool) []byte {
		b := []byte{0x81, 0x80 | byte(len(payload))}
		if long {
			b = []byte{0x81, 0x80 | 126, 0, byte(len(payload))}
		}
		mask := []byte{1, 2, 3, 4}
		b = append(b, mask...)
		for i := range len(payload) {
			b = append(b, payload[i]^mask[i%4])
		}
		return b
	}
	for _, c := range []struct {
		frame []byte
		want  bool
	}{
		{frame(`{"op":2,"d":{}}`, false), true}, {frame(`{"op":2,"d":{}}`, true), true}, {frame(`{"op":1,"d":5}`, false), false},
		{frame(`{"op":6,"d":{"x":"op"}}`, true), false}, {nil, false}, {[]byte{0x81}, false}, {[]byte{0x81, 0x80 | 126}, false},
		{[]byte{0x81, 0x80 | 126, 0}, false}, {[]byte(`{"op":2,"d":{}}`), false}, {frame(`{"op":2`, false), false},
	} {
		if got := isLogin(c.frame); got != c.want {
			t.Errorf("%q is a login: %v", c.frame, got)
		}
	}
}

func TestFarewellIsOnlySaidByWhoLeaves(t *testing.T) {
	for _, leaving := range []bool{false, true} {
		ours, theirs := net.Pipe()
		d := &door{}
		d.leaving.Store(leaving)
		p := &passage{Conn: ours, door: d}
		go func() {
			_, _ = p.Write([]byte{0x88, 0x82, 1, 2, 3, 4, 0x03 ^ 1, 0xe8 ^ 2}) // the other end checks
		}()
		b := make([]byte, 8)
		if _, err := io.ReadFull(theirs, b); err != nil {
			t.Fatal(err)
		}
		want := 4900
		if leaving {
			want = 1000
		}
		if got := int(b[6]^b[2])<<8 | int(b[7]^b[3]); got != want {
			t.Errorf("leaving=%v: close code %d, want %d", leaving, got, want)
		}
	}
}

func TestDoctorNamesWhatIsWrongBeforehand(t *testing.T) {
	for name, c := range map[string]struct {
		plain  bool
		token  string
		spoil  func(d *discordtest.Server, calls *voicetest.Server)
		check  string // what Check says
		trying string // what TryCall says
	}{
		"nothing":    {check: "for The Table, 999", trying: "UDP passes"},
		"token":      {token: "another", check: "Bot page", trying: "Bot page"},
		"no Connect": {spoil: func(d *discordtest.Server, _ *voicetest.Server) { d.Deny(discordtest.Connect) }, check: "#Voice: give the bot's role “Connect”", trying: "permissions Connect and Speak"},
		"no Speak":   {spoil: func(d *discordtest.Server, _ *voicetest.Server) { d.Deny(discordtest.Speak) }, check: "give the bot's role “Speak”", trying: "UDP passes"},
		"UDP":        {spoil: func(_ *discordtest.Server, calls *voicetest.Server) { calls.SilenceUDP(true) }, check: "The Table", trying: "allow outgoing UDP"},
		"encryption": {plain: true, check: "The Table", trying: "not end-to-end encrypted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls, err := voicetest.NewServer(&voicetest.Options{Plain: c.plain})
			if err != nil {
				t.Fatal(err)
			}
			d := discordtest.NewServer(botToken, calls)
			t.Cleanup(func() {
				d.Close()
				if err := calls.Close(); err != nil {
					t.Error(err)
				}
			})
			if c.spoil != nil {
				c.spoil(d, calls)
			}
			o := Options{Token: secret.New(cmp.Or(c.token, botToken)), Guild: discordtest.Guild, HTTP: d.Client(), Data: t.TempDir()}
			for _, tried := range []struct {
				want string
				by   func() (string, error)
			}{
				{c.check, func() (string, error) { return Check(t.Context(), o) }},
				{c.trying, func() (string, error) { return TryCall(t.Context(), o, discordtest.Channel) }},
			} {
				note, err := tried.by()
				if err != nil {
					note = err.Error()
				}
				if !strings.Contains(note, tried.want) {
					t.Errorf("%q, want it to mention %q", note, tried.want)
				}
			}
			if in := calls.Members(number(discordtest.Channel)); len(in) != 0 {
				t.Errorf("still in the call: %v", in)
			}
		})
	}
}
