package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/glyphoxa/glyphoxa/campaigns"
)

// check reads the configuration and campaigns and prints everything that is
// wrong with them.
func check(_ context.Context, args []string, io stdio) int {
	fs := flag.NewFlagSet("glyphoxa check", flag.ContinueOnError)
	fs.SetOutput(io.err)
	path := fs.String("config", "", "the configuration `FILE` (default: glyphoxa.yaml here, if there is one)")
	fs.Usage = func() {
		fmt.Fprint(io.err, "glyphoxa check [-config FILE] [CAMPAIGN...]\n\nReads the configuration and campaigns (shipped names or folders; by default the\nconfigured one) and prints everything that is wrong with them. Exit code 1 if\nanything is.\n\n")
		fs.PrintDefaults()
	}
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	failed := false
	cfg, err := loadConfig(*path)
	if err != nil {
		fmt.Fprintln(io.err, err)
		failed = true
		cfg.Campaign = defaults().Campaign
	}
	names := fs.Args()
	if len(names) == 0 {
		names = []string{cfg.Campaign}
	}
	for _, name := range names {
		cfg.Campaign = name
		c, err := loadCampaign(cfg)
		if err != nil {
			fmt.Fprintln(io.err, err)
			failed = true
			continue
		}
		fmt.Fprintf(io.out, "%s: %d NPCs, %d entities, %d scenes, nothing wrong\n", c.Name, len(c.NPCs), len(c.Entities), len(c.Scenes))
	}
	if failed {
		return 1
	}
	return 0
}

// schema prints the JSON Schema of campaign files, for editors.
func schema(_ context.Context, args []string, io stdio) int {
	fs := flag.NewFlagSet("glyphoxa schema", flag.ContinueOnError)
	fs.SetOutput(io.err)
	if code, done := parse(fs, args, io); done {
		return code
	}
	b, err := campaigns.Schema()
	if err == nil {
		_, err = io.out.Write(b)
	}
	return fail(io, "schema", err)
}

// isFolder reports whether path is a folder.
func isFolder(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}
