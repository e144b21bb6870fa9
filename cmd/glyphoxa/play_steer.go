package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/mcp"
)

// steerHelp is what the game master may write in a terminal, after /dm.
const steerHelp = `The game master's: /mood NPC [MOOD], /bond NPC NAME [-100..100], /tier [NPC] fast|standard|deep|auto [10m],
/time [NPC], /scene ID, /music [MOOD], /enter NPC, /leave NPC, /answer NPC, /allow, /deny
`

// errSteer is what somebody is told who writes no such thing.
var errSteer = errors.New("there is no such command here; /who, /as NAME, /dm, /help and /quit are, and for the game master what /help lists")

// steer carries out a command of the game master's. Whether it may be given is the
// table's to decide.
func steer(ctx context.Context, t *bot.Table, who bot.Person, word, rest string, desk stdio) error {
	st := t.State()
	words := strings.Fields(rest)
	id := ""
	if len(words) > 0 {
		id = idOf(st, words[0])
	}
	switch word {
	case "/help":
		fmt.Fprint(desk.out, textHelp, steerHelp)
		return nil
	case "/mood":
		if len(words) < 2 {
			return feelings(st, id, desk)
		}
		return t.SetMood(ctx, who, id, strings.Join(words[1:], " "))
	case "/bond":
		return bond(ctx, t, st, who, id, words, desk)
	case "/tier":
		return setTier(ctx, t, who, words, id)
	case "/time":
		return t.TakeTime(ctx, who, id)
	case "/scene":
		return t.SetScene(ctx, who, rest)
	case "/music":
		return t.SetMusic(ctx, who, rest)
	case "/enter", "/leave":
		return t.Enter(ctx, who, id, word == "/enter")
	case "/answer":
		if len(st.Lines) == 0 {
			return errors.New("nothing has been said yet")
		}
		return t.Answer(ctx, who, st.Lines[len(st.Lines)-1].ID, id)
	case "/allow", "/deny":
		if len(st.Questions) == 0 {
			return bot.ErrNoQuestion
		}
		q := st.Questions[0]
		return t.Decide(ctx, who, q.ID, q.Hash, word == "/allow")
	}
	return errSteer
}

// idOf is the NPC that a name means, or the name as it is.
func idOf(st bot.Snapshot, name string) string {
	for _, c := range st.NPCs {
		first, _, _ := strings.Cut(c.Name, " ")
		if strings.EqualFold(name, c.ID) || strings.EqualFold(name, c.Name) || strings.EqualFold(name, first) {
			return c.ID
		}
	}
	return name
}

// feelings prints how an NPC feels.
func feelings(st bot.Snapshot, id string, desk stdio) error {
	for _, c := range st.NPCs {
		if c.ID != id {
			continue
		}
		fmt.Fprintf(desk.out, "  %s is %s (may be %s)\n", c.Name, c.Mood, strings.Join(c.Moods, ", "))
		for _, b := range c.Bonds {
			fmt.Fprintf(desk.out, "  %s %s %s (%d)\n", c.Name, b.Words, b.Name, b.Value)
		}
		return nil
	}
	return fmt.Errorf("there is no NPC %q", id)
}

// bond sets what an NPC thinks of somebody, or prints it.
func bond(ctx context.Context, t *bot.Table, st bot.Snapshot, who bot.Person, id string, words []string, desk stdio) error {
	if len(words) < 3 {
		return feelings(st, id, desk)
	}
	value, err := strconv.Atoi(words[2])
	if err != nil {
		return fmt.Errorf("%q is no number from -100 to 100", words[2])
	}
	for _, l := range st.Lines {
		if strings.EqualFold(l.Speaker.Name, words[1]) && !l.Speaker.NPC {
			return t.SetBond(ctx, who, id, l.Speaker.ID, value)
		}
	}
	return fmt.Errorf("nobody called %q has said anything yet", words[1])
}

// setTier reads "deep", "bartok deep" and "bartok deep 20m".
func setTier(ctx context.Context, t *bot.Table, who bot.Person, words []string, id string) error {
	var hold time.Duration
	if n := len(words); n > 2 {
		var err error
		if hold, err = time.ParseDuration(words[2]); err != nil {
			return fmt.Errorf("%q is no time such as 10m: %w", words[2], err)
		}
	}
	if len(words) == 0 {
		return errors.New("say which tier: fast, standard, deep or auto")
	}
	name := words[min(len(words)-1, 1)]
	if slices.Contains([]string{"fast", "standard", "deep", "auto"}, words[0]) {
		id, name = "", words[0]
	}
	if name == "auto" {
		return t.ClearTier(ctx, who, id)
	}
	tier, err := mcp.ParseTier(name)
	if err != nil {
		return err
	}
	return t.SetTier(ctx, who, id, tier, hold)
}
