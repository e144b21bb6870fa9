package discord

import (
	"context"
	"errors"
	"strings"

	"github.com/bwmarrin/discordgo"
)

// version is of our buttons: those of an older program may still be in a channel.
const version = "2"

// anywhere marks buttons that outlive a session.
const anywhere = "-"

// A button is what a component under a message, or a modal, does.
type button struct {
	name               string
	dm, admin, session bool
	window             bool // it is a modal that is sent, not a button or menu
	run                func(ctx context.Context, c *call, arg string) (answer, error)
}

// buttons lists all there are. Those with session belong to the session whose
// message they are under, and do nothing for another.
func buttons() []button {
	return []button{
		{name: "agree", run: pressDecide(heard)},
		{name: "keep", run: pressDecide(kept)},
		{name: "decline", run: pressDecide(refused)},
		{name: "forget", run: pressForget},
		{name: "stop", session: true, run: pressStop},
		{name: "pause", session: true, run: pressPause(true)},
		{name: "goon", dm: true, session: true, run: pressGoOn},
		{name: "x", session: true, run: pressX},
		{name: "calls", dm: true, session: true, run: pressCalls},
		{name: "approve", dm: true, session: true, run: pressJudge(true)},
		{name: "deny", dm: true, session: true, run: pressJudge(false)},
		{name: "answer", dm: true, session: true, run: pressAnswer},
		{name: "roles", admin: true, run: pressRoles},
		{name: "consent", admin: true, run: pressConsent},
		{name: "again", admin: true, run: pressAgain},
		{name: "import", dm: true, window: true, run: sendCampaign},
		{name: "entities", dm: true, session: true, window: true, run: sendEntities},
		{name: "whisper", dm: true, session: true, window: true, run: sendWhisper},
	}
}

// customID names a component: "glyphoxa:2:<session or ->:<name>:<argument>".
// Discord allows 100 characters.
func customID(mark, name string, arg ...string) string {
	return strings.Join(append([]string{"glyphoxa", version, mark, name}, arg...), ":")
}

// pressed reads a custom id. Whoever sends one may have made it up.
func pressed(id string) (mark string, b button, arg string, ok bool) {
	p := strings.SplitN(id, ":", 5)
	if len(p) < 4 || p[0] != "glyphoxa" || p[1] != version {
		return "", button{}, "", false
	}
	if len(p) == 5 {
		arg = p[4]
	}
	for _, b := range buttons() {
		if b.name == p[3] {
			return p[2], b, arg, true
		}
	}
	return "", button{}, "", false
}

// press runs what a component or a modal is for. One that pretends to be the other
// is refused: its fields are not there.
func (a *App) press(c *call, id string) {
	mark, b, arg, ok := pressed(id)
	if b.window != (c.i.Type == discordgo.InteractionModalSubmit) {
		ok = false
	}
	if b.session && (c.game == nil || c.game.mark != mark) || !b.session && mark != anywhere {
		ok = false
	}
	if !ok {
		a.tasks.Go(func() { a.respond(c, answer{text: c.l.fault(errStale)}) })
		return
	}
	a.carryOut(c, gate{dm: b.dm, admin: b.admin, session: b.session}, func(ctx context.Context, c *call) (answer, error) {
		return b.run(ctx, c, arg)
	})
}

// row puts buttons into one row; Discord shows at most five.
func row(list ...discordgo.MessageComponent) discordgo.MessageComponent {
	return discordgo.ActionsRow{Components: list}
}

func pressButton(label string, style discordgo.ButtonStyle, id string) discordgo.MessageComponent {
	return discordgo.Button{Label: short(label, 80), Style: style, CustomID: id}
}

// consentRow asks whether one may be heard.
func consentRow(l tongue, c Consent) []discordgo.MessageComponent {
	if c == Off {
		return nil
	}
	list := []discordgo.MessageComponent{
		pressButton(l.say("The NPCs may hear me"), discordgo.SuccessButton, customID(anywhere, "agree")),
	}
	if c == Audio {
		list = append(list, pressButton(l.say("… and keep my voice"), discordgo.PrimaryButton, customID(anywhere, "keep")))
	}
	list = append(list, pressButton(l.say("Not me"), discordgo.SecondaryButton, customID(anywhere, "decline")))
	return []discordgo.MessageComponent{row(list...)}
}

func pressDecide(a assent) func(context.Context, *call, string) (answer, error) {
	return func(_ context.Context, c *call, _ string) (answer, error) { return decide(c, a) }
}

func pressForget(ctx context.Context, c *call, arg string) (answer, error) {
	if arg != c.who.ID { // the button was under somebody else's private message
		return answer{}, errStale
	}
	return forget(ctx, c)
}

func pressStop(ctx context.Context, c *call, _ string) (answer, error) {
	return answer{text: c.l.say("The NPCs are silent. What was owed an answer is not answered.")}, c.game.table().Stop(ctx, c.who)
}

func pressPause(on bool) func(context.Context, *call, string) (answer, error) {
	return func(ctx context.Context, c *call, _ string) (answer, error) { return pause(ctx, c, on) }
}

func pressGoOn(ctx context.Context, c *call, _ string) (answer, error) { return pause(ctx, c, false) }

func pressX(ctx context.Context, c *call, _ string) (answer, error) { return playX(ctx, c) }

func pressCalls(_ context.Context, c *call, _ string) (answer, error) { return waitingCalls(c) }

// pressJudge grants or denies exactly the call that was shown: its id and the
// hash of its arguments are in the button.
func pressJudge(grant bool) func(context.Context, *call, string) (answer, error) {
	return func(ctx context.Context, c *call, arg string) (answer, error) {
		id, hash, _ := strings.Cut(arg, ":")
		return judge(ctx, c, id, hash, grant)
	}
}

// pressAnswer has an NPC answer the line that it was offered.
func pressAnswer(ctx context.Context, c *call, arg string) (answer, error) {
	npc, line, ok := strings.Cut(arg, ":")
	if !ok {
		return answer{}, errStale
	}
	return answer{text: c.l.say("Done.")}, c.game.table().Answer(ctx, c.who, line, npc)
}

// errEmptyMenu is a menu that was closed without a choice.
var errEmptyMenu = errors.New("choose at least one")
