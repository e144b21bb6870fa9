package discord

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/glyphoxa/glyphoxa/bot"
)

const (
	// patience is how long a command may take; Discord forgets it after 15 min.
	patience = time.Minute
	// maxAnswer is Discord's limit on a message, in characters.
	maxAnswer = 2000
	// agreeID and declineID are the consent buttons. The version is for buttons of
	// an older program that are still in a channel.
	agreeID   = "glyphoxa:1:agree"
	declineID = "glyphoxa:1:decline"
)

// ErrForbidden is shown to who may not use a command.
var ErrForbidden = errors.New("only the game master may do this: an administrator, a role or user named in the bot's configuration, or who started the session")

// call is one use of a command.
type call struct {
	app  *App
	i    *discordgo.Interaction
	who  bot.Person
	game *game // nil if no session is running
	args map[string]string
}

// interaction takes whatever somebody did with a command or a button.
func (a *App) interaction(i *discordgo.Interaction) {
	if i.GuildID == "" || i.Member == nil || i.Member.User == nil || a.o.Guild != "" && i.GuildID != a.o.Guild {
		a.tasks.Go(func() { a.respond(i, answer{text: "Glyphoxa only works on its own server."}) })
		return
	}
	c := &call{app: a, i: i, game: a.games[i.GuildID], args: map[string]string{}}
	c.who = bot.Person{ID: i.Member.User.ID, Name: nameOf(i.Member), DM: a.steers(i, c.game)}
	switch i.Type {
	case discordgo.InteractionApplicationCommand:
		a.command(c)
	case discordgo.InteractionApplicationCommandAutocomplete:
		a.tasks.Go(func() { a.suggest(c) })
	case discordgo.InteractionMessageComponent:
		a.tasks.Go(func() { a.button(c) })
	}
}

// steers reports whether the caller is a game master. Without configuration only
// administrators are, and whoever of them started the session.
func (a *App) steers(i *discordgo.Interaction, g *game) bool {
	m := i.Member
	switch {
	case m.Permissions&discordgo.PermissionAdministrator != 0:
		return true
	case slices.Contains(a.o.DMUsers, m.User.ID):
		return true
	case g != nil && g.starter == m.User.ID:
		return true
	}
	return slices.ContainsFunc(a.o.DMRoles, func(r string) bool { return slices.Contains(m.Roles, r) })
}

// command runs a slash command. Sessions begin and end on the event goroutine,
// which owns the games; everything else runs beside it.
func (a *App) command(c *call) {
	data := c.i.ApplicationCommandData()
	cmd, opts, ok := find(data)
	for _, o := range opts {
		if o.Type == discordgo.ApplicationCommandOptionString {
			c.args[o.Name] = o.StringValue()
		}
	}
	refuse := func(err error) { a.tasks.Go(func() { a.respond(c.i, answer{text: sentence(err)}) }) }
	switch {
	case !ok:
		refuse(errors.New("that command is not known any more; Discord will notice within an hour"))
		return
	case cmd.dm && !c.who.DM:
		refuse(ErrForbidden)
		return
	case cmd.session && c.game == nil:
		refuse(ErrNoSession)
		return
	}
	if cmd.group == "session" && cmd.name == "start" {
		if err := a.reserve(c); err != nil {
			refuse(err)
			return
		}
	}
	if cmd.group == "session" && cmd.name == "stop" {
		delete(a.games, c.i.GuildID)
	}
	a.tasks.Go(func() { a.perform(c, cmd) })
}

// perform runs a command and shows its answer.
func (a *App) perform(c *call, cmd command) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if cmd.slow {
		a.acknowledge(c.i)
	}
	ans, err := cmd.run(ctx, c)
	if err != nil {
		ans = answer{text: sentence(err)}
	}
	if cmd.slow {
		a.follow(c.i, ans)
		return
	}
	a.respond(c.i, ans)
}

// button handles the buttons under our messages.
func (a *App) button(c *call) {
	switch id := c.i.MessageComponentData().CustomID; id {
	case agreeID, declineID:
		ans, err := decide(id == agreeID)(context.Background(), c)
		if err != nil {
			ans = answer{text: sentence(err)}
		}
		a.respond(c.i, ans)
	default:
		a.respond(c.i, answer{text: "That button belongs to an older session and does nothing any more."})
	}
}

