package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/glyphoxa/glyphoxa/campaigns"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/voice/music"
)

// loadCampaign reads the campaign that the configuration names: a shipped one or
// a folder. A folder wins, so that a copy of a shipped one can be played.
func loadCampaign(cfg config) (*campaigns.Campaign, error) {
	o := campaignOptions(cfg)
	if isFolder(cfg.Campaign) {
		c, problems := campaigns.Open(filepath.Clean(cfg.Campaign), o)
		return c, problems.Err()
	}
	folder, err := campaigns.ShippedFolder(cfg.Campaign)
	if err != nil {
		return nil, fmt.Errorf("%w, and there is no folder of that name", err)
	}
	c, problems := campaigns.Load(folder, o)
	return c, problems.Err()
}

// campaignOptions is what a campaign's checks need to know of the program.
func campaignOptions(cfg config) campaigns.Options {
	o := campaigns.Options{Synthesizers: synthesizers, Pieces: music.NewLibrary(nil).Names()}
	o.Tools, o.HelperTools = toolTiers()
	for _, s := range cfg.MCP.Servers {
		o.Servers = append(o.Servers, s.Name)
	}
	return o
}

// toolTiers lists the built-in tools with the lowest tier that has time for each,
// and those that are for helpers.
func toolTiers() (tiers map[string]mcp.Tier, helpers []string) {
	tools, err := builtins(belongings{})
	if err != nil { // the shipped tables are tested to load
		return nil, nil
	}
	tiers = make(map[string]mcp.Tier, len(tools))
	for _, t := range tools {
		tiers[t.Name] = max(tierFor(t.Estimated), t.Least)
		if t.HelpersOnly {
			helpers = append(helpers, t.Name)
		}
	}
	return tiers, helpers
}

// tierFor is the fastest tier that has time for d.
func tierFor(d time.Duration) mcp.Tier {
	for _, t := range []mcp.Tier{mcp.Fast, mcp.Standard} {
		if d <= t.Budget() {
			return t
		}
	}
	return mcp.Deep
}
