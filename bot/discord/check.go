package discord

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/glyphoxa/glyphoxa/voice"
)

// Check asks Discord whether a session could begin: it tries the token, counts the
// logins that are left today, and looks for the server and for what the bot may do
// in its voice channels. It does not log in.
func Check(ctx context.Context, o Options) (string, error) {
	a, err := New(o)
	if err != nil {
		return "", err
	}
	with := discordgo.WithContext(ctx)
	start := time.Now()
	me, err := a.session.User("@me", with)
	took := time.Since(start)
	if err != nil {
		return "", explain(err)
	}
	gate, err := a.session.GatewayBot(with)
	if err != nil {
		return "", explain(err)
	}
	left := gate.SessionStartLimit
	if left.Remaining == 0 {
		return "", fmt.Errorf("discord: no logins are left today; wait %v", time.Duration(left.ResetAfter)*time.Millisecond)
	}
	where, lacks := "every server it is in", ""
	if o.Guild != "" {
		if where, err = a.voiceChannels(o.Guild, me.ID, with); err != nil {
			return "", err
		}
		if lacks, err = a.writing(o.Guild, me.ID, with); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("logged in as %s for %s, %d of %d logins left today, answered in %v%s",
		me.Username, where, left.Remaining, left.Total, took.Round(time.Millisecond), lacks), nil
}

// writing says what the bot's roles keep it from doing besides speaking. Channels
// may forbid more; /setup looks at those.
func (a *App) writing(guild, self string, with discordgo.RequestOption) (lacks string, err error) {
	g, err := a.session.Guild(guild, with)
	if err != nil {
		return "", explain(err)
	}
	m, err := a.session.GuildMember(guild, self, with)
	if err != nil {
		return "", explain(err)
	}
	var has int64
	for _, r := range g.Roles {
		if r.ID == g.ID || slices.Contains(m.Roles, r.ID) {
			has |= r.Permissions
		}
	}
	if has&discordgo.PermissionAdministrator != 0 {
		return "; it is an administrator, which it need not be", nil
	}
	must, should := missing(english, has, false)
	if len(must) > 0 {
		return "", fmt.Errorf("discord: on %s, %s", g.Name, strings.Join(append(must, should...), "; "))
	}
	if len(should) > 0 {
		lacks = "; " + strings.Join(should, "; ")
	}
	return lacks, nil
}

// voiceChannels names a server, with its voice channels that are closed to the
// bot. If all of them are, that is an error.
func (a *App) voiceChannels(guild, self string, with discordgo.RequestOption) (string, error) {
	g, err := a.session.Guild(guild, with)
	if err != nil {
		return "", explain(err)
	}
	if g.Channels, err = a.session.GuildChannels(guild, with); err != nil {
		return "", explain(err)
	}
	m, err := a.session.GuildMember(guild, self, with)
	if err != nil {
		return "", explain(err)
	}
	m.GuildID, g.Members = guild, []*discordgo.Member{m}
	if err := a.session.State.GuildAdd(g); err != nil {
		return "", fmt.Errorf("discord: %w", err)
	}
	open, closed := 0, []string{}
	for _, c := range g.Channels {
		if c.Type != discordgo.ChannelTypeGuildVoice {
			continue
		}
		may, err := a.session.State.UserChannelPermissions(self, c.ID)
		if err != nil {
			return "", fmt.Errorf("discord: %w", err)
		}
		must, _ := missing(english, may, true)
		if len(must) == 0 {
			open++
			continue
		}
		closed = append(closed, fmt.Sprintf("#%s: %s", c.Name, strings.Join(must, "; ")))
	}
	switch {
	case open == 0 && len(closed) > 0:
		return "", fmt.Errorf("discord: the bot lacks permissions in every voice channel of %s: %s", g.Name, strings.Join(closed, "; "))
	case len(closed) > 0:
		return fmt.Sprintf("%s, but not for %s", g.Name, strings.Join(closed, "; ")), nil
	}
	return g.Name, nil
}

// TryCall logs in and joins a voice channel for a moment, to find out whether sound
// could get through: the permissions, UDP and the encryption of the call. It costs
// one of the day's logins, and a session that runs on the same server would be cut
// off.
func TryCall(ctx context.Context, o Options, channel string) (_ string, err error) {
	a, err := New(o)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a.door.life, a.session.Dialer = ctx, a.door.dialer()
	a.pacer = voice.NewPacer()
	defer a.pacer.Close()
	me, err := a.session.User("@me", discordgo.WithContext(ctx))
	if err != nil {
		return "", explain(err)
	}
	a.self = me.ID
	if err := a.login(ctx); err != nil {
		return "", err
	}
	defer func() {
		a.door.leaving.Store(true)
		err = errors.Join(err, a.session.Close())
	}()
	defer a.tasks.Wait()
	defer cancel()
	a.tasks.Go(func() {
		for {
			select {
			case f := <-a.events:
				f()
			case <-ctx.Done():
				return
			}
		}
	})
	g, err := a.find(ctx, channel)
	if err != nil {
		return "", err
	}
	at, err := g.board(ctx)
	if err != nil {
		return "", err
	}
	defer func() {
		err = errors.Join(err, a.session.ChannelVoiceJoinManual(g.guild, "", false, false))
	}()
	conn, err := voice.Join(ctx, at, &voice.Options{HTTP: o.HTTP, Pacer: a.pacer})
	if err != nil {
		return "", err
	}
	st := conn.Status()
	return fmt.Sprintf("joined the call on %s: UDP passes, %s, end-to-end encryption is offered", st.Endpoint, st.Mode), conn.Close()
}

// find waits until the server of a voice channel has been shown to us.
func (a *App) find(ctx context.Context, channel string) (*game, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, boarding, fmt.Errorf("discord: the bot sees no channel %q: copy its id from Discord (developer mode), and invite the bot to its server", channel))
	defer cancel()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		if c, err := a.session.State.Channel(channel); err == nil {
			g := &game{app: a, guild: c.GuildID, channel: channel, ready: make(chan struct{})}
			known := make(chan struct{})
			a.post(func() { a.games[c.GuildID] = g; close(known) })
			<-known
			return g, nil
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
