package discord

import (
	"context"
	"errors"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/glyphoxa/glyphoxa/bot"
)

func npcCommands() []command {
	npc := npcOption()
	cmd := func(name, about string, run func(context.Context, *call) (answer, error), more ...option) command {
		return command{group: "npc", name: name, about: about, dm: true, session: true, options: more, run: run}
	}
	list := cmd("list", "The NPCs and what they are doing", listNPCs)
	list.dm = false
	return []command{
		list,
		cmd("mute", "Keep an NPC silent", muteNPC(true), npc),
		cmd("unmute", "Let an NPC speak again", muteNPC(false), npc),
		cmd("muteall", "Silence every NPC at once", muteAll(true)),
		cmd("unmuteall", "Let every NPC speak again", muteAll(false)),
		cmd("speak", "Have an NPC say your words", onNPC(func(ctx context.Context, c *call, id string) error {
			return c.game.table().SpeakAs(ctx, c.who, id, c.args["text"])
		}), npc, textOption("text", "What it says, word for word")),
		cmd("prompt", "Have an NPC speak now, of its own accord", onNPC(func(ctx context.Context, c *call, id string) error {
			return c.game.table().Prompt(ctx, c.who, id)
		}), npc),
		cmd("direct", "Have an NPC speak now, in its own words", onNPC(func(ctx context.Context, c *call, id string) error {
			return c.game.table().Direct(ctx, c.who, id, c.args["gist"])
		}), npc, textOption("gist", "What it should say, for example: warn them of the cellar")),
		cmd("whisper", "Let an NPC know something that nobody else hears", onNPC(func(ctx context.Context, c *call, id string) error {
			return c.game.table().Whisper(ctx, c.who, id, c.args["text"])
		}), npc, textOption("text", "For example: he is lying")),
		cmd("enter", "Bring an NPC into the scene", enterNPC(true), npc),
		cmd("leave", "Send an NPC out of the scene", enterNPC(false), npc),
	}
}

// onNPC is a command about one NPC, which answers "Done."
func onNPC(do func(ctx context.Context, c *call, id string) error) func(context.Context, *call) (answer, error) {
	return func(ctx context.Context, c *call) (answer, error) {
		id, err := c.npc(c.args["npc"])
		if err != nil {
			return answer{}, err
		}
		return answer{text: c.l.say("Done.")}, do(ctx, c, id)
	}
}

func muteNPC(on bool) func(context.Context, *call) (answer, error) {
	return onNPC(func(ctx context.Context, c *call, id string) error { return c.game.table().Mute(ctx, c.who, id, on) })
}

func enterNPC(on bool) func(context.Context, *call) (answer, error) {
	return onNPC(func(ctx context.Context, c *call, id string) error { return c.game.table().Enter(ctx, c.who, id, on) })
}

func muteAll(on bool) func(context.Context, *call) (answer, error) {
	return func(ctx context.Context, c *call) (answer, error) {
		var errs []error
		for _, n := range c.game.table().State().NPCs {
			errs = append(errs, c.game.table().Mute(ctx, c.who, n.ID, on))
		}
		return answer{text: c.l.say("Done.")}, errors.Join(errs...)
	}
}

func listNPCs(_ context.Context, c *call) (answer, error) {
	var b strings.Builder
	for _, n := range c.game.table().State().NPCs {
		b.WriteString(npcLine(c.l, n) + "\n")
	}
	return answer{text: b.String()}, nil
}

// npcLine is one NPC with what it does and how long its answers may take.
func npcLine(l tongue, n bot.NPC) string {
	tier := l.say("up to %s", l.say(n.Ceiling.String()))
	if n.Lifted != nil {
		tier = l.say("%s by the DM", l.say(n.Lifted.Tier.String()))
		if !n.Lifted.Until.IsZero() {
			tier += " " + l.say("until <t:%d:t>", n.Lifted.Until.Unix())
		}
	}
	return l.say("**%s** · %s · %s", n.Name, l.say(string(n.State)), tier)
}

