package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"
)

// graceful is how long a session waits for its program: longer, and the players
// have gone on or home.
const graceful = 30 * time.Minute

// A sitting is what a restarted program needs to know of a session.
type sitting struct {
	Channel string `json:"channel"`
	Text    string `json:"text"`
	Starter string `json:"starter"`
	// Alive is when it was last known to run.
	Alive time.Time `json:"alive"`
}

// sittings are the sessions that run, kept in a file for the next start.
type sittings struct {
	path string
	log  *slog.Logger
	mu   sync.Mutex // guards the below
	of   map[string]sitting
}

func loadSittings(path string, log *slog.Logger) (*sittings, error) {
	s := &sittings{path: path, log: log, of: map[string]sitting{}}
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, nil
	case err != nil:
		return nil, fmt.Errorf("discord: read which sessions ran: %w", err)
	}
	if json.Unmarshal(b, &s.of) != nil {
		s.of = map[string]sitting{} // sessions that cannot be found again are over
	}
	return s, nil
}

// keep notes that a session runs.
func (s *sittings) keep(g *game) {
	g.mu.Lock()
	channel := g.channel
	g.mu.Unlock()
	if channel == "" {
		return
	}
	s.change(func() { s.of[g.guild] = sitting{Channel: channel, Text: g.text, Starter: g.starter, Alive: time.Now()} })
}

// forget notes that a server's session has ended.
func (s *sittings) forget(guild string) { s.change(func() { delete(s.of, guild) }) }

// take returns a server's session of before the start, once.
func (s *sittings) take(guild string) (was sitting, ok bool) {
	s.change(func() {
		was, ok = s.of[guild]
		delete(s.of, guild)
	})
	return was, ok
}

func (s *sittings) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.of)
	f()
	if before == 0 && len(s.of) == 0 {
		return
	}
	b, err := json.Marshal(s.of)
	if err == nil {
		err = replaceFile(s.path, b)
	}
	if err != nil {
		s.log.Warn("a session would not be found again after a restart", "error", err)
	}
}

// resume goes on with a session that the last run of the program left, or closes
// it and says so. It runs on the event goroutine, when a server becomes known.
func (a *App) resume(e *discordgo.GuildCreate) {
	if a.games[e.ID] != nil || a.o.Guild != "" && e.ID != a.o.Guild {
		return
	}
	was, ok := a.running.take(e.ID)
	if !ok {
		return
	}
	l := a.guildTongue(e.ID)
	g := a.newGame(e.ID, was.Channel, was.Text, was.Starter)
	if time.Since(was.Alive) > graceful || len(g.people) == 0 {
		delete(a.games, e.ID)
		a.tasks.Go(func() {
			a.tell(was.Text, l.say("The session was interrupted and is closed. What was said is kept; `/session start` begins again."))
		})
		return
	}
	a.tasks.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := g.start(ctx); err != nil {
			a.log.Warn("go on with a session", "guild", e.ID, "error", err)
			a.post(func() {
				a.drop(g, l.say("The session was interrupted and is closed. What was said is kept; `/session start` begins again."))
			})
			return
		}
		a.running.keep(g)
		a.tell(was.Text, l.say("The NPCs are back, and the session goes on."))
		g.notice()
	})
}

// tell writes an ordinary message.
func (a *App) tell(channel, text string) {
	_, err := a.session.ChannelMessageSendComplex(channel, &discordgo.MessageSend{Content: text, AllowedMentions: nobody()})
	a.report(err)
}
