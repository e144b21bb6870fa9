package discordtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// cdn is where uploads are.
const cdn = "cdn.discordapp.com"

// A Post is a message in a channel or thread.
type Post struct {
	ID, Channel string
	// Author is the name under which a webhook wrote it; "" is the bot itself.
	// Avatar is the address of its picture.
	Author, Avatar string
	Edits          int
	Reply
}

// AddGuild makes another server, with a voice and a text channel, which a bot sees
// when it logs in.
func (s *Server) AddGuild(name, locale string) (guildID, voiceChannel, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := &guild{id: s.snowflake(), name: name, voice: s.snowflake(), text: s.snowflake(), locale: locale, permissions: All}
	s.guilds[g.id] = g
	return g.id, g.voice, g.text
}

// Grant sets what everybody, and so the bot, may do in a guild.
func (s *Server) Grant(guild string, permissions int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.guilds[guild].permissions = permissions
}

// Translate sets the language of a member's Discord.
func (s *Server) Translate(user, locale string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.members[user].locale = locale
}

// Locale sets a guild's language, before a bot logs in.
func (s *Server) Locale(guild, locale string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.guilds[guild].locale = locale
}

// Forbid has Discord answer "Missing Permissions" to "messages", "threads",
// "webhooks", "status" or "direct" messages.
func (s *Server) Forbid(what ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range what {
		s.lacks[w] = true
	}
}

// Posts are the messages of one channel or thread, the oldest first; "" is all.
func (s *Server) Posts(channel string) []Post {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Post
	for _, p := range s.posted {
		if channel == "" || p.Channel == channel {
			out = append(out, *p)
		}
	}
	return out
}

// Status is what stands under a voice channel's name.
func (s *Server) Status(channel string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.statuses[channel]
}

// On has a member use a menu's command on a user, or on a message of one.
func (s *Server) On(ctx context.Context, user, guild, name, target, message string) (Reply, error) {
	d := object{"id": "1", "name": name, "type": 2, "target_id": target}
	if message != "" {
		author := object{"id": target, "username": "author " + target}
		d["type"], d["target_id"] = 3, "77"
		d["resolved"] = object{"messages": object{"77": object{"id": "77", "content": message, "author": author}}}
	}
	return s.interact(ctx, user, guild, 2, d)
}

// Submit has a member send a modal, with fields' names and values in turn.
func (s *Server) Submit(ctx context.Context, user, guild, modal string, fields ...string) (Reply, error) {
	var components []any
	for i := 0; i+1 < len(fields); i += 2 {
		components = append(components, object{"type": 18, "component": object{"type": 4, "custom_id": fields[i], "value": fields[i+1]}})
	}
	return s.interact(ctx, user, guild, 5, object{"custom_id": modal, "components": components})
}

// Upload has a member send a modal with a file, which Discord keeps at its own
// address, or claims to be elsewhere.
func (s *Server) Upload(ctx context.Context, user, guild, modal, field, name string, content []byte, elsewhere string) (Reply, error) {
	s.mu.Lock()
	id := s.snowflake()
	at := s.keep(id, name, content)
	s.mu.Unlock()
	if elsewhere != "" {
		at = elsewhere
	}
	return s.interact(ctx, user, guild, 5, object{
		"custom_id":  modal,
		"components": []any{object{"type": 18, "component": object{"type": 19, "custom_id": field, "values": []string{id}}}},
		"resolved":   object{"attachments": object{id: object{"id": id, "filename": name, "size": len(content), "url": at}}},
	})
}

// keep stores a file and returns its address. The lock is held.
func (s *Server) keep(id, name string, content []byte) string {
	s.files["/files/"+id+"/"+name] = content
	return "https://" + cdn + "/files/" + id + "/" + name
}

