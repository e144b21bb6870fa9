package discordtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxKept    = 64   // answers nobody has looked at
	maxContent = 2000 // Discord's limit, in characters
	maxBody    = 1 << 20
)

// command is a registered command or a subcommand of one.
type command struct {
	Name, Description string
	Type              int
	Autocomplete      bool
	Options           []command

	id string
}

// pending is an interaction that waits for its answer.
type pending struct {
	acknowledged bool
	private      bool
	replies      chan Reply // one, or two after an acknowledgement
}

// register keeps what the bot can do. Discord refuses names that are not lower
// case and descriptions over 100 characters.
func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	var list []command
	var full []object
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err = errors.Join(err, json.Unmarshal(body, &list), json.Unmarshal(body, &full)); err != nil {
		refuse(w, http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
		return
	}
	for _, c := range flatten(list) {
		if c.Name == "" || c.Name != strings.ToLower(c.Name) || len(c.Name) > 32 || c.Description == "" || utf8.RuneCountInString(c.Description) > 100 {
			refuse(w, http.StatusBadRequest, 50035, fmt.Sprintf("Invalid Form Body: %q: %q", c.Name, c.Description))
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commands = list
	s.registered++
	var out []object
	for i, c := range full {
		c["id"], c["application_id"], c["version"] = s.snowflake(), Bot, "1"
		if _, ok := c["type"]; !ok {
			c["type"] = 1
		}
		if guild := r.PathValue("guild"); guild != "" {
			c["guild_id"] = guild
		}
		list[i].id = c["id"].(string)
		out = append(out, c)
	}
	answer(w, out)
}

func flatten(list []command) (all []command) {
	for _, c := range list {
		all = append(append(all, c), flatten(c.Options)...)
	}
	return all
}

// Ready reports whether the bot has registered its commands.
func (s *Server) Ready() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.commands) > 0
}

// Commands lists what the bot registered, as a user would type it.
func (s *Server) Commands() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, c := range s.commands {
		sub := false
		for _, o := range c.Options {
			if o.Type == 1 {
				sub = true
				out = append(out, c.Name+" "+o.Name)
			}
		}
		if !sub {
			out = append(out, c.Name)
		}
	}
	return out
}

// Slash has a member use a command, such as "session start", with option names and
// values in turn, and returns what the member is shown in the end.
func (s *Server) Slash(ctx context.Context, user, name string, options ...string) (Reply, error) {
	return s.interact(ctx, user, Guild, 2, data(name, "", options))
}

// SlashElsewhere is Slash on a server that the bot does not serve.
func (s *Server) SlashElsewhere(ctx context.Context, user, name string) (Reply, error) {
	return s.interact(ctx, user, "900000000000000099", 2, data(name, "", nil))
}

// Complete has a member type the last option's value and returns the choices.
func (s *Server) Complete(ctx context.Context, user, name string, options ...string) (Reply, error) {
	return s.interact(ctx, user, Guild, 4, data(name, options[len(options)-2], options))
}

// Press has a member press a button.
func (s *Server) Press(ctx context.Context, user, custom string) (Reply, error) {
	return s.interact(ctx, user, Guild, 3, object{"custom_id": custom, "component_type": 2})
}

// data is a command's part of an interaction.
func data(name, focused string, options []string) object {
	var opts []any
	for i := 0; i+1 < len(options); i += 2 {
		opts = append(opts, object{"name": options[i], "type": 3, "value": options[i+1], "focused": options[i] == focused})
	}
	group, sub, ok := strings.Cut(name, " ")
	if ok {
		opts = []any{object{"name": sub, "type": 1, "options": opts}}
	}
	return object{"id": "1", "name": group, "type": 1, "options": opts}
}

// interact sends an interaction and waits for its last answer.
func (s *Server) interact(ctx context.Context, user, guild string, kind int, d object) (Reply, error) {
	s.mu.Lock()
	m := s.members[user]
	bots := s.online(Bot)
	if m == nil || len(bots) == 0 {
		s.mu.Unlock()
		return Reply{}, fmt.Errorf("discordtest: no member %s, or no bot", user)
	}
	id, token := s.snowflake(), "token-"+s.snowflake()
	p := &pending{replies: make(chan Reply, 2)}
	s.waiting[token] = p
	event := object{
		"id": id, "application_id": Bot, "type": kind, "token": token, "version": 1, "guild_id": guild, "channel_id": Text,
		"guild": object{"id": guild, "locale": "en-US", "features": []any{}}, "channel": s.allChannels()[1],
		"member": m.json(), "data": d, "locale": "en-US", "guild_locale": "en-US", "app_permissions": number(Everyone),
		"entitlements": []any{}, "authorizing_integration_owners": object{"0": guild}, "context": 0,
		"attachment_size_limit": 10 << 20,
	}
	if kind == 3 { // the message that the button is under
		event["message"] = s.message("1", Text, "")
	}
	s.mu.Unlock()
	bots[len(bots)-1].dispatch("INTERACTION_CREATE", event)
	select {
	case r := <-p.replies:
		return r, nil
	case <-ctx.Done():
		return Reply{}, fmt.Errorf("discordtest: no answer: %w", ctx.Err())
	}
}

