package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/bot/discord"
	"github.com/glyphoxa/glyphoxa/bot/observe"
	"github.com/glyphoxa/glyphoxa/campaigns"
)

// guilds are the Discord servers that one program plays for. Each has a folder of
// its own for its memory, its campaigns and whatever else is kept: what one table
// said is no other's.
type guilds struct {
	cfg     config
	dir     string
	log     *slog.Logger
	path    string // of the configuration, whose tool servers are followed
	offline bool
	watcher *observe.Observer // nil for nobody
}

// folder is a server's own.
func (g *guilds) folder(guild string) string { return filepath.Join(g.dir, "servers", guild) }

// config is the program's configuration as a server plays with it.
func (g *guilds) config(p discord.Place) config {
	cfg := g.cfg
	cfg.Data = g.folder(p.Guild)
	if p.Campaign != "" {
		cfg.Campaign = p.Campaign
		if own := g.own(p.Guild, p.Campaign); isFolder(own) {
			cfg.Campaign = own
		}
	}
	return cfg
}

// own is the folder of a campaign that a server imported.
func (g *guilds) own(guild, campaign string) string {
	return filepath.Join(g.folder(guild), "campaigns", filepath.Base(campaign))
}

// open sets a server's table.
func (g *guilds) open(ctx context.Context, p discord.Place) (*discord.Seat, error) {
	cfg := g.config(p)
	dir, err := cfg.dataDir()
	if err != nil {
		return nil, err
	}
	o := setting{
		cfg: cfg, log: g.log.With("guild", p.Guild), path: g.path, shared: g.dir, offline: g.offline, forgetful: p.Consent == discord.Live,
		feedback: filepath.Join(g.dir, feedbackFile), watcher: g.watcher, name: p.Guild,
	}
	if p.Consent == discord.Audio {
		if o.recordings, err = bot.OpenRecordings(filepath.Join(dir, recordingsDir)); err != nil {
			return nil, err
		}
	}
	s, err := set(ctx, o)
	if err != nil {
		return nil, errors.Join(err, closeRecordings(o.recordings))
	}
	page, err := openPage(s)
	if err != nil {
		return nil, errors.Join(err, s.close(context.WithoutCancel(ctx)), closeRecordings(o.recordings))
	}
	desk := &desk{s.host}
	return &discord.Seat{
		Table: s.table, Archive: bot.NewArchive(s.store, s.campaign), Tools: bot.NewWorkshop(s.host.Host), Recordings: o.recordings,
		Roll: desk.roll, Portrait: func(path string) ([]byte, error) { return portrait(cfg, path) },
		Reload: func(ctx context.Context) error {
			c, err := loadCampaign(cfg)
			if err != nil {
				return err
			}
			cast(c, cfg.TTS)
			return s.table.Reload(ctx, c)
		},
		Console: page.link,
		Close: func() error {
			return errors.Join(page.close(ctx), s.close(context.WithoutCancel(ctx)), closeRecordings(o.recordings))
		},
	}, nil
}

const (
	feedbackFile  = "feedback.jsonl"
	recordingsDir = "audio"
)

func closeRecordings(r *bot.Recordings) error {
	if r == nil {
		return nil
	}
	return r.Close()
}

// shelf opens what a server's campaign remembers while no table is set.
func (g *guilds) shelf(ctx context.Context, p discord.Place) (discord.Shelf, error) {
	cfg := g.config(p)
	c, err := loadCampaign(cfg)
	if err != nil {
		return discord.Shelf{}, err
	}
	dir, err := cfg.dataDir()
	if err != nil {
		return discord.Shelf{}, err
	}
	store, err := openMemory(ctx, cfg.Memory, dir)
	if err != nil {
		return discord.Shelf{}, err
	}
	s := discord.Shelf{Archive: bot.NewArchive(store, c.ID)}
	// What was recorded can be got and deleted whatever is kept now.
	if isFolder(filepath.Join(dir, recordingsDir)) {
		if s.Recordings, err = bot.OpenRecordings(filepath.Join(dir, recordingsDir)); err != nil {
			return discord.Shelf{}, errors.Join(err, store.Close())
		}
	}
	s.Close = func() error { return errors.Join(store.Close(), closeRecordings(s.Recordings)) }
	return s, nil
}

