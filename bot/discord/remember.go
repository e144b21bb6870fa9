package discord

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/campaigns"
	"github.com/glyphoxa/glyphoxa/memory"
)

// maxFound is how many lines or statements an answer shows: what fits into a
// message.
const maxFound = 8

func memoryCommands() []command {
	entity := option{name: "entity", about: "Who or what", required: true, suggest: true, most: 100}
	return []command{
		{group: "memory", name: "search", about: "What was said about something", dm: true, run: searchMemory,
			options: []option{{name: "query", about: "A question or some words", required: true, most: 500}}},
		{group: "memory", name: "entity", about: "Everything that is known of somebody or something", dm: true, options: []option{entity}, run: showEntity},
		{group: "memory", name: "who-knows", about: "Who knows what of somebody or something", dm: true, options: []option{entity}, run: whoKnows},
	}
}

func entityCommands() []command {
	kinds := option{name: "kind", about: "What it is", required: true}
	for _, k := range memory.Kinds {
		if k != memory.NPC { // a character needs a voice, which only files can say
			kinds.choices = append(kinds.choices, string(k))
		}
	}
	everyone := option{name: "known", about: "Whether every NPC knows of it; otherwise only you do", kind: discordgo.ApplicationCommandOptionBoolean}
	return []command{
		{group: "entity", name: "add", about: "Add somebody or something to the world", dm: true, session: true, run: addEntity, options: []option{
			{name: "name", about: "What it is called", required: true, most: 100}, kinds,
			{name: "about", about: "What is commonly said of it", most: 1000}, everyone,
		}},
		{group: "entity", name: "list", about: "What the world has, and what was added to it", dm: true, session: true, run: listEntities},
		{group: "entity", name: "remove", about: "Take back what was added", dm: true, session: true, run: removeEntity,
			options: []option{{name: "added", about: "Who or what", required: true, suggest: true, most: 100}}},
		{group: "entity", name: "import", about: "Add what is in a YAML file", dm: true, session: true, run: askEntities},
	}
}

func searchMemory(ctx context.Context, c *call) (answer, error) {
	shelf, done, err := c.shelf(ctx)
	if err != nil {
		return answer{}, err
	}
	defer done()
	found, err := shelf.Archive.Search(ctx, "", c.args["query"], maxFound)
	if err != nil {
		return answer{}, err
	}
	if len(found) == 0 {
		return answer{text: c.l.say("Nothing was said about that.")}, nil
	}
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "<t:%d:d> **%s:** %s\n", f.At.Unix(), f.Speaker.Name, short(f.Text, 200))
	}
	return answer{text: b.String()}, nil
}

// entry finds what is known of what was named.
func (c *call) entry(ctx context.Context) (bot.Entry, error) {
	shelf, done, err := c.shelf(ctx)
	if err != nil {
		return bot.Entry{}, err
	}
	defer done()
	want := c.args["entity"]
	if e, err := shelf.Archive.Entry(ctx, "", want); err == nil {
		return e, nil
	}
	found, err := shelf.Archive.Find(ctx, "", want, 1)
	if err != nil {
		return bot.Entry{}, err
	}
	// The search takes what looks or sounds alike; an answer about somebody else
	// helps nobody.
	if len(found) == 0 || !strings.Contains(memory.FoldName(found[0].Name), memory.FoldName(want)) {
		return bot.Entry{}, bot.Refuse("nobody and nothing here is called %q", short(want, 100))
	}
	return shelf.Archive.Entry(ctx, "", found[0].ID)
}

