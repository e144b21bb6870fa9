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
)

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

// guild is the guild as its members' programs see it. The lock is held.
func (s *Server) guild() object {
	states, members := []any{}, []any{}
	for user := range s.channels {
		states = append(states, s.voiceState(user))
	}
	for _, m := range s.members {
		members = append(members, m.json())
	}
	return object{
		"id": Guild, "name": "The Table", "owner_id": Admin, "roles": s.roles(), "members": members, "voice_states": states,
		"channels": s.allChannels(), "member_count": len(members), "joined_at": since, "large": false, "unavailable": false,
		"threads": []any{}, "presences": []any{}, "stage_instances": []any{}, "guild_scheduled_events": []any{},
		"soundboard_sounds": []any{}, "emojis": []any{}, "stickers": []any{}, "features": []any{},
		"icon": nil, "splash": nil, "banner": nil, "description": nil, "vanity_url_code": nil, "application_id": nil,
		"afk_channel_id": nil, "afk_timeout": 300, "system_channel_id": Text, "system_channel_flags": 0,
		"rules_channel_id": nil, "public_updates_channel_id": nil, "safety_alerts_channel_id": nil, "preferred_locale": "en-US",
		"verification_level": 1, "default_message_notifications": 0, "explicit_content_filter": 0, "mfa_level": 0,
		"nsfw_level": 0, "premium_tier": 0, "premium_subscription_count": 0, "premium_progress_bar_enabled": false,
	}
}

func (s *Server) roles() []any {
	names := map[string]bool{}
	out := []any{object{
		"id": Guild, "name": "@everyone", "permissions": number(Everyone), "position": 0, "color": 0, "hoist": false,
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

func (s *Server) allChannels() []any {
	overwrites := []any{}
	if s.denied != 0 {
		overwrites = append(overwrites, object{"id": Bot, "type": 1, "allow": "0", "deny": number(s.denied)})
	}
	return []any{
		object{
			"id": Channel, "type": 2, "name": "Voice", "guild_id": Guild, "position": 0, "permission_overwrites": overwrites,
			"parent_id": nil, "bitrate": 64000, "user_limit": 0, "rtc_region": nil, "nsfw": false, "last_message_id": nil,
			"rate_limit_per_user": 0, "flags": 0,
		},
		object{
			"id": Text, "type": 0, "name": "text", "guild_id": Guild, "position": 1, "permission_overwrites": []any{},
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

func (m *member) json() object {
	return object{
		"user": m.user(), "roles": append([]string{}, m.roles...), "permissions": number(m.permissions), "guild_id": Guild,
		"nick": nil, "avatar": nil, "joined_at": since, "premium_since": nil, "deaf": false, "mute": false, "flags": 0,
		"pending": false, "communication_disabled_until": nil,
	}
}

// number is a permission as JSON has it.
func number(n int64) string { return strconv.FormatInt(n, 10) }

// voiceState is where a user is, or was. The lock is held.
func (s *Server) voiceState(user string) object {
	v := object{
		"guild_id": Guild, "user_id": user, "session_id": "voice-" + user, "channel_id": nil,
		"deaf": false, "mute": false, "self_deaf": false, "self_mute": false, "self_video": false,
		"suppress": user == Bot && s.denied&Speak != 0, "request_to_speak_timestamp": nil,
	}
	if at, ok := s.channels[user]; ok {
		v["channel_id"] = Channel
		if at.session != "" {
			v["session_id"] = at.session
		}
	}
	if m := s.members[user]; m != nil {
		v["member"] = m.json()
	}
	return v
}

// guildRoutes are the REST calls that read the guild.
func (s *Server) guildRoutes(api func(pattern string, f http.HandlerFunc)) {
	ours := func(part func(r *http.Request) any) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if r.PathValue("guild") != Guild {
				refuse(w, http.StatusForbidden, 50001, "Missing Access")
				return
			}
			v := part(r)
			if v == nil {
				refuse(w, http.StatusNotFound, 10007, "Unknown Member")
				return
			}
			answer(w, v)
		}
	}
	api("GET /guilds/{guild}", ours(func(*http.Request) any { return s.guild() }))
	api("GET /guilds/{guild}/channels", ours(func(*http.Request) any { return s.allChannels() }))
	api("GET /guilds/{guild}/roles", ours(func(*http.Request) any { return s.roles() }))
	api("GET /guilds/{guild}/members/{user}", ours(func(r *http.Request) any {
		if m := s.members[r.PathValue("user")]; m != nil {
			return m.json()
		}
		return nil
	}))
}