// maxPortrait is the most that campaigns accept for a picture.
const maxPortrait = 1 << 20

// portrait reads an NPC's picture, by the path that its card has.
func portrait(cfg config, path string) ([]byte, error) {
	name, err := url.PathUnescape(strings.TrimPrefix(path, "/portraits/"))
	if err != nil {
		return nil, err
	}
	var files fs.FS
	if isFolder(cfg.Campaign) {
		root, err := os.OpenRoot(cfg.Campaign)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		files = root.FS()
	} else if files, err = campaigns.ShippedFolder(cfg.Campaign); err != nil {
		return nil, err
	}
	if info, err := fs.Stat(files, name); err != nil || info.Size() > maxPortrait {
		return nil, errors.Join(fmt.Errorf("no portrait %q", name), err)
	}
	return fs.ReadFile(files, name)
}

// health is what the doctor finds, without what is only the operator's business.
func (g *guilds) health(ctx context.Context) []discord.Finding {
	var out []discord.Finding
	for _, f := range findings(g.cfg, g.offline, "") {
		if f.what == "discord" || f.what == "memory" || f.what == "campaign" {
			continue // the caller knows, and the others name paths of this machine
		}
		ctx, cancel := context.WithTimeout(ctx, checkTime)
		start := time.Now()
		note, err := f.look(ctx)
		cancel()
		d := discord.Finding{What: f.what, Note: note, Err: err}
		if errors.Is(err, errMissing) {
			d.Err, d.Missing = nil, true
		}
		if took := time.Since(start); took > time.Millisecond {
			d.Note += fmt.Sprintf(" (%v)", took.Round(time.Millisecond))
		}
		out = append(out, d)
	}
	return out
}

// processors are who gets what players say.
func (g *guilds) processors() func() []discord.Processor {
	return sync.OnceValue(func() []discord.Processor {
		ctx, cancel := context.WithTimeout(context.Background(), checkTime)
		defer cancel()
		p, err := findParts(ctx, setting{cfg: g.cfg, log: slog.New(slog.DiscardHandler), offline: g.offline})
		if err != nil {
			return nil
		}
		var out []discord.Processor
		if p.ear != nil {
			out = append(out, discord.Processor{Gets: "audio", Name: p.about.Ear.Name, Where: where(g.cfg.STT, p.about.Ear)})
		}
		out = append(out, discord.Processor{Gets: "text", Name: p.about.Brain.Name, Where: where(g.cfg.LLM, p.about.Brain)})
		if e, ok := embedder(g.cfg.Memory); ok {
			out = append(out, discord.Processor{Gets: "text", Name: e.Name, Where: where(provider{Provider: "openai", URL: e.Base}, bot.Part{})})
		}
		return out
	})
}

// where is the server of a part; "" is this machine.
func where(p provider, about bot.Part) string {
	if p.URL != "" {
		u, err := url.Parse(p.URL)
		if err != nil {
			return p.URL
		}
		if ip := net.ParseIP(u.Hostname()); u.Hostname() == "localhost" || ip != nil && ip.IsLoopback() {
			return ""
		}
		return u.Hostname()
	}
	switch {
	case about.Basic:
		return ""
	case p.Provider == "auto" || p.Provider == "":
		return about.Note // how it was found says where it is
	}
	return p.Provider
}

// thrown is what the dice tool answers.
type thrown struct {
	Canonical string
	Total     any
}

func (r thrown) String() string { return fmt.Sprintf("`%s` = **%v**", r.Canonical, r.Total) }

// roll rolls for a player, outside of any turn.
func (d *desk) roll(ctx context.Context, r discord.Roll) (string, error) {
	args := map[string]any{"expression": r.Dice}
	if r.Advantage != "" {
		args["advantage"] = r.Advantage
	}
	if r.Repeat > 1 {
		args["repeat"] = r.Repeat
	}
	var out struct {
		thrown
		Rolls []thrown
	}
	if err := d.call(ctx, "roll", args, &out); err != nil {
		return "", err
	}
	if len(out.Rolls) == 0 {
		return out.String(), nil
	}
	var b strings.Builder
	for _, one := range out.Rolls {
		b.WriteString(one.String() + "\n")
	}
	return b.String(), nil
}
