package discord

import (
	"context"
	"errors"
	"fmt"
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
)

// game is one server's session.
type game struct {
	app     *App
	guild   string
	starter string // the user who started it, who may steer it
	table   *bot.Table
	shut    func() error
	stop    context.CancelFunc
	done    sync.WaitGroup

	mu      sync.Mutex // guards the below
	channel string     // the voice channel
	state   *discordgo.VoiceState
	server  *discordgo.VoiceServerUpdate
	ready   chan struct{} // closed when both are known for the first time
	conn    *voice.Conn
	names   map[string]string // of the users in the channel
}

// start begins a session in the caller's voice channel. It blocks until the NPCs
// can be heard.
func (g *game) start(ctx context.Context) error {
	table, shut, err := g.app.o.Open(ctx, g.guild)
	if err != nil {
		return fmt.Errorf("set the table: %w", err)
	}
	g.table, g.shut = table, shut
	conn, err := g.join(ctx)
	if err != nil {
		return errors.Join(err, shut())
	}
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	g.stop = stop
	g.mu.Lock()
	g.conn = conn
	g.mu.Unlock()
	g.done.Go(func() {
		if err := table.Attend(life, conn, g.person); err != nil {
			g.app.log.Warn("attend", "guild", g.guild, "error", err)
		}
	})
	return nil
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

// end closes the table and leaves the channel.
func (g *game) end(context.Context) error {
	g.mu.Lock()
	conn := g.conn
	g.mu.Unlock()
	if conn == nil { // it never began
		return nil
	}
	err := g.shut() // the NPCs finish their sentence while the call still stands
	g.stop()
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

// person says who a user of the call is, if they agreed to be heard.
func (g *game) person(user uint64) (bot.Person, bool) {
	id := strconv.FormatUint(user, 10)
	if g.app.o.Consent == Off {
		return bot.Person{}, false
	}
	if yes, _ := g.app.consent.agreed(g.guild, id); !yes {
		return bot.Person{}, false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	name, known := g.names[id]
	if !known {
		name = "Somebody"
	}
	return bot.Person{ID: id, Name: name, DM: id == g.starter}, true
}

// users are the ids of who is in the channel.
func (g *game) users() []uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []uint64
	for id := range g.names {
		if n, err := strconv.ParseUint(id, 10, 64); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// look reads from discordgo's state who is in the channel.
func (g *game) look() {
	guild, err := g.app.session.State.Guild(g.guild)
	if err != nil {
		return
	}
	g.app.session.State.RLock()
	defer g.app.session.State.RUnlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.names = map[string]string{}
	for _, v := range guild.VoiceStates {
		if v.ChannelID == g.channel && v.UserID != g.app.self {
			g.names[v.UserID] = nameOf(v.Member)
		}
	}
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
		g.look()
		g.mu.Lock()
		conn := g.conn
		g.mu.Unlock()
		if conn != nil {
			conn.Present(g.users()...)
		}
	case e.ChannelID == "":
		a.log.Info("removed from the voice channel", "guild", e.GuildID)
		delete(a.games, e.GuildID)
		a.tasks.Go(func() {
			if err := g.end(context.Background()); err != nil {
				a.log.Warn("end a session", "guild", e.GuildID, "error", err)
			}
		})
	default:
		g.moved(e.VoiceState, nil)
		g.look()
	}
}

// voiceServer is told where a channel's voice is now.
func (a *App) voiceServer(e *discordgo.VoiceServerUpdate) {
	if g := a.games[e.GuildID]; g != nil {
		g.moved(nil, e)
	}
}
