package discord

import (
	"context"
	"fmt"

	"github.com/bwmarrin/discordgo"
)

// patienceOption are the settings that [bot.Table.SetPatience] knows.
func patienceOption() *discordgo.ApplicationCommandOption {
	o := text("pauses", "How long you may pause before you are answered", true, false)
	for _, name := range []string{"quick", "normal", "long"} {
		o.Choices = append(o.Choices, &discordgo.ApplicationCommandOptionChoice{Name: name, Value: name})
	}
	return o
}

func setPatience(ctx context.Context, c *call) (answer, error) {
	pauses := c.args["pauses"]
	return answer{text: fmt.Sprintf("Pauses may be %s from now on.", pauses)}, c.game.table.SetPatience(ctx, c.who, c.args["player"], pauses)
}
