package discordtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/glyphoxa/glyphoxa/voice/voicetest"
)

// The ids of the server's own things.
const (
	Guild   = "900000000000000001"
	Channel = "900000000000000002" // its voice channel
	Text    = "900000000000000003" // its text channel
	Bot     = "900000000000000010" // the bot's user, and its application
	Admin   = "900000000000000011" // a member who is an administrator
)

// Permissions of members, as Discord counts them.
const (
	Administrator = 1 << 3
	Everyone      = 1<<20 | 1<<21 // connect and speak
)

// A Server is a Discord with one guild.
type Server struct {
	token string
	voice *voicetest.Server
	http  *httptest.Server

	mu       sync.Mutex // guards all below
	members  map[string]*member
	channels map[string]string // the voice channel each user is in
	commands []command
	gateways []*gateway
	waiting  map[string]*pending // interactions by token
	posted   []Reply
	next     uint64 // for ids
	logins   int
}

// member is a user of the guild.
type member struct {
	id, name    string
	roles       []string
	permissions int64
}

// NewServer starts a Discord that knows one bot token and sends calls to the voice
// server.
func NewServer(token string, v *voicetest.Server) *Server {
	s := &Server{
		token: token, voice: v, members: map[string]*member{}, channels: map[string]string{}, waiting: map[string]*pending{},
		next: 900000000000001000,
	}
	s.http = httptest.NewServer(s.routes())
	s.Join(Admin, "Lead", Administrator)
	return s
}

// Close ends every connection.
func (s *Server) Close() {
	s.mu.Lock()
	gateways := s.gateways
	s.mu.Unlock()
	for _, g := range gateways {
		g.close()
	}
	s.http.Close()
}

// Client reaches this server as discord.com, and the voice server by its own name.
func (s *Server) Client() *http.Client {
	there, err := url.Parse(s.http.URL)
	if err != nil { // httptest's own
		panic(err)
	}
	return &http.Client{Transport: redirect{there, s.http.Client().Transport, voicetest.Trust(s.voice).Transport}}
}

// redirect sends what is meant for Discord to the loopback server.
type redirect struct {
	to            *url.URL
	plain, secure http.RoundTripper
}

// RoundTrip is http.RoundTripper's.
func (r redirect) RoundTrip(req *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(req.URL.Hostname(), "discord.com") {
		return r.secure.RoundTrip(req)
	}
	req = req.Clone(req.Context())
	req.URL.Scheme, req.URL.Host, req.Host = r.to.Scheme, r.to.Host, r.to.Host
	return r.plain.RoundTrip(req)
}

// Join adds a member, or changes one.
func (s *Server) Join(user, name string, permissions int64, roles ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.members[user] = &member{user, name, roles, permissions}
}

// Logins is how often the bot has identified.
func (s *Server) Logins() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logins
}

// id makes a new snowflake. The lock is held.
func (s *Server) id() string {
	s.next++
	return strconv.FormatUint(s.next, 10)
}

// A Reply is what somebody is shown.
type Reply struct {
	Content string
	// Private replies are seen by the caller only.
	Private bool
	// Buttons are the custom ids under it; Choices are autocomplete's values.
	Buttons, Choices []string
}

func (s *Server) routes() http.Handler {
	m := http.NewServeMux()
	api := func(pattern string, f func(w http.ResponseWriter, r *http.Request)) {
		method, path, _ := strings.Cut(pattern, " ")
		m.HandleFunc(method+" /api/v9"+path, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bot "+s.token && !strings.HasPrefix(path, "/interactions/") && !strings.HasPrefix(path, "/webhooks/") {
				refuse(w, http.StatusUnauthorized, 0, "401: Unauthorized")
				return
			}
			f(w, r)
		})
	}
	api("GET /gateway", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]string{"url": "ws" + strings.TrimPrefix(s.http.URL, "http") + "/socket/"})
	})
	api("GET /gateway/bot", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{
			"url": "ws" + strings.TrimPrefix(s.http.URL, "http") + "/socket/", "shards": 1,
			"session_start_limit": map[string]int{"total": 1000, "remaining": 999, "reset_after": 1000, "max_concurrency": 1},
		})
	})
	api("GET /guilds/{guild}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("guild") != Guild {
			refuse(w, http.StatusForbidden, 50001, "Missing Access")
			return
		}
		answer(w, map[string]any{"id": Guild, "name": "The Table"})
	})
	api("GET /users/@me", func(w http.ResponseWriter, _ *http.Request) { answer(w, s.self()) })
	api("PUT /applications/{app}/commands", s.register)
	api("PUT /applications/{app}/guilds/{guild}/commands", s.register)
	api("POST /interactions/{id}/{token}/callback", s.callback)
	api("PATCH /webhooks/{app}/{token}/messages/{message}", s.edit)
	api("POST /channels/{channel}/messages", s.post)
	m.HandleFunc("/socket/", s.socket)
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, 0, fmt.Sprintf("404: %s %s is not part of this Discord", r.Method, r.URL.Path))
	})
	return m
}

func (s *Server) self() map[string]any {
	return map[string]any{"id": Bot, "username": "Glyphoxa", "discriminator": "0000", "bot": true}
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the bot went away; a test sees that elsewhere
}

func refuse(w http.ResponseWriter, status, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"code": code, "message": message}) // as in answer
}
