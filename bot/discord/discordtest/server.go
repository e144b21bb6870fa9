package discordtest

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/glyphoxa/glyphoxa/voice/voicetest"
)

// A Server is a Discord with one guild, or more.
type Server struct {
	http    *http.Server
	address string
	network *voicetest.Network // nil on loopback

	mu       sync.Mutex // guards all below
	voice    *voicetest.Server
	tokens   map[string]string // users by token
	members  map[string]*member
	guilds   map[string]*guild
	channels map[seat]inVoice // the users in the voice channels
	denied   int64            // permissions, to the bot in the voice channel
	commands []command
	sessions []*session
	waiting  map[string]*pending // interactions by token
	posted   []*Post
	hooks    map[string]string // webhooks' channels
	files    map[string][]byte // what was uploaded, by address
	statuses map[string]string // of voice channels
	lacks    map[string]bool   // what the bot may not do
	next     uint64            // for ids

	logins              []time.Time
	resumes, registered int
	refused             int // connections
	// What goes wrong on request.
	cut             string
	refusal         int
	down, forgetful bool
	beat            time.Duration
}

// NewServer starts a Discord that knows one bot token and sends calls to the voice
// server. If that one is on a network in memory, so is this.
func NewServer(token string, v *voicetest.Server) *Server {
	s := &Server{
		voice: v, network: v.Network(), tokens: map[string]string{token: Bot}, members: map[string]*member{},
		channels: map[seat]inVoice{}, waiting: map[string]*pending{}, next: 900000000000001000, beat: defaultHeartbeat,
		hooks: map[string]string{}, files: map[string][]byte{}, statuses: map[string]string{}, lacks: map[string]bool{},
		guilds: map[string]*guild{Guild: {id: Guild, name: "The Table", voice: Channel, text: Text, locale: "en-US", permissions: All}},
	}
	s.Join(Admin, "Lead", Administrator)
	s.members[Bot] = &member{id: Bot, name: "Glyphoxa", permissions: All, bot: true}
	s.http = &http.Server{Handler: s.routes(), ReadHeaderTimeout: 10 * time.Second}
	listener := s.listen()
	s.address = listener.Addr().String()
	go func() { _ = s.http.Serve(listener) }() // until Close
	return s
}

func (s *Server) listen() net.Listener {
	if s.network != nil {
		return s.network.Listen()
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(fmt.Sprintf("discordtest: loopback: %v", err)) // a machine without it runs no test
	}
	return l
}

// Close ends every connection.
func (s *Server) Close() {
	s.mu.Lock()
	sessions := s.sessions
	s.mu.Unlock()
	for _, k := range sessions {
		k.mu.Lock()
		c := k.conn
		k.mu.Unlock()
		if c != nil {
			_ = c.ws.Close(websocket.StatusGoingAway, "the server ends")
		}
	}
	_ = s.http.Close()
}

// Token lets a program log in as a member: one of Discord's libraries that plays
// a person.
func (s *Server) Token(user string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	token := "token-" + user
	s.tokens[token] = user
	if m := s.members[user]; m != nil {
		m.bot = true
	}
	return token
}

// API is where a library finds this Discord's REST.
func (s *Server) API() string { return "http://" + s.address + "/api" }

func (s *Server) gatewayURL() string { return "ws://" + s.address + "/socket/" }

// Client reaches this server as discord.com, and the voice server by its own name.
func (s *Server) Client() *http.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.network != nil {
		there := s.network.HTTP().Transport
		return &http.Client{Transport: redirect{s.address, there, there}}
	}
	return &http.Client{Transport: redirect{s.address, &http.Transport{}, voicetest.Trust(s.voice).Transport}}
}

// redirect sends what is meant for Discord to this server.
type redirect struct {
	to            string
	plain, secure http.RoundTripper
}

// RoundTrip is http.RoundTripper's.
func (r redirect) RoundTrip(req *http.Request) (*http.Response, error) {
	if h := req.URL.Hostname(); !strings.HasSuffix(h, "discord.com") && h != cdn {
		return r.secure.RoundTrip(req)
	}
	req = req.Clone(req.Context())
	req.URL.Scheme, req.URL.Host, req.Host = "http", r.to, r.to
	return r.plain.RoundTrip(req)
}

// Logins is how often somebody has identified.
func (s *Server) Logins() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.logins)
}

// LoginTimes are when.
func (s *Server) LoginTimes() []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.logins)
}

// snowflake makes a new id. The lock is held.
func (s *Server) snowflake() string {
	s.next++
	return strconv.FormatUint(s.next, 10)
}

// A Reply is what somebody is shown.
type Reply struct {
	Content string
	// Private replies are seen by the caller only.
	Private bool
	// Buttons are the custom ids under it, Labels what stands on them; Choices are
	// autocomplete's values.
	Buttons, Labels, Choices []string
	// Modal is the window that was opened instead.
	Modal *Modal
	// Files are what is attached, by name.
	Files map[string][]byte
}

// A Modal is a window that asks for something.
type Modal struct {
	ID, Title string
	// Fields are the custom ids of what is asked, Labels their names.
	Fields, Labels []string
}

func (s *Server) routes() http.Handler {
	m := http.NewServeMux()
	api := func(pattern string, f http.HandlerFunc) {
		method, path, _ := strings.Cut(pattern, " ")
		for _, version := range []string{"v9", "v10"} {
			m.HandleFunc(method+" /api/"+version+path, func(w http.ResponseWriter, r *http.Request) {
				user := s.caller(r)
				if user == "" && !strings.HasPrefix(path, "/interactions/") && !strings.HasPrefix(path, "/webhooks/") {
					refuse(w, http.StatusUnauthorized, 0, "401: Unauthorized")
					return
				}
				f(w, r)
			})
		}
	}
	api("GET /gateway", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]string{"url": s.gatewayURL()})
	})
	api("GET /gateway/bot", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, object{
			"url": s.gatewayURL(), "shards": 1,
			"session_start_limit": map[string]int{"total": 1000, "remaining": 999, "reset_after": 1000, "max_concurrency": 1},
		})
	})
	api("GET /users/@me", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		answer(w, s.members[s.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bot ")]].user())
	})
	s.guildRoutes(api)
	api("PUT /applications/{app}/commands", s.register)
	api("PUT /applications/{app}/guilds/{guild}/commands", s.register)
	api("POST /interactions/{id}/{token}/callback", s.callback)
	api("PATCH /webhooks/{app}/{token}/messages/{message}", s.edit)
	api("POST /channels/{channel}/messages", s.post)
	s.more(api)
	m.HandleFunc("GET /files/{id}/{name}", s.download)
	m.HandleFunc("/socket/", s.socket)
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, 0, fmt.Sprintf("404: %s %s is not part of this Discord", r.Method, r.URL.Path))
	})
	return m
}

// caller is whose token a request has, "" for nobody's.
func (s *Server) caller(r *http.Request) string {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bot ")
	if !ok {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens[token]
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the bot went away; a test sees that elsewhere
}

func refuse(w http.ResponseWriter, status, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(object{"code": code, "message": message}) // as in answer
}
