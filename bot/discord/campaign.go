package discord

import (
	"context"
	"fmt"
	"strings"

	"github.com/glyphoxa/glyphoxa/bot"
)

func campaignCommands() []command {
	which := option{name: "campaign", about: "The campaign", required: true, suggest: true, most: 100}
	cmd := func(name, about string, run func(context.Context, *call) (answer, error), more ...option) command {
		return command{group: "campaign", name: name, about: about, dm: true, options: more, run: run}
	}
	load := cmd("load", "Read the campaign's files anew", loadCampaign)
	load.session = true
	return []command{
		cmd("info", "Which campaign is played, and which there are", campaignInfo),
		load,
		cmd("switch", "Play another campaign", switchCampaign, which),
		cmd("import", "Bring a campaign or a character card of your own", askCampaign),
	}
}

func campaignInfo(ctx context.Context, c *call) (answer, error) {
	stories, err := c.app.o.Library.Stories(ctx, c.i.GuildID)
	if err != nil {
		return answer{}, err
	}
	var b strings.Builder
	if c.game != nil && c.game.isReady() {
		s := c.game.table().State()
		b.WriteString(c.l.say("**%s** is played: %s, %d NPCs, %d scenes.", s.Campaign, s.Scene.Name, len(s.NPCs), len(s.Scenes)) + "\n")
	}
	b.WriteString(c.l.say("There are:") + "\n")
	for _, s := range stories {
		fmt.Fprintf(&b, "- **%s** (`%s`) %s\n", s.Title, s.Name, short(s.About, 150))
	}
	return answer{text: b.String()}, nil
}

func loadCampaign(ctx context.Context, c *call) (answer, error) {
	if err := c.game.sitting().Reload(ctx); err != nil {
		return answer{}, bot.Refuse("the changed campaign is not used:\n```\n%s\n```", short(strings.ReplaceAll(err.Error(), "```", "'''"), 1500))
	}
	return answer{text: c.l.say("The campaign was read anew, and the NPCs know.")}, nil
}

func switchCampaign(ctx context.Context, c *call) (answer, error) {
	stories, err := c.app.o.Library.Stories(ctx, c.i.GuildID)
	if err != nil {
		return answer{}, err
	}
	want := c.args["campaign"]
	for _, s := range stories {
		if s.Name != want && !strings.EqualFold(s.Title, want) {
			continue
		}
		if c.game != nil && c.game.isReady() {
			if err := c.game.switchTo(ctx, s.Name); err != nil {
				return answer{}, err
			}
		}
		if err := c.app.settings.change(c.i.GuildID, func(st *setting) { st.Campaign = s.Name }); err != nil {
			return answer{}, err
		}
		return answer{public: true, text: c.guild().say("**%s** is played from now on.", s.Title)}, nil
	}
	return answer{}, bot.Refuse("there is no campaign %q; /campaign info shows those there are", short(want, 100))
}

// guild is the server's language: what all see is in it.
func (c *call) guild() tongue { return c.app.guildTongue(c.i.GuildID) }

func askCampaign(_ context.Context, c *call) (answer, error) {
	return answer{modal: &modal{id: customID(anywhere, "import"), title: c.l.say("Import a campaign"), fields: []field{
		{name: "file", label: c.l.say("A campaign (.zip) or character card"), files: []string{".zip", ".yaml", ".yml", ".json", ".png", ".charx", ".md"}},
	}}}, nil
}

func sendCampaign(ctx context.Context, c *call, _ string) (answer, error) {
	b, err := c.app.fetch(ctx, c.file)
	if err != nil {
		return answer{}, err
	}
	s, notes, err := c.app.o.Library.Import(ctx, c.app.place(c.i.GuildID), c.file.Filename, b)
	if err != nil {
		return answer{}, bot.Refuse("the file was not imported:\n```\n%s\n```", short(strings.ReplaceAll(err.Error(), "```", "'''"), 1500))
	}
	var text strings.Builder
	text.WriteString(c.l.say("**%s** was imported as `%s`. Play it with `/campaign switch`.", s.Title, s.Name))
	for _, n := range notes {
		text.WriteString("\n- " + short(n, 200))
	}
	return answer{text: text.String()}, nil
}
