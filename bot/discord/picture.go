package discord

import (
	"bytes"
	"context"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/glyphoxa/glyphoxa/bot"
)

// hang posts the pictures that are made at a table after an event in the session's
// channel, until ctx ends.
func (g *game) hang(ctx context.Context, table *bot.Table, after uint64) {
	for e := range table.Events(ctx, after) {
		if e.Picture == nil {
			continue
		}
		file, media := table.PictureFile(e.Picture.ID)
		if file == nil {
			continue // so many were made meanwhile that it is gone
		}
		_, kind, _ := strings.Cut(media, "/")
		_, err := g.app.session.ChannelMessageSendComplex(g.text, &discordgo.MessageSend{
			Content: short(e.Picture.Prompt, maxAnswer), AllowedMentions: nobody(),
			Files: []*discordgo.File{{Name: "picture." + kind, ContentType: media, Reader: bytes.NewReader(file)}},
		}, discordgo.WithContext(ctx))
		g.app.report(err)
	}
}
