package discord

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/mcp"
)

// reserve takes the server's place for a session, on the event goroutine, so that
// two people cannot start one at once.
func (a *App) reserve(c *call) error {
	if c.game != nil {
		return ErrRunning
	}
	v, err := a.session.State.VoiceState(c.i.GuildID, c.who.ID)
	if err != nil || v.ChannelID == "" {
		return ErrNotInVoice
	}
	g := &game{app: a, guild: c.i.GuildID, starter: c.who.ID, channel: v.ChannelID, ready: make(chan struct{}), names: map[string]string{}}
	g.look()
	a.games[c.i.GuildID] = g
	c.game = g
	return nil
}

func startSession(ctx context.Context, c *call) (answer, error) {
	if err := c.game.start(ctx); err != nil {
		c.app.post(func() {
			if c.app.games[c.i.GuildID] == c.game {
				delete(c.app.games, c.i.GuildID)
			}
		})
		return answer{}, err
	}
	s := c.game.table.State()
	var names []string
	for _, n := range s.NPCs {
		if n.State != bot.Absent {
			names = append(names, n.Name)
		}
	}
	return answer{public: true, asks: c.app.o.Consent != Off, text: fmt.Sprintf(
		"**%s** begins: %s.\nHere are %s. They are played by software.\n\n%s", s.Campaign, s.Scene.Name, strings.Join(names, ", "), c.app.o.Consent.notice())}, nil
}

// notice tells players what happens to what they say.
func (c Consent) notice() string {
	switch c {
	case Off:
		return "Nobody is listened to; use `/say` to talk to them."
	case Live:
		return "They hear only those who agree below, and nothing is kept. `/privacy` changes your mind, `/x` stops everything."
	}
	return "They hear only those who agree below. Your words are kept as text, never as sound. `/privacy` changes your mind, `/x` stops everything."
}

func stopSession(ctx context.Context, c *call) (answer, error) {
	if err := c.game.end(ctx); err != nil {
		return answer{}, err
	}
	return answer{public: true, text: "The session has ended. Nobody is heard any more."}, nil
}

func sessionStatus(_ context.Context, c *call) (answer, error) {
	s := c.game.table.State()
	c.game.mu.Lock()
	conn := c.game.conn
	c.game.mu.Unlock()
	if conn == nil {
		return answer{text: "The NPCs are on their way."}, nil
	}
	st := conn.Status()
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**: %s\n", s.Campaign, s.Scene.Name)
	fmt.Fprintf(&b, "Call: connected %v, end-to-end encrypted %v, ping %v\n", st.Live, st.Encrypted, st.Ping.Round(time.Millisecond))
	if st.PrivacyCode != "" {
		fmt.Fprintf(&b, "Voice privacy code: %s\n", st.PrivacyCode)
	}
	fmt.Fprintf(&b, "Brain: %s\nEar: %s\nVoice: %s\n", s.Brain.Name, s.Ear.Name, s.Mouth.Name)
	if s.Stopped {
		fmt.Fprintf(&b, "%s\n", s.Why)
	}
	return answer{text: b.String()}, nil
}

func listNPCs(_ context.Context, c *call) (answer, error) {
	var b strings.Builder
	for _, n := range c.game.table.State().NPCs {
		fmt.Fprintf(&b, "**%s** (%s): %s, up to the %s tier\n", n.Name, n.Role, n.State, n.Ceiling)
	}
	return answer{text: b.String()}, nil
}

func muteNPC(on bool) func(context.Context, *call) (answer, error) {
	return func(ctx context.Context, c *call) (answer, error) {
		id, err := c.npc()
		if err != nil {
			return answer{}, err
		}
		return answer{text: "Done."}, c.game.table.Mute(ctx, c.who, id, on)
	}
}

func muteAll(on bool) func(context.Context, *call) (answer, error) {
	return func(ctx context.Context, c *call) (answer, error) {
		var errs []error
		for _, n := range c.game.table.State().NPCs {
			errs = append(errs, c.game.table.Mute(ctx, c.who, n.ID, on))
		}
		return answer{text: "Done."}, errors.Join(errs...)
	}
}

func enterNPC(on bool) func(context.Context, *call) (answer, error) {
	return func(ctx context.Context, c *call) (answer, error) {
		id, err := c.npc()
		if err != nil {
			return answer{}, err
		}
		return answer{text: "Done."}, c.game.table.Enter(ctx, c.who, id, on)
	}
}

