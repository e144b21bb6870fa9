package discord

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/glyphoxa/glyphoxa/bot"
)

// setStatus is Discord's permission SET_VOICE_CHANNEL_STATUS, which discordgo
// v0.29.0 does not have.
const setStatus = 1 << 48

// needed are the permissions that the bot uses, what for, and whether a session
// needs them.
var needed = []struct {
	bit       int64
	name      string
	voice     bool // in the voice channel; otherwise where commands are typed
	must      bool
	otherwise string
}{
	{discordgo.PermissionViewChannel, "View Channel", true, true, "the bot cannot see the voice channel"},
	{discordgo.PermissionVoiceConnect, "Connect", true, true, "the NPCs cannot come"},
	{discordgo.PermissionVoiceSpeak, "Speak", true, true, "the NPCs cannot be heard"},
	{setStatus, "Set Voice Channel Status", true, false, "the channel does not show who is there"},
	{discordgo.PermissionViewChannel, "View Channel", false, true, "the bot cannot show the panel"},
	{discordgo.PermissionSendMessages, "Send Messages", false, true, "the bot cannot show the panel or ask those who come late"},
	{discordgo.PermissionCreatePublicThreads, "Create Public Threads", false, false, "captions stand in the channel itself"},
	{discordgo.PermissionSendMessagesInThreads, "Send Messages in Threads", false, false, "captions stand in the channel itself"},
	{discordgo.PermissionManageWebhooks, "Manage Webhooks", false, false, "captions have no names and portraits"},
	{discordgo.PermissionAttachFiles, "Attach Files", false, false, "captions have no portraits, and exports cannot be sent"},
}

// missing lists what the bot may not do, with the fix.
func missing(l tongue, has int64, voice bool) (must, should []string) {
	for _, p := range needed {
		if p.voice != voice || has&p.bit != 0 {
			continue
		}
		text := l.say("give the bot's role “%s”, or %s", p.name, l.say(p.otherwise))
		if p.must {
			must = append(must, text)
		} else {
			should = append(should, text)
		}
	}
	return must, should
}

func setupCommands() []command {
	return []command{
		{name: "setup", about: "Check everything, and choose who may steer and what is kept", admin: true, run: setup},
		{name: "help", about: "What you can do here", run: help},
	}
}

func setup(ctx context.Context, c *call) (answer, error) {
	var b strings.Builder
	for _, f := range c.findings(ctx) {
		switch {
		case f.Err != nil:
			fmt.Fprintf(&b, "❌ **%s:** %s\n", f.What, c.l.fault(f.Err))
		case f.Missing:
			fmt.Fprintf(&b, "➖ **%s:** %s\n", f.What, f.Note)
		default:
			fmt.Fprintf(&b, "✅ **%s:** %s\n", f.What, f.Note)
		}
	}
	set := c.app.settings.get(c.i.GuildID)
	b.WriteString("\n" + c.l.say("Below: who may steer besides administrators, and what is done with what players say.") + "\n")
	b.WriteString(c.l.say("Then join a voice channel, type `/session start`, and say: “Bartok, what's in the pot?”"))
	return answer{text: b.String(), rows: setupRows(c.l, set, c.app.place(c.i.GuildID).Consent)}, nil
}

// aboutConsent says in the menu what each state does.
var aboutConsent = map[Consent]string{
	Off:        "Nobody is heard; players type",
	Live:       "Answered, and nothing is kept",
	Transcript: "The words of those who agreed are kept",
	Audio:      "And the sound, of those who agreed to that",
}

// setupRows are the menus of /setup.
func setupRows(l tongue, set setting, mode Consent) []discordgo.MessageComponent {
	none := 0
	roles := discordgo.SelectMenu{
		MenuType: discordgo.RoleSelectMenu, CustomID: customID(anywhere, "roles"), Placeholder: l.say("Roles that may steer"),
		MinValues: &none, MaxValues: maxMasters,
	}
	for _, r := range set.DMRoles {
		roles.DefaultValues = append(roles.DefaultValues, discordgo.SelectMenuDefaultValue{ID: r, Type: discordgo.SelectMenuDefaultValueRole})
	}
	consent := discordgo.SelectMenu{MenuType: discordgo.StringSelectMenu, CustomID: customID(anywhere, "consent"), Placeholder: l.say("What is kept")}
	for _, s := range consentStates {
		consent.Options = append(consent.Options, discordgo.SelectMenuOption{
			Label: l.say(string(s)), Value: string(s), Description: l.say(aboutConsent[s]), Default: s == mode,
		})
	}
	return []discordgo.MessageComponent{
		row(roles), row(consent), row(pressButton(l.say("Check again"), discordgo.SecondaryButton, customID(anywhere, "again"))),
	}
}