// npc is the id of the NPC that was named: by autocomplete, or by typing.
func (c *call) npc(want string) (string, error) {
	var names []string
	for _, n := range c.game.table().State().NPCs {
		first, _, _ := strings.Cut(n.Name, " ")
		if n.ID == want || strings.EqualFold(n.Name, want) || strings.EqualFold(first, want) {
			return n.ID, nil
		}
		names = append(names, n.Name)
	}
	return "", bot.Refuse("the campaign has no NPC %q; it has %s", short(want, 100), strings.Join(names, ", "))
}

// menuCommands are used on a message or a user, with a click.
func menuCommands() []command {
	return []command{
		{name: "Remember this", kind: discordgo.MessageApplicationCommand, dm: true, session: true, run: rememberThis},
		{name: "Whisper to", kind: discordgo.UserApplicationCommand, dm: true, session: true, run: whisperTo},
	}
}

// rememberThis keeps a message as a line of who wrote it.
func rememberThis(ctx context.Context, c *call) (answer, error) {
	var m *discordgo.Message
	if r := c.i.ApplicationCommandData().Resolved; r != nil {
		m = r.Messages[c.target]
	}
	if m == nil || m.Author == nil || strings.TrimSpace(m.Content) == "" {
		return answer{}, bot.Refuse("that message has no text to remember")
	}
	// What somebody wrote is theirs, like what they said.
	if !m.Author.Bot && m.Author.ID != c.who.ID && !c.app.consent.agreed(c.i.GuildID, m.Author.ID) {
		return answer{}, bot.Refuse("%s has not agreed that their words are kept", m.Author.Username)
	}
	author := bot.Person{ID: m.Author.ID, Name: nameOf(&discordgo.Member{User: m.Author})}
	if author.ID == c.who.ID {
		author = c.who
	}
	return answer{text: c.l.say("The NPCs who are here will remember it.")}, c.game.table().Remember(ctx, c.who, author, m.Content)
}

// whisperTo asks what is to be whispered: to a player, by an NPC; or, on the bot
// itself, to an NPC.
func whisperTo(_ context.Context, c *call) (answer, error) {
	label := c.l.say("What the NPC whispers to the player")
	if c.target == c.app.self {
		label = c.l.say("What only the NPC is to know")
	}
	return answer{modal: &modal{
		id: customID(c.game.mark, "whisper", c.target), title: c.l.say("Whisper"),
		fields: []field{
			{name: "npc", label: c.l.say("The NPC's name"), most: 100},
			{name: "text", label: label, long: true, most: 1500},
		},
	}}, nil
}

// sendWhisper takes the filled window of whisperTo.
func sendWhisper(ctx context.Context, c *call, user string) (answer, error) {
	id, err := c.npc(c.args["npc"])
	if err != nil {
		return answer{}, err
	}
	table, text := c.game.table(), c.args["text"]
	if user == c.app.self {
		return answer{text: c.l.say("Done.")}, table.Whisper(ctx, c.who, id, text)
	}
	c.game.mu.Lock()
	p, there := c.game.people[user]
	c.game.mu.Unlock()
	if !there {
		return answer{}, bot.Refuse("that player is not in the voice channel")
	}
	s := table.State()
	name := id
	for _, n := range s.NPCs {
		if n.ID == id {
			name = n.Name
		}
	}
	ch, err := c.app.session.UserChannelCreate(user)
	if err == nil {
		_, err = c.app.session.ChannelMessageSendComplex(ch.ID, &discordgo.MessageSend{
			Content:         short(c.game.l.say("**%s** of %s (played by software) whispers to you: %s", name, s.Campaign, text), maxAnswer),
			AllowedMentions: nobody(),
		})
	}
	if err != nil {
		return answer{}, bot.Refuse("Discord did not deliver it: the player may not take messages from members of this server")
	}
	return answer{text: c.l.say("Done.")}, table.Whisper(ctx, c.who, id, "You whispered to "+p.name+" alone: "+text)
}