func (s *Server) download(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	b, ok := s.files[r.URL.Path]
	s.mu.Unlock()
	if !ok {
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write(b) // the bot went away; a test sees that elsewhere
}

// maxForm bounds a request with its files.
const maxForm = 32 << 20

// read decodes a request's body: plain JSON, or a form with files for m.
func read(w http.ResponseWriter, r *http.Request, into any, m *sent) bool {
	body := io.Reader(r.Body)
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data") {
		if err := r.ParseMultipartForm(maxForm); err != nil {
			refuse(w, http.StatusBadRequest, 50035, err.Error())
			return false
		}
		body = strings.NewReader(r.FormValue("payload_json"))
	}
	if err := json.NewDecoder(body).Decode(into); err != nil {
		refuse(w, http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
		return false
	}
	if r.MultipartForm == nil {
		return true
	}
	m.files = map[string][]byte{}
	for _, list := range r.MultipartForm.File {
		for _, h := range list {
			f, err := h.Open()
			if err != nil {
				refuse(w, http.StatusBadRequest, 50035, err.Error())
				return false
			}
			b, err := io.ReadAll(f)
			f.Close()
			if err != nil {
				refuse(w, http.StatusBadRequest, 50035, err.Error())
				return false
			}
			m.files[h.Filename] = b
		}
	}
	return true
}

// more are the routes of messages, threads and webhooks.
func (s *Server) more(api func(pattern string, f http.HandlerFunc)) {
	may := func(what string, f http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			s.mu.Lock()
			no := s.lacks[what]
			s.mu.Unlock()
			if no {
				refuse(w, http.StatusForbidden, 50013, "Missing Permissions")
				return
			}
			f(w, r)
		}
	}
	api("PATCH /channels/{channel}/messages/{message}", func(w http.ResponseWriter, r *http.Request) {
		var m sent
		if read(w, r, &m, &m) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.edited(w, r.PathValue("message"), m)
		}
	})
	api("POST /channels/{channel}/messages/{message}/threads", may("threads", func(w http.ResponseWriter, r *http.Request) {
		answer(w, object{"id": "thread-" + r.PathValue("channel"), "type": 11, "parent_id": r.PathValue("channel")})
	}))
	api("GET /channels/{channel}/webhooks", may("webhooks", func(w http.ResponseWriter, _ *http.Request) { answer(w, []any{}) }))
	api("POST /channels/{channel}/webhooks", may("webhooks", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		id := s.snowflake()
		s.hooks[id] = r.PathValue("channel")
		answer(w, object{"id": id, "token": "hook-" + id, "application_id": Bot, "channel_id": r.PathValue("channel")})
	}))
	api("POST /webhooks/{app}/{token}", s.execute)
	api("PUT /channels/{channel}/voice-status", may("status", func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Status string }
		var none sent
		if !read(w, r, &body, &none) {
			return
		}
		s.mu.Lock()
		s.statuses[r.PathValue("channel")] = body.Status
		s.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
	}))
	api("POST /users/@me/channels", may("direct", func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Recipient string `json:"recipient_id"`
		}
		var none sent
		if read(w, r, &body, &none) {
			answer(w, object{"id": "direct-" + body.Recipient, "type": 1})
		}
	}))
}

// execute is what a webhook writes, or what follows an interaction's answer.
func (s *Server) execute(w http.ResponseWriter, r *http.Request) {
	var m sent
	if !read(w, r, &m, &m) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	channel, ok := s.hooks[r.PathValue("app")]
	p := s.waiting[r.PathValue("token")]
	switch {
	case ok && r.PathValue("token") == "hook-"+r.PathValue("app"):
		if t := r.URL.Query().Get("thread_id"); t != "" {
			channel = t
		}
	case p != nil && p.acknowledged:
		channel = p.channel
	default:
		refuse(w, http.StatusNotFound, 10015, "Unknown Webhook")
		return
	}
	s.keepPost(w, channel, m)
}

// post is an ordinary message in a channel.
func (s *Server) post(w http.ResponseWriter, r *http.Request) {
	var m sent
	if !read(w, r, &m, &m) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lacks["messages"] {
		refuse(w, http.StatusForbidden, 50013, "Missing Permissions")
		return
	}
	s.keepPost(w, r.PathValue("channel"), m)
}

// keepPost writes a message into a channel. The lock is held.
func (s *Server) keepPost(w http.ResponseWriter, channel string, m sent) {
	if bad := m.check(); bad != "" {
		refuse(w, http.StatusBadRequest, 50035, "Invalid Form Body: "+bad)
		return
	}
	p := &Post{ID: s.snowflake(), Channel: channel, Author: m.Username, Avatar: m.Avatar, Reply: m.reply()}
	if s.posted = append(s.posted, p); len(s.posted) > maxKept {
		s.posted = s.posted[1:]
	}
	attachments := []any{}
	for name, b := range m.files {
		attachments = append(attachments, object{"id": s.snowflake(), "filename": name, "url": s.keep(p.ID, name, b)})
	}
	shown := s.message(p.ID, channel, m.Content)
	shown["attachments"] = attachments
	answer(w, shown)
}

// edited changes a message. The lock is held.
func (s *Server) edited(w http.ResponseWriter, id string, m sent) {
	i := slices.IndexFunc(s.posted, func(p *Post) bool { return p.ID == id })
	if i < 0 {
		refuse(w, http.StatusNotFound, 10008, fmt.Sprintf("Unknown Message %s", id))
		return
	}
	if bad := m.check(); bad != "" {
		refuse(w, http.StatusBadRequest, 50035, "Invalid Form Body: "+bad)
		return
	}
	p := s.posted[i]
	r := m.reply()
	r.Private, r.Files = p.Private, p.Files
	p.Reply, p.Edits = r, p.Edits+1
	answer(w, s.message(id, p.Channel, m.Content))
}