func pressRoles(_ context.Context, c *call, _ string) (answer, error) {
	if len(c.values) > maxMasters || slices.ContainsFunc(c.values, func(v string) bool { _, err := strconv.ParseUint(v, 10, 64); return err != nil }) {
		return answer{}, errStale // Discord's menu sends ids of roles, and nothing else
	}
	if err := c.app.settings.change(c.i.GuildID, func(s *setting) { s.DMRoles = slices.Clone(c.values) }); err != nil {
		return answer{}, err
	}
	if len(c.values) == 0 {
		return answer{text: c.l.say("Only administrators and those in the bot's configuration may steer.")}, nil
	}
	return answer{text: c.l.say("These may steer: %s", "<@&"+strings.Join(c.values, "> <@&")+">")}, nil
}

func pressConsent(_ context.Context, c *call, _ string) (answer, error) {
	if len(c.values) != 1 || !slices.Contains(consentStates, Consent(c.values[0])) {
		return answer{}, errEmptyMenu
	}
	mode := Consent(c.values[0])
	if err := c.app.settings.change(c.i.GuildID, func(s *setting) { s.Consent = mode }); err != nil {
		return answer{}, err
	}
	text := c.l.say("From the next session on: %s.", c.l.say(string(mode))) + " " + mode.notice(c.l)
	return answer{text: text}, nil
}

func pressAgain(ctx context.Context, c *call, _ string) (answer, error) { return setup(ctx, c) }

// findings are what /setup checks.
func (c *call) findings(ctx context.Context) []Finding {
	out := []Finding{
		c.permissions(false),
		c.permissions(true),
		{What: c.l.say("Intents"), Note: c.l.say("Guilds and voice states; none of the privileged ones is needed")},
		{What: c.l.say("Gateway"), Note: c.app.session.HeartbeatLatency().Round(time.Millisecond).String()},
		c.encryption(),
	}
	if c.app.o.Health != nil {
		out = append(out, c.app.o.Health(ctx)...)
	}
	return out
}

// permissions checks what the bot may do: in the caller's voice channel, or where
// the command was typed.
func (c *call) permissions(voice bool) Finding {
	f := Finding{What: c.l.say("Permissions in this channel")}
	channel := c.i.ChannelID
	if voice {
		f.What = c.l.say("Permissions in your voice channel")
		v, err := c.app.session.State.VoiceState(c.i.GuildID, c.who.ID)
		if err != nil || v.ChannelID == "" {
			f.Missing, f.Note = true, c.l.say("join one, and they are checked")
			return f
		}
		channel = v.ChannelID
	}
	has, err := c.app.session.State.UserChannelPermissions(c.app.self, channel)
	if err != nil {
		f.Missing, f.Note = true, c.l.say("not known: the bot cannot see this channel's settings")
		return f
	}
	must, should := missing(c.l, has, voice)
	switch {
	case len(must) > 0:
		f.Err = bot.Refuse("%s", strings.Join(slices.Concat(must, should), "; "))
	case len(should) > 0:
		f.Missing, f.Note = true, strings.Join(should, "; ")
	default:
		f.Note = c.l.say("all that is used")
	}
	return f
}

// encryption says how the call is; before there is one, that it will be refused
// without.
func (c *call) encryption() Finding {
	f := Finding{What: c.l.say("End-to-end encryption")}
	if c.game == nil || !c.game.isReady() {
		f.Note = c.l.say("built in; calls without it are refused")
		return f
	}
	c.game.mu.Lock()
	st := c.game.conn.Status()
	c.game.mu.Unlock()
	f.Note = callState(c.l, st.Live, st.Encrypted)
	if st.Ping > 0 {
		f.Note += c.l.say(", ping %s", st.Ping.Round(time.Millisecond))
	}
	return f
}

func help(_ context.Context, c *call) (answer, error) {
	var b strings.Builder
	b.WriteString(c.l.say("Say an NPC's name and talk: “Bartok, any rooms tonight?” Your next words still go to the same NPC. Talk over it and it stops.") + "\n\n")
	at := map[string]int{}
	var lines []string
	for _, cmd := range commands() {
		switch {
		case cmd.dm && !c.who.DM, cmd.admin && !c.admin:
		case cmd.kind != 0:
			lines = append(lines, c.l.say("%s (in the menu of a message or user)", "**"+cmd.name+"**"))
		case cmd.group == "":
			lines = append(lines, fmt.Sprintf("`/%s` %s", cmd.name, c.l.say(cmd.about)))
		default:
			i, ok := at[cmd.group]
			if !ok {
				i = len(lines)
				at[cmd.group] = i
				lines = append(lines, fmt.Sprintf("`/%s` %s:", cmd.group, c.l.say(groups[cmd.group])))
			}
			lines[i] += " " + cmd.name
		}
	}
	b.WriteString(strings.Join(lines, "\n"))
	return answer{text: b.String()}, nil
}
