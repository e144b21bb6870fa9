package discord

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/glyphoxa/glyphoxa/bot"
)

const (
	// panelEvery is the least time between two edits of the panel. Discord allows
	// five edits in five seconds and channel; the captions want their share.
	panelEvery = 3 * time.Second
	// aliveEvery is how often a session is marked as still running.
	aliveEvery = time.Minute
	// shownAlerts is how many alerts the panel has, the latest.
	shownAlerts = 3
	// maxStatus is Discord's limit on a voice channel's status, in characters.
	maxStatus = 500
)

// panel is a session's live message: an ordinary message of the bot's, because
// what belongs to an interaction can only be edited for 15 minutes.
type panel struct {
	g       *game
	message string // "" if it could not be sent
	shown   string // what is in it
	status  string // of the voice channel
	every   time.Duration
}

// present shows the session until ctx ends: the panel, the channel's status, and
// captions of what is said since that event.
func (g *game) present(ctx context.Context, table *bot.Table, since uint64) {
	p := &panel{g: g, every: g.app.panelEvery}
	p.send(ctx, table)
	c := newCaptions(g, p.message)
	g.done.Go(func() { c.follow(ctx, table, since) })
	p.follow(ctx, table)
	p.close()
}

// follow edits the panel when something has changed, and not too often.
func (p *panel) follow(ctx context.Context, table *bot.Table) {
	tick := time.NewTicker(p.every)
	defer tick.Stop()
	alive := time.NewTicker(aliveEvery)
	defer alive.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-alive.C:
			p.g.app.running.keep(p.g)
		case <-tick.C:
			p.send(ctx, table)
		case <-p.g.dirty:
			p.send(ctx, table)
			select { // whoever wants it again waits for the next tick
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}
}

// refresh has the panel shown anew soon.
func (g *game) refresh() {
	select {
	case g.dirty <- struct{}{}:
	default: // it will be
	}
}

// send shows the table as it is now, if that is not what is shown already.
func (p *panel) send(ctx context.Context, table *bot.Table) {
	s := table.State()
	text := p.g.panelText(s)
	rows := p.g.panelRows(s)
	key := text + fmt.Sprint(rows)
	session := p.g.app.session
	with := discordgo.WithContext(ctx)
	switch {
	case key == p.shown:
	case p.message == "" && p.shown == "":
		m, err := session.ChannelMessageSendComplex(p.g.text, &discordgo.MessageSend{Content: text, Components: rows, AllowedMentions: nobody()}, with)
		if err != nil {
			table.Tell(bot.Alert{Text: "There is no panel: the bot may not send messages in the channel where the session was started.", Bad: true})
			p.g.app.report(err)
		} else {
			p.message = m.ID
		}
		p.shown = key
	case p.message != "":
		_, err := session.ChannelMessageEditComplex(&discordgo.MessageEdit{
			Channel: p.g.text, ID: p.message, Content: &text, Components: &rows, AllowedMentions: nobody(),
		}, with)
		p.g.app.report(err)
		p.shown = key
	}
	p.setStatus(p.g.statusText(s))
}

// setStatus writes under the voice channel's name what goes on in it, where the
// bot may. discordgo v0.29.0 has no call for it.
func (p *panel) setStatus(text string) {
	if text == p.status {
		return
	}
	p.status = text
	p.g.mu.Lock()
	channel := p.g.channel
	p.g.mu.Unlock()
	if channel == "" {
		return
	}
	at := discordgo.EndpointChannel(channel) + "/voice-status"
	if _, err := p.g.app.session.RequestWithBucketID("PUT", at, map[string]string{"status": text}, at); err != nil {
		p.g.app.log.Debug("the channel's status is not shown", "guild", p.g.guild, "error", err)
	}
}

// close leaves a panel without buttons.
func (p *panel) close() {
	p.setStatus("")
	if p.message == "" {
		return
	}
	text, none := p.g.l.say("The session has ended. Nobody is heard any more."), []discordgo.MessageComponent{}
	_, err := p.g.app.session.ChannelMessageEditComplex(&discordgo.MessageEdit{
		Channel: p.g.text, ID: p.message, Content: &text, Components: &none, AllowedMentions: nobody(),
	})
	p.g.app.report(err)
}

// statusText is what stands under the voice channel's name.
func (g *game) statusText(s bot.Snapshot) string {
	if s.Stopped {
		return g.l.say("Paused") + " · " + s.Scene.Name
	}
	state := g.l.say("Listening")
	if g.consent == Off {
		state = g.l.say("Not listening")
	}
	return short(state+" · "+s.Scene.Name+" · "+strings.Join(present(s), ", "), maxStatus)
}

