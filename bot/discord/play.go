package discord

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/mcp"
)

// maxRepeat is how often one command may roll: as often as the dice tool does.
const maxRepeat = 20

// tableCommands are what anybody does at the table.
func tableCommands() []command {
	private := option{name: "private", about: "Show it only to you", kind: discordgo.ApplicationCommandOptionBoolean}
	return []command{
		{name: "scene", about: "Move the table to another scene", dm: true, session: true,
			options: []option{{name: "scene", about: "The scene", required: true, suggest: true, most: 100}}, run: setScene},
		{name: "music", about: "Play music of a mood, or stop it", dm: true, session: true,
			options: []option{{name: "mood", about: "For example: calm, tense; without it the music stops", most: 100}}, run: setMusic},
		{name: "say", about: "Say something to the NPCs by typing", session: true,
			options: []option{textOption("text", "What you say")}, run: sayLine},
		{name: "roll", about: "Roll dice", run: rollDice, options: []option{
			{name: "dice", about: "For example 2d6+3, or: a d twenty with advantage", required: true, most: 256},
			{name: "advantage", about: "Roll the d20 twice", choices: []string{"advantage", "disadvantage"}},
			{name: "label", about: "What it is for", most: 100},
			private,
			{name: "repeat", about: "How often", kind: discordgo.ApplicationCommandOptionInteger, least: 1, most: maxRepeat},
		}},
		{name: "rule", about: "Look up a rule", run: lookUp, options: []option{
			{name: "question", about: "For example: what does grappled do", required: true, most: 500}, private,
		}},
		{name: "x", about: "Stop everything at once. Nobody is told who did.", session: true, run: playX},
		patienceCommand(),
		{name: "feedback", about: "Tell the operator what was good or bad", options: []option{textOption("text", "What you noticed")}, run: giveFeedback},
	}
}

func tierCommands() []command {
	npc := npcOption()
	npc.required, npc.about = false, "Only this NPC; otherwise all"
	tier := option{name: "tier", about: "fast 0.5 s, standard 1.5 s, deep 4 s", required: true, choices: []string{"fast", "standard", "deep"}}
	minutes := option{name: "minutes", about: "For how long; otherwise until it is cleared", kind: discordgo.ApplicationCommandOptionInteger, least: 1, most: int(bot.MaxGrant / time.Minute)}
	return []command{
		{group: "tier", name: "show", about: "What is set, and what each NPC may use", session: true, run: showTier},
		{group: "tier", name: "set", about: "Set the tier from the next line on", dm: true, session: true, options: []option{tier, npc, minutes}, run: setTier},
		{group: "tier", name: "clear", about: "Let the tier be chosen for each line again", dm: true, session: true, options: []option{npc}, run: clearTier},
	}
}

func showTier(_ context.Context, c *call) (answer, error) {
	s := c.game.table().State()
	var text strings.Builder
	text.WriteString(tierLine(c.l, s) + "\n")
	for _, n := range s.NPCs {
		text.WriteString(npcLine(c.l, n) + "\n")
	}
	return answer{text: text.String()}, nil
}

// tierLine says what the DM has set for everybody.
func tierLine(l tongue, s bot.Snapshot) string {
	switch {
	case s.Tier == nil:
		return l.say("The tier is chosen for each line.")
	case s.Tier.Until.IsZero():
		return l.say("Every answer: %s, set by the DM.", l.say(s.Tier.Tier.String()))
	}
	return l.say("Every answer: %s, set by the DM until <t:%d:t>.", l.say(s.Tier.Tier.String()), s.Tier.Until.Unix())
}

