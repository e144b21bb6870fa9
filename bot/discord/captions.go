package discord

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/glyphoxa/glyphoxa/bot"
)

const (
	// captionEvery is the least time between two edits of a caption: Discord
	// allows a webhook five messages in two seconds, and others speak too.
	captionEvery = 1500 * time.Millisecond
	// maxCaptioned is how many lines are being spoken at once, at most.
	maxCaptioned = 16
	// maxName is Discord's limit on the name under which a webhook writes.
	maxName = 80
	// maxPictures is how many files one message takes.
	maxPictures = 10
	// archiveAfter closes the thread of captions after a day, in minutes.
	archiveAfter = 1440
)

// captions write down what NPCs say, as it is said, in a thread of the panel's:
// under their names and portraits, by a webhook of the bot's. Where the bot may
// not, they are the bot's own messages; where it may not have a thread either,
// they stand in the channel.
type captions struct {
	g         *game
	channel   string // where they stand: the thread, or the channel
	thread    string // "" if there is none
	hook      *discordgo.Webhook
	pictures  map[string]string // addresses, by NPC
	spoken    map[string]*caption
	suspended bool // captions cannot be written at all
}

// caption is one line that is being spoken.
type caption struct {
	message, shown string
	edited         time.Time
}

func newCaptions(g *game, under string) *captions {
	c := &captions{g: g, channel: g.text, pictures: map[string]string{}, spoken: map[string]*caption{}}
	s := g.app.session
	if under != "" {
		t, err := s.MessageThreadStart(g.text, under, g.l.say("What the NPCs say"), archiveAfter)
		if err != nil {
			g.app.log.Debug("captions have no thread", "guild", g.guild, "error", err)
		} else {
			c.channel, c.thread = t.ID, t.ID
		}
	}
	c.hook = g.webhook()
	if c.hook != nil {
		c.upload()
	}
	return c
}

// webhook is the bot's own in the session's channel, or nil if it may not have
// one.
func (g *game) webhook() *discordgo.Webhook {
	s := g.app.session
	list, err := s.ChannelWebhooks(g.text)
	if err != nil {
		g.app.log.Debug("captions have no names of their own", "guild", g.guild, "error", err)
		return nil
	}
	if i := slices.IndexFunc(list, func(w *discordgo.Webhook) bool { return w.ApplicationID == g.app.self && w.Token != "" }); i >= 0 {
		return list[i]
	}
	w, err := s.WebhookCreate(g.text, "Glyphoxa", "")
	if err != nil {
		g.app.log.Debug("captions have no names of their own", "guild", g.guild, "error", err)
		return nil
	}
	return w
}

// upload shows the NPCs' portraits once, so that Discord has them: a webhook can
// only show pictures that have an address.
func (c *captions) upload() {
	var files []*discordgo.File
	of := map[string]string{}
	seat := c.g.sitting()
	for _, n := range seat.Table.State().NPCs {
		if n.Portrait == "" || len(files) == maxPictures || seat.Portrait == nil {
			continue
		}
		b, err := seat.Portrait(n.Portrait)
		if err != nil {
			c.g.app.log.Debug("no portrait", "npc", n.ID, "error", err)
			continue
		}
		name := n.ID + path.Ext(n.Portrait)
		of[name] = n.ID
		files = append(files, &discordgo.File{Name: name, Reader: bytes.NewReader(b)})
	}
	if len(files) == 0 {
		return
	}
	m, err := c.g.app.session.ChannelMessageSendComplex(c.channel, &discordgo.MessageSend{
		Content: c.g.l.say("The cast, played by software."), Files: files, AllowedMentions: nobody(),
	})
	if err != nil {
		c.g.app.report(err)
		return
	}
	for _, at := range m.Attachments {
		if id, ok := of[at.Filename]; ok {
			c.pictures[id] = at.URL
		}
	}
}

// follow writes captions of what is said since that event, until ctx ends.
func (c *captions) follow(ctx context.Context, table *bot.Table, since uint64) {
	for e := range table.Events(ctx, since) {
		if e.Line != nil && e.Line.Speaker.NPC && !c.suspended {
			c.take(ctx, *e.Line)
		}
	}
}

