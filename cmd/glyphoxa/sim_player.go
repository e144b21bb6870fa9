package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/glyphoxa/glyphoxa/bot/discord/discordtest"
	"github.com/glyphoxa/glyphoxa/voice"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

const (
	// simSpeech bounds a file that a player says.
	simSpeech = 5 * time.Minute
	// simSettle is how long a call may take until everybody has keys.
	simSettle = 10 * time.Second
)

// player is somebody's client in the call, joined when it is first needed.
func (s *simulation) player(ctx context.Context, name string) (*simPlayer, error) {
	if p := s.players[name]; p != nil {
		return p, nil
	}
	s.discord.Enter(s.id(name))
	user := simNumber(s.id(name))
	at := s.calls.Admit(simNumber(discordtest.Guild), simNumber(discordtest.Channel), user)
	conn, err := voice.Join(ctx, voice.Server{
		Guild: simNumber(discordtest.Guild), Channel: simNumber(discordtest.Channel), User: user,
		Session: at.Session, Token: at.Token, Endpoint: at.Endpoint,
	}, &voice.Options{HTTP: s.calls.HTTP()})
	if err != nil {
		return nil, err
	}
	// The main gateway would tell a client who is there.
	for _, id := range s.ids {
		conn.Present(simNumber(id))
	}
	p := &simPlayer{conn: conn, stop: func() {}}
	s.players[name] = p
	limit := time.After(simSettle)
	for !conn.Status().Encrypted {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-limit:
			return p, errors.New("nobody is there to talk to: /session start brings the NPCs")
		case <-ctx.Done():
			return p, context.Cause(ctx)
		}
	}
	return p, nil
}

// say lets a player say what is in a file, to the end.
func (s *simulation) say(ctx context.Context, name, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	samples, err := pcm.ReadWAV(f, pcm.Rate, simSpeech)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	p, err := s.player(ctx, name)
	if err != nil {
		return err
	}
	v := p.conn.Voice(0)
	defer v.Close()
	for frame := range slices.Chunk(samples, pcm.FrameSize) {
		if err := v.Play(ctx, frame); err != nil {
			return err
		}
	}
	for v.Pending() > 0 {
		select {
		case <-time.After(pcm.FrameTime):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// hear records what a player hears of the NPCs, until the player leaves.
func (s *simulation) hear(ctx context.Context, name, path string) error {
	p, err := s.player(ctx, name)
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w, err := pcm.NewWAVWriter(f, pcm.HearRate)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	p.stop()
	p.done.Wait()
	hearing, stop := context.WithCancel(context.WithoutCancel(ctx))
	p.stop = stop
	p.done.Go(func() {
		bot := simNumber(discordtest.Bot)
		for heard := range p.conn.Hear(hearing) {
			if heard.User != bot || len(heard.Samples) == 0 {
				continue
			}
			if err := w.Write(heard.Samples); err != nil {
				break // the disk is full; the file ends here
			}
		}
		if err := errors.Join(w.Close(), f.Close()); err != nil {
			fmt.Fprintln(s.io.err, path, err)
		}
	})
	return nil
}