func speakAs(ctx context.Context, c *call) (answer, error) {
	id, err := c.npc()
	if err != nil {
		return answer{}, err
	}
	return answer{text: "Done."}, c.game.table.SpeakAs(ctx, c.who, id, c.args["text"])
}

// npc is the id of the NPC that was named: by autocomplete, or by typing.
func (c *call) npc() (string, error) {
	want := c.args["npc"]
	for _, n := range c.game.table.State().NPCs {
		first, _, _ := strings.Cut(n.Name, " ")
		if n.ID == want || strings.EqualFold(n.Name, want) || strings.EqualFold(first, want) {
			return n.ID, nil
		}
	}
	return "", fmt.Errorf("there is no NPC called %q; /npc list shows them", short(want, 100))
}

func setTier(ctx context.Context, c *call) (answer, error) {
	t, err := mcp.ParseTier(c.args["tier"])
	if err != nil {
		return answer{}, err
	}
	return answer{text: fmt.Sprintf("From the next line on every answer has at most %v for its tools.", t.Budget())}, c.game.table.SetTier(ctx, c.who, "", t, 0)
}

func clearTier(ctx context.Context, c *call) (answer, error) {
	return answer{text: "The tier is chosen for each line again."}, c.game.table.ClearTier(ctx, c.who, "")
}

func setScene(ctx context.Context, c *call) (answer, error) {
	want := c.args["scene"]
	for _, s := range c.game.table.State().Scenes {
		if s.ID == want || strings.EqualFold(s.Name, want) {
			return answer{public: true, text: fmt.Sprintf("**%s**\n%s", s.Name, s.Text)}, c.game.table.SetScene(ctx, c.who, s.ID)
		}
	}
	return answer{}, fmt.Errorf("the campaign has no scene %q", short(want, 100))
}

func sayLine(ctx context.Context, c *call) (answer, error) {
	return answer{public: true, text: fmt.Sprintf("**%s:** %s", c.who.Name, c.args["text"])}, c.game.table.Say(ctx, c.who, c.args["text"])
}

func playX(ctx context.Context, c *call) (answer, error) {
	return answer{text: "Everything has stopped. Nobody is told who did."}, c.game.table.XCard(ctx, c.who, true)
}

func rollDice(ctx context.Context, c *call) (answer, error) {
	s, err := c.app.o.Roll(ctx, c.args["dice"])
	return answer{public: true, text: s}, err
}

func lookUp(ctx context.Context, c *call) (answer, error) {
	s, err := c.app.o.Rule(ctx, c.args["question"])
	return answer{public: true, text: s}, err
}

func decide(yes bool) func(context.Context, *call) (answer, error) {
	return func(_ context.Context, c *call) (answer, error) {
		if err := c.app.consent.decide(c.i.GuildID, c.who.ID, yes); err != nil {
			return answer{}, err
		}
		if !yes {
			return answer{text: "You are not heard. You can still talk to the NPCs with `/say`."}, nil
		}
		return answer{text: "The NPCs hear you from now on. " + c.app.o.Consent.notice()}, nil
	}
}

func showPrivacy(_ context.Context, c *call) (answer, error) {
	state := "You have not decided yet, so you are not heard."
	switch yes, asked := c.app.consent.agreed(c.i.GuildID, c.who.ID); {
	case yes:
		state = "You agreed to be heard."
	case asked:
		state = "You declined, so you are not heard."
	}
	where := ""
	if c.game != nil && c.game.table != nil {
		s := c.game.table.State()
		where = fmt.Sprintf("\nWhat you say goes to: %s (recognition), %s (answers).", s.Ear.Name, s.Brain.Name)
	}
	return answer{asks: true, text: state + "\n" + c.app.o.Consent.notice() + where}, nil
}

func helpText(_ context.Context, c *call) (answer, error) {
	var b strings.Builder
	b.WriteString("Say an NPC's name and talk: “Bartok, any rooms tonight?” Your next words still go to the same NPC. Talk over it and it stops.\n\n")
	for _, cmd := range commands() {
		if cmd.dm && !c.who.DM {
			continue
		}
		fmt.Fprintf(&b, "`/%s` %s\n", strings.TrimSpace(cmd.group+" "+cmd.name), cmd.about)
	}
	return answer{text: b.String()}, nil
}
