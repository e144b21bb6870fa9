package discord

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/voice"
)

// boarding is how long Discord may take to give us a voice server. If the channel
// is full it never answers.
const boarding = 10 * time.Second

// Errors of a session's start.
var (
	ErrNotInVoice = errors.New("join a voice channel first: the NPCs come to where you are")
	ErrRunning    = errors.New("a session is running on this server already: /session stop ends it")
	ErrNoSession  = errors.New("no session is running: /session start begins one")
	errArriving   = errors.New("the NPCs are on their way; try again in a moment")
)

// game is one server's session.
type game struct {
	app     *App
	guild   string
	starter string         // the user who started it, who may steer it
	text    string         // the channel in which it was started
	mark    string         // in the ids of its buttons
	consent Consent        // of this session
	l       tongue         // the server's
	done    sync.WaitGroup // Attend, the panel and the captions
	// dirty asks for the panel to be shown anew; one wish is as good as many.
	dirty chan struct{}

	mu      sync.Mutex // guards the below
	seat    *Seat
	place   Place
	stop    context.CancelFunc
	channel string // the voice channel
	state   *discordgo.VoiceState
	server  *discordgo.VoiceServerUpdate
	ready   chan struct{} // closed when both are known for the first time
	conn    *voice.Conn
	people  map[string]person // in the channel, by user
	noticed time.Time         // when the notice was last spoken
	leaving bool
}

// person is somebody in the voice channel.
type person struct {
	name  string
	dm    bool
	robot bool
	asked bool
}

// newMark makes a name for a session that no other has.
func newMark() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

func (g *game) table() *bot.Table {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.seat.Table
}

// sitting is the table with what belongs to it.
func (g *game) sitting() *Seat {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.seat
}

// isReady reports whether the NPCs have arrived.
func (g *game) isReady() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.seat != nil && g.conn != nil
}

// start begins a session in the voice channel. It blocks until the NPCs can be
// heard.
func (g *game) start(ctx context.Context) error {
	g.mu.Lock()
	place := g.place
	g.mu.Unlock()
	seat, err := g.app.o.Open(ctx, place)
	if err != nil {
		return fmt.Errorf("set the table: %w", err)
	}
	conn, err := g.join(ctx)
	if err != nil {
		return errors.Join(err, seat.Close())
	}
	g.mu.Lock()
	g.seat, g.conn = seat, conn
	leaving := g.leaving
	g.mu.Unlock()
	if leaving { // somebody ended it while it began
		return errors.Join(ErrNoSession, seat.Close(), conn.Close(), g.app.session.ChannelVoiceJoinManual(g.guild, "", false, false))
	}
	g.attend(ctx)
	return nil
}

// attend lets the table hear and speak in the call, and shows it in the text
// channel, until stop.
func (g *game) attend(ctx context.Context) {
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	g.mu.Lock()
	table, conn := g.seat.Table, g.conn
	g.stop = stop
	g.mu.Unlock()
	g.done.Go(func() {
		if err := table.Attend(life, conn, g.person); err != nil && !errors.Is(err, bot.ErrClosed) {
			g.app.log.Warn("attend", "guild", g.guild, "error", err)
		}
	})
	now := table.State().Event // nothing that happens from here on is missed
	g.done.Go(func() { g.present(life, table, now) })
	g.done.Go(func() { g.hang(life, table, now) })
}

// switchTo plays another campaign in the same call.
func (g *game) switchTo(ctx context.Context, campaign string) error {
	g.mu.Lock()
	place := g.place
	g.mu.Unlock()
	place.Campaign = campaign
	seat, err := g.app.o.Open(ctx, place)
	if err != nil {
		return fmt.Errorf("set the table: %w", err)
	}
	g.mu.Lock()
	old, stop := g.seat, g.stop
	g.mu.Unlock()
	err = old.Close()
	stop()
	g.done.Wait()
	g.mu.Lock()
	g.seat, g.place = seat, place
	g.mu.Unlock()
	g.attend(ctx)
	return err
}

