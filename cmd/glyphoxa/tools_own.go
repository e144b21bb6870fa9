package main

import (
	"cmp"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/glyphoxa/glyphoxa/campaigns"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/mcp/tools/dice"
	"github.com/glyphoxa/glyphoxa/mcp/tools/files"
	"github.com/glyphoxa/glyphoxa/mcp/tools/image"
	"github.com/glyphoxa/glyphoxa/mcp/tools/music"
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
	rules fs.FS
	cfg   config
	log   *slog.Logger
	// stage is where music is played and pictures are shown; nil has no table.
	stage  *stage
	dir    string // for data
	limits mcp.Limits
}

// builtins are the tools that run in this process.
func builtins(b belongings) ([]mcp.Builtin, error) {
	tools, _, err := withStudio(b)
	return tools, err
}

// withStudio are the tools that run in this process, and the studio behind one of
// them, which is to be closed after the last call.
func withStudio(b belongings) ([]mcp.Builtin, *image.Studio, error) {
	c := cmp.Or(b.campaign, &campaigns.Campaign{})
	tables, err := dice.NewTables(tablesOf(c.Tables))
	if err != nil {
		return nil, nil, err
	}
	rolls, err := dice.Tools(dice.ToolOptions{Roller: b.dice, Tables: tables})
	if err != nil {
		return nil, nil, err
	}
	edition := rules.Edition2014
	if c.Edition == 2024 {
		edition = rules.Edition2024
	}
	library, err := rules.New(rules.Options{Edition: edition, Imported: b.rules})
	if err != nil {
		return nil, nil, err
	}
	where := cmp.Or(b.stage, &stage{})
	studio := where.studio(b.cfg.Image, c, b.log)
	notes := files.New(filepath.Join(b.dir, notesDir, c.ID), files.Options{MaxRead: b.limits.ReadBytes, MaxEntries: b.limits.ListEntries})
	return slices.Concat(rolls, rules.Tools(library), recall.Tools(b.store), session.Tools(b.store), files.Tools(notes),
		web.Tools(webOf(b.cfg.Web)), music.Tools(where), studio.Tools()), studio, nil
}

// A toolbox is a tool host with what its tools reach: the stage and who paints.
type toolbox struct {
	*mcp.Host
	stage  *stage
	studio *image.Studio
}

// Close gives up what is being painted and ends the tools.
func (b *toolbox) Close() error {
	b.studio.Close()
	return b.Host.Close()
}

// openTools returns a host with the tools of this program, which roll with the
// given dice or, if nil, with some of their own. told hears of every call, and may
// be nil.
func openTools(c *campaigns.Campaign, store memory.Store, o setting, dir string, r *dice.Roller, told func(mcp.CallRecord)) (*toolbox, error) {
	limits, err := mcp.LimitsFromEnv(mcp.Limits{}, os.Getenv)
	if err != nil {
		return nil, err
	}
	box := &toolbox{stage: &stage{}}
	box.Host, err = mcp.NewHost(mcp.HostOptions{
		Log: o.log, Limits: limits, OnCall: told, LazyAbove: o.cfg.MCP.FindAbove, Constraints: constraintsOf(o.cfg.MCP),
		Dir: filepath.Join(dir, toolsDir), Pins: mcp.PinsFile(filepath.Join(cmp.Or(o.shared, dir), toolsDir)),
	})
	if err != nil {
		return nil, err
	}
	tools, studio, err := withStudio(belongings{
		campaign: c, store: store, dice: r, rules: importedRules(dir), cfg: o.cfg, log: o.log, stage: box.stage, dir: dir, limits: limits,
	})
	if err != nil {
		return nil, errors.Join(err, box.Host.Close())
	}
	box.studio = studio
	if err := box.Add(tools...); err != nil {
		return nil, errors.Join(err, box.Close())
	}
	return box, nil
}
