package discord

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/glyphoxa/glyphoxa/bot"
)

const (
	// patience is how long a command may take; Discord forgets it after 15 min.
	patience = time.Minute
	// soon is when an answer that is not there yet is promised instead. Discord
	// waits 3 s, of which the way there and back takes some, and people think after
	// one that nothing happens.
	soon = 700 * time.Millisecond
	// maxAnswer is Discord's limit on a message, in characters.
	maxAnswer = 2000
	// maxChoices is how many suggestions Discord shows.
	maxChoices = 25
)

// Errors that people are shown.
var (
	ErrForbidden = errors.New("only the game master may do this: an administrator, a role or user named in /setup or the bot's configuration, or who started the session")
	ErrAdmins    = errors.New("only administrators of this server may do this")
	ErrElsewhere = errors.New("this bot only works on its own server")
	errUnknown   = errors.New("that command is not known any more; Discord will notice within an hour")
	errStale     = errors.New("that button belongs to an older session and does nothing any more")
)

// call is one use of a command, a button or a modal.
type call struct {
	app  *App
	i    *discordgo.Interaction
	who  bot.Person
	l    tongue // the caller's
	game *game  // nil if no session is running
	// admin is an administrator of the server.
	admin bool
	// args are a command's options, or a modal's fields.
	args map[string]string
	// values are what was chosen in a menu under a message.
	values []string
	// file is what was uploaded with a modal.
	file *upload
	// target is the user or message that a menu's command was used on.
	target string
}

// An answer is what the caller is shown.
type answer struct {
	text   string
	public bool // the whole channel sees it
	rows   []discordgo.MessageComponent
	file   *discordgo.File
	modal  *modal // asks instead of answering
}

// interaction takes whatever somebody did with a command, a button or a menu.
func (a *App) interaction(i *discordgo.Interaction) {
	c, ok := a.callOf(i)
	if !ok {
		return
	}
	switch i.Type {
	case discordgo.InteractionApplicationCommand:
		a.command(c)
	case discordgo.InteractionApplicationCommandAutocomplete:
		a.tasks.Go(func() { a.suggest(c) })
	case discordgo.InteractionMessageComponent:
		data := i.MessageComponentData()
		c.values = data.Values
		a.press(c, data.CustomID)
	}
}

// callOf says who does something, and refuses what comes from elsewhere.
func (a *App) callOf(i *discordgo.Interaction) (*call, bool) {
	c := &call{app: a, i: i, l: tongueOf(i.Locale), args: map[string]string{}}
	if i.GuildID == "" || i.Member == nil || i.Member.User == nil || a.o.Guild != "" && i.GuildID != a.o.Guild {
		a.tasks.Go(func() {
			if i.Type == discordgo.InteractionApplicationCommandAutocomplete {
				a.offer(c, nil)
				return
			}
			a.respond(c, answer{text: c.l.fault(ErrElsewhere)})
		})
		return nil, false
	}
	c.game = a.games[i.GuildID]
	c.admin = i.Member.Permissions&discordgo.PermissionAdministrator != 0
	c.who = bot.Person{ID: i.Member.User.ID, Name: nameOf(i.Member), DM: c.admin || a.steers(i.GuildID, i.Member.User.ID, i.Member.Roles, c.game)}
	return c, true
}

// steers reports whether a member who is no administrator is a game master.
// Without configuration nobody else is, but for who started the session: that
// took one.
func (a *App) steers(guild, user string, roles []string, g *game) bool {
	if slices.Contains(a.o.DMUsers, user) || g != nil && g.starter == user {
		return true
	}
	masters := slices.Concat(a.o.DMRoles, a.settings.get(guild).DMRoles)
	return slices.ContainsFunc(masters, func(r string) bool { return slices.Contains(roles, r) })
}

// command runs a slash command or a menu's.
func (a *App) command(c *call) {
	data := c.i.ApplicationCommandData()
	cmd, opts, ok := find(data)
	c.target = data.TargetID
	for _, o := range opts {
		if o.Value != nil {
			c.args[o.Name] = fmt.Sprint(o.Value)
		}
	}
	if !ok {
		a.tasks.Go(func() { a.respond(c, answer{text: c.l.fault(errUnknown)}) })
		return
	}
	a.carryOut(c, gate{dm: cmd.dm, admin: cmd.admin, session: cmd.session, name: cmd.group + " " + cmd.name}, cmd.run)
}

