package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/glyphoxa/glyphoxa/bot/discord"
	"github.com/glyphoxa/glyphoxa/campaigns"
	"github.com/glyphoxa/glyphoxa/campaigns/foreign"
)

const (
	// maxImports is how many campaigns one server may bring.
	maxImports = 50
	// maxUnpacked bounds what an archive becomes: a hundred times its own limit
	// would be a bomb, and no campaign has this much.
	maxUnpacked = 64 << 20
	// maxPacked is how many files an archive may have.
	maxPacked = 2000
)

// errNoCampaign is an archive of something else.
var errNoCampaign = errors.New("the archive has no campaign.yaml")

// Stories lists what a server can play: the configured campaign, those of the
// program, and its own.
func (g *guilds) Stories(_ context.Context, guild string) ([]discord.Story, error) {
	var out []discord.Story
	add := func(name string, cfg config) {
		c, err := loadCampaign(cfg)
		if err != nil || slices.ContainsFunc(out, func(s discord.Story) bool { return s.Name == name }) {
			return // a broken one cannot be played
		}
		out = append(out, discord.Story{Name: name, Title: c.Name, About: opening(c.Intro)})
	}
	add(g.cfg.Campaign, g.cfg)
	for _, name := range campaigns.Shipped {
		cfg := g.cfg
		cfg.Campaign = name
		add(name, cfg)
	}
	entries, err := os.ReadDir(filepath.Join(g.folder(guild), "campaigns"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return out, fmt.Errorf("list the server's campaigns: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			cfg := g.cfg
			cfg.Campaign = g.own(guild, e.Name())
			add(e.Name(), cfg)
		}
	}
	return out, nil
}

func opening(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

// Import keeps a file as a campaign of the server, if it is one without mistakes.
func (g *guilds) Import(_ context.Context, p discord.Place, file string, data []byte) (story discord.Story, notes []string, err error) {
	guild := p.Guild
	home := filepath.Join(g.folder(guild), "campaigns")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return story, nil, fmt.Errorf("make room for campaigns: %w", err)
	}
	if entries, err := os.ReadDir(home); err != nil || len(entries) >= maxImports {
		return story, nil, errors.Join(fmt.Errorf("this server has %d campaigns already", maxImports), err)
	}
	// It is unpacked and checked beside the others, and only then becomes one.
	draft, err := os.MkdirTemp(home, ".draft-")
	if err != nil {
		return story, nil, fmt.Errorf("make room for a campaign: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(draft)) }()
	if notes, err = g.unpack(g.own(guild, cmp.Or(p.Campaign, g.cfg.Campaign)), draft, file, data); err != nil {
		return story, nil, err
	}
	c, problems := campaigns.Open(draft, campaignOptions(g.cfg))
	if err := problems.Err(); err != nil {
		return story, nil, err
	}
	to := g.own(guild, c.ID)
	if slices.Contains(campaigns.Shipped, c.ID) {
		return story, nil, fmt.Errorf("the program has a campaign %q already: give yours another id", c.ID)
	}
	if isFolder(to) {
		old := to + ".old"
		if err := errors.Join(os.RemoveAll(old), os.Rename(to, old)); err != nil {
			return story, nil, fmt.Errorf("replace the campaign: %w", err)
		}
		defer os.RemoveAll(old)
		notes = append(notes, "it replaces the one of the same id")
	}
	if err := os.Rename(draft, to); err != nil {
		return story, nil, fmt.Errorf("keep the campaign: %w", err)
	}
	notes = append(notes, fmt.Sprintf("%d NPCs, %d scenes, %d entities", len(c.NPCs), len(c.Scenes), len(c.Entities)))
	return discord.Story{Name: c.ID, Title: c.Name, About: opening(c.Intro)}, notes, nil
}

// unpack writes an upload into a folder: an archive of a campaign, a campaign that
// is one file, or whatever other programs write. A character joins the campaign
// that the server plays, if that is one of its own.
func (g *guilds) unpack(own, dir, file string, data []byte) (notes []string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	switch strings.ToLower(path.Ext(file)) {
	case ".yaml", ".yml":
		return nil, root.WriteFile("campaign.yaml", data, 0o600)
	case ".zip":
		if err := unzip(root, data); !errors.Is(err, errNoCampaign) {
			return nil, err
		}
	}
	o := foreign.Options{}
	if isFolder(own) {
		if err := os.CopyFS(dir, os.DirFS(own)); err != nil {
			return nil, fmt.Errorf("copy the campaign that is played: %w", err)
		}
		c, problems := campaigns.Open(dir, campaignOptions(g.cfg))
		if problems != nil {
			return nil, fmt.Errorf("the campaign has to be mended first: %w", problems.Err())
		}
		o.Safety, o.Language = c.Safety, c.Language
	}
	found, err := foreign.Read(file, data, o)
	if err != nil {
		return nil, err
	}
	notes = append(notes, fmt.Sprintf("%s: %d to talk to, %d entities", found.Format, len(found.Draft.NPCs), len(found.Draft.Entities)))
	for _, u := range found.Unused {
		notes = append(notes, "kept but never used, "+u.Where)
	}
	_, cut, err := found.Draft.AddTo(dir, campaignOptions(g.cfg))
	return slices.Concat(notes, cut, found.Notices, found.Credits), err
}

func unzip(root *os.Root, data []byte) error {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return fmt.Errorf("read the archive: %w", err)
	}
	if len(z.File) > maxPacked {
		return fmt.Errorf("the archive has %d files; at most %d are read", len(z.File), maxPacked)
	}
	// Archives often hold the folder rather than its files.
	above, ok := "", false
	for _, f := range z.File {
		if path.Base(f.Name) == "campaign.yaml" && (!ok || len(f.Name) < len(above)+len("campaign.yaml")) {
			above, ok = strings.TrimSuffix(f.Name, "campaign.yaml"), true
		}
	}
	if !ok {
		return errNoCampaign
	}
	left := int64(maxUnpacked)
	for _, f := range z.File {
		name, inside := strings.CutPrefix(f.Name, above)
		if !inside || !f.Mode().IsRegular() || !fs.ValidPath(name) {
			continue
		}
		if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
			return fmt.Errorf("unpack %s: %w", name, err)
		}
		n, err := extract(root, name, f, left)
		if left -= n; err == nil && left <= 0 {
			err = fmt.Errorf("the archive unpacks to more than %d MiB", maxUnpacked>>20)
		}
		if err != nil {
			return fmt.Errorf("unpack %s: %w", name, err)
		}
	}
	return nil
}

func extract(root *os.Root, name string, f *zip.File, most int64) (int64, error) {
	from, err := f.Open()
	if err != nil {
		return 0, err
	}
	defer from.Close()
	to, err := root.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(to, io.LimitReader(from, most))
	return n, errors.Join(err, to.Close())
}
