package discord

import (
	"context"

	"github.com/glyphoxa/glyphoxa/bot"
)

func consoleCommands() []command {
	return []command{
		{name: "console", about: "Open the game master's page for this session", dm: true, session: true, run: openConsole},
	}
}

// openConsole answers with a link that lets the caller in once, and that nobody
// else sees.
func openConsole(_ context.Context, c *call) (answer, error) {
	link := c.game.sitting().Console
	if link == nil {
		return answer{}, bot.Refuse("this bot serves no page")
	}
	return answer{text: c.l.say("Your page, which this link opens once: %s", link(c.who.Name))}, nil
}
