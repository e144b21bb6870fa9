package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"

	"github.com/glyphoxa/glyphoxa/bot"
)

// say asks one NPC one thing and plays or saves the answer.
func say(ctx context.Context, args []string, io stdio) int {
	var p playFlags
	fs := flag.NewFlagSet("glyphoxa say", flag.ContinueOnError)
	fs.SetOutput(io.err)
	p.define(fs)
	name := fs.String("npc", "", "the `NPC` to speak to, by name or id")
	fs.StringVar(&p.out, "o", "", "where the answer's sound goes: `FILE.wav` (default: it is only written)")
	fs.Usage = func() {
		fmt.Fprint(io.err, "glyphoxa say [flags] TEXT\n\nSays TEXT to an NPC and prints its answer.\n\n")
		fs.PrintDefaults()
	}
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	// Flags may stand behind the text as well, as people write them.
	text := fs.Arg(0)
	if fs.NArg() > 1 {
		if code, done := parse(fs, fs.Args()[1:], io); done {
			return code
		}
	}
	if text == "" {
		fs.Usage()
		return 2
	}
	return fail(io, "say", p.say(ctx, *name, text, io))
}

func (p *playFlags) say(ctx context.Context, name, text string, io stdio) error {
	cfg, err := p.load()
	if err != nil {
		return err
	}
	s, err := set(ctx, setting{cfg: cfg, log: slog.New(slog.DiscardHandler), path: p.config, offline: p.offline, silent: p.out == "", unpaced: true})
	if err != nil {
		return err
	}
	err = p.ask(ctx, s.table, name, text, io)
	return errors.Join(err, s.close(context.WithoutCancel(ctx)))
}

// ask says the text, to the named NPC if one is named, and prints the answers.
func (p *playFlags) ask(ctx context.Context, t *bot.Table, name, text string, io stdio) error {
	if m := t.State().Mouth; p.out != "" && m.Missing {
		return fmt.Errorf("nothing here can speak: %s", m.Note)
	}
	if p.out != "" {
		rec, err := record(ctx, t, p.out)
		if err != nil {
			return err
		}
		defer func() {
			if err := rec.close(); err != nil {
				fmt.Fprintln(io.err, "glyphoxa say:", err)
			}
		}()
	}
	before := t.State()
	who := bot.Person{ID: "player", Name: "Player"}
	var err error
	if name == "" {
		err = t.Say(ctx, who, text)
	} else {
		err = t.SayTo(ctx, who, name, text)
	}
	if err != nil {
		return err
	}
	if err := t.Settle(ctx); err != nil {
		return err
	}
	answered := false
	for _, l := range t.State().Lines {
		switch {
		case old(l, before.Lines):
		case l.Speaker.NPC:
			answered = true
			fmt.Fprintf(io.out, "%s: %s\n", l.Speaker.Name, l.Text)
		case len(l.To) == 0:
			fmt.Fprintf(io.err, "nobody was meant: %s\n", l.Why)
		}
	}
	if !answered {
		return errors.New("nobody answered; name the NPC with -npc")
	}
	return nil
}
