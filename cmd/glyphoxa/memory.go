package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/memory/postgres"
	"github.com/glyphoxa/glyphoxa/memory/relational"
	"github.com/glyphoxa/glyphoxa/memory/sqlite"
)

// A memoryCommand is one word after glyphoxa memory.
type memoryCommand struct {
	name, args, short string
	run               func(ctx context.Context, m *memoryDesk, args []string) error
}

func memoryCommands() []memoryCommand {
	return []memoryCommand{
		{"search", "WORDS", "find what was said", searchMemory},
		{"entity", "NAME", "show what is known of somebody or something", showEntity},
		{"graph", "NAME [NAME]", "show what is around somebody, or the way between two", showGraph},
		{"recap", "", "retell a session", recapMemory},
		{"review", "[accept|reject ID]", "decide about what was proposed as a fact", reviewMemory},
		{"consolidate", "", "propose facts that a session's lines state", consolidateMemory},
		{"tell", "NPC LINE|CLAIM", "let somebody know a line or a claim", tellMemory},
		{"embed", "", "let a model read what was said, for searches by meaning", embedMemory},
		{"correct", "", "put misheard names right in lines of text", correctNames},
		{"stats", "", "count what is remembered", memoryStats},
		{"import-transcript", "FILE", "add lines from a file of JSON objects", importTranscript},
		{"export", "[FILE]", "write a campaign, or all about one player, as JSON lines", exportMemory},
		{"forget", "PLAYER", "erase a player everywhere", forgetPlayer},
		{"opt-out", "PLAYER", "do not remember what a player says from now on", optOutPlayer},
		{"retain", "", "erase what is older than it may get", retainMemory},
		{"copy", "FROM TO", "bring everything from one store into another", copyMemory},
		{"backup", "FILE", "write every campaign into one file", backupMemory},
		{"restore", "FILE", "bring back a backup", restoreMemory},
	}
}

// A memoryDesk is what the memory commands share: their flags and the store.
type memoryDesk struct {
	io       stdio
	flags    *flag.FlagSet
	db       string
	campaign string
	as       string
	json     bool
	store    memory.Store
}

// errUsage means that the command was called wrongly.
var errUsage = errors.New("wrong usage")

// runMemory is glyphoxa memory.
func runMemory(ctx context.Context, args []string, io stdio) int {
	all := memoryCommands()
	if len(args) == 0 || slices.Contains([]string{"-h", "-help", "--help", "help"}, args[0]) {
		fmt.Fprint(io.out, "What the table remembers, and who knows it.\n\n")
		for _, c := range all {
			fmt.Fprintf(io.out, "  %-42s %s\n", strings.TrimSpace("glyphoxa memory "+c.name+" "+c.args), c.short)
		}
		fmt.Fprint(io.out, "\n'glyphoxa memory COMMAND -h' shows a command's flags.\n")
		return 0
	}
	i := slices.IndexFunc(all, func(c memoryCommand) bool { return c.name == args[0] })
	if i < 0 {
		fmt.Fprintf(io.err, "glyphoxa memory: no command %q; 'glyphoxa memory help' lists them\n", args[0])
		return 2
	}
	m := &memoryDesk{io: io, flags: flag.NewFlagSet("glyphoxa memory "+args[0], flag.ContinueOnError)}
	m.flags.SetOutput(io.err)
	m.flags.StringVar(&m.db, "db", "", "the store: a SQLite `FILE` or postgres://… (default: the table's own)")
	m.flags.StringVar(&m.campaign, "campaign", "", "the campaign's `ID` (default: the only one there is, or "+usualCampaign+")")
	m.flags.StringVar(&m.as, "as", "", "see as the entity with this `ID` does; without it, as the game master")
	m.flags.BoolVar(&m.json, "json", false, "write JSON")
	m.flags.Usage = func() {
		fmt.Fprintf(io.err, "Usage: glyphoxa memory %s [flags] %s\n\n%s.\n\n", all[i].name, all[i].args, all[i].short)
		m.flags.PrintDefaults()
	}
	err := all[i].run(ctx, m, args[1:])
	if m.store != nil {
		err = errors.Join(err, m.store.Close())
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		fmt.Fprintf(io.err, "glyphoxa memory %s: %v\n", args[0], err)
		return 2
	case err != nil:
		fmt.Fprintf(io.err, "glyphoxa memory %s: %v\n", args[0], err)
		return 1
	}
	return 0
}

// parse reads the flags wherever they stand among the words, which it returns.
func (m *memoryDesk) parse(args []string, least, most int) ([]string, error) {
	var words []string
	for {
		if err := m.flags.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return nil, err
			}
			return nil, fmt.Errorf("%w: %w", errUsage, err)
		}
		rest := m.flags.Args()
		if len(rest) == 0 {
			break
		}
		words, args = append(words, rest[0]), rest[1:]
	}
	if len(words) < least || len(words) > most {
		m.flags.Usage()
		return nil, fmt.Errorf("%w: %d words after the command", errUsage, len(words))
	}
	return words, nil
}

// usualCampaign is the campaign that is played without any configuration.
const usualCampaign = "gilded-flagon"

// open opens the store and settles on a campaign.
func (m *memoryDesk) open(ctx context.Context) (err error) {
	if m.store, err = openStore(ctx, m.db); err != nil || m.campaign != "" {
		return err
	}
	there, err := m.store.Campaigns(ctx)
	m.campaign = usualCampaign
	if len(there) == 1 {
		m.campaign = there[0]
	}
	return err
}

// openStore opens what --db names.
func openStore(ctx context.Context, db string) (memory.Store, error) {
	if db == "" {
		cfg, err := loadConfig("")
		if err != nil {
			return nil, err
		}
		dir, err := cfg.dataDir()
		if err != nil {
			return nil, err
		}
		return openMemory(ctx, cfg.Memory, dir)
	}
	var s *relational.Store
	var err error
	if strings.HasPrefix(db, "postgres://") || strings.HasPrefix(db, "postgresql://") {
		s, err = postgres.Open(ctx, db)
	} else {
		s, err = sqlite.Open(ctx, db)
	}
	if err != nil {
		return nil, err // not s: a nil store in an interface is not nil
	}
	return s, nil
}

func (m *memoryDesk) viewer() memory.Viewer {
	return memory.Viewer{Campaign: m.campaign, Entity: m.as}
}

// write prints v as one line of JSON.
func (m *memoryDesk) write(v any) error {
	return json.NewEncoder(m.io.out).Encode(v)
}

// output opens a file for writing, or takes standard output for "" and "-".
func (m *memoryDesk) output(path string, f func(w io.Writer) error) error {
	if path == "" || path == "-" {
		return f(m.io.out)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f(file), file.Close())
}