// panelText is the session in a few lines.
func (g *game) panelText(s bot.Snapshot) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** · %s\n", s.Campaign, s.Scene.Name)
	if s.Stopped {
		fmt.Fprintf(&b, "**%s**\n", g.l.say(s.Why))
	}
	b.WriteString(g.listeners(g.l) + "\n")
	for _, n := range s.NPCs {
		if n.State != bot.Absent {
			b.WriteString(npcLine(g.l, n) + "\n")
		}
	}
	b.WriteString(tierLine(g.l, s) + "\n")
	if line := lastTurn(g.l, s); line != "" {
		b.WriteString(line + "\n")
	}
	bad := slices.DeleteFunc(slices.Clone(s.Alerts), func(a bot.Alert) bool {
		return !a.Bad || a.Text == bot.PlayedX // while it holds, it is said above
	})
	for _, a := range bad[max(0, len(bad)-shownAlerts):] {
		fmt.Fprintf(&b, "⚠ %s\n", short(g.l.say(a.Text), 200))
	}
	return short(strings.TrimSpace(b.String()), maxAnswer)
}

// lastTurn says how long the latest answer took.
func lastTurn(l tongue, s bot.Snapshot) string {
	if len(s.Turns) == 0 {
		return ""
	}
	t := s.Turns[len(s.Turns)-1]
	name := t.NPC
	for _, n := range s.NPCs {
		if n.ID == t.NPC {
			name = n.Name
		}
	}
	took := t.FirstSound
	if took == 0 {
		took = t.Ended
	}
	if took == 0 {
		return l.say("%s is thinking (%s: %s)", name, l.say(t.Tier.String()), t.Why)
	}
	return l.say("Last answer: %s, after %v (%s: %s)", name, took.Round(10*time.Millisecond), l.say(t.Tier.String()), t.Why)
}

// listeners says who is heard, and who is not and why.
func (g *game) listeners(l tongue) string {
	g.mu.Lock()
	people := maps.Clone(g.people)
	g.mu.Unlock()
	var yes, no []string
	for id, p := range people {
		switch given := g.app.consent.given(g.guild, id); {
		case p.robot:
		case g.consent == Off:
			no = append(no, p.name)
		case given == kept && g.consent == Audio:
			yes = append(yes, p.name+" "+l.say("(recorded)"))
		case given == heard || given == kept:
			yes = append(yes, p.name)
		case given == refused:
			no = append(no, p.name+" "+l.say("(declined)"))
		default:
			no = append(no, p.name+" "+l.say("(has not answered)"))
		}
	}
	slices.Sort(yes)
	slices.Sort(no)
	text := l.say("Heard: %s", orNobody(l, yes))
	if len(no) > 0 {
		text += " · " + l.say("not heard: %s", strings.Join(no, ", "))
	}
	return text
}

func orNobody(l tongue, names []string) string {
	if len(names) == 0 {
		return l.say("nobody")
	}
	return strings.Join(names, ", ")
}

// panelRows are the buttons under it.
func (g *game) panelRows(s bot.Snapshot) []discordgo.MessageComponent {
	pause := pressButton(g.l.say("Pause"), discordgo.SecondaryButton, customID(g.mark, "pause"))
	if s.Stopped {
		pause = pressButton(g.l.say("Go on"), discordgo.SuccessButton, customID(g.mark, "goon"))
	}
	list := []discordgo.MessageComponent{
		pressButton(g.l.say("Stop all"), discordgo.SecondaryButton, customID(g.mark, "stop")), pause,
		pressButton(g.l.say("X-card"), discordgo.DangerButton, customID(g.mark, "x")),
	}
	if n := len(g.wishes(s)); n > 0 {
		list = append(list, pressButton(g.l.say("Tool calls: %d", n), discordgo.PrimaryButton, customID(g.mark, "calls")))
	}
	rows := []discordgo.MessageComponent{row(list...)}
	if offer := g.offered(s); offer != nil {
		rows = append(rows, row(offer))
	}
	return rows
}

// offered lets an NPC answer the last line that nobody was sure about.
func (g *game) offered(s bot.Snapshot) discordgo.MessageComponent {
	if len(s.Lines) == 0 {
		return nil
	}
	last := s.Lines[len(s.Lines)-1]
	i := slices.IndexFunc(s.NPCs, func(n bot.NPC) bool { return n.ID == last.Offer })
	if i < 0 || len(last.To) > 0 {
		return nil
	}
	id := customID(g.mark, "answer", last.Offer, last.ID)
	if len(id) > 100 { // Discord's limit
		return nil
	}
	return pressButton(g.l.say("Let %s answer “%s”", s.NPCs[i].Name, short(last.Text, 40)), discordgo.SecondaryButton, id)
}
