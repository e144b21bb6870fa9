package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/mcp/audit"
	"github.com/glyphoxa/glyphoxa/mcp/registry"
	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/secret"
)

// Where tools keep things in the data folder.
const (
	toolsDir  = "tools"
	auditFile = "tool-calls.jsonl"
)

// A toolsCommand is one word after glyphoxa tools.
type toolsCommand struct {
	name, args, short string
	run               func(ctx context.Context, d *toolsDesk, args []string) error
}

func toolsCommands() []toolsCommand {
	return []toolsCommand{
		{"list", "", "show the tool servers, and their tools with --connect", listServers},
		{"add", "NAME [--url URL | -- COMMAND ARGUMENT...]", "put a server into the registry", addServer},
		{"enable", "NAME", "switch a registered server on", enableServer},
		{"disable", "NAME", "switch a registered server off", disableServer},
		{"remove", "NAME", "take a server out of the registry", removeServer},
		{"test", "NAME", "start one server alone and show what it offers", testServer},
		{"approve", "[SERVER [TOOL]]", "show changed tools, and agree to them", approveTools},
		{"stats", "[--export FILE | --merge FILE...]", "show how fast and how reliable tools are", toolStats},
		{"audit", "", "show what tools were asked for", auditCalls},
		{"call", "TOOL [JSON]", "run one tool as the game master", callTool},
		{"session", "", "offer tools over stdin and stdout as a speech model sees them", toolSession},
		{"serve", "[--http ADDRESS]", "offer the tools of this program to other programs", serveTools},
		{"toon", "encode|decode", "turn JSON into TOON, or back", convertTOON},
	}
}

// A toolsDesk is what the tools commands share.
type toolsDesk struct {
	io    stdio
	flags *flag.FlagSet
	path  string // of the configuration
	data  string
	json  bool
	debug bool

	cfg config
	dir string // for data
}

// runTools is glyphoxa tools.
func runTools(ctx context.Context, args []string, io stdio) int {
	all := toolsCommands()
	if len(args) == 0 || slices.Contains([]string{"-h", "-help", "--help", "help"}, args[0]) {
		fmt.Fprint(io.out, "The tools that NPCs may use: those of this program, and those of servers that speak\nthe Model Context Protocol.\n\n")
		for _, c := range all {
			fmt.Fprintf(io.out, "  %-62s %s\n", strings.TrimSpace("glyphoxa tools "+c.name+" "+c.args), c.short)
		}
		fmt.Fprint(io.out, "\n'glyphoxa tools COMMAND -h' shows a command's flags.\n")
		return 0
	}
	i := slices.IndexFunc(all, func(c toolsCommand) bool { return c.name == args[0] })
	if i < 0 {
		fmt.Fprintf(io.err, "glyphoxa tools: no command %q; 'glyphoxa tools help' lists them\n", args[0])
		return 2
	}
	d := &toolsDesk{io: io, flags: flag.NewFlagSet("glyphoxa tools "+args[0], flag.ContinueOnError)}
	d.flags.SetOutput(io.err)
	d.flags.StringVar(&d.path, "config", "", "the configuration `FILE` (default: glyphoxa.yaml here, if there is one)")
	d.flags.StringVar(&d.data, "data", "", "the data `FOLDER` (default: the configuration's)")
	d.flags.BoolVar(&d.json, "json", false, "write JSON")
	d.flags.BoolVar(&d.debug, "debug", false, "tell on standard error what servers do and say")
	d.flags.Usage = func() {
		fmt.Fprintf(io.err, "Usage: glyphoxa tools %s [flags] %s\n\n%s.\n\n", all[i].name, all[i].args, all[i].short)
		d.flags.PrintDefaults()
	}
	err := all[i].run(ctx, d, args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		fmt.Fprintf(io.err, "glyphoxa tools %s: %v\n", args[0], err)
		return 2
	case errors.Is(err, errSaid):
		return 1
	case err != nil:
		fmt.Fprintf(io.err, "glyphoxa tools %s: %v\n", args[0], err)
		return 1
	}
	return 0
}

// errSaid means that the failure has been told already.
var errSaid = errors.New("failed")

// parse reads flags wherever they stand and the configuration, and returns the
// words: at least and at most so many.
func (d *toolsDesk) parse(args []string, least, most int) ([]string, error) {
	words, err := d.words(args, least, most)
	if err != nil {
		return nil, err
	}
	if d.cfg, err = loadConfig(d.path); err != nil {
		return nil, err
	}
	if d.data != "" {
		d.cfg.Data = d.data
	}
	d.dir, err = d.cfg.dataDir()
	return words, err
}

