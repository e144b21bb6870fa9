package main

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/glyphoxa/glyphoxa/campaigns"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/mcp/tools/dice"
	"github.com/glyphoxa/glyphoxa/mcp/tools/files"
	"github.com/glyphoxa/glyphoxa/mcp/tools/recall"
	"github.com/glyphoxa/glyphoxa/mcp/tools/rules"
	"github.com/glyphoxa/glyphoxa/mcp/tools/session"
	"github.com/glyphoxa/glyphoxa/mcp/tools/web"
	"github.com/glyphoxa/glyphoxa/memory"
)

// notesDir holds the notes of NPCs in the data folder, one folder a campaign.
const notesDir = "notes"

// belongings are what the tools of this program work with. Without any there are
// the same tools, for lists and checks; they are not to be called then.
type belongings struct {
	campaign *campaigns.Campaign
	store    memory.Store
	dice     *dice.Roller
	// rules holds the rules that were imported; nil means none.
	rules  fs.FS
	cfg    config
	dir    string // for data
	limits mcp.Limits
}

// builtins are the tools that run in this process.
func builtins(b belongings) ([]mcp.Builtin, error) {
	c := cmp.Or(b.campaign, &campaigns.Campaign{})
	tables, err := dice.NewTables(tablesOf(c.Tables))
	if err != nil {
		return nil, err
	}
	rolls, err := dice.Tools(dice.ToolOptions{Roller: b.dice, Tables: tables})
	if err != nil {
		return nil, err
	}
	edition := rules.Edition2014
	if c.Edition == 2024 {
		edition = rules.Edition2024
	}
	library, err := rules.New(rules.Options{Edition: edition, Imported: b.rules})
	if err != nil {
		return nil, err
	}
	notes := files.New(filepath.Join(b.dir, notesDir, c.ID), files.Options{MaxRead: b.limits.ReadBytes, MaxEntries: b.limits.ListEntries})
	return slices.Concat(rolls, rules.Tools(library), recall.Tools(b.store), session.Tools(b.store), files.Tools(notes),
		web.Tools(webOf(b.cfg.Web))), nil
}

// openTools returns a host with the tools of this program, which roll with the
// given dice or, if nil, with some of their own. told hears of every call, and may
// be nil.
func openTools(c *campaigns.Campaign, store memory.Store, o setting, dir string, r *dice.Roller, told func(mcp.CallRecord)) (*mcp.Host, error) {
	limits, err := mcp.LimitsFromEnv(mcp.Limits{}, os.Getenv)
	if err != nil {
		return nil, err
	}
	host, err := mcp.NewHost(mcp.HostOptions{
		Log: o.log, Limits: limits, OnCall: told, LazyAbove: o.cfg.MCP.FindAbove, Constraints: constraintsOf(o.cfg.MCP),
		Dir: filepath.Join(dir, toolsDir), Pins: mcp.PinsFile(filepath.Join(cmp.Or(o.shared, dir), toolsDir)),
	})
	if err != nil {
		return nil, err
	}
	tools, err := builtins(belongings{campaign: c, store: store, dice: r, rules: importedRules(dir), cfg: o.cfg, dir: dir, limits: limits})
	if err != nil {
		return nil, err
	}
	return host, host.Add(tools...)
}
