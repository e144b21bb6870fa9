package discord

import "context"

// patienceCommand sets what [bot.Table.SetPatience] knows.
func patienceCommand() command {
	return command{
		name: "patience", about: "How long you, or a player, may pause before the NPCs answer", session: true,
		options: []option{
			{name: "pauses", about: "How long you may pause before you are answered", required: true, choices: []string{"quick", "normal", "long"}},
			{name: "player", about: "The player's name; only the DM may set others'", most: 100},
		},
		run: setPatience,
	}
}

func setPatience(ctx context.Context, c *call) (answer, error) {
	pauses := c.args["pauses"]
	return answer{text: c.l.say("Pauses may be %s from now on.", c.l.say(pauses))}, c.game.table().SetPatience(ctx, c.who, c.args["player"], pauses)
}