// take shows a line as far as it has come.
func (c *captions) take(ctx context.Context, l bot.Line) {
	text := strings.TrimSpace(l.Text + " " + l.Coming)
	if l.Final {
		if text = l.Text; l.Cut && text != "" {
			text += " —"
		}
	}
	said := c.spoken[l.ID]
	switch {
	case said == nil && text == "":
		return
	case said == nil:
		id, err := c.post(ctx, l, text)
		if err != nil {
			c.suspended = ctx.Err() == nil
			c.g.app.report(err)
			return
		}
		if !l.Final && len(c.spoken) < maxCaptioned {
			c.spoken[l.ID] = &caption{message: id, shown: text, edited: time.Now()}
		}
		return
	case text != said.shown && (l.Final || time.Since(said.edited) > captionEvery):
		c.g.app.report(c.edit(ctx, l, said.message, text))
		said.shown, said.edited = text, time.Now()
	}
	if l.Final {
		delete(c.spoken, l.ID)
	}
}

// post writes a new caption and returns its message.
func (c *captions) post(ctx context.Context, l bot.Line, text string) (string, error) {
	with := discordgo.WithContext(ctx)
	if c.hook == nil {
		m, err := c.g.app.session.ChannelMessageSendComplex(c.channel, &discordgo.MessageSend{
			Content: c.plain(l, text), AllowedMentions: nobody(), Flags: discordgo.MessageFlagsSuppressEmbeds,
		}, with)
		if err != nil {
			return "", err
		}
		return m.ID, nil
	}
	p := &discordgo.WebhookParams{
		Content: short(text, maxAnswer), Username: label(l.Speaker.Name), AvatarURL: c.pictures[l.Speaker.ID],
		AllowedMentions: nobody(), Flags: discordgo.MessageFlagsSuppressEmbeds,
	}
	var m *discordgo.Message
	var err error
	if c.thread != "" {
		m, err = c.g.app.session.WebhookThreadExecute(c.hook.ID, c.hook.Token, true, c.thread, p, with)
	} else {
		m, err = c.g.app.session.WebhookExecute(c.hook.ID, c.hook.Token, true, p, with)
	}
	if err != nil {
		return "", err
	}
	return m.ID, nil
}

// edit replaces a caption's text; a line that was not heard at all is taken back
// to a dash.
func (c *captions) edit(ctx context.Context, l bot.Line, message, text string) error {
	if text == "" {
		text = "—"
	}
	with := discordgo.WithContext(ctx)
	if c.hook == nil {
		text = c.plain(l, text)
		_, err := c.g.app.session.ChannelMessageEditComplex(&discordgo.MessageEdit{
			Channel: c.channel, ID: message, Content: &text, AllowedMentions: nobody(), Flags: discordgo.MessageFlagsSuppressEmbeds,
		}, with)
		return err
	}
	// discordgo v0.29.0 cannot say in which thread a webhook's message is.
	at := discordgo.EndpointWebhookMessage(c.hook.ID, c.hook.Token, message)
	to := at
	if c.thread != "" {
		to += "?thread_id=" + c.thread
	}
	text = short(text, maxAnswer)
	_, err := c.g.app.session.RequestWithBucketID("PATCH", to, discordgo.WebhookEdit{Content: &text, AllowedMentions: nobody()},
		discordgo.EndpointWebhookToken(c.hook.ID, c.hook.Token), with)
	return err
}

// plain is a caption as the bot's own message.
func (c *captions) plain(l bot.Line, text string) string {
	return short("**"+l.Speaker.Name+":** "+text, maxAnswer)
}

// label is an NPC's name as a webhook writes it, with the program's own: nobody is
// to take it for a person's. Discord refuses names with its own or Clyde's in
// them.
func label(name string) string {
	lower := strings.ToLower(name)
	if strings.Contains(lower, "discord") || strings.Contains(lower, "clyde") {
		name = "NPC"
	}
	const ours = " · Glyphoxa"
	return short(name, maxName-len([]rune(ours))) + ours
}