// A gate is who may pass, and when.
type gate struct {
	dm, admin, session bool
	name               string // "group name" of a command
}

// check says why the caller may not pass.
func (g gate) check(c *call) error {
	switch {
	case g.admin && !c.admin:
		return ErrAdmins
	case g.dm && !c.who.DM:
		return ErrForbidden
	case g.session && c.game == nil:
		return ErrNoSession
	case g.session && !c.game.isReady():
		return errArriving
	}
	return nil
}

// carryOut checks who asks and does it beside the event goroutine. Sessions begin
// and end on that goroutine, which owns the games.
func (a *App) carryOut(c *call, g gate, run func(context.Context, *call) (answer, error)) {
	err := g.check(c)
	if err == nil && g.name == "session start" {
		err = a.reserve(c)
	}
	if err != nil {
		a.tasks.Go(func() { a.respond(c, answer{text: c.l.fault(err)}) })
		return
	}
	if g.name == "session stop" {
		delete(a.games, c.i.GuildID)
	}
	a.tasks.Go(func() { a.perform(c, run) })
}

// perform runs an action and shows its answer; if that takes longer, it is
// promised first.
func (a *App) perform(c *call, run func(context.Context, *call) (answer, error)) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	done := make(chan answer, 1) // room for the only one
	a.tasks.Go(func() {
		ans, err := run(ctx, c)
		if err != nil {
			ans = answer{text: c.l.fault(err)}
		}
		done <- ans
	})
	late := time.NewTimer(a.soon)
	defer late.Stop()
	select {
	case ans := <-done:
		a.respond(c, ans)
	case <-late.C:
		a.acknowledge(c)
		a.follow(c, <-done)
	}
}

// respond answers an interaction that has not been acknowledged.
func (a *App) respond(c *call, ans answer) {
	r := &discordgo.InteractionResponse{Type: discordgo.InteractionResponseChannelMessageWithSource}
	if ans.modal != nil {
		r = ans.modal.response()
	} else {
		r.Data = &discordgo.InteractionResponseData{
			Content: short(ans.text, maxAnswer), AllowedMentions: nobody(), Components: ans.rows, Files: ans.files(),
		}
		if !ans.public {
			r.Data.Flags = discordgo.MessageFlagsEphemeral
		}
	}
	a.report(a.session.InteractionRespond(c.i, r))
}

// acknowledge tells Discord that the answer takes a while.
func (a *App) acknowledge(c *call) {
	a.report(a.session.InteractionRespond(c.i, &discordgo.InteractionResponse{
		Type: discordgo.InteractionResponseDeferredChannelMessageWithSource,
		Data: &discordgo.InteractionResponseData{Flags: discordgo.MessageFlagsEphemeral},
	}))
}

// follow gives the answer of an acknowledged interaction. What all should see is
// a message of its own: the acknowledgement was private.
func (a *App) follow(c *call, ans answer) {
	text, rows, files := short(ans.text, maxAnswer), ans.rows, ans.files()
	if ans.modal != nil { // an acknowledged interaction cannot ask any more
		text = c.l.say("That took too long: please try again.")
	}
	if ans.public {
		_, err := a.session.FollowupMessageCreate(c.i, true, &discordgo.WebhookParams{
			Content: text, AllowedMentions: nobody(), Components: rows, Files: files,
		})
		a.report(err)
		text, rows, files = c.l.say("Done."), nil, nil
	}
	_, err := a.session.InteractionResponseEdit(c.i, &discordgo.WebhookEdit{
		Content: &text, AllowedMentions: nobody(), Components: &rows, Files: files,
	})
	a.report(err)
}

func (ans answer) files() []*discordgo.File {
	if ans.file == nil {
		return nil
	}
	return []*discordgo.File{ans.file}
}

// nobody keeps a message from mentioning anybody, whatever its text says.
func nobody() *discordgo.MessageAllowedMentions {
	return &discordgo.MessageAllowedMentions{Parse: []discordgo.AllowedMentionType{}}
}

// report logs an answer that could not be given: there is nobody else to tell.
func (a *App) report(err error) {
	if err != nil {
		a.log.Warn("tell something on Discord", "error", err)
	}
}

// short cuts s to n characters.
func short(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
