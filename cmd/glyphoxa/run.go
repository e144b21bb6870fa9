package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"

	"github.com/glyphoxa/glyphoxa/bot/discord"
	"github.com/glyphoxa/glyphoxa/bot/observe"
	"github.com/glyphoxa/glyphoxa/mcp"
)

// runBot plays on Discord until it is ended.
func runBot(ctx context.Context, args []string, io stdio) int {
	var p playFlags
	fs := flag.NewFlagSet("glyphoxa run", flag.ContinueOnError)
	fs.SetOutput(io.err)
	p.define(fs)
	fs.Usage = func() {
		fmt.Fprint(io.err, "glyphoxa run [flags]\n\nLogs in to Discord. There, /session start brings the NPCs into your voice channel.\n\n")
		fs.PrintDefaults()
	}
	if code, done := parse(fs, args, io); done {
		return code
	}
	return fail(io, "run", p.discord(ctx, io))
}

func (p *playFlags) discord(ctx context.Context, io stdio) (err error) {
	cfg, err := p.load()
	if err != nil {
		return err
	}
	level := slog.LevelInfo
	if p.verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(io.err, &slog.HandlerOptions{Level: level}))
	// The campaign is read before logging in, so that its mistakes show at once.
	if _, err := loadCampaign(cfg); err != nil {
		return err
	}
	dir, err := cfg.dataDir()
	if err != nil {
		return err
	}
	desk, err := newDesk(cfg, dir, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, desk.host.Close()) }()
	watcher, err := cfg.Observe.observer(ctx, log)
	if err != nil {
		return err
	}
	app, err := discord.New(p.application(cfg, dir, log, desk, watcher))
	if err != nil {
		return err
	}
	fmt.Fprintln(io.out, "Logging in; Ctrl-C ends every session and logs out.")
	return errors.Join(app.Run(ctx), watcher.Close(ctx))
}

// application is the Discord application of a configuration.
func (p *playFlags) application(cfg config, dir string, log *slog.Logger, desk *desk, watcher *observe.Observer) discord.Options {
	g := &guilds{cfg: cfg, dir: dir, log: log, path: p.config, offline: p.offline, watcher: watcher}
	return discord.Options{
		Token: cfg.Discord.Token, Guild: cfg.Discord.Guild, DMRoles: cfg.Discord.DMRoles, DMUsers: cfg.Discord.DMUsers,
		Consent: discord.Consent(cfg.Discord.Consent), Data: dir, Log: log, Roll: desk.roll, Rule: desk.rule,
		Open: g.open, Shelf: g.shelf, Library: g, Health: g.health, Processors: g.processors(),
	}
}

// desk answers what is asked without a session: dice and rules.
type desk struct{ host *toolbox }

func newDesk(cfg config, dir string, log *slog.Logger) (*desk, error) {
	c, err := loadCampaign(cfg)
	if err != nil {
		return nil, err
	}
	host, err := openTools(c, nil, setting{cfg: cfg, log: log}, dir, nil, nil)
	return &desk{host}, err
}

// call runs one tool for a player, outside of any turn.
func (d *desk) call(ctx context.Context, tool string, args, into any) error {
	b, err := json.Marshal(args)
	if err != nil {
		return err
	}
	res := d.host.Belt(mcp.Grant{Allow: []string{tool}, Tier: mcp.Deep}).Call(ctx, tool, b)
	if res.Err != nil {
		return res.Err
	}
	return json.Unmarshal([]byte(res.Raw), into)
}

func (d *desk) rule(ctx context.Context, question string) (string, error) {
	var out struct {
		Results []struct{ Name, Say, Text string }
	}
	if err := d.call(ctx, "search_rules", map[string]string{"query": question}, &out); err != nil {
		return "", err
	}
	if len(out.Results) == 0 {
		return "", fmt.Errorf("that is not in the free rules")
	}
	r := out.Results[0]
	if r.Text == "" {
		r.Text = r.Say
	}
	return fmt.Sprintf("**%s**\n%s", r.Name, r.Text), nil
}
