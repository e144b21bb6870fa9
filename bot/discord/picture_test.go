package discord

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/bot/discord/discordtest"
	"github.com/glyphoxa/glyphoxa/voice"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

func TestPictureIsPostedInTheSessionsChannel(t *testing.T) {
	d := began(t, Options{})
	file := []byte("\x89PNG and so on")
	d.world.table.Load().ShowPicture("bartok", "@everyone, a mill", "image/png", file)
	var posted discordtest.Post
	until(t, "the picture is posted", func() bool {
		for _, p := range d.Posts("") {
			if len(p.Files["picture.png"]) > 0 {
				posted = p
			}
		}
		return len(posted.Files) > 0
	})
	if !bytes.Equal(posted.Files["picture.png"], file) || posted.Private {
		t.Errorf("posted %+v, want the picture for everybody", posted)
	}
}

func TestMusicIsHeardInTheVoiceChannelUntilItIsStopped(t *testing.T) {
	d := began(t, Options{})
	ticket := d.calls.Admit(number(discordtest.Guild), number(discordtest.Channel), number(mira))
	player, err := voice.Join(t.Context(), voice.Server{
		Guild: number(discordtest.Guild), Channel: number(discordtest.Channel), User: number(mira),
		Session: ticket.Session, Token: ticket.Token, Endpoint: ticket.Endpoint,
	}, &voice.Options{HTTP: d.calls.HTTP()})
	if err != nil {
		t.Fatal(err)
	}
	defer player.Close()
	player.Present(number(discordtest.Bot))
	until(t, "the call is encrypted", func() bool { return player.Status().Encrypted })
	table := d.world.table.Load()
	if piece, err := table.PlayMusic(t.Context(), "bartok", "a warm tavern"); err != nil || piece != "hearth" {
		t.Fatalf("got %q, %v", piece, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	sounding := 0
	for f := range player.Hear(ctx) {
		if f.User == number(discordtest.Bot) && len(f.Samples) > 0 && pcm.Level(f.Samples) > -55 {
			if sounding++; sounding == 100 {
				break
			}
		}
	}
	if sounding < 100 {
		t.Errorf("two seconds of music should be heard; %d frames were", sounding)
	}
	if piece, err := table.StopMusic(t.Context(), ""); err != nil || piece != "hearth" {
		t.Errorf("stopping: got %q, %v", piece, err)
	}
}
