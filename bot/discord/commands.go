package discord

import (
	"context"
	"slices"

	"github.com/bwmarrin/discordgo"
)

// A command is one subcommand: how Discord shows it, who may use it and what it
// does.
type command struct {
	group, name, about string // /group name
	options            []option
	// kind is what it is used on: typed text, a message or a user.
	kind    discordgo.ApplicationCommandType
	dm      bool // only who may steer
	admin   bool // only administrators
	session bool // only while a session is running
	run     func(ctx context.Context, c *call) (answer, error)
}

// An option is what may follow a command.
type option struct {
	name, about string
	kind        discordgo.ApplicationCommandOptionType // zero is text
	required    bool
	suggest     bool     // with autocomplete
	choices     []string // all there are, if not empty
	least, most int      // of numbers; most is the length of texts as well
}

// maxText is the longest text an option takes: a line at the table.
const maxText = 2000

// groups are what the top-level commands are about.
var groups = map[string]string{
	"session":  "Begin, pause and end a session in your voice channel",
	"npc":      "See and steer the NPCs",
	"tier":     "How long answers may take",
	"memory":   "What the campaign remembers",
	"entity":   "People, places and things of the world",
	"campaign": "Which world is played",
	"tools":    "What the NPCs may do",
	"privacy":  "Whether you are heard, and what is kept",
}

// commands lists everything that can be typed. Those without a group stand alone.
func commands() []command {
	return slices.Concat(sessionCommands(), npcCommands(), tierCommands(), tableCommands(), memoryCommands(), entityCommands(),
		campaignCommands(), toolCommands(), privacyCommands(), consoleCommands(), setupCommands(), menuCommands())
}

// npcOption names an NPC, with suggestions.
func npcOption() option {
	return option{name: "npc", about: "The NPC's name", required: true, suggest: true, most: 100}
}

func textOption(name, about string) option {
	return option{name: name, about: about, required: true, most: maxText}
}

// form is an option in Discord's words.
func (o option) form() *discordgo.ApplicationCommandOption {
	f := &discordgo.ApplicationCommandOption{
		Type: o.kind, Name: o.name, Description: o.about, Required: o.required, Autocomplete: o.suggest,
		NameLocalizations: localised(":" + o.name), DescriptionLocalizations: localised(o.about),
	}
	switch o.kind {
	case 0:
		f.Type, f.MaxLength = discordgo.ApplicationCommandOptionString, o.most
	case discordgo.ApplicationCommandOptionInteger:
		least := float64(o.least)
		f.MinValue, f.MaxValue = &least, float64(o.most)
	}
	for _, c := range o.choices {
		f.Choices = append(f.Choices, &discordgo.ApplicationCommandOptionChoice{Name: c, Value: c, NameLocalizations: localised(c)})
	}
	return f
}

func forms(options []option) []*discordgo.ApplicationCommandOption {
	var out []*discordgo.ApplicationCommandOption
	for _, o := range options {
		out = append(out, o.form())
	}
	return out
}

// definitions are the commands in Discord's form. They only work in servers.
func definitions() []*discordgo.ApplicationCommand {
	var out []*discordgo.ApplicationCommand
	at := map[string]*discordgo.ApplicationCommand{}
	add := func(c command, name, about, key string) *discordgo.ApplicationCommand {
		names, abouts := localised(key), localised(about)
		d := &discordgo.ApplicationCommand{
			Type: c.kind, Name: name, Description: about, NameLocalizations: &names,
			Contexts: &[]discordgo.InteractionContextType{discordgo.InteractionContextGuild},
		}
		if len(abouts) > 0 {
			d.DescriptionLocalizations = &abouts
		}
		if c.admin {
			// Discord hides it from others; whoever may is checked again on each use.
			only := int64(discordgo.PermissionAdministrator)
			d.DefaultMemberPermissions = &only
		}
		out = append(out, d)
		return d
	}
	for _, c := range commands() {
		switch {
		case c.kind != 0: // Discord's menus show the name as it is, without a description
			add(c, c.name, "", c.name)
		case c.group == "":
			add(c, c.name, c.about, "/"+c.name).Options = forms(c.options)
		default:
			top := at[c.group]
			if top == nil {
				top = add(command{}, c.group, groups[c.group], "/"+c.group)
				at[c.group] = top
			}
			top.Options = append(top.Options, &discordgo.ApplicationCommandOption{
				Type: discordgo.ApplicationCommandOptionSubCommand, Name: c.name, Description: c.about, Options: forms(c.options),
				NameLocalizations: localised("/" + c.group + " " + c.name), DescriptionLocalizations: localised(c.about),
			})
		}
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