// words is parse without the configuration.
func (d *toolsDesk) words(args []string, least, most int) ([]string, error) {
	words, err := parseAnywhere(d.flags, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errUsage, err)
	case len(words) < least || len(words) > most:
		d.flags.Usage()
		return nil, fmt.Errorf("%w: %d words after the command", errUsage, len(words))
	}
	return words, nil
}

func (d *toolsDesk) log() *slog.Logger {
	if !d.debug {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(d.io.err, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// table writes rows whose cells are separated by tabs.
func (d *toolsDesk) table(head string, rows []string) error {
	w := tabwriter.NewWriter(d.io.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, head)
	for _, r := range rows {
		fmt.Fprintln(w, r)
	}
	return w.Flush()
}

// openRegistry opens the table of servers; end closes it.
func openRegistry(ctx context.Context, cfg config, dir string) (b *registry.Book, end func() error, err error) {
	// The store makes the file and brings it up to date; it must be first.
	store, err := openMemory(ctx, cfg.Memory, dir)
	if err != nil {
		return nil, nil, err
	}
	if err := store.Close(); err != nil {
		return nil, nil, err
	}
	name, source := "sqlite", "file:"+filepath.Join(dir, "memory.db")+"?_pragma=busy_timeout(5000)&_txlock=immediate"
	postgres := cfg.Memory.Store == "postgres"
	if postgres {
		name, source = "pgx", cfg.Memory.DSN.Reveal()
	}
	db, err := sql.Open(name, source)
	if err != nil {
		return nil, nil, err
	}
	if b, err = registry.Open(ctx, db, postgres); err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return b, db.Close, nil
}

// toolServers are the configured servers and the registered ones. The error names
// those that are left out.
func toolServers(ctx context.Context, cfg config, dir string) ([]mcp.ServerConfig, error) {
	configured := serversOf(cfg.MCP)
	b, end, err := openRegistry(ctx, cfg, dir)
	if err != nil {
		return configured, err
	}
	registered, err := b.List(ctx)
	if err = errors.Join(err, end()); err != nil {
		return configured, err
	}
	return registry.Merge(configured, registered, openReference)
}

// openReference opens ${NAME} or file:PATH.
func openReference(ref string) (string, error) {
	var t secret.Text
	if err := t.UnmarshalText([]byte(ref)); err != nil {
		return "", err
	}
	if t.IsZero() {
		return "", fmt.Errorf("%s is empty", ref)
	}
	return t.Reveal(), nil
}

// A workshop is a tool host with what it stands on, without a table.
type workshop struct {
	host     *toolbox
	audit    *audit.Log
	store    memory.Store
	campaign string // id
	servers  []mcp.ServerConfig
}

// workshop sets up the tools of this program and, if wanted says so, servers.
func (d *toolsDesk) workshop(ctx context.Context, wanted func(name string) bool) (w *workshop, err error) {
	w = &workshop{}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	c, err := loadCampaign(d.cfg)
	if err != nil {
		return w, err
	}
	w.campaign = c.ID
	if w.store, err = openMemory(ctx, d.cfg.Memory, d.dir); err != nil {
		return w, err
	}
	if w.audit, err = audit.Open(filepath.Join(d.dir, auditFile), d.cfg.MCP.LogArguments); err != nil {
		return w, err
	}
	if w.host, err = openTools(c, w.store, setting{cfg: d.cfg, log: d.log()}, d.dir, nil, w.audit.Append); err != nil {
		return w, err
	}
	servers, err := toolServers(ctx, d.cfg, d.dir)
	if err != nil {
		fmt.Fprintf(d.io.err, "left out: %v\n", err)
	}
	for _, s := range servers {
		if wanted(s.Name) {
			w.servers = append(w.servers, s)
		}
	}
	return w, w.host.Connect(ctx, w.servers)
}

func (w *workshop) close() error {
	var errs []error
	if w.host != nil {
		errs = append(errs, w.host.Close())
	}
	if w.audit != nil {
		errs = append(errs, w.audit.Err(), w.audit.Close())
	}
	if w.store != nil {
		errs = append(errs, w.store.Close())
	}
	return errors.Join(errs...)
}

// everything is a whitelist of all tools of the workshop.
func (w *workshop) everything() []string {
	var allow []string
	for _, t := range w.host.Tools() {
		if t.Server == "" {
			allow = append(allow, t.Name)
		}
	}
	for _, s := range w.servers {
		allow = append(allow, s.Name+"__*")
	}
	return allow
}
