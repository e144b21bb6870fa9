package discord

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/memory"
)

func privacyCommands() []command {
	voice := option{name: "voice", about: "Also agree that the sound of your voice is kept, where the server does", kind: discordgo.ApplicationCommandOptionBoolean}
	return []command{
		{group: "privacy", name: "show", about: "What is kept of what you say, and where it goes", run: showPrivacy},
		{group: "privacy", name: "optin", about: "Agree to be heard by the NPCs", options: []option{voice}, run: optIn},
		{group: "privacy", name: "optout", about: "Do not be heard any more", run: func(_ context.Context, c *call) (answer, error) { return decide(c, refused) }},
		{group: "privacy", name: "export", about: "Get everything that is kept of you", run: exportMine},
		{group: "privacy", name: "delete", about: "Delete everything that is kept of you", run: askForget},
	}
}

func optIn(_ context.Context, c *call) (answer, error) {
	if c.args["voice"] == "true" {
		return decide(c, kept)
	}
	return decide(c, heard)
}

// consentMode is what this server does with words.
func (c *call) consentMode() Consent {
	if c.game != nil {
		return c.game.consent
	}
	return c.app.place(c.i.GuildID).Consent
}

func decide(c *call, a assent) (answer, error) {
	mode := c.consentMode()
	if a == kept && mode != Audio { // agreeing to more than there is would count later
		a = heard
	}
	if err := c.app.consent.decide(c.i.GuildID, c.who.ID, a); err != nil {
		return answer{}, err
	}
	if c.game != nil {
		c.game.refresh()
	}
	switch a {
	case refused:
		return answer{text: c.l.say("You are not heard. You can still talk to the NPCs with `/say`.")}, nil
	case kept:
		return answer{text: c.l.say("The NPCs hear you from now on, and the sound of your voice is kept.")}, nil
	}
	return answer{text: c.l.say("The NPCs hear you from now on.") + " " + sentence(c.l.say(aboutConsent[mode]))}, nil
}

func showPrivacy(ctx context.Context, c *call) (answer, error) {
	mode := c.consentMode()
	var b strings.Builder
	switch c.app.consent.given(c.i.GuildID, c.who.ID) {
	case heard:
		b.WriteString(c.l.say("You agreed to be heard."))
	case kept:
		b.WriteString(c.l.say("You agreed to be heard, and that the sound of your voice is kept."))
	case refused:
		b.WriteString(c.l.say("You declined, so you are not heard."))
	default:
		b.WriteString(c.l.say("You have not decided yet, so you are not heard."))
	}
	b.WriteString("\n" + mode.notice(c.l) + "\n")
	shelf, done, err := c.shelf(ctx)
	if err != nil {
		return answer{}, err
	}
	defer done()
	lines, err := countLines(ctx, shelf.Archive, c.who.ID)
	if err != nil {
		return answer{}, err
	}
	b.WriteString(c.l.say("Kept of you: %d lines.", lines))
	if shelf.Recordings != nil {
		n, err := shelf.Recordings.Count(c.who.ID)
		if err != nil {
			return answer{}, err
		}
		b.WriteString(" " + c.l.say("Recordings: %d.", n))
	}
	b.WriteString("\n")
	if c.app.o.Processors != nil {
		for _, p := range c.app.o.Processors() {
			b.WriteString("- " + p.line(c.l) + "\n")
		}
	}
	b.WriteString(c.l.say("Nothing is used to train models. In an encrypted call the bot is a member like any other: it can hear whoever it is allowed to."))
	return answer{rows: consentRow(c.l, mode), text: b.String()}, nil
}

// A Processor is who gets what of what players say.
type Processor struct {
	// Gets is "audio" or "text".
	Gets string
	// Name is the program or vendor; Where its server, "" for this machine.
	Name, Where string
}

func (p Processor) line(l tongue) string {
	what := l.say("Your words as text go to")
	if p.Gets == "audio" {
		what = l.say("The sound of your voice goes to")
	}
	where := l.say("on the bot's own machine")
	if p.Where != "" {
		where = p.Where
	}
	return what + " " + p.Name + " (" + where + ")"
}

// errTooBig stops an export that Discord would not take.
var errTooBig = errors.New("too big")

// maxExport is what a bot may send into a server without boosts.
const maxExport = 9 << 20

// bounded is a buffer with an end.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxExport {
		return 0, errTooBig
	}
	return b.Buffer.Write(p)
}

func countLines(ctx context.Context, a *bot.Archive, player string) (int, error) {
	var n lineCounter
	err := a.Export(ctx, &n, player)
	if errors.Is(err, memory.ErrUnknown) { // nothing was ever kept
		err = nil
	}
	return n.lines, err
}

// lineCounter counts a player's lines in an export as it is written.
type lineCounter struct{ lines int }

func (n *lineCounter) Write(p []byte) (int, error) {
	n.lines += bytes.Count(p, []byte(`"line":{`))
	return len(p), nil
}

func exportMine(ctx context.Context, c *call) (answer, error) {
	shelf, done, err := c.shelf(ctx)
	if err != nil {
		return answer{}, err
	}
	defer done()
	var b bounded
	err = func() error {
		z := zip.NewWriter(&b)
		w, err := z.Create("memory.jsonl")
		if err != nil {
			return err
		}
		if err := shelf.Archive.Export(ctx, w, c.who.ID); err != nil && !errors.Is(err, memory.ErrUnknown) {
			return err
		}
		if shelf.Recordings != nil {
			if err := shelf.Recordings.Export(z, c.who.ID); err != nil {
				return err
			}
		}
		return z.Close()
	}()
	switch {
	case errors.Is(err, errTooBig):
		return answer{}, bot.Refuse("what is kept of you is more than Discord lets a bot send: ask the operator, who has `glyphoxa memory export`")
	case err != nil:
		return answer{}, err
	}
	return answer{
		text: c.l.say("Everything that is kept of you here."),
		file: &discordgo.File{Name: "glyphoxa.zip", ContentType: "application/zip", Reader: io.Reader(&b.Buffer)},
	}, nil
}

func askForget(_ context.Context, c *call) (answer, error) {
	return answer{
		text: c.l.say("This deletes your words, what the NPCs learned from them, and your recordings, on this server. It cannot be undone. You are not heard any more until you agree again."),
		rows: []discordgo.MessageComponent{row(pressButton(c.l.say("Delete everything"), discordgo.DangerButton, customID(anywhere, "forget", c.who.ID)))},
	}, nil
}

func forget(ctx context.Context, c *call) (answer, error) {
	// First nothing new may come.
	if err := c.app.consent.decide(c.i.GuildID, c.who.ID, refused); err != nil {
		return answer{}, err
	}
	if c.game != nil && c.game.isReady() {
		if err := c.game.table().Forget(ctx, c.who.ID); err != nil {
			return answer{}, err
		}
		c.game.refresh()
	}
	shelf, done, err := c.shelf(ctx)
	if err != nil {
		return answer{}, err
	}
	defer done()
	lines, err := shelf.Archive.Forget(ctx, c.who.ID)
	if err != nil && !errors.Is(err, memory.ErrUnknown) {
		return answer{}, err
	}
	if shelf.Recordings != nil {
		if err := shelf.Recordings.Forget(c.who.ID); err != nil {
			return answer{}, err
		}
	}
	return answer{text: c.l.say("%d lines were deleted, and what rested on them. You are not heard any more.", lines)}, nil
}