// message is what the bot sends, in any of the ways it may.
type message struct {
	Content string
	Flags   int
	Choices []struct{ Value any }
	Allowed *struct {
		Parse *[]string
	} `json:"allowed_mentions"`
	Components []struct {
		Components []struct {
			CustomID string `json:"custom_id"`
		}
	}
}

// check says what Discord, or this bot's promises, would object to.
func (m message) check() string {
	switch {
	case utf8.RuneCountInString(m.Content) > maxContent:
		return "Must be 2000 or fewer in length."
	case m.Content != "" && (m.Allowed == nil || m.Allowed.Parse == nil || len(*m.Allowed.Parse) > 0):
		return "This message could mention people."
	}
	return ""
}

func (m message) reply() Reply {
	r := Reply{Content: m.Content, Private: m.Flags&64 != 0}
	for _, row := range m.Components {
		for _, b := range row.Components {
			r.Buttons = append(r.Buttons, b.CustomID)
		}
	}
	for _, c := range m.Choices {
		r.Choices = append(r.Choices, fmt.Sprint(c.Value))
	}
	return r
}

// callback is the first answer to an interaction.
func (s *Server) callback(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Type int
		Data message
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		refuse(w, http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.waiting[r.PathValue("token")]
	switch {
	case p == nil:
		refuse(w, http.StatusNotFound, 10062, "Unknown interaction")
		return
	case p.acknowledged:
		refuse(w, http.StatusBadRequest, 40060, "Interaction has already been acknowledged.")
		return
	}
	if bad := body.Data.check(); bad != "" {
		refuse(w, http.StatusBadRequest, 50035, "Invalid Form Body: "+bad)
		return
	}
	p.acknowledged = true
	p.private = body.Data.Flags&64 != 0
	if body.Type != 5 { // 5: the answer follows
		p.replies <- body.Data.reply()
	}
	w.WriteHeader(http.StatusNoContent)
}

// edit is the answer that follows an acknowledgement.
func (s *Server) edit(w http.ResponseWriter, r *http.Request) {
	var m message
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		refuse(w, http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.waiting[r.PathValue("token")]
	if p == nil || !p.acknowledged {
		refuse(w, http.StatusNotFound, 10015, "Unknown Webhook")
		return
	}
	if bad := m.check(); bad != "" {
		refuse(w, http.StatusBadRequest, 50035, "Invalid Form Body: "+bad)
		return
	}
	reply := m.reply()
	reply.Private = p.private
	select {
	case p.replies <- reply:
	default: // a later edit, which nobody waits for
	}
	answer(w, s.message(s.snowflake(), Text, m.Content))
}

// post is an ordinary message in a channel.
func (s *Server) post(w http.ResponseWriter, r *http.Request) {
	var m message
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		refuse(w, http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
		return
	}
	if bad := m.check(); bad != "" {
		refuse(w, http.StatusBadRequest, 50035, "Invalid Form Body: "+bad)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.posted = append(s.posted, m.reply()); len(s.posted) > maxKept {
		s.posted = s.posted[1:]
	}
	answer(w, s.message(s.snowflake(), r.PathValue("channel"), m.Content))
}

// message is one of the bot's as Discord shows it. The lock is held.
func (s *Server) message(id, channel, content string) object {
	return object{
		"id": id, "channel_id": channel, "content": content, "type": 0, "flags": 0, "timestamp": since,
		"edited_timestamp": nil, "author": s.members[Bot].user(), "tts": false, "pinned": false, "mention_everyone": false,
		"mentions": []any{}, "mention_roles": []any{}, "attachments": []any{}, "embeds": []any{}, "components": []any{},
	}
}

// Posted are the bot's messages in the text channel, the oldest first.
func (s *Server) Posted() []Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.posted)
}
