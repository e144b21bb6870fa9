package discord

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/glyphoxa/glyphoxa/bot"
)

func sessionCommands() []command {
	length := option{name: "length", about: "How long it may be", choices: []string{"short", "medium", "long"}}
	private := option{name: "private", about: "Show it only to you", kind: discordgo.ApplicationCommandOptionBoolean}
	return []command{
		{group: "session", name: "start", about: "Bring the NPCs into your voice channel", dm: true, run: startSession},
		{group: "session", name: "stop", about: "Send the NPCs away; what was said is kept", dm: true, session: true, run: stopSession},
		{group: "session", name: "pause", about: "Hear nobody and keep the NPCs silent, or go on", session: true,
			options: []option{{name: "on", about: "No to go on", kind: discordgo.ApplicationCommandOptionBoolean}}, run: pauseSession},
		{group: "session", name: "status", about: "Who is here, what listens, and how the call is", session: true, run: sessionStatus},
		{group: "session", name: "recap", about: "What happened in the last session", options: []option{length, private}, run: recap},
	}
}

// reserve takes the server's place for a session, on the event goroutine, so that
// two people cannot start one at once.
func (a *App) reserve(c *call) error {
	if c.game != nil {
		return ErrRunning
	}
	v, err := a.session.State.VoiceState(c.i.GuildID, c.who.ID)
	if err != nil || v.ChannelID == "" {
		return ErrNotInVoice
	}
	c.game = a.newGame(c.i.GuildID, v.ChannelID, c.i.ChannelID, c.who.ID)
	return nil
}

// newGame enters a game for a server, on the event goroutine.
func (a *App) newGame(guild, channel, text, starter string) *game {
	g := &game{
		app: a, guild: guild, starter: starter, channel: channel, text: text, mark: newMark(), l: a.guildTongue(guild),
		dirty: make(chan struct{}, 1), ready: make(chan struct{}), people: map[string]person{},
	}
	g.place = a.place(guild)
	g.consent = g.place.Consent
	g.look()
	a.games[guild] = g
	return g
}

// place is what a server's table is set for.
func (a *App) place(guild string) Place {
	s := a.settings.get(guild)
	p := Place{Guild: guild, Campaign: s.Campaign, Consent: s.Consent}
	if p.Consent == "" {
		p.Consent = a.o.Consent
	}
	return p
}

// guildTongue is a server's own language.
func (a *App) guildTongue(guild string) tongue {
	g, err := a.session.State.Guild(guild)
	if err != nil {
		return english
	}
	return tongueOf(discordgo.Locale(g.PreferredLocale))
}

func startSession(ctx context.Context, c *call) (answer, error) {
	g := c.game
	if err := g.start(ctx); err != nil {
		c.app.post(func() {
			if c.app.games[c.i.GuildID] == g {
				delete(c.app.games, c.i.GuildID)
			}
		})
		return answer{}, err
	}
	c.app.running.keep(g)
	g.notice()
	s := g.table().State()
	return answer{public: true, rows: consentRow(g.l, g.consent), text: g.l.say(
		"**%s** begins: %s.\nHere are %s. They are played by software.\n\n%s",
		s.Campaign, s.Scene.Name, strings.Join(present(s), ", "), g.consent.notice(g.l))}, nil
}

// present are the names of the NPCs in the scene.
func present(s bot.Snapshot) []string {
	var names []string
	for _, n := range s.NPCs {
		if n.State != bot.Absent {
			names = append(names, n.Name)
		}
	}
	return names
}

// notice says aloud that software listens. Everybody who is there now has been
// told by it.
func (g *game) notice() {
	g.mu.Lock()
	g.noticed = time.Now()
	for id, p := range g.people {
		p.asked = true
		g.people[id] = p
	}
	table := g.seat.Table
	g.mu.Unlock()
	g.app.tasks.Go(func() {
		if err := table.Announce(context.Background(), g.consent.aloud(g.l)); err != nil {
			g.app.log.Warn("the notice could not be spoken", "guild", g.guild, "error", err)
		}
	})
}

// noticeEvery keeps a channel with a door that never rests from hearing nothing but
// notices.
const noticeEvery = time.Minute

