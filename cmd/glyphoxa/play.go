package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"strings"
)

// playFlags are the flags of glyphoxa play.
type playFlags struct {
	config, campaign, data, listen string
	text, silent, offline, verbose bool
	in                             recordings
	out                            string
}

// recordings collects -in flags: FILE.wav or NAME=FILE.wav.
type recordings []recording

// recording is what one player says, from a file.
type recording struct{ speaker, path string }

// String lists the files.
func (r *recordings) String() string {
	var s []string
	for _, one := range *r {
		s = append(s, one.speaker+"="+one.path)
	}
	return strings.Join(s, " ")
}

// Set adds one file.
func (r *recordings) Set(s string) error {
	speaker, path, ok := strings.Cut(s, "=")
	if !ok {
		speaker, path = "Player", s
	}
	if path == "" || speaker == "" {
		return errors.New("want FILE.wav or NAME=FILE.wav")
	}
	*r = append(*r, recording{speaker, path})
	return nil
}

func (p *playFlags) define(fs *flag.FlagSet) {
	fs.StringVar(&p.config, "config", "", "the configuration `FILE` (default: glyphoxa.yaml here, if there is one)")
	fs.StringVar(&p.campaign, "campaign", "", "a shipped campaign's name or a campaign `FOLDER`")
	fs.StringVar(&p.data, "data", "", "the `FOLDER` for memory")
	fs.BoolVar(&p.offline, "offline", false, "use no server and no key, whatever is there")
	fs.BoolVar(&p.verbose, "v", false, "log what happens to standard error")
}

// play runs the table on this machine: in a browser, a terminal, or from files.
func play(ctx context.Context, args []string, io stdio) int {
	var p playFlags
	fs := flag.NewFlagSet("glyphoxa play", flag.ContinueOnError)
	fs.SetOutput(io.err)
	p.define(fs)
	fs.StringVar(&p.listen, "listen", "", "the page's `ADDRESS` on loopback (default 127.0.0.1:8420, or a free port if that is taken)")
	fs.BoolVar(&p.text, "text", false, "play in this terminal instead of a browser")
	fs.BoolVar(&p.silent, "silent", false, "write answers without speaking them")
	fs.Var(&p.in, "in", "what a player says: `[NAME=]FILE.wav`; may be given several times, heard one after the other")
	fs.StringVar(&p.out, "out", "", "where the answers' sound goes: `FILE.wav`")
	fs.Usage = func() {
		fmt.Fprint(io.err, "glyphoxa play [flags]\n\nPlays a campaign on this machine. Without flags a page opens in a browser.\n\n")
		fs.PrintDefaults()
	}
	if code, done := parse(fs, args, io); done {
		return code
	}
	if (len(p.in) > 0) != (p.out != "") {
		fmt.Fprintln(io.err, "glyphoxa play: -in and -out go together: what is said, and where the answer goes")
		return 2
	}
	return fail(io, "play", p.run(ctx, io))
}

func (p *playFlags) run(ctx context.Context, io stdio) error {
	cfg, err := p.load()
	if err != nil {
		return err
	}
	log := slog.New(slog.DiscardHandler)
	if p.verbose {
		log = slog.New(slog.NewTextHandler(io.err, nil))
	}
	watcher, err := cfg.Observe.observer(ctx, log)
	if err != nil {
		return err
	}
	o := setting{cfg: cfg, log: log, path: p.config, offline: p.offline, silent: p.silent, unpaced: len(p.in) > 0, watcher: watcher}
	s, err := set(ctx, o)
	if err == nil {
		err = errors.Join(p.at(ctx, s, io), s.close(context.WithoutCancel(ctx)))
	}
	if err := errors.Join(err, watcher.Close(ctx)); err != nil {
		return err
	}
	if len(p.in) == 0 {
		fmt.Fprintf(io.out, "The dice were sealed as %s and their seed was %s.\n", s.dice.Commitment(), s.dice.Reveal())
	}
	return nil
}

// at plays at a table that is set.
func (p *playFlags) at(ctx context.Context, s *seat, io stdio) error {
	switch {
	case len(p.in) > 0:
		return playFiles(ctx, s.table, p.in, p.out, io)
	case p.text:
		return playText(ctx, s.table, io)
	default:
		return playPage(ctx, s, io)
	}
}

// load reads the configuration and lets flags override it.
func (p *playFlags) load() (config, error) {
	cfg, err := loadConfig(p.config)
	if err != nil {
		return cfg, err
	}
	if p.campaign != "" {
		cfg.Campaign = p.campaign
	}
	if p.data != "" {
		cfg.Data = p.data
	}
	if p.listen != "" {
		cfg.Listen = p.listen
	}
	return cfg, nil
}

// parse parses flags as every command does: -h is no failure, and words that are
// left over are one.
func parse(fs *flag.FlagSet, args []string, io stdio) (code int, done bool) {
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0, true
	case err != nil:
		return 2, true
	case fs.NArg() > 0:
		fmt.Fprintf(io.err, "%s: what is %q? '%s -h' shows the flags\n", fs.Name(), fs.Arg(0), fs.Name())
		return 2, true
	}
	return 0, false
}

// fail prints a command's error and returns its exit code.
func fail(io stdio, name string, err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintf(io.err, "glyphoxa %s: %v\n", name, err)
	return 1
}