func setTier(ctx context.Context, c *call) (answer, error) {
	t, err := mcp.ParseTier(c.args["tier"])
	if err != nil {
		return answer{}, bot.Refuse("there is no tier %q: choose fast, standard or deep", short(c.args["tier"], 20))
	}
	id, err := c.maybeNPC()
	if err != nil {
		return answer{}, err
	}
	var lasting time.Duration
	if m := c.args["minutes"]; m != "" {
		n, err := strconv.Atoi(m)
		if err != nil || n < 1 || n > int(bot.MaxGrant/time.Minute) {
			return answer{}, bot.Refuse("%q minutes: choose 1 to %d", short(m, 20), int(bot.MaxGrant/time.Minute))
		}
		lasting = time.Duration(n) * time.Minute
	}
	return answer{text: c.l.say("From the next line on answers have up to %v for their tools.", t.Budget())}, c.game.table().SetTier(ctx, c.who, id, t, lasting)
}

func clearTier(ctx context.Context, c *call) (answer, error) {
	id, err := c.maybeNPC()
	if err != nil {
		return answer{}, err
	}
	return answer{text: c.l.say("The tier is chosen for each line again.")}, c.game.table().ClearTier(ctx, c.who, id)
}

// maybeNPC is the NPC that was named, or "" for all.
func (c *call) maybeNPC() (string, error) {
	if c.args["npc"] == "" {
		return "", nil
	}
	return c.npc(c.args["npc"])
}

func setScene(ctx context.Context, c *call) (answer, error) {
	want := c.args["scene"]
	for _, s := range c.game.table().State().Scenes {
		if s.ID == want || strings.EqualFold(s.Name, want) {
			return answer{public: true, text: fmt.Sprintf("**%s**\n%s", s.Name, s.Text)}, c.game.table().SetScene(ctx, c.who, s.ID)
		}
	}
	return answer{}, bot.Refuse("the campaign has no scene %q", short(want, 100))
}

func setMusic(ctx context.Context, c *call) (answer, error) {
	return answer{text: c.l.say("Done.")}, c.game.table().SetMusic(ctx, c.who, c.args["mood"])
}

func sayLine(ctx context.Context, c *call) (answer, error) {
	return answer{public: true, text: fmt.Sprintf("**%s:** %s", c.who.Name, c.args["text"])}, c.game.table().Say(ctx, c.who, c.args["text"])
}

func playX(ctx context.Context, c *call) (answer, error) {
	return answer{text: c.l.say("Everything has stopped. Nobody is told who did.")}, c.game.table().XCard(ctx, c.who, true)
}

func rollDice(ctx context.Context, c *call) (answer, error) {
	r := Roll{Dice: c.args["dice"], Advantage: map[string]string{"advantage": "adv", "disadvantage": "dis"}[c.args["advantage"]], Repeat: 1}
	if n := c.args["repeat"]; n != "" {
		var err error
		if r.Repeat, err = strconv.Atoi(n); err != nil || r.Repeat < 1 || r.Repeat > maxRepeat {
			return answer{}, bot.Refuse("%q times: choose 1 to %d", short(n, 20), maxRepeat)
		}
	}
	roll := c.app.o.Roll
	if c.game != nil && c.game.isReady() { // the session's own dice, which can be verified
		roll = c.game.sitting().Roll
	}
	text, err := roll(ctx, r)
	if err != nil {
		return answer{}, err
	}
	if label := c.args["label"]; label != "" {
		text = "**" + short(label, 100) + "** · " + text
	}
	return answer{public: c.args["private"] != "true", text: text}, nil
}

func lookUp(ctx context.Context, c *call) (answer, error) {
	s, err := c.app.o.Rule(ctx, c.args["question"])
	return answer{public: c.args["private"] != "true", text: s}, err
}

func giveFeedback(ctx context.Context, c *call) (answer, error) {
	thanks := answer{text: c.l.say("Thank you. The operator of this bot will read it.")}
	if c.game != nil && c.game.isReady() {
		return thanks, c.game.table().Feedback(ctx, c.who, c.args["text"])
	}
	return thanks, bot.Note{Text: c.args["text"], By: c.who.Name}.Keep(c.app.feedback)
}
