package discord

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"
)

// suggestTime bounds the look for suggestions: they cannot be promised for later,
// and Discord waits 3 s.
const suggestTime = 2 * time.Second

// suggest completes what somebody is typing. Who may not use the command is
// suggested nothing.
func (a *App) suggest(c *call) {
	cmd, opts, ok := find(c.i.ApplicationCommandData())
	g := gate{dm: cmd.dm, admin: cmd.admin, session: cmd.session}
	if !ok || g.check(c) != nil {
		a.offer(c, nil)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), suggestTime)
	defer cancel()
	for _, o := range opts {
		if o.Focused {
			typed, _ := o.Value.(string)
			a.offer(c, c.complete(ctx, o.Name, typed))
			return
		}
	}
	a.offer(c, nil)
}

func (a *App) offer(c *call, choices []*discordgo.ApplicationCommandOptionChoice) {
	if choices == nil {
		choices = []*discordgo.ApplicationCommandOptionChoice{}
	}
	a.report(a.session.InteractionRespond(c.i, &discordgo.InteractionResponse{
		Type: discordgo.InteractionApplicationCommandAutocompleteResult,
		Data: &discordgo.InteractionResponseData{Choices: choices},
	}))
}

// complete lists what may stand for an option, at most the 25 that Discord shows.
func (c *call) complete(ctx context.Context, option, typed string) []*discordgo.ApplicationCommandOptionChoice {
	var out []*discordgo.ApplicationCommandOptionChoice
	typed = strings.ToLower(typed)
	add := func(name, id string) {
		if len(out) < maxChoices && (strings.Contains(strings.ToLower(name), typed) || strings.HasPrefix(strings.ToLower(id), typed)) && len(id) <= 100 {
			out = append(out, &discordgo.ApplicationCommandOptionChoice{Name: short(name, 100), Value: id})
		}
	}
	switch option {
	case "npc":
		for _, n := range c.game.table().State().NPCs {
			add(n.Name, n.ID)
		}
	case "scene":
		for _, sc := range c.game.table().State().Scenes {
			add(sc.Name, sc.ID)
		}
	case "tool":
		for _, t := range c.game.sitting().Tools.Tools() {
			add(t.Name, t.Name)
		}
	case "call":
		for _, w := range c.game.wishes(c.game.table().State()) {
			add(w.NPC+": "+w.Tool+" "+w.Args, w.ID)
		}
	case "entity", "added":
		all, added, err := c.game.table().Entities(ctx, c.who)
		if err != nil {
			return out
		}
		for _, e := range all {
			if option == "entity" || contains(added, e.ID) {
				add(e.Name, e.ID)
			}
		}
	case "campaign":
		stories, err := c.app.o.Library.Stories(ctx, c.i.GuildID)
		if err != nil {
			return out
		}
		for _, s := range stories {
			add(s.Title, s.Name)
		}
	}
	return out
}

func contains(list []string, s string) bool {
	return slices.Contains(list, s)
}
