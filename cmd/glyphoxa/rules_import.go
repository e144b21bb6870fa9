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

	"github.com/glyphoxa/glyphoxa/mcp/tools/rules"
)

// rulesFolder, in the data folder, holds what was imported.
const rulesFolder = "rules"

// importedRules is the folder of imported rules below the data folder. It need
// not exist.
func importedRules(dir string) fs.FS { return os.DirFS(filepath.Join(dir, rulesFolder)) }

// importRules is the command that adds rules to the library of this machine.
func importRules(ctx context.Context, args []string, io stdio) int {
	flags := flag.NewFlagSet("glyphoxa rules import", flag.ContinueOnError)
	flags.SetOutput(io.err)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), "Usage: glyphoxa rules import --format FORMAT [flags] DIR\n"+
			"\nReads rules from a folder and keeps them, with their licences, for glyphoxa rules\n"+
			"and the NPCs' rule tools. Importing the same folder again replaces what it brought.\n"+
			"Monsters and secret pages are for the game master only.\n\n")
		flags.PrintDefaults()
	}
	var opts rules.ImportOptions
	format := flags.String("format", "", "one of "+strings.Join(rules.Formats(), ", "))
	flags.StringVar(&opts.System, "system", "", "the game's `ID`, where the data does not name it: pf2e, homebrew:mine")
	flags.StringVar(&opts.License, "license", "", "the `licence` to show, where the data does not name it")
	flags.StringVar(&opts.Source, "source", "", "the `name` of the source to show")
	name := flags.String("name", "", "what to call the import (default: the folder's `name`)")
	path := flags.String("config", "", "the configuration `FILE` (default: glyphoxa.yaml here, if there is one)")
	words, err := parseAnywhere(flags, args)
	if err != nil {
		return usageCode(err)
	}
	if len(words) != 1 || *format == "" {
		flags.Usage()
		return 2
	}
	opts.Format = rules.Format(*format)
	if err := keepRules(ctx, io, words[0], *name, *path, opts); err != nil {
		fmt.Fprintf(io.err, "glyphoxa rules import: %v\n", err)
		return 1
	}
	return 0
}

// keepRules imports a folder into one file of the data folder.
func keepRules(ctx context.Context, io stdio, from, name, config string, opts rules.ImportOptions) error {
	cfg, err := loadConfig(config)
	if err != nil {
		return err
	}
	dir, err := cfg.dataDir()
	if err != nil {
		return err
	}
	if name == "" {
		whole, err := filepath.Abs(from)
		if err != nil {
			return err
		}
		name = filepath.Base(whole)
	}
	name = fileName(name)
	entries, skipped, err := rules.Import(ctx, from, opts)
	for _, s := range skipped {
		fmt.Fprintf(io.err, "left out %v\n", s)
	}
	if err != nil {
		return err
	}
	folder := filepath.Join(dir, rulesFolder)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	file := filepath.Join(folder, string(opts.Format)+"-"+name+".jsonl")
	if err := replaceRules(file, entries); err != nil {
		return err
	}
	if _, err := rules.New(rules.Options{Imported: importedRules(dir)}); err != nil {
		return errors.Join(err, os.Remove(file))
	}
	tell(io, entries, file)
	return nil
}

// replaceRules writes a file beside the old one and puts it in its place, so
// that a running game never reads half of it.
func replaceRules(file string, entries []*rules.Entry) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".rules-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	err = rules.WriteEntries(f, entries)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}

// fileName keeps letters, digits and dashes of a name.
func fileName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
	return cmp.Or(strings.Trim(name[:min(len(name), 60)], "-"), "rules")
}

// tell says what was imported and whose it is: the licences ask for that.
func tell(io stdio, entries []*rules.Entry, file string) {
	kinds, owners := map[string]int{}, map[string]int{}
	for _, e := range entries {
		kinds[e.Kind]++
		owners[fmt.Sprintf("%s, licence %s", cmp.Or(e.Source, "no source named"), e.License)]++
	}
	fmt.Fprintf(io.out, "%d rules kept in %s\n", len(entries), file)
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		note := ""
		if k == "monster" {
			note = " (for the game master only)"
		}
		fmt.Fprintf(io.out, "  %5d %s%s\n", kinds[k], k, note)
	}
	for _, o := range slices.Sorted(maps.Keys(owners)) {
		fmt.Fprintf(io.out, "%s\n", o)
	}
}
