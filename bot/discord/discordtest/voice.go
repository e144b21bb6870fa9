package discordtest

import (
	"encoding/json"
	"strconv"

	"github.com/glyphoxa/glyphoxa/voice/voicetest"
)

// seat is a user's place in a guild's voice channel.
type seat struct{ guild, user string }

// inVoice says that a user is in the voice channel, with which session if a
// program of theirs joined by the gateway.
type inVoice struct{ session string }

// Enter puts a member into the voice channel; Leave takes one out of it. Both tell
// everybody.
func (s *Server) Enter(user string) { s.EnterAt(user, Guild) }

// EnterAt puts a member into the voice channel of another guild.
func (s *Server) EnterAt(user, guild string) { s.move(seat{guild, user}, &inVoice{}) }

// Leave takes a member out of the voice channel.
func (s *Server) Leave(user string) { s.LeaveAt(user, Guild) }

// LeaveAt takes a member, or the bot, out of the voice channel of another guild.
func (s *Server) LeaveAt(user, guild string) { s.move(seat{guild, user}, nil) }

func (s *Server) move(who seat, to *inVoice) {
	s.mu.Lock()
	if to == nil {
		delete(s.channels, who)
	} else {
		s.channels[who] = *to
	}
	state, sessions := s.voiceState(who), s.online("")
	s.mu.Unlock()
	for _, k := range sessions {
		k.dispatch("VOICE_STATE_UPDATE", state)
	}
}

// moveVoice answers opcode 4: the program's own voice state, and where the call is.
func (s *Server) moveVoice(k *session, d json.RawMessage) {
	var to struct {
		Guild   string  `json:"guild_id"`
		Channel *string `json:"channel_id"`
	}
	if json.Unmarshal(d, &to) != nil {
		return
	}
	s.mu.Lock()
	g := s.guilds[to.Guild]
	s.mu.Unlock()
	if g == nil {
		return
	}
	if to.Channel == nil || *to.Channel == "" {
		s.move(seat{g.id, k.user}, nil)
		return
	}
	s.mu.Lock()
	denied := k.user == Bot && s.denied&(Connect|ViewChannel) != 0
	s.mu.Unlock()
	if denied || *to.Channel != g.voice {
		return // Discord does not answer for a channel that may not be joined
	}
	s.board(k, g, s.voice)
}

// board sends a program to a voice server.
func (s *Server) board(k *session, g *guild, v *voicetest.Server) {
	ticket := v.Admit(id(g.id), id(g.voice), id(k.user))
	s.move(seat{g.id, k.user}, &inVoice{ticket.Session})
	k.dispatch("VOICE_SERVER_UPDATE", object{"guild_id": g.id, "token": ticket.Token, "endpoint": ticket.Endpoint})
}

// MoveCall moves the call to another voice server, or makes a new session on the
// same one, as Discord does whenever it likes: for every program in it.
func (s *Server) MoveCall(to *voicetest.Server) {
	s.mu.Lock()
	inside := map[*session][]*guild{}
	for _, k := range s.online("") {
		for at, in := range s.channels {
			if at.user == k.user && in.session != "" {
				inside[k] = append(inside[k], s.guilds[at.guild])
			}
		}
	}
	s.voice = to
	s.mu.Unlock()
	for k, guilds := range inside {
		for _, g := range guilds {
			s.board(k, g, to)
		}
	}
}

// id reads one of the ids here.
func id(text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}
