package discordtest

import (
	"time"

	"github.com/coder/websocket"
)

// each does something to every connection of the bot.
func (s *Server) each(f func(c *connection)) {
	s.mu.Lock()
	sessions := s.online(Bot)
	s.mu.Unlock()
	for _, k := range sessions {
		k.mu.Lock()
		c := k.conn
		k.mu.Unlock()
		if c != nil {
			f(c)
		}
	}
}

// Cut breaks the bot's connection as a network does: without a word.
func (s *Server) Cut() { s.each(func(c *connection) { c.ws.CloseNow() }) }

// CutInstead breaks the next connection that is to be sent a message: an event by
// its name, or hello, ack, invalid.
func (s *Server) CutInstead(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut = what
}

func (s *Server) cutsAt(what string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cut != what {
		return false
	}
	s.cut = ""
	return true
}

// CloseWith closes the bot's connection with a code.
func (s *Server) CloseWith(code int) {
	s.each(func(c *connection) { _ = c.ws.Close(websocket.StatusCode(code), "") })
}

// Reconnect asks the bot for a new connection (opcode 7).
func (s *Server) Reconnect() {
	s.each(func(c *connection) { c.send("reconnect", object{"op": opReconnect, "d": nil}) })
}

// Invalidate ends the bot's session (opcode 9, which cannot be resumed).
func (s *Server) Invalidate() {
	s.mu.Lock()
	ended := s.online(Bot)
	s.sessions = nil
	s.mu.Unlock()
	for _, k := range ended {
		k.mu.Lock()
		c := k.conn
		k.conn = nil
		k.mu.Unlock()
		if c != nil {
			c.session = nil
			c.send("invalid", object{"op": opInvalidSession, "d": false})
		}
	}
}

// Refuse closes the connection of whoever logs in, with a code; 0 ends that.
func (s *Server) Refuse(code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusal = code
}

// Down takes the gateway away: new connections to it are refused. It does not end
// those there are.
func (s *Server) Down(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = on
}

// TurnedAway is how many connections were refused while the gateway was down.
func (s *Server) TurnedAway() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

// ForgetHeartbeats leaves the bot's heartbeats unanswered.
func (s *Server) ForgetHeartbeats(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetful = on
}

func (s *Server) forgets() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.forgetful
}

// Heartbeat is how often programs that connect from now on are to send one.
func (s *Server) Heartbeat(every time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.beat = every
}

func (s *Server) beatInterval() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.beat
}

// Resumes is how often a session was resumed.
func (s *Server) Resumes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.resumes
}

// Registrations is how often the commands were registered.
func (s *Server) Registrations() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.registered
}
