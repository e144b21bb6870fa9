package discordtest

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
)

// Opcodes of the main gateway. Discord, "Gateway Opcodes".
const (
	opDispatch       = 0
	opHeartbeat      = 1
	opIdentify       = 2
	opVoiceState     = 4
	opResume         = 6
	opReconnect      = 7
	opInvalidSession = 9
	opHello          = 10
	opHeartbeatAck   = 11
)

const (
	// maxEvents are kept for a program that may resume.
	maxEvents = 1000
	// writeTime is how long a program may take to read a message.
	writeTime = 5 * time.Second
	// defaultHeartbeat is what Discord asks for.
	defaultHeartbeat = 41250 * time.Millisecond
)

// payload is a message of the main gateway.
type payload struct {
	Op int             `json:"op"`
	D  json.RawMessage `json:"d"`
	S  *int            `json:"s,omitempty"`
	T  string          `json:"t,omitempty"`
}

// session is one program that has logged in, over any number of connections.
type session struct {
	server *Server
	id     string
	user   string // who it is

	mu   sync.Mutex // guards what follows, and keeps messages in order
	conn *connection
	seq  int
	kept []object
}

// dispatch sends an event, now or when the program resumes.
func (k *session) dispatch(event string, d any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.seq++
	m := object{"op": opDispatch, "t": event, "s": k.seq, "d": d}
	if k.kept = append(k.kept, m); len(k.kept) > maxEvents {
		k.kept = k.kept[1:]
	}
	if k.conn != nil {
		k.conn.send(event, m)
	}
}

// connection is one WebSocket.
type connection struct {
	server  *Server
	ws      *websocket.Conn
	session *session // nil before it has one
}

// send drops what cannot be sent: the reader of the connection notices.
func (c *connection) send(what string, v any) {
	if c.server.cutsAt(what) {
		c.ws.CloseNow()
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), writeTime)
	defer cancel()
	_ = wsjson.Write(ctx, c.ws, v)
}

// socket is one gateway connection, from hello to its end.
func (s *Server) socket(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	down := s.down
	if down {
		s.refused++
	}
	s.mu.Unlock()
	if down {
		http.Error(w, "the gateway is down", http.StatusServiceUnavailable)
		return
	}
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer ws.CloseNow()
	c := &connection{server: s, ws: ws}
	c.send("hello", object{"op": opHello, "d": object{"heartbeat_interval": s.beatInterval().Milliseconds()}})
	for {
		var p payload
		if err := wsjson.Read(r.Context(), ws, &p); err != nil {
			c.lost(websocket.CloseStatus(err))
			return
		}
		if !s.handle(c, p) {
			c.lost(-1)
			return
		}
	}
}

// handle does what a program asks for, and reports whether the connection lasts.
func (s *Server) handle(c *connection, p payload) bool {
	switch p.Op {
	case opHeartbeat:
		if !s.forgets() {
			c.send("ack", object{"op": opHeartbeatAck})
		}
	case opIdentify:
		return s.identify(c, p.D)
	case opResume:
		return s.resume(c, p.D)
	case opVoiceState:
		if c.session == nil {
			_ = c.ws.Close(4003, "Not authenticated.") // the connection ends either way
			return false
		}
		s.moveVoice(c.session, p.D)
	}
	return true
}

// lost keeps the session for a program that may come back, unless it said farewell.
func (c *connection) lost(code websocket.StatusCode) {
	k := c.session
	if k == nil {
		return
	}
	if code == websocket.StatusNormalClosure || code == websocket.StatusGoingAway {
		c.server.mu.Lock()
		c.server.sessions = slices.DeleteFunc(c.server.sessions, func(o *session) bool { return o == k })
		c.server.mu.Unlock()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.conn == c {
		k.conn = nil
	}
}

// identify lets a program in that has a token, and shows it its guild.
func (s *Server) identify(c *connection, d json.RawMessage) bool {
	var who struct{ Token string }
	s.mu.Lock()
	s.logins = append(s.logins, time.Now())
	refusal := s.refusal
	user, known := "", json.Unmarshal(d, &who) == nil
	if known {
		user, known = s.tokens[strings.TrimPrefix(who.Token, "Bot ")]
	}
	s.mu.Unlock()
	if !known {
		refusal = 4004
	}
	if refusal != 0 {
		_ = c.ws.Close(websocket.StatusCode(refusal), "") // the connection ends either way
		return false
	}
	s.mu.Lock()
	k := &session{server: s, id: "session-" + s.snowflake(), user: user, conn: c}
	c.session = k
	s.sessions = append(s.sessions, k)
	self := s.members[user].user()
	var guilds, unavailable []any
	for _, g := range s.guilds {
		guilds = append(guilds, s.guild(g))
		unavailable = append(unavailable, object{"id": g.id, "unavailable": true})
	}
	s.mu.Unlock()
	k.dispatch("READY", object{
		"v": 10, "session_id": k.id, "user": self, "guilds": unavailable,
		"application": object{"id": user, "flags": 0}, "resume_gateway_url": s.gatewayURL(), "shard": []int{0, 1},
	})
	for _, g := range guilds {
		k.dispatch("GUILD_CREATE", g)
	}
	return true
}

// resume gives a program what it has missed.
func (s *Server) resume(c *connection, d json.RawMessage) bool {
	var what struct {
		Token   string
		Session string `json:"session_id"`
		Seq     int
	}
	if json.Unmarshal(d, &what) != nil {
		_ = c.ws.Close(4002, "Decode error.") // the connection ends either way
		return false
	}
	s.mu.Lock()
	if _, known := s.tokens[strings.TrimPrefix(what.Token, "Bot ")]; !known || s.refusal == 4004 {
		s.mu.Unlock()
		_ = c.ws.Close(4004, "Authentication failed.") // the connection ends either way
		return false
	}
	i := slices.IndexFunc(s.sessions, func(k *session) bool { return k.id == what.Session })
	if i < 0 {
		s.mu.Unlock()
		c.send("invalid", object{"op": opInvalidSession, "d": false})
		return true
	}
	k := s.sessions[i]
	s.resumes++
	s.mu.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	c.session, k.conn = k, c
	for _, m := range k.kept {
		if m["s"].(int) > what.Seq {
			c.send(m["t"].(string), m)
		}
	}
	k.seq++
	c.send("RESUMED", object{"op": opDispatch, "t": "RESUMED", "s": k.seq, "d": object{}})
	return true
}

// online are the sessions of a user, or of all users. The lock is held.
func (s *Server) online(user string) (out []*session) {
	for _, k := range s.sessions {
		if user == "" || k.user == user {
			out = append(out, k)
		}
	}
	return out
}
