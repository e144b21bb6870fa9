package discordtest

import (
	"net/http"
	"strconv"
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
	ViewChannel   = 1 << 10
	SendMessages  = 1 << 11
	Connect       = 1 << 20
	Speak         = 1 << 21
	Everyone      = ViewChannel | SendMessages | Connect | Speak
	// All is what a bot for voice and text may want besides: files, webhooks,
	// threads, and the voice channel's status.
	All = Everyone | 1<<15 | 1<<29 | 1<<35 | 1<<38 | 1<<48
)

// guild is a server with one voice and one text channel.
type guild struct {
	id, name, voice, text, locale string
	permissions                   int64 // everybody's, and so the bot's
}

// since is when everything here was made.
const since = "2026-01-01T00:00:00.000000+00:00"

// object is what becomes a JSON object.
type object = map[string]any

// member is a user of the guild.
type member struct {
	id, name    string
	roles       []string
	permissions int64
	bot         bool
	locale      string // of the member's Discord
}

// Join adds a member, or changes one.
func (s *Server) Join(user, name string, permissions int64, roles ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.members[user] = &member{id: user, name: name, roles: roles, permissions: permissions}
}

// Deny takes permissions from the bot in the voice channel, by an overwrite.
func (s *Server) Deny(permissions int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.denied = permissions
}

// guild is a guild as its members' programs see it. The lock is held.
func (s *Server) guild(g *guild) object {
	states, members := []any{}, []any{}
	for at := range s.channels {
		if at.guild == g.id {
			states = append(states, s.voiceState(at))
		}
	}
	for _, m := range s.members {
		members = append(members, m.json(g.id))
	}
	return object{
		"id": g.id, "name": g.name, "owner_id": Admin, "roles": s.roles(g), "members": members, "voice_states": states,
		"channels": s.allChannels(g), "member_count": len(members), "joined_at": since, "large": false, "unavailable": false,
		"threads": []any{}, "presences": []any{}, "stage_instances": []any{}, "guild_scheduled_events": []any{},
		"soundboard_sounds": []any{}, "emojis": []any{}, "stickers": []any{}, "features": []any{},
		"icon": nil, "splash": nil, "banner": nil, "description": nil, "vanity_url_code": nil, "application_id": nil,
		"afk_channel_id": nil, "afk_timeout": 300, "system_channel_id": g.text, "system_channel_flags": 0,
		"rules_channel_id": nil, "public_updates_channel_id": nil, "safety_alerts_channel_id": nil, "preferred_locale": g.locale,
		"verification_level": 1, "default_message_notifications": 0, "explicit_content_filter": 0, "mfa_level": 0,
		"nsfw_level": 0, "premium_tier": 0, "premium_subscription_count": 0, "premium_progress_bar_enabled": false,
	}
}

func (s *Server) roles(g *guild) []any {
	names := map[string]bool{}
	out := []any{object{
		"id": g.id, "name": "@everyone", "permissions": number(g.permissions), "position": 0, "color": 0, "hoist": false,
		"managed": false, "mentionable": false, "flags": 0, "icon": nil, "unicode_emoji": nil,
	}}
	for _, m := range s.members {
		for _, r := range m.roles {
			if !names[r] {
				names[r] = true
				out = append(out, object{
					"id": r, "name": "role " + r, "permissions": "0", "position": 1, "color": 0, "hoist": false,
					"managed": false, "mentionable": false, "flags": 0, "icon": nil, "unicode_emoji": nil,
				})
			}
		}
	}
	return out
}

func (s *Server) allChannels(g *guild) []any {
	overwrites := []any{}
	if s.denied != 0 {
		overwrites = append(overwrites, object{"id": Bot, "type": 1, "allow": "0", "deny": number(s.denied)})
	}
	return []any{
		object{
			"id": g.voice, "type": 2, "name": "Voice", "guild_id": g.id, "position": 0, "permission_overwrites": overwrites,
			"parent_id": nil, "bitrate": 64000, "user_limit": 0, "rtc_region": nil, "nsfw": false, "last_message_id": nil,
			"rate_limit_per_user": 0, "flags": 0,
		},
		object{
			"id": g.text, "type": 0, "name": "text", "guild_id": g.id, "position": 1, "permission_overwrites": []any{},
			"parent_id": nil, "topic": nil, "nsfw": false, "last_message_id": nil, "rate_limit_per_user": 0, "flags": 0,
		},
	}
}

func (m *member) user() object {
	return object{
		"id": m.id, "username": m.name, "discriminator": "0", "global_name": nil, "avatar": nil, "bot": m.bot,
		"public_flags": 0, "flags": 0,
	}
}

func (m *member) json(guild string) object {
	return object{
		"user": m.user(), "roles": append([]string{}, m.roles...), "permissions": number(m.permissions), "guild_id": guild,
		"nick": nil, "avatar": nil, "joined_at": since, "premium_since": nil, "deaf": false, "mute": false, "flags": 0,
		"pending": false, "communication_disabled_until": nil,
	}
}

// number is a permission as JSON has it.
func number(n int64) string { return strconv.FormatInt(n, 10) }

// voiceState is where a user is, or was. The lock is held.
func (s *Server) voiceState(of seat) object {
	user := of.user
	v := object{
		"guild_id": of.guild, "user_id": user, "session_id": "voice-" + user, "channel_id": nil,
		"deaf": false, "mute": false, "self_deaf": false, "self_mute": false, "self_video": false,
		"suppress": user == Bot && s.denied&Speak != 0, "request_to_speak_timestamp": nil,
	}
	if at, ok := s.channels[of]; ok {
		v["channel_id"] = s.guilds[of.guild].voice
		if at.session != "" {
			v["session_id"] = at.session
		}
	}
	if m := s.members[user]; m != nil {
		v["member"] = m.json(of.guild)
	}
	return v
}

// guildRoutes are the REST calls that read the guild.
func (s *Server) guildRoutes(api func(pattern string, f http.HandlerFunc)) {
	ours := func(part func(g *guild, r *http.Request) any) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			s.mu.Lock()
			defer s.mu.Unlock()
			g := s.guilds[r.PathValue("guild")]
			if g == nil {
				refuse(w, http.StatusForbidden, 50001, "Missing Access")
				return
			}
			v := part(g, r)
			if v == nil {
				refuse(w, http.StatusNotFound, 10007, "Unknown Member")
				return
			}
			answer(w, v)
		}
	}
	api("GET /guilds/{guild}", ours(func(g *guild, _ *http.Request) any { return s.guild(g) }))
	api("GET /guilds/{guild}/channels", ours(func(g *guild, _ *http.Request) any { return s.allChannels(g) }))
	api("GET /guilds/{guild}/roles", ours(func(g *guild, _ *http.Request) any { return s.roles(g) }))
	api("GET /guilds/{guild}/members/{user}", ours(func(g *guild, r *http.Request) any {
		if m := s.members[r.PathValue("user")]; m != nil {
			return m.json(g.id)
		}
		return nil
	}))
}