// board asks for the channel's voice server and waits for Discord's answer.
func (g *game) board(ctx context.Context) (voice.Server, error) {
	g.mu.Lock()
	g.server, g.ready = nil, make(chan struct{})
	ready, channel := g.ready, g.channel
	g.mu.Unlock()
	if err := g.app.session.ChannelVoiceJoinManual(g.guild, channel, false, false); err != nil {
		return voice.Server{}, fmt.Errorf("ask for the voice channel: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, boarding, errNoServer)
	defer cancel()
	select {
	case <-ready:
		return g.whereabouts()
	case <-ctx.Done():
		return voice.Server{}, context.Cause(ctx)
	}
}

var errNoServer = errors.New("discord gave us no voice server within 10 s: is the channel full, or does the bot lack the permissions Connect and Speak there?")

// join joins the call.
func (g *game) join(ctx context.Context) (*voice.Conn, error) {
	s, err := g.board(ctx)
	if err == nil {
		var conn *voice.Conn
		conn, err = voice.Join(ctx, s, &voice.Options{Log: g.app.log, HTTP: g.app.o.HTTP, Pacer: g.app.pacer, Rejoin: g.board})
		if err == nil {
			conn.Present(g.users()...)
			return conn, nil
		}
	}
	return nil, errors.Join(err, g.app.session.ChannelVoiceJoinManual(g.guild, "", false, false))
}

// end closes the table and leaves the channel. Whoever calls it second waits for
// nothing.
func (g *game) end() error {
	g.mu.Lock()
	conn, seat, stop, leaving := g.conn, g.seat, g.stop, g.leaving
	g.leaving = true
	g.mu.Unlock()
	if conn == nil || leaving { // it never began, or ends already
		return nil
	}
	err := seat.Close() // the NPCs finish their sentence while the call still stands
	stop()
	err = errors.Join(err, conn.Close())
	g.done.Wait()
	return errors.Join(err, g.app.session.ChannelVoiceJoinManual(g.guild, "", false, false))
}

// whereabouts is what voice needs of the two updates.
func (g *game) whereabouts() (voice.Server, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state == nil || g.server == nil {
		return voice.Server{}, errors.New("discord has not said where the channel's voice server is")
	}
	ids := make([]uint64, 3)
	for i, s := range []string{g.guild, g.state.ChannelID, g.state.UserID} {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return voice.Server{}, fmt.Errorf("an id from Discord: %w", err)
		}
		ids[i] = n
	}
	return voice.Server{
		Guild: ids[0], Channel: ids[1], User: ids[2],
		Session: g.state.SessionID, Token: g.server.Token, Endpoint: g.server.Endpoint,
	}, nil
}

// moved takes an update of our own voice state or of the voice server.
func (g *game) moved(state *discordgo.VoiceState, server *discordgo.VoiceServerUpdate) {
	g.mu.Lock()
	if state != nil {
		g.state = state
		g.channel = state.ChannelID
	}
	if server != nil {
		g.server = server
	}
	complete := g.state != nil && g.server != nil && g.server.Endpoint != ""
	conn := g.conn
	if complete {
		select {
		case <-g.ready:
		default:
			close(g.ready)
		}
	}
	g.mu.Unlock()
	if !complete || conn == nil {
		return
	}
	if s, err := g.whereabouts(); err == nil {
		conn.Move(s)
	}
}

// person says who a user of the call is, if they agreed to be heard. It is asked
// for every frame.
func (g *game) person(user uint64) (bot.Person, bool) {
	id := strconv.FormatUint(user, 10)
	if g.consent == Off {
		return bot.Person{}, false
	}
	given := g.app.consent.given(g.guild, id)
	if given != heard && given != kept {
		return bot.Person{}, false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	p, known := g.people[id]
	if !known {
		p.name = "Somebody"
	}
	return bot.Person{ID: id, Name: p.name, DM: p.dm || id == g.starter, Recorded: g.consent == Audio && given == kept}, true
}

// users are the ids of who is in the channel.
func (g *game) users() []uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []uint64
	for id := range g.people {
		if n, err := strconv.ParseUint(id, 10, 64); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// look reads from discordgo's state who is in the channel. It returns who has come
// since the last look.
func (g *game) look() (came []string) {
	guild, err := g.app.session.State.Guild(g.guild)
	if err != nil {
		return nil
	}
	g.app.session.State.RLock()
	defer g.app.session.State.RUnlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	before := g.people
	g.people = map[string]person{}
	for _, v := range guild.VoiceStates {
		if v.ChannelID != g.channel || v.UserID == g.app.self {
			continue
		}
		p, known := before[v.UserID]
		if !known {
			came = append(came, v.UserID)
		}
		if v.Member != nil || !known {
			p.name = nameOf(v.Member)
		}
		if m := v.Member; m != nil {
			p.dm = administers(guild, v.UserID, m.Roles) || g.app.steers(g.guild, v.UserID, m.Roles, g)
			p.robot = m.User != nil && m.User.Bot
		}
		g.people[v.UserID] = p
	}
	return came
}

// administers reports whether a member may do everything on a server. The lock of
// discordgo's state is held.
func administers(g *discordgo.Guild, user string, roles []string) bool {
	return user == g.OwnerID || slices.ContainsFunc(g.Roles, func(r *discordgo.Role) bool {
		return r.Permissions&discordgo.PermissionAdministrator != 0 && slices.Contains(roles, r.ID)
	})
}

// nameOf is what a member is called on the server.
func nameOf(m *discordgo.Member) string {
	switch {
	case m == nil || m.User == nil:
		return "Somebody"
	case m.Nick != "":
		return m.Nick
	case m.User.GlobalName != "":
		return m.User.GlobalName
	}
	return m.User.Username
}

// voiceState is told of anybody's voice state.
func (a *App) voiceState(e *discordgo.VoiceStateUpdate) {
	g := a.games[e.GuildID]
	switch {
	case g == nil:
	case e.UserID != a.self:
		came := g.look()
		g.mu.Lock()
		conn := g.conn
		g.mu.Unlock()
		if conn != nil {
			conn.Present(g.users()...)
			for _, user := range came {
				a.tasks.Go(func() { g.askLate(user) })
			}
		}
	case e.ChannelID == "" && !g.isReady():
		// We have left after an attempt that failed, and this is the next one.
	case e.ChannelID == "":
		a.log.Info("removed from the voice channel", "guild", e.GuildID)
		a.drop(g, g.l.say("The NPCs were sent out of the voice channel, so the session has ended."))
	default:
		g.moved(e.VoiceState, nil)
		g.look()
	}
}

// drop ends a session that cannot go on, and says so in its channel.
func (a *App) drop(g *game, why string) {
	if a.games[g.guild] == g {
		delete(a.games, g.guild)
	}
	a.tasks.Go(func() {
		a.running.forget(g.guild)
		if err := g.end(); err != nil {
			a.log.Warn("end a session", "guild", g.guild, "error", err)
		}
		if why != "" {
			a.tell(g.text, why)
		}
	})
}

// voiceServer is told where a channel's voice is now.
func (a *App) voiceServer(e *discordgo.VoiceServerUpdate) {
	if g := a.games[e.GuildID]; g != nil {
		g.moved(nil, e)
	}
}
