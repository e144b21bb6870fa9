package discordtest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxKept    = 512  // messages, the latest
	maxContent = 2000 // Discord's limit, in characters
	maxBody    = 1 << 20
)

// command is a registered command, a subcommand or an option of one.
type command struct {
	Name, Description string
	Type              int
	Required          bool
	Autocomplete      bool
	Options           []command
	Choices           []struct{ Name string }
	Names             map[string]string `json:"name_localizations"`
	Descriptions      map[string]string `json:"description_localizations"`

	id string
}

// named is how Discord wants the names of commands and options.
var named = regexp.MustCompile(`^[-_\p{L}\p{N}]{1,32}$`)

// objections are what Discord has against a list of commands.
func objections(list []command) string {
	if len(list) > 100 {
		return "more than 100 commands"
	}
	for _, c := range list {
		if c.Type > 1 { // on a message or a user: any name, no description
			if c.Description != "" || len(c.Options) > 0 || len(c.Name) > 32 {
				return fmt.Sprintf("%q: a menu's command has a name only", c.Name)
			}
			continue
		}
		size := 0
		for _, part := range flatten([]command{c}) {
			if bad := part.objection(); bad != "" {
				return fmt.Sprintf("%q: %s", part.Name, bad)
			}
			size += part.longest()
		}
		if size > 8000 {
			return fmt.Sprintf("%q has %d characters in all", c.Name, size)
		}
	}
	return ""
}

func (c command) objection() string {
	for _, n := range append(slices.Collect(maps.Values(c.Names)), c.Name) {
		if !named.MatchString(n) || n != strings.ToLower(n) {
			return "the name " + n
		}
	}
	for _, d := range append(slices.Collect(maps.Values(c.Descriptions)), c.Description) {
		if d == "" || utf8.RuneCountInString(d) > 100 {
			return "the description " + d
		}
	}
	optional := false
	for _, o := range c.Options {
		if o.Required && optional {
			return "a required option after one that is not"
		}
		optional = optional || !o.Required && o.Type != 1
	}
	if len(c.Options) > 25 || len(c.Choices) > 25 || c.Autocomplete && len(c.Choices) > 0 {
		return "too many options or choices, or choices and autocomplete"
	}
	return ""
}

// longest counts name and description in the language that needs most.
func (c command) longest() int {
	n := 0
	for _, m := range []map[string]string{c.Names, c.Descriptions} {
		most := 0
		for _, t := range m {
			most = max(most, utf8.RuneCountInString(t))
		}
		n += most
	}
	return max(n, utf8.RuneCountInString(c.Name)+utf8.RuneCountInString(c.Description))
}

