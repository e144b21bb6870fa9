package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/bot/discord"
	"github.com/glyphoxa/glyphoxa/voice"
	"github.com/glyphoxa/glyphoxa/voice/opus"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
	"github.com/glyphoxa/glyphoxa/voice/voicetest"
)

// checkTime bounds each of the doctor's checks.
const checkTime = 30 * time.Second

// errMissing marks a part without which the program still works.
var errMissing = errors.New("missing")

// a finding is one line of the doctor's.
type finding struct {
	what string
	look func(ctx context.Context) (string, error)
}

// doctor looks for whatever would go wrong later, and names the fix of each.
func doctor(ctx context.Context, args []string, io stdio) int {
	var p playFlags
	fs := flag.NewFlagSet("glyphoxa doctor", flag.ContinueOnError)
	fs.SetOutput(io.err)
	p.define(fs)
	channel := fs.String("channel", "", "the `id` of a Discord voice channel to join for a moment, to see whether sound gets through")
	fs.Usage = func() {
		fmt.Fprint(io.err, "glyphoxa doctor [flags]\n\nLooks for whatever would go wrong later. Exit code 1 if something will.\n\n")
		fs.PrintDefaults()
	}
	if code, done := parse(fs, args, io); done {
		return code
	}
	cfg, err := p.load()
	if err != nil {
		fmt.Fprintln(io.err, err)
		return 1
	}
	bad := false
	for _, f := range findings(cfg, p.offline, *channel) {
		ctx, cancel := context.WithTimeout(ctx, checkTime)
		note, err := f.look(ctx)
		cancel()
		switch {
		case errors.Is(err, errMissing):
			fmt.Fprintf(io.out, "  --  %-12s %s\n", f.what, note)
		case err != nil:
			bad = true
			fmt.Fprintf(io.out, "FAIL  %-12s %v\n", f.what, err)
		default:
			fmt.Fprintf(io.out, "  ok  %-12s %s\n", f.what, note)
		}
	}
	if bad {
		return 1
	}
	return 0
}

func findings(cfg config, offline bool, channel string) []finding {
	part := func(pick func(parts) bot.Part) func(context.Context) (string, error) {
		return func(ctx context.Context) (string, error) {
			p, err := findParts(ctx, setting{cfg: cfg, log: slog.New(slog.DiscardHandler), offline: offline})
			if err != nil {
				return "", err
			}
			return describe(pick(p))
		}
	}
	list := []finding{
		{"campaign", func(context.Context) (string, error) {
			c, err := loadCampaign(cfg)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%s, %d NPCs", c.Name, len(c.NPCs)), nil
		}},
		{"memory", func(ctx context.Context) (string, error) {
			dir, err := cfg.dataDir()
			if err != nil {
				return "", err
			}
			store, err := openMemory(ctx, cfg.Memory, dir)
			if err != nil {
				return "", err
			}
			return cfg.Memory.Store + " in " + dir, store.Close()
		}},
		{"brain", part(func(p parts) bot.Part { return p.about.Brain })},
		{"ear", part(func(p parts) bot.Part { return p.about.Ear })},
		{"voice", part(func(p parts) bot.Part { return p.about.Mouth })},
		{"opus", func(context.Context) (string, error) { return opus.Version(), nil }},
		{"call", callItself},
		{"discord", func(ctx context.Context) (string, error) { return askDiscord(ctx, cfg, "") }},
	}
	if channel != "" {
		list = append(list, finding{"channel", func(ctx context.Context) (string, error) { return askDiscord(ctx, cfg, channel) }})
	}
	return list
}

// askDiscord checks what can be known beforehand, or tries a channel.
func askDiscord(ctx context.Context, cfg config, channel string) (string, error) {
	if cfg.Discord.Token.IsZero() {
		return "no token, so only the table on this machine: see docs/setup.md", errMissing
	}
	dir, err := os.MkdirTemp("", "glyphoxa-doctor-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	o := discord.Options{Token: cfg.Discord.Token, Guild: cfg.Discord.Guild, Data: dir}
	if channel != "" {
		if o.Data, err = cfg.dataDir(); err != nil { // the login counts with the others
			return "", err
		}
		return discord.TryCall(ctx, o, channel)
	}
	return discord.Check(ctx, o)
}

// describe says what a part is and how to get a better one.
func describe(p bot.Part) (string, error) {
	text := p.Name
	if p.Note != "" {
		text += ": " + p.Note
	}
	if p.Missing {
		return text, errMissing
	}
	return text, nil
}

// callItself makes an encrypted call between two members on this machine and
// passes a tone from one to the other: libopus, UDP, TLS and the encryption of
// calls, all at once.
func callItself(ctx context.Context) (string, error) {
	const guild, channel = 1, 2
	server, err := voicetest.NewServer(nil)
	if err != nil {
		return "", fmt.Errorf("a voice server on loopback: %w", err)
	}
	defer server.Close()
	join := func(user uint64) (*voice.Conn, error) {
		t := server.Admit(guild, channel, user)
		return voice.Join(ctx, voice.Server{
			Guild: guild, Channel: channel, User: user, Session: t.Session, Token: t.Token, Endpoint: t.Endpoint,
		}, &voice.Options{HTTP: server.HTTP()})
	}
	speaker, err := join(10)
	if err != nil {
		return "", fmt.Errorf("join a call on loopback: %w", err)
	}
	defer speaker.Close()
	listener, err := join(11)
	if err != nil {
		return "", fmt.Errorf("join a call on loopback: %w", err)
	}
	defer listener.Close()
	speaker.Present(11)
	listener.Present(10)

	// The speaker's sound waits until the call is encrypted.
	start := time.Now()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	v := speaker.Voice(0)
	go func() {
		tone := make([]int16, pcm.FrameSize)
		for i := range tone {
			tone[i] = int16(10000 * (1 - 2*(i/60%2)))
		}
		for v.Play(ctx, tone) == nil { // until the tone has been heard
		}
	}()
	for f := range listener.Hear(ctx) {
		if f.User == 10 && len(f.Samples) > 0 && pcm.Level(f.Samples) > -40 {
			return fmt.Sprintf("end-to-end encrypted on loopback, heard after %v", time.Since(start).Round(time.Millisecond)), nil
		}
	}
	return "", errors.New("nothing was heard in a call on loopback: is UDP blocked on this machine?")
}
