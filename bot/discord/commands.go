package discord

import (
	"context"

	"github.com/bwmarrin/discordgo"
)

// A command is one subcommand: how Discord shows it, who may use it and what it
// does.
type command struct {
	group, name, about string // /group name
	options            []*discordgo.ApplicationCommandOption
	dm                 bool // only who may steer
	session            bool // only while a session is running
	slow               bool // may take longer than Discord waits for an answer
	run                func(ctx context.Context, c *call) (answer, error)
}

// An answer is what the caller is shown.
type answer struct {
	text   string
	public bool // the whole channel sees it
	asks   bool // with the buttons to agree or decline
}

// groups are the top-level commands, in Discord's words.
var groups = map[string]string{
	"session": "Begin and end a session in your voice channel",
	"npc":     "See and steer the NPCs",
	"tier":    "How long answers may take",
	"scene":   "Where the talk takes place",
	"privacy": "Whether you are heard, and what is kept",
}

func text(name, about string, required, suggest bool) *discordgo.ApplicationCommandOption {
	return &discordgo.ApplicationCommandOption{
		Type: discordgo.ApplicationCommandOptionString, Name: name, Description: about, Required: required, Autocomplete: suggest,
	}
}

// commands lists everything that can be typed. Those without a group stand alone.
func commands() []command {
	npc := text("npc", "The NPC's name", true, true)
	return []command{
		{group: "session", name: "start", about: "Bring the NPCs into your voice channel", dm: true, slow: true, run: startSession},
		{group: "session", name: "stop", about: "Send the NPCs away; what was said is kept", dm: true, session: true, slow: true, run: stopSession},
		{group: "session", name: "status", about: "Who is here, what listens, and how the call is", session: true, run: sessionStatus},
		{group: "npc", name: "list", about: "The NPCs and what they are doing", session: true, run: listNPCs},
		{group: "npc", name: "mute", about: "Keep an NPC silent", dm: true, session: true, options: options(npc), run: muteNPC(true)},
		{group: "npc", name: "unmute", about: "Let an NPC speak again", dm: true, session: true, options: options(npc), run: muteNPC(false)},
		{group: "npc", name: "muteall", about: "Silence every NPC at once", dm: true, session: true, run: muteAll(true)},
		{group: "npc", name: "unmuteall", about: "Let every NPC speak again", dm: true, session: true, run: muteAll(false)},
		{group: "npc", name: "speak", about: "Have an NPC say your words", dm: true, session: true,
			options: options(npc, text("text", "What it says, word for word", true, false)), run: speakAs},
		{group: "npc", name: "enter", about: "Bring an NPC into the scene", dm: true, session: true, options: options(npc), run: enterNPC(true)},
		{group: "npc", name: "leave", about: "Send an NPC out of the scene", dm: true, session: true, options: options(npc), run: enterNPC(false)},
		{group: "tier", name: "set", about: "Set the tier for every answer", dm: true, session: true, options: options(tierOption()), run: setTier},
		{group: "tier", name: "clear", about: "Let the tier be chosen for each line again", dm: true, session: true, run: clearTier},
		{group: "scene", name: "set", about: "Move the table to another scene", dm: true, session: true,
			options: options(text("scene", "The scene", true, true)), run: setScene},
		{name: "say", about: "Say something to the NPCs by typing", session: true,
			options: options(text("text", "What you say", true, false)), run: sayLine},
		{name: "roll", about: "Roll dice", options: options(text("dice", "For example 2d6+3 or 'a d twenty with advantage'", true, false)), run: rollDice},
		{name: "rule", about: "Look up a rule", options: options(text("question", "For example: what does grappled do", true, false)), run: lookUp},
		{name: "x", about: "Stop everything at once. Nobody is told who did.", session: true, run: playX},
		{group: "privacy", name: "show", about: "What is kept of what you say, and where it goes", run: showPrivacy},
		{group: "privacy", name: "optin", about: "Agree to be heard by the NPCs", run: decide(true)},
		{group: "privacy", name: "optout", about: "Do not be heard any more", run: decide(false)},
		{name: "patience", about: "How long you, or a player, may pause before the NPCs answer", session: true,
			options: options(patienceOption(), text("player", "The player's name; only the DM may set others'", false, false)), run: setPatience},
		{name: "help", about: "What you can do here", run: helpText},
	}
}

func options(o ...*discordgo.ApplicationCommandOption) []*discordgo.ApplicationCommandOption {
	return o
}

func tierOption() *discordgo.ApplicationCommandOption {
	o := text("tier", "fast 0.5 s, standard 1.5 s, deep 4 s", true, false)
	for _, name := range []string{"fast", "standard", "deep"} {
		o.Choices = append(o.Choices, &discordgo.ApplicationCommandOptionChoice{Name: name, Value: name})
	}
	return o
}

// definitions are the commands in Discord's form. They only work in servers.
func definitions() []*discordgo.ApplicationCommand {
	var out []*discordgo.ApplicationCommand
	at := map[string]*discordgo.ApplicationCommand{}
	contexts := &[]discordgo.InteractionContextType{discordgo.InteractionContextGuild}
	for _, c := range commands() {
		if c.group == "" {
			out = append(out, &discordgo.ApplicationCommand{Name: c.name, Description: c.about, Options: c.options, Contexts: contexts})
			continue
		}
		top := at[c.group]
		if top == nil {
			top = &discordgo.ApplicationCommand{Name: c.group, Description: groups[c.group], Contexts: contexts}
			at[c.group] = top
			out = append(out, top)
		}
		top.Options = append(top.Options, &discordgo.ApplicationCommandOption{
			Type: discordgo.ApplicationCommandOptionSubCommand, Name: c.name, Description: c.about, Options: c.options,
		})
	}
	return out
}

// find looks a command up by what Discord sent.
func find(data discordgo.ApplicationCommandInteractionData) (c command, opts []*discordgo.ApplicationCommandInteractionDataOption, ok bool) {
	group, name, opts := "", data.Name, data.Options
	if len(opts) == 1 && opts[0].Type == discordgo.ApplicationCommandOptionSubCommand {
		group, name, opts = data.Name, opts[0].Name, opts[0].Options
	}
	for _, c := range commands() {
		if c.group == group && c.name == name {
			return c, opts, true
		}
	}
	return command{}, nil, false
}