// suggest completes the names of NPCs and scenes.
func (a *App) suggest(c *call) {
	var choices []*discordgo.ApplicationCommandOptionChoice
	_, opts, ok := find(c.i.ApplicationCommandData())
	if ok && c.game != nil && c.game.table != nil && c.who.DM {
		for _, o := range opts {
			if o.Focused {
				choices = complete(c.game.table.State(), o.Name, o.StringValue())
			}
		}
	}
	a.report(a.session.InteractionRespond(c.i, &discordgo.InteractionResponse{
		Type: discordgo.InteractionApplicationCommandAutocompleteResult,
		Data: &discordgo.InteractionResponseData{Choices: choices},
	}))
}

// complete lists what may stand for an option, at most the 25 Discord shows.
func complete(s bot.Snapshot, option, typed string) []*discordgo.ApplicationCommandOptionChoice {
	var out []*discordgo.ApplicationCommandOptionChoice
	add := func(name, id string) {
		if len(out) < 25 && strings.Contains(strings.ToLower(name), strings.ToLower(typed)) {
			out = append(out, &discordgo.ApplicationCommandOptionChoice{Name: short(name, 100), Value: id})
		}
	}
	switch option {
	case "npc":
		for _, n := range s.NPCs {
			add(n.Name, n.ID)
		}
	case "scene":
		for _, sc := range s.Scenes {
			add(sc.Name, sc.ID)
		}
	}
	return out
}

// respond answers an interaction that has not been acknowledged.
func (a *App) respond(i *discordgo.Interaction, ans answer) {
	a.report(a.session.InteractionRespond(i, &discordgo.InteractionResponse{
		Type: discordgo.InteractionResponseChannelMessageWithSource,
		Data: &discordgo.InteractionResponseData{
			Content: short(ans.text, maxAnswer), Flags: flags(ans), AllowedMentions: nobody(), Components: ans.buttons(),
		},
	}))
}

// acknowledge tells Discord that the answer takes a while.
func (a *App) acknowledge(i *discordgo.Interaction) {
	a.report(a.session.InteractionRespond(i, &discordgo.InteractionResponse{
		Type: discordgo.InteractionResponseDeferredChannelMessageWithSource,
		Data: &discordgo.InteractionResponseData{Flags: discordgo.MessageFlagsEphemeral},
	}))
}

// follow gives the answer of an acknowledged interaction. What all should see is
// a message of its own: the acknowledgement was private.
func (a *App) follow(i *discordgo.Interaction, ans answer) {
	text := short(ans.text, maxAnswer)
	if ans.public {
		_, err := a.session.ChannelMessageSendComplex(i.ChannelID, &discordgo.MessageSend{
			Content: text, AllowedMentions: nobody(), Components: ans.buttons(),
		})
		a.report(err)
		text = "Done."
	}
	_, err := a.session.InteractionResponseEdit(i, &discordgo.WebhookEdit{Content: &text, AllowedMentions: nobody()})
	a.report(err)
}

// buttons are the consent buttons, where the answer asks.
func (ans answer) buttons() []discordgo.MessageComponent {
	if !ans.asks {
		return nil
	}
	return []discordgo.MessageComponent{discordgo.ActionsRow{Components: []discordgo.MessageComponent{
		discordgo.Button{Label: "The NPCs may hear me", Style: discordgo.SuccessButton, CustomID: agreeID},
		discordgo.Button{Label: "Not me", Style: discordgo.SecondaryButton, CustomID: declineID},
	}}}
}

func flags(ans answer) discordgo.MessageFlags {
	if ans.public {
		return 0
	}
	return discordgo.MessageFlagsEphemeral
}

// nobody keeps a message from mentioning anybody, whatever its text says.
func nobody() *discordgo.MessageAllowedMentions {
	return &discordgo.MessageAllowedMentions{Parse: []discordgo.AllowedMentionType{}}
}

// report logs an answer that could not be given: there is nobody else to tell.
func (a *App) report(err error) {
	if err != nil {
		a.log.Warn("answer an interaction", "error", err)
	}
}

// sentence makes an error a sentence for a person.
func sentence(err error) string {
	s := err.Error()
	if s == "" {
		return "That did not work."
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

// short cuts s to n characters.
func short(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
