package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/glyphoxa/glyphoxa/campaigns"
	"github.com/glyphoxa/glyphoxa/campaigns/foreign"
	"github.com/glyphoxa/glyphoxa/npc"
)

func exportCampaign(_ context.Context, args []string, io stdio) int {
	flags := flag.NewFlagSet("glyphoxa campaign export", flag.ContinueOnError)
	flags.SetOutput(io.err)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), "Usage: glyphoxa campaign export --format card|markdown|jsonl [flags]\n"+
			"\nWrites a campaign's NPCs as character cards V2 (into their portraits, where these are\n"+
			"PNGs), its world as linked Markdown pages, or everything as JSON lines.\n\n")
		flags.PrintDefaults()
	}
	format := flags.String("format", "", "card, markdown or jsonl")
	name := flags.String("campaign", "", "a shipped campaign's `NAME` or a folder (default: the configured one)")
	who := flags.String("npc", "", "only the NPC with this `ID` or name, for cards")
	out := flags.String("out", "", "the `FOLDER` to write into; jsonl goes to standard output without one")
	secrets := flags.Bool("secrets", false, "write what only the game master knows, too; never part of cards")
	path := flags.String("config", "", "the configuration `FILE` (default: glyphoxa.yaml here, if there is one)")
	if words, err := parseAnywhere(flags, args); err != nil {
		return usageCode(err)
	} else if len(words) > 0 || *format == "" {
		flags.Usage()
		return 2
	}
	cfg, err := loadConfig(*path)
	if err == nil {
		cfg.Campaign = cmp.Or(*name, cfg.Campaign)
		err = export(cfg, io, *format, *who, *out, *secrets)
	}
	if err != nil {
		fmt.Fprintf(io.err, "glyphoxa campaign export: %v\n", err)
		return 1
	}
	return 0
}

func export(cfg config, io stdio, format, who, out string, secrets bool) error {
	c, err := loadCampaign(cfg)
	if err != nil {
		return err
	}
	var files map[string][]byte
	switch format {
	case "jsonl":
		if out == "" {
			return foreign.JSONL(io.out, c, secrets)
		}
		var b strings.Builder
		err = foreign.JSONL(&b, c, secrets)
		files = map[string][]byte{c.ID + ".jsonl": []byte(b.String())}
	case "markdown":
		files, err = foreign.Markdown(c, secrets)
	case "card":
		files, err = cards(c, campaignFolder(cfg), who)
	default:
		return fmt.Errorf("no format is called %q: there are card, markdown and jsonl", format)
	}
	if err != nil {
		return err
	}
	if out == "" {
		return errors.New("please name a folder to write into with --out")
	}
	return writeFiles(io, out, files)
}

// campaignFolder is where a campaign's pictures and original cards are.
func campaignFolder(cfg config) fs.FS {
	if isFolder(cfg.Campaign) {
		return os.DirFS(cfg.Campaign)
	}
	folder, err := campaigns.ShippedFolder(cfg.Campaign)
	if err != nil {
		return os.DirFS(cfg.Campaign) // which does not exist, as whoever reads it is told
	}
	return folder
}

// cards are the character cards of a campaign's NPCs, or of one of them.
func cards(c *campaigns.Campaign, folder fs.FS, who string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, n := range c.NPCs {
		if who != "" && !strings.EqualFold(who, n.ID) && !strings.EqualFold(who, n.Name) {
			continue
		}
		original, err := fs.ReadFile(folder, foreign.Original(n.ID))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		card, err := foreign.Card(n, original)
		if err != nil {
			return nil, err
		}
		files[n.ID+".json"] = card
		if strings.EqualFold(filepath.Ext(n.Portrait), ".png") {
			if files[n.ID+".png"], err = inPortrait(folder, n, card); err != nil {
				return nil, fmt.Errorf("%s's portrait: %w", n.Name, err)
			}
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no NPC of %s is called %q", c.Name, who)
	}
	return files, nil
}

func inPortrait(folder fs.FS, n npc.Character, card []byte) ([]byte, error) {
	picture, err := fs.ReadFile(folder, n.Portrait)
	if err != nil {
		return nil, err
	}
	return foreign.PictureCard(picture, card)
}

// writeFiles writes files into a folder, over those of an earlier export.
func writeFiles(io stdio, dir string, files map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := root.WriteFile(name, files[name], 0o644); err != nil {
			return err
		}
		fmt.Fprintf(io.out, "wrote %s\n", filepath.Join(dir, name))
	}
	return nil
}
