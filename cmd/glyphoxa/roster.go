package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/mcp/registry"
)

// rosterEvery is how often a running table looks whether other tool servers are
// wanted: a stat and a query of a few rows, for people who then look at the table.
const rosterEvery = time.Second

// A roster says which tool servers there are now: those of the configuration file,
// and those of the registry.
type roster struct {
	path string // of the configuration file; it need not exist
	mcp  mcpConfig
	book *registry.Book
	end  func() error // closes the book

	read, seen string // marks of the file: as it was read, and as it was last looked at
	rows       string // of the registry, as they were last
}

// openRoster returns the roster of a configuration that was read from path, with
// the registry in dir. Where the registry cannot be opened, it does without.
func openRoster(ctx context.Context, cfg config, path, dir string) (*roster, error) {
	if path == "" {
		path = configFile
	}
	r := &roster{path: path, mcp: cfg.MCP}
	r.read = r.mark()
	r.seen = r.read
	var err error
	if r.book, r.end, err = openRegistry(ctx, cfg, dir); err != nil {
		return r, fmt.Errorf("the registry of tool servers: %w", err)
	}
	return r, nil
}

// mark is another one after the file has been written.
func (r *roster) mark() string {
	info, err := os.Stat(r.path)
	if err != nil {
		return "none"
	}
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano())
}

// servers returns all servers that can be started. The error names those that are
// left out.
func (r *roster) servers(ctx context.Context) ([]mcp.ServerConfig, error) {
	configured := serversOf(r.mcp)
	if r.book == nil {
		return configured, nil
	}
	rows, err := r.book.List(ctx)
	if err != nil {
		return configured, err
	}
	if b, err := json.Marshal(rows); err == nil {
		r.rows = string(b)
	}
	return registry.Merge(configured, rows, openReference)
}

// changed says whether something was written since the last look. A configuration
// that cannot be read changes nothing; the error says so, once.
func (r *roster) changed(ctx context.Context) (bool, error) {
	now := r.mark()
	settled := now == r.seen // not while somebody writes it
	r.seen = now
	reread := false
	if now != r.read && settled {
		r.read = now
		var cfg config
		var err error
		if now == "none" {
			cfg = defaults()
		} else if cfg, err = loadConfig(r.path); err != nil {
			return false, err
		}
		r.mcp, reread = cfg.MCP, true
	}
	if r.book == nil {
		return reread, nil
	}
	rows, err := r.book.List(ctx)
	if err != nil {
		return reread, nil // a busy database is looked at again
	}
	b, err := json.Marshal(rows)
	return reread || string(b) != r.rows, err
}

func (r *roster) close() error {
	if r.end == nil {
		return nil
	}
	return r.end()
}

// followRoster has the host connect to the servers that are wanted at any time,
// and tells the table of changes.
func (s *seat) followRoster(ctx context.Context) {
	tick := time.NewTicker(rosterEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		changed, err := s.roster.changed(ctx)
		if changed {
			servers, left := s.roster.servers(ctx)
			err = errors.Join(err, left, s.host.Connect(ctx, servers))
		}
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.table.Tell(bot.Alert{Text: "The tool servers are not all as you want them: " + err.Error(), Bad: true})
		case changed:
			s.table.Tell(bot.Alert{Text: "The tool servers are now: " + s.serverNames() + "."})
		}
	}
}

// serverNames lists the servers that are switched on.
func (s *seat) serverNames() string {
	var names []string
	for _, x := range s.host.Servers() {
		if x.State != mcp.OffDisabled {
			names = append(names, x.Name)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
