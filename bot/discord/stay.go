package discord

import (
	"context"
	"errors"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"
)

const (
	// openTime is how long a connection may take to open.
	openTime = 20 * time.Second
	// unheard is how long Discord may leave heartbeats unanswered: two of those
	// that it asks for every 41.25 s. discordgo waits for five.
	unheard = 90 * time.Second
	// firstWait and maxWait are between attempts to open a connection.
	firstWait = 500 * time.Millisecond
	maxWait   = time.Minute
	// closeDead tells Discord to keep the session: 1000 and 1001 would end it.
	closeDead = 4900
)

// fatal are the codes with which Discord closes the gateway on a bot that may not
// come back as it is, and what to do. Discord, "Gateway Close Event Codes".
var fatal = map[int]error{
	4004: ErrBadToken,
	4010: errors.New("discord: Discord refuses the shard: run one process, or set the shards right"),
	4011: errors.New("discord: the bot is on too many servers for one connection: it needs sharding"),
	4012: errors.New("discord: Discord does not speak this version of its gateway any more: update Glyphoxa"),
	4013: errors.New("discord: Discord does not know an intent that was asked for: update Glyphoxa"),
	4014: errors.New("discord: the application may not have an intent that was asked for: switch it on at the application's Bot page, https://discord.com/developers/applications"),
}

// stay keeps the main gateway connected until ctx ends or there is no use. Calls
// do not notice: Discord keeps them while the session can be resumed.
func (a *App) stay(ctx context.Context) error {
	watch := time.NewTicker(a.patience / 9)
	defer watch.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-watch.C:
			a.session.RLock()
			last := a.session.LastHeartbeatAck
			a.session.RUnlock()
			if time.Since(last) > a.patience {
				a.log.Info("Discord does not answer; connecting anew")
				_ = a.session.CloseWithCode(closeDead) // dead as it is
			}
		case <-a.lost:
			if err := a.reopen(ctx); err != nil {
				return err
			}
		}
	}
}

// reopen connects until it works.
func (a *App) reopen(ctx context.Context) error {
	a.log.Info("connection to Discord lost")
	defer context.AfterFunc(ctx, a.door.slam)()
	for wait := firstWait; ; wait = min(2*wait, maxWait) {
		err := a.session.Open()
		switch {
		case err == nil || errors.Is(err, discordgo.ErrWSAlreadyOpen):
			a.log.Info("connected to Discord again")
			return nil
		case ctx.Err() != nil:
			return nil
		}
		if sentence := hopeless(err); sentence != nil {
			return sentence
		}
		pause := wait
		if e, ok := errors.AsType[*tooManyLogins](a.door.refusal()); ok {
			a.log.Warn("logging in too often", "error", e)
			pause = max(pause, time.Until(e.until))
		}
		t := time.NewTimer(pause)
		select {
		case <-t.C:
		case <-ctx.Done():
		}
		t.Stop()
	}
}

// hopeless is what to say of an error that no new connection mends, or nil.
func hopeless(err error) error {
	if closed, ok := errors.AsType[*websocket.CloseError](err); ok {
		return fatal[closed.Code]
	}
	return nil
}

// again is told of each login. After one that is not the first, Discord has ended
// our calls: they are asked for anew.
func (a *App) again() {
	if a.logins++; a.logins == 1 {
		return
	}
	for guild, g := range a.games {
		g.mu.Lock()
		channel := g.channel
		g.mu.Unlock()
		if err := a.session.ChannelVoiceJoinManual(guild, channel, false, false); err != nil {
			a.log.Warn("ask for the voice channel", "guild", guild, "error", err)
		}
	}
}
