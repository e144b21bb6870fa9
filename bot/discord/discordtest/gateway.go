package discordtest

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
)

// payload is a message of the main gateway.
type payload struct {
	Op int             `json:"op"`
	D  json.RawMessage `json:"d"`
	S  *int            `json:"s,omitempty"`
	T  string          `json:"t,omitempty"`
}

// gateway is one connection of a bot.
type gateway struct {
	conn *websocket.Conn
	mu   sync.Mutex // guards seq, and keeps messages in order
	seq  int
}

func (g *gateway) close() { _ = g.conn.Close(websocket.StatusGoingAway, "the server ends") }

// dispatch sends an event.
func (g *gateway) dispatch(ctx context.Context, event string, d any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seq++
	g.send(ctx, map[string]any{"op": 0, "t": event, "s": g.seq, "d": d})
}

// send drops what cannot be sent: the reader of the connection notices.
func (g *gateway) send(ctx context.Context, v any) { _ = wsjson.Write(ctx, g.conn, v) }

// socket is one gateway connection, from hello to its end.
func (s *Server) socket(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	ctx := r.Context()
	g := &gateway{conn: conn}
	g.send(ctx, map[string]any{"op": 10, "d": map[string]any{"heartbeat_interval": 41250}})
	for {
		var p payload
		if err := wsjson.Read(ctx, conn, &p); err != nil {
			return
		}
		switch p.Op {
		case 1:
			g.send(ctx, map[string]any{"op": 11})
		case 2:
			if !s.identify(ctx, g, p.D) {
				return
			}
		case 4:
			s.moveBot(ctx, g, p.D)
		}
	}
}

// identify lets a bot in that has the token, and shows it its guild.
func (s *Server) identify(ctx context.Context, g *gateway, d json.RawMessage) bool {
	var id struct{ Token string }
	if json.Unmarshal(d, &id) != nil || strings.TrimPrefix(id.Token, "Bot ") != s.token {
		_ = g.conn.Close(4004, "Authentication failed.") // the connection ends either way
		return false
	}
	s.mu.Lock()
	s.logins++
	s.gateways = append(s.gateways, g)
	guild := s.guild()
	s.mu.Unlock()
	g.dispatch(ctx, "READY", map[string]any{
		"v": 9, "session_id": "session", "user": s.self(), "guilds": []any{map[string]any{"id": Guild, "unavailable": true}},
		"application": map[string]any{"id": Bot},
	})
	g.dispatch(ctx, "GUILD_CREATE", guild)
	return true
}

// guild is the guild as the bot sees it. The lock is held.
func (s *Server) guild() map[string]any {
	var states, members []any
	for user, channel := range s.channels {
		states = append(states, s.voiceState(user, channel))
	}
	for _, m := range s.members {
		members = append(members, m.json())
	}
	return map[string]any{
		"id": Guild, "name": "The Table", "owner_id": Admin, "roles": []any{}, "members": members, "voice_states": states,
		"channels": []any{
			map[string]any{"id": Channel, "type": 2, "name": "Voice", "guild_id": Guild},
			map[string]any{"id": Text, "type": 0, "name": "text", "guild_id": Guild},
		},
	}
}

func (m *member) json() map[string]any {
	return map[string]any{
		"user":  map[string]any{"id": m.id, "username": m.name, "discriminator": "0"},
		"roles": append([]string{}, m.roles...), "permissions": strconv.FormatInt(m.permissions, 10), "guild_id": Guild,
	}
}

func (s *Server) voiceState(user, channel string) map[string]any {
	v := map[string]any{"guild_id": Guild, "user_id": user, "session_id": "voice-" + user, "channel_id": nil}
	if channel != "" {
		v["channel_id"] = channel
	}
	if m := s.members[user]; m != nil {
		v["member"] = m.json()
	}
	return v
}

// Enter puts a member into the voice channel; Leave takes one out of it. Both tell
// the bot.
func (s *Server) Enter(user string) { s.move(user, Channel) }

// Leave takes a member out of the voice channel.
func (s *Server) Leave(user string) { s.move(user, "") }

func (s *Server) move(user, channel string) {
	s.mu.Lock()
	if channel == "" {
		delete(s.channels, user)
	} else {
		s.channels[user] = channel
	}
	state, gateways := s.voiceState(user, channel), s.gateways
	s.mu.Unlock()
	for _, g := range gateways {
		g.dispatch(context.Background(), "VOICE_STATE_UPDATE", state)
	}
}

// moveBot answers opcode 4: the bot's own voice state, and where the call is.
func (s *Server) moveBot(ctx context.Context, g *gateway, d json.RawMessage) {
	var to struct {
		Channel *string `json:"channel_id"`
	}
	if json.Unmarshal(d, &to) != nil {
		return
	}
	if to.Channel == nil || *to.Channel == "" {
		g.dispatch(ctx, "VOICE_STATE_UPDATE", s.voiceState(Bot, ""))
		return
	}
	if *to.Channel != Channel {
		return // Discord does not answer for a channel the bot may not join
	}
	ticket := s.voice.Admit(number(Guild), number(Channel), number(Bot))
	state := s.voiceState(Bot, Channel)
	state["session_id"] = ticket.Session
	g.dispatch(ctx, "VOICE_STATE_UPDATE", state)
	g.dispatch(ctx, "VOICE_SERVER_UPDATE", map[string]any{"guild_id": Guild, "token": ticket.Token, "endpoint": ticket.Endpoint})
}

// number reads one of the ids above.
func number(id string) uint64 {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}
