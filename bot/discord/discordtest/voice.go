package discordtest

import (
	"encoding/json"
	"strconv"

	"github.com/glyphoxa/glyphoxa/voice/voicetest"
)

// inVoice says that a user is in the voice channel, with which session if a
// program of theirs joined by the gateway.
type inVoice struct{ session string }

// Enter puts a member into the voice channel; Leave takes one out of it. Both tell
// everybody.
func (s *Server) Enter(user string) { s.move(user, &inVoice{}) }

// Leave takes a member out of the voice channel.
func (s *Server) Leave(user string) { s.move(user, nil) }

func (s *Server) move(user string, to *inVoice) {
	s.mu.Lock()
	if to == nil {
		delete(s.channels, user)
	} else {
		s.channels[user] = *to
	}
	state, sessions := s.voiceState(user), s.online("")
	s.mu.Unlock()
	for _, k := range sessions {
		k.dispatch("VOICE_STATE_UPDATE", state)
	}
}

// moveVoice answers opcode 4: the program's own voice state, and where the call is.
func (s *Server) moveVoice(k *session, d json.RawMessage) {
	var to struct {
		Channel *string `json:"channel_id"`
	}
	if json.Unmarshal(d, &to) != nil {
		return
	}
	if to.Channel == nil || *to.Channel == "" {
		s.move(k.user, nil)
		return
	}
	s.mu.Lock()
	denied := k.user == Bot && s.denied&(Connect|ViewChannel) != 0
	s.mu.Unlock()
	if denied || *to.Channel != Channel {
		return // Discord does not answer for a channel that may not be joined
	}
	s.board(k, s.voice)
}

// board sends a program to a voice server.
func (s *Server) board(k *session, v *voicetest.Server) {
	ticket := v.Admit(id(Guild), id(Channel), id(k.user))
	s.move(k.user, &inVoice{ticket.Session})
	k.dispatch("VOICE_SERVER_UPDATE", object{"guild_id": Guild, "token": ticket.Token, "endpoint": ticket.Endpoint})
}

// MoveCall moves the call to another voice server, or makes a new session on the
// same one, as Discord does whenever it likes: for every program in it.
func (s *Server) MoveCall(to *voicetest.Server) {
	s.mu.Lock()
	var inside []*session
	for _, k := range s.online("") {
		if s.channels[k.user].session != "" {
			inside = append(inside, k)
		}
	}
	s.voice = to
	s.mu.Unlock()
	for _, k := range inside {
		s.board(k, to)
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