// pending is an interaction that waits for its answer.
type pending struct {
	acknowledged bool
	private      bool
	channel      string
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
	if bad := objections(list); bad != "" {
		refuse(w, http.StatusBadRequest, 50035, "Invalid Form Body: "+bad)
		return
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
	return s.SlashAt(ctx, user, Guild, name, options...)
}

// SlashAt is Slash in a guild of one's choice.
func (s *Server) SlashAt(ctx context.Context, user, guild, name string, options ...string) (Reply, error) {
	return s.interact(ctx, user, guild, 2, s.data(name, "", options))
}

// SlashElsewhere is Slash on a server that the bot does not serve.
func (s *Server) SlashElsewhere(ctx context.Context, user, name string) (Reply, error) {
	return s.interact(ctx, user, Elsewhere, 2, s.data(name, "", nil))
}

// Elsewhere is a server that the bot does not serve.
const Elsewhere = "900000000000000099"

// Complete has a member type the last option's value and returns the choices.
func (s *Server) Complete(ctx context.Context, user, name string, options ...string) (Reply, error) {
	return s.CompleteAt(ctx, user, Guild, name, options...)
}

// CompleteAt is Complete in a guild of one's choice.
func (s *Server) CompleteAt(ctx context.Context, user, guild, name string, options ...string) (Reply, error) {
	return s.interact(ctx, user, guild, 4, s.data(name, options[len(options)-2], options))
}

// Press has a member press a button.
func (s *Server) Press(ctx context.Context, user, custom string) (Reply, error) {
	return s.PressAt(ctx, user, Guild, custom)
}

// PressAt is Press in a guild of one's choice. With values it is a menu in which
// they were chosen.
func (s *Server) PressAt(ctx context.Context, user, guild, custom string, values ...string) (Reply, error) {
	kind := 2
	if len(values) > 0 {
		kind = 3
	}
	return s.interact(ctx, user, guild, 3, object{"custom_id": custom, "component_type": kind, "values": append([]string{}, values...)})
}

// data is a command's part of an interaction. Values have the type with which the
// option was registered.
func (s *Server) data(name, focused string, options []string) object {
	var opts []any
	for i := 0; i+1 < len(options); i += 2 {
		kind, value := s.kindOf(name, options[i]), any(options[i+1])
		switch n, err := strconv.ParseFloat(options[i+1], 64); {
		case kind == 5:
			value = options[i+1] == "true"
		case kind == 4 && err == nil:
			value = n
		}
		opts = append(opts, object{"name": options[i], "type": kind, "value": value, "focused": options[i] == focused})
	}
	group, sub, ok := strings.Cut(name, " ")
	if ok {
		opts = []any{object{"name": sub, "type": 1, "options": opts}}
	}
	return object{"id": "1", "name": group, "type": 1, "options": opts}
}

// kindOf is the type of a command's option; what is not registered is a text.
func (s *Server) kindOf(name, option string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.commands
	for _, n := range append(strings.Fields(name), option) {
		i := slices.IndexFunc(list, func(c command) bool { return c.Name == n })
		if i < 0 {
			return 3
		}
		if n == option {
			return list[i].Type
		}
		list = list[i].Options
	}
	return 3
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
	g := s.guilds[guild]
	if g == nil {
		g = s.guilds[Guild]
	}
	id, token := s.snowflake(), "token-"+s.snowflake()
	p := &pending{replies: make(chan Reply, 2), channel: g.text}
	s.waiting[token] = p
	event := object{
		"id": id, "application_id": Bot, "type": kind, "token": token, "version": 1, "guild_id": guild, "channel_id": g.text,
		"guild": object{"id": guild, "locale": g.locale, "features": []any{}}, "channel": s.allChannels(g)[1],
		"member": m.json(guild), "data": d, "locale": cmp.Or(m.locale, "en-US"), "guild_locale": g.locale, "app_permissions": number(g.permissions),
		"entitlements": []any{}, "authorizing_integration_owners": object{"0": guild}, "context": 0,
		"attachment_size_limit": 10 << 20,
	}
	if kind == 3 { // the message that the button is under
		event["message"] = s.message("1", g.text, "")
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

// sent is what the bot sends, in any of the ways it may.
type sent struct {
	Content  string
	Flags    int
	Username string
	Avatar   string `json:"avatar_url"`
	CustomID string `json:"custom_id"`
	Title    string
	Choices  []struct{ Value any }
	Allowed  *struct {
		Parse *[]string
	} `json:"allowed_mentions"`
	Components []struct {
		Label      string
		Components []component
		Component  component
	}

	files map[string][]byte
}

// component is a button, a menu or a field.
type component struct {
	Type        int
	CustomID    string `json:"custom_id"`
	Label       string
	Placeholder string
}

// check says what Discord, or this bot's promises, would object to.
func (m sent) check() string {
	switch {
	case utf8.RuneCountInString(m.Content) > maxContent:
		return "Must be 2000 or fewer in length."
	case utf8.RuneCountInString(m.Username) > 80:
		return "username: Must be 80 or fewer in length."
	case m.Content != "" && (m.Allowed == nil || m.Allowed.Parse == nil || len(*m.Allowed.Parse) > 0):
		return "This message could mention people."
	case len(m.Components) > 5:
		return "components: Must be 5 or fewer in length."
	}
	for _, row := range m.Components {
		if len(row.Components) > 5 {
			return "components: Must be between 1 and 5 in length."
		}
		for _, c := range append(row.Components, row.Component) {
			if len(c.CustomID) > 100 || utf8.RuneCountInString(c.Label) > 80 {
				return "components: custom_id or label is too long."
			}
		}
	}
	return ""
}

func (m sent) reply() Reply {
	r := Reply{Content: m.Content, Private: m.Flags&64 != 0, Files: m.files}
	if m.CustomID != "" {
		r.Modal = &Modal{ID: m.CustomID, Title: m.Title}
	}
	for _, row := range m.Components {
		for _, b := range row.Components {
			r.Buttons = append(r.Buttons, b.CustomID)
			r.Labels = append(r.Labels, cmp.Or(b.Label, b.Placeholder))
		}
		if r.Modal != nil {
			r.Modal.Fields = append(r.Modal.Fields, row.Component.CustomID)
			r.Modal.Labels = append(r.Modal.Labels, row.Label)
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
		Data sent
	}
	if !read(w, r, &body, &body.Data) {
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
	case body.Type == 9 && (body.Data.Title == "" || utf8.RuneCountInString(body.Data.Title) > 45 || len(body.Data.Components) == 0):
		refuse(w, http.StatusBadRequest, 50035, "Invalid Form Body: a modal needs a title and fields")
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
	var m sent
	if !read(w, r, &m, &m) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.waiting[r.PathValue("token")]
	if p == nil || !p.acknowledged {
		s.edited(w, r.PathValue("message"), m) // a message of a webhook, then
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

// message is one of the bot's as Discord shows it. The lock is held.
func (s *Server) message(id, channel, content string) object {
	return object{
		"id": id, "channel_id": channel, "content": content, "type": 0, "flags": 0, "timestamp": since,
		"edited_timestamp": nil, "author": s.members[Bot].user(), "tts": false, "pinned": false, "mention_everyone": false,
		"mentions": []any{}, "mention_roles": []any{}, "attachments": []any{}, "embeds": []any{}, "components": []any{},
	}
}

// Posted are the bot's messages in the text channels, the oldest first.
func (s *Server) Posted() []Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Reply
	for _, p := range s.posted {
		out = append(out, p.Reply)
	}
	return out
}
