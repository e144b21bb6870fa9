package discord

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/glyphoxa/glyphoxa/bot"
)

const (
	// maxServers bounds the file: far more than one process can play for.
	maxServers = 10_000
	// maxMasters is how many roles a server may name; Discord's menu has 25.
	maxMasters = 25
)

// setting is what one server chose with /setup and /campaign switch. What it did
// not choose is the configuration's.
type setting struct {
	// DMRoles may steer, besides those of the configuration.
	DMRoles []string `json:"dm_roles,omitempty"`
	Consent Consent  `json:"consent,omitempty"`
	// Campaign is the one in play.
	Campaign string `json:"campaign,omitempty"`
}

// settings are those of all servers, kept in a file.
type settings struct {
	path string
	mu   sync.Mutex // guards the below
	of   map[string]setting
}

func loadSettings(path string) (*settings, error) {
	s := &settings{path: path, of: map[string]setting{}}
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, nil
	case err != nil:
		return nil, fmt.Errorf("discord: read the servers' settings: %w", err)
	}
	if err := json.Unmarshal(b, &s.of); err != nil {
		return nil, fmt.Errorf("discord: %s is damaged (%w): mend it, or remove it and use /setup again", path, err)
	}
	return s, nil
}

func (s *settings) get(guild string) setting {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of[guild]
}

// change sets a server's choices, on disk before they are true.
func (s *settings) change(guild string, f func(*setting)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, known := s.of[guild]
	if !known && len(s.of) >= maxServers {
		return bot.Refuse("too many servers are served already")
	}
	now := before
	now.DMRoles = slices.Clone(before.DMRoles)
	f(&now)
	s.of[guild] = now
	b, err := json.Marshal(s.of)
	if err == nil {
		err = replaceFile(s.path, b)
	}
	if err != nil {
		s.of[guild] = before
	}
	return err
}
