package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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

// meter returns the measurements of a server's tool.
func (h *Host) meter(server, tool, version string) *meter {
	key := server + "\x00" + version + "\x00" + tool
	h.meters.mu.Lock()
	defer h.meters.mu.Unlock()
	m := h.meters.byKey[key]
	if m == nil {
		m = newMeter()
		if len(h.meters.byKey) < maxMeters {
			h.meters.byKey[key] = m
		}
	}
	return m
}

// saved is the file of measurements.
type saved struct {
	// Host is the machine they were made on.
	Host  string      `json:"host"`
	Tools []savedTool `json:"tools"`
}

type savedTool struct {
	Server  string         `json:"server"`
	Version string         `json:"version"`
	Tool    string         `json:"tool"`
	Samples []gauge.Sample `json:"samples"`
}

// loadMeters reads what was measured before. Another machine's figures are left
// alone; a broken file is as good as none.
func (h *Host) loadMeters() error {
	b, err := os.ReadFile(filepath.Join(h.dir, statsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var s saved
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("%s: %w; remove it to measure anew", statsFile, err)
	}
	if host, err := os.Hostname(); err != nil || host != s.Host {
		return err
	}
	now := time.Now()
	for _, t := range s.Tools[:min(len(s.Tools), maxMeters)] {
		m := newMeter()
		m.gauge.Restore(now, t.Samples)
		h.meters.byKey[t.Server+"\x00"+t.Version+"\x00"+t.Tool] = m
	}
	return nil
}

// saveMeters writes what was measured, whole or not at all.
func (h *Host) saveMeters() error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	s := saved{Host: host}
	h.meters.mu.Lock()
	for key, m := range h.meters.byKey {
		server, rest, _ := strings.Cut(key, "\x00")
		version, tool, _ := strings.Cut(rest, "\x00")
		m.mu.Lock()
		samples := m.gauge.Samples()
		m.mu.Unlock()
		if len(samples) > 0 {
			s.Tools = append(s.Tools, savedTool{server, version, tool, samples})
		}
	}
	h.meters.mu.Unlock()
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
