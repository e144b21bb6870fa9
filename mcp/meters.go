package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp/gauge"
)

const (
	// maxMeters bounds what is remembered: servers choose tool names.
	maxMeters = 4096
	statsFile = "tools.json"
)

// meters are the measurements of all tools of servers in this environment. They
// outlive connections, and runs of the program where there is a directory for
// them: the same tool on another machine or of another version is another tool.
type meters struct {
	mu    sync.Mutex // guards byKey
	byKey map[string]*meter
}

// A Measured is what was measured of one tool.
type Measured struct {
	// Server is the configured name, "" for tools of this program; Version is
	// what the server calls itself.
	Server   string         `json:"server"`
	Version  string         `json:"version"`
	Tool     string         `json:"tool"`
	Category Category       `json:"category"`
	Samples  []gauge.Sample `json:"samples"`
}

func (m Measured) key() string { return m.Server + "\x00" + m.Version + "\x00" + m.Tool }

// meter returns the measurements of a tool; those of earlier runs if there are any.
func (h *Host) meter(server, version, tool string, c Category) *meter {
	id := Measured{Server: server, Version: version, Tool: tool, Category: c}
	h.meters.mu.Lock()
	defer h.meters.mu.Unlock()
	m := h.meters.byKey[id.key()]
	if m == nil {
		m = newMeter()
		if len(h.meters.byKey) < maxMeters {
			h.meters.byKey[id.key()] = m
		}
	}
	m.id = id
	return m
}

// saved is the file of measurements.
type saved struct {
	// Host is the machine they were made on.
	Host  string     `json:"host"`
	Tools []Measured `json:"tools"`
}

// ReadMeasured returns what a host with the directory dir has measured on this
// machine. A directory without measurements is no error.
func ReadMeasured(dir string) ([]Measured, error) {
	b, err := os.ReadFile(filepath.Join(dir, statsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var s saved
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, fmt.Errorf("%s: %w; remove it to measure anew", statsFile, err)
	}
	if host, err := os.Hostname(); err != nil || host != s.Host {
		return nil, err // another machine's figures say nothing here
	}
	return s.Tools[:min(len(s.Tools), maxMeters)], nil
}

// loadMeters reads what was measured before.
func (h *Host) loadMeters() error {
	tools, err := ReadMeasured(h.dir)
	now := time.Now()
	for _, t := range tools {
		m := newMeter()
		m.id = t
		m.gauge.Restore(now, t.Samples)
		h.meters.byKey[t.key()] = m
	}
	return err
}

// saveMeters writes what was measured, whole or not at all.
func (h *Host) saveMeters() error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	s := saved{Host: host}
	h.meters.mu.Lock()
	for _, m := range h.meters.byKey {
		t := m.id
		m.mu.Lock()
		t.Samples = m.gauge.Samples()
		m.mu.Unlock()
		if len(t.Samples) > 0 {
			s.Tools = append(s.Tools, t)
		}
	}
	h.meters.mu.Unlock()
	slices.SortFunc(s.Tools, func(a, b Measured) int { return strings.Compare(a.key(), b.key()) })
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(h.dir, ".tools-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already if all went well
	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(h.dir, statsFile))
}
