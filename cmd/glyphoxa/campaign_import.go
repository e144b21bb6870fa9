package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/glyphoxa/glyphoxa/campaigns"
	"github.com/glyphoxa/glyphoxa/campaigns/foreign"
)

// runCampaign is glyphoxa campaign: worlds from other programs, and for them.
func runCampaign(ctx context.Context, args []string, io stdio) int {
	desk := map[string]func(context.Context, []string, stdio) int{"import": importCampaign, "export": exportCampaign}
	if len(args) > 0 && desk[args[0]] != nil {
		return desk[args[0]](ctx, args[1:], io)
	}
	fmt.Fprint(io.err, "Usage: glyphoxa campaign COMMAND\n\n"+
		"  import FILE|DIR   add people and places from character cards, lorebooks, Foundry,\n"+
		"                    Roll20 or a vault of Markdown pages, after showing them\n"+
		"  export            write character cards, Markdown pages or JSON lines\n\n"+
		"'glyphoxa campaign COMMAND -h' shows a command's flags.\n")
	if len(args) > 0 && (args[0] == "-h" || args[0] == "-help" || args[0] == "--help") {
		return 0
	}
	return 2
}

func importCampaign(_ context.Context, args []string, io stdio) int {
	flags := flag.NewFlagSet("glyphoxa campaign import", flag.ContinueOnError)
	flags.SetOutput(io.err)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), "Usage: glyphoxa campaign import [flags] FILE|DIR\n"+
			"\nShows what a character card (V1, V2, V3; JSON, PNG or CHARX), a lorebook, an export\n"+
			"from Foundry or Roll20, or a vault of Markdown pages holds, asks, and adds it to a\n"+
			"campaign folder. Nothing is overwritten and nothing is fetched. A folder that does\n"+
			"not exist yet becomes a campaign.\n\n")
		flags.PrintDefaults()
	}
	into := flags.String("into", "", "the campaign `FOLDER` (default: the configured one)")
	name := flags.String("name", "", "another `name` for a single character")
	yes := flags.Bool("yes", false, "add it without asking")
	path := flags.String("config", "", "the configuration `FILE` (default: glyphoxa.yaml here, if there is one)")
	words, err := parseAnywhere(flags, args)
	if err != nil {
		return usageCode(err)
	}
	if len(words) != 1 {
		flags.Usage()
		return 2
	}
	if err := addForeign(io, words[0], *into, *name, *path, *yes); err != nil {
		fmt.Fprintf(io.err, "glyphoxa campaign import: %v\n", err)
		return 1
	}
	return 0
}

// addForeign shows what a file holds and, once somebody agreed, adds it.
func addForeign(io stdio, from, into, name, config string, yes bool) error {
	cfg, err := loadConfig(config)
	if err != nil {
		return err
	}
	if into == "" {
		if into = cfg.Campaign; !isFolder(into) {
			return fmt.Errorf("%s is part of the program and cannot be added to: please name a folder with --into", into)
		}
	}
	o := foreign.Options{Name: name}
	if isFolder(into) {
		c, problems := campaigns.Open(filepath.Clean(into), campaignOptions(cfg))
		if problems != nil {
			return fmt.Errorf("the campaign has to be mended first: %w", problems.Err())
		}
		o.Safety, o.Language = c.Safety, c.Language
	}
	found, err := foreign.Open(from, o)
	if err != nil {
		return err
	}
	preview(io, found)
	if !yes && !agreed(io, "Add this to "+into+"?") {
		fmt.Fprintln(io.out, "Nothing was added.")
		return nil
	}
	written, cut, err := found.Draft.AddTo(into, campaignOptions(cfg))
	if err != nil {
		return err
	}
	for _, c := range cut {
		fmt.Fprintf(io.out, "cut: %s\n", c)
	}
	for _, w := range written {
		fmt.Fprintf(io.out, "wrote %s\n", filepath.Join(into, w))
	}
	if len(found.Draft.NPCs) > 0 {
		fmt.Fprintf(io.out, "To meet them: add their ids to a scene's \"present\" in campaign.yaml, or use /npc enter.\n")
	}
	return nil
}

// preview shows what would be added, and all that nobody would expect.
func preview(io stdio, found *foreign.Import) {
	fmt.Fprintf(io.out, "%s: %d to talk to, %d entities\n", found.Format, len(found.Draft.NPCs), len(found.Draft.Entities))
	for _, c := range found.Draft.NPCs {
		fmt.Fprintf(io.out, "\n%s (%s)\n  %s\n", c.Name, c.ID, oneLine(c.Personality, 300))
		for _, g := range c.Lines["greeting"] {
			fmt.Fprintf(io.out, "  says: %s\n", g)
		}
		if len(c.Knowledge) > 0 {
			fmt.Fprintf(io.out, "  knows %d things\n", len(c.Knowledge))
		}
		if len(c.Secrets) > 0 {
			fmt.Fprintf(io.out, "  keeps %d secrets\n", len(c.Secrets))
		}
	}
	const shown = 20
	for i, e := range found.Draft.Entities {
		if i == 0 {
			fmt.Fprintln(io.out)
		}
		if i == shown {
			fmt.Fprintf(io.out, "  ... and %d more\n", len(found.Draft.Entities)-shown)
			break
		}
		who := "the game master alone knows of it"
		if len(e.Audience) > 0 {
			who = "known by " + strings.Join(e.Audience, ", ")
		}
		fmt.Fprintf(io.out, "  %-9s %s (%s)\n", e.Kind, e.Name, who)
	}
	for _, u := range found.Unused {
		fmt.Fprintf(io.out, "\nKept but never used, %s:\n  %s\n", u.Where, oneLine(u.Text, 500))
	}
	for _, n := range found.Notices {
		fmt.Fprintf(io.out, "note: %s\n", n)
	}
	for _, c := range found.Credits {
		fmt.Fprintf(io.out, "by: %s\n", c)
	}
}

// oneLine shows the beginning of a foreign text on one line of a terminal, where
// control characters could pretend to be something else.
func oneLine(s string, n int) string {
	r := []rune(strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, s)), " "))
	if len(r) > n {
		return string(r[:n]) + "…"
	}
	return string(r)
}

// agreed asks a question that only "y" or "yes" answers with yes.
func agreed(io stdio, question string) bool {
	fmt.Fprintf(io.out, "\n%s [y/N] ", question)
	in := bufio.NewScanner(io.in)
	if !in.Scan() {
		fmt.Fprintln(io.out)
		return false
	}
	switch strings.ToLower(strings.TrimSpace(in.Text())) {
	case "y", "yes":
		return true
	}
	return false
}
