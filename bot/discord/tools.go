package discord

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/glyphoxa/glyphoxa/bot"
)

func toolCommands() []command {
	tool := option{name: "tool", about: "The tool", required: true, suggest: true, most: 100}
	cmd := func(name, about string, run func(context.Context, *call) (answer, error), more ...option) command {
		return command{group: "tools", name: name, about: about, dm: true, session: true, options: more, run: run}
	}
	return []command{
		cmd("list", "What the NPCs may do, and how quick it is", listTools),
		cmd("approve", "See the calls that wait, and decide", approveCall,
			option{name: "call", about: "Which call; otherwise all that wait", suggest: true, most: 100}),
		cmd("enable", "Switch a tool on again", allowTool(true), tool),
		cmd("disable", "Switch a tool off for every NPC", allowTool(false), tool),
	}
}

func listTools(_ context.Context, c *call) (answer, error) {
	var b strings.Builder
	off := c.game.table().State().Barred
	for _, t := range c.game.sitting().Tools.Tools() {
		state := c.l.say(t.Tier.String())
		switch {
		case slices.Contains(off, t.Name):
			state = c.l.say("switched off")
		case t.Blocked != "":
			state = t.Blocked
		}
		fmt.Fprintf(&b, "`%s` %s", t.Name, state)
		if t.Calls > 0 {
			fmt.Fprintf(&b, " · p50 %v, p95 %v", t.P50.Round(1e6), t.P95.Round(1e6))
		}
		b.WriteByte('\n')
	}
	return answer{text: b.String()}, nil
}

func approveCall(_ context.Context, c *call) (answer, error) { return waitingCalls(c) }

// wishes are the calls that wait for the DM: tools that write, and tools of which
// the model that chose them was not sure enough.
func (g *game) wishes(s bot.Snapshot) []bot.Wish {
	out := g.sitting().Tools.Wishes()
	for _, q := range s.Questions {
		out = append(out, bot.Wish{ID: q.ID, Hash: q.Hash, NPC: q.NPC, Tool: q.Tool, Args: q.Args, Expires: q.Expires})
	}
	return out
}

// maxShownArgs is the longest a call's arguments may be to be decided on here: what
// cannot be shown whole cannot be granted.
const maxShownArgs = 350

// waitingCalls shows exactly what waits for a decision. Buttons carry the hash of
// what was shown, so that nothing else can be granted with them.
func waitingCalls(c *call) (answer, error) {
	var ans answer
	for _, w := range c.game.wishes(c.game.table().State()) {
		if want := c.args["call"]; want != "" && w.ID != want {
			continue
		}
		yes, no := customID(c.game.mark, "approve", w.ID, w.Hash), customID(c.game.mark, "deny", w.ID, w.Hash)
		if len(w.Args) > maxShownArgs || len(ans.rows) == 5 || len(yes) > 100 { // Discord's limits
			ans.text += c.l.say("**%s** wants `%s`, which is too long to show here: decide on the console.", w.NPC, w.Tool) + "\n"
			continue
		}
		n := len(ans.rows) + 1
		args := strings.ReplaceAll(w.Args, "`", "ˋ") // nothing ends the block
		ans.text += c.l.say("%d. **%s** wants `%s` until <t:%d:T>, with", n, w.NPC, w.Tool, w.Expires.Unix()) + "\n```json\n" + args + "\n```\n"
		ans.rows = append(ans.rows, row(
			pressButton(c.l.say("Approve %d", n), discordgo.SuccessButton, yes),
			pressButton(c.l.say("Deny %d", n), discordgo.DangerButton, no),
		))
	}
	if ans.text == "" {
		ans.text = c.l.say("No call waits for you.")
	}
	return ans, nil
}

func judge(ctx context.Context, c *call, id, hash string, grant bool) (answer, error) {
	defer c.game.refresh()
	done := answer{text: c.l.say("Denied.")}
	err := c.game.table().Decide(ctx, c.who, id, hash, grant)
	if grant {
		done.text = c.l.say("Approved.")
	}
	if !errors.Is(err, bot.ErrNoQuestion) {
		return done, err
	}
	text, err := c.game.sitting().Tools.Decide(ctx, c.who, id, hash, grant)
	if text != "" {
		done.text += "\n" + short(text, 1500)
	}
	return done, err
}

func allowTool(on bool) func(context.Context, *call) (answer, error) {
	return func(ctx context.Context, c *call) (answer, error) {
		return answer{text: c.l.say("Done.")}, c.game.table().AllowTool(ctx, c.who, c.args["tool"], on)
	}
}