func showEntity(ctx context.Context, c *call) (answer, error) {
	e, err := c.entry(ctx)
	if err != nil {
		return answer{}, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** (%s)\n%s\n", e.Name, c.l.say(e.Kind), e.Text)
	for _, s := range statements(e) {
		ended := ""
		if !s.Until.IsZero() {
			ended = " " + c.l.say("(until <t:%d:d>)", s.Until.Unix())
		}
		fmt.Fprintf(&b, "- %s%s%s\n", s.words(), lie(c.l, s.Lie), ended)
	}
	return answer{text: b.String()}, nil
}

func whoKnows(ctx context.Context, c *call) (answer, error) {
	e, err := c.entry(ctx)
	if err != nil {
		return answer{}, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**\n", e.Name)
	for _, s := range statements(e) {
		who := strings.Join(s.Audience, ", ")
		switch {
		case slices.Contains(s.Audience, memory.Everyone):
			who = c.l.say("everyone")
		case who == "":
			who = c.l.say("only you")
		}
		fmt.Fprintf(&b, "- %s%s → %s\n", s.words(), lie(c.l, s.Lie), who)
	}
	return answer{text: b.String()}, nil
}

func lie(l tongue, on bool) string {
	if !on {
		return ""
	}
	return " " + l.say("(a lie)")
}

// statement is one that can be shown in a line.
type statement struct{ bot.Statement }

func (s statement) words() string {
	if s.Kind != "" {
		return short(strings.TrimSpace(s.About+" "+s.Kind+" "+s.Object+" "+s.Text), 200)
	}
	return short(s.Text, 200)
}

func statements(e bot.Entry) []statement {
	var out []statement
	for _, s := range e.Statements[:min(len(e.Statements), 2*maxFound)] {
		out = append(out, statement{s})
	}
	return out
}

var unfit = regexp.MustCompile(`[^a-z0-9]+`)

// slug is an id made of a name.
func slug(name string) string {
	return strings.Trim(unfit.ReplaceAllString(memory.FoldName(name), "-"), "-")
}

func addEntity(ctx context.Context, c *call) (answer, error) {
	e := memory.Entity{ID: slug(c.args["name"]), Kind: memory.Kind(c.args["kind"]), Name: c.args["name"], Text: c.args["about"]}
	if e.ID == "" || !slices.Contains(memory.Kinds, e.Kind) || e.Kind == memory.NPC {
		return answer{}, bot.Refuse("a name with letters and a kind from the list are needed")
	}
	if c.args["known"] == "true" {
		e.Audience = memory.Audience{memory.Everyone}
	}
	return answer{text: c.l.say("**%s** is part of the world now.", e.Name)}, c.game.table().AddEntities(ctx, c.who, e)
}

func listEntities(ctx context.Context, c *call) (answer, error) {
	all, added, err := c.game.table().Entities(ctx, c.who)
	if err != nil {
		return answer{}, err
	}
	var b strings.Builder
	for _, k := range memory.Kinds {
		var names []string
		for _, e := range all {
			if e.Kind != k {
				continue
			}
			if slices.Contains(added, e.ID) {
				names = append(names, e.Name+" "+c.l.say("(added)"))
			} else {
				names = append(names, e.Name)
			}
		}
		if len(names) > 0 {
			fmt.Fprintf(&b, "**%s:** %s\n", c.l.say(string(k)), strings.Join(names, ", "))
		}
	}
	return answer{text: b.String()}, nil
}

func removeEntity(ctx context.Context, c *call) (answer, error) {
	return answer{text: c.l.say("Done.")}, c.game.table().RemoveEntity(ctx, c.who, c.args["added"])
}

func askEntities(_ context.Context, c *call) (answer, error) {
	return answer{modal: &modal{id: customID(c.game.mark, "entities"), title: c.l.say("Import entities"), fields: []field{
		{name: "file", label: c.l.say("A YAML file with entities"), files: []string{".yaml", ".yml"}},
	}}}, nil
}

func sendEntities(ctx context.Context, c *call, _ string) (answer, error) {
	b, err := c.app.fetch(ctx, c.file)
	if err != nil {
		return answer{}, err
	}
	list, problems := campaigns.ReadEntities(c.file.Filename, b)
	if err := problems.Err(); err != nil {
		return answer{}, bot.Refuse("the file was not read:\n```\n%s\n```", short(strings.ReplaceAll(err.Error(), "```", "'''"), 1500))
	}
	return answer{text: c.l.say("%d are part of the world now.", len(list))}, c.game.table().AddEntities(ctx, c.who, list...)
}