// askLate asks somebody who came during the session, in writing and aloud.
func (g *game) askLate(user string) {
	g.mu.Lock()
	p, there := g.people[user]
	ask := there && !p.robot && !p.asked && g.consent != Off && g.app.consent.given(g.guild, user) == ""
	p.asked = true
	if there {
		g.people[user] = p
	}
	aloud := ask && time.Since(g.noticed) > noticeEvery
	g.mu.Unlock()
	if !ask {
		return
	}
	if aloud {
		g.notice()
	}
	// The only message that mentions anybody: the one who is asked.
	_, err := g.app.session.ChannelMessageSendComplex(g.text, &discordgo.MessageSend{
		Content:         g.l.say("<@%s>, software listens in the voice channel.", user) + " " + g.consent.notice(g.l),
		AllowedMentions: &discordgo.MessageAllowedMentions{Parse: []discordgo.AllowedMentionType{}, Users: []string{user}},
		Components:      consentRow(g.l, g.consent),
	})
	g.app.report(err)
}

func stopSession(_ context.Context, c *call) (answer, error) {
	c.app.running.forget(c.i.GuildID)
	if err := c.game.end(); err != nil {
		return answer{}, err
	}
	return answer{public: true, text: c.game.l.say("The session has ended. Nobody is heard any more.")}, nil
}

func pauseSession(ctx context.Context, c *call) (answer, error) {
	return pause(ctx, c, c.args["on"] != "false")
}

// pause stops listening, or goes on.
func pause(ctx context.Context, c *call, on bool) (answer, error) {
	if err := c.game.table().Pause(ctx, c.who, on); err != nil {
		return answer{}, err
	}
	if on {
		return answer{public: true, text: c.game.l.say("The table is paused: nobody is heard until the DM goes on.")}, nil
	}
	return answer{public: true, text: c.game.l.say("The game goes on.")}, nil
}

func sessionStatus(_ context.Context, c *call) (answer, error) {
	g := c.game
	s := g.table().State()
	g.mu.Lock()
	st := g.conn.Status()
	g.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**: %s\n", s.Campaign, s.Scene.Name)
	b.WriteString(c.l.say("Call: %s, ping %s", callState(c.l, st.Live, st.Encrypted), st.Ping.Round(time.Millisecond)) + "\n")
	if st.PrivacyCode != "" {
		b.WriteString(c.l.say("Voice privacy code: %s", st.PrivacyCode) + "\n")
	}
	b.WriteString(c.l.say("Brain: %s\nEar: %s\nVoice: %s", s.Brain.Name, s.Ear.Name, s.Mouth.Name) + "\n")
	b.WriteString(g.listeners(c.l))
	if s.Stopped {
		b.WriteString("\n" + c.l.say(s.Why))
	}
	return answer{text: b.String()}, nil
}

func callState(l tongue, live, encrypted bool) string {
	switch {
	case live && encrypted:
		return l.say("connected, end-to-end encrypted")
	case live:
		return l.say("connected, nobody else's client is ready yet")
	}
	return l.say("not connected")
}

func recap(ctx context.Context, c *call) (answer, error) {
	shelf, done, err := c.shelf(ctx)
	if err != nil {
		return answer{}, err
	}
	defer done()
	sittings, err := shelf.Archive.Sittings(ctx)
	if err != nil {
		return answer{}, err
	}
	for _, s := range sittings {
		if s.Lines == 0 {
			continue
		}
		length := c.args["length"]
		if length == "" {
			length = "medium"
		}
		// Players are told what everybody heard; nobody else's secrets are in it.
		lines, err := shelf.Archive.Recap(ctx, s.ID, length, true)
		if err != nil {
			return answer{}, err
		}
		var b strings.Builder
		b.WriteString(c.l.say("**Previously**, on <t:%d:D>:", s.Started.Unix()) + "\n")
		for _, l := range lines {
			fmt.Fprintf(&b, "**%s:** %s\n", l.Speaker.Name, l.Text)
		}
		return answer{public: c.args["private"] != "true", text: b.String()}, nil
	}
	return answer{}, bot.Refuse("nothing has been said in this campaign yet")
}

// shelf is what the server's campaign remembers: the running table's, or read for
// this once.
func (c *call) shelf(ctx context.Context) (Shelf, func(), error) {
	if g := c.game; g != nil && g.isReady() {
		if err := g.table().Stored(ctx); err != nil { // what waits is a player's, too
			return Shelf{}, nil, err
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		return Shelf{Archive: g.seat.Archive, Recordings: g.seat.Recordings}, func() {}, nil
	}
	s, err := c.app.o.Shelf(ctx, c.app.place(c.i.GuildID))
	if err != nil {
		return Shelf{}, nil, err
	}
	return s, func() { c.app.report(s.Close()) }, nil
}
