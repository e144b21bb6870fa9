package discord

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// Consent is what is done with what players say.
type Consent string

// What may be done. Sound itself is never kept.
const (
	// Off hears nobody; players type.
	Off Consent = "off"
	// Live answers and forgets.
	Live Consent = "live"
	// Transcript remembers the words of those who agreed. The default.
	Transcript Consent = "transcript"
)

// maxConsents bounds the file: a server's worth of players.
const maxConsents = 100_000

// consents remembers who agreed to be heard, by server and user.
type consents struct {
	path string
	mu   sync.Mutex      // guards the below
	yes  map[string]bool // "guild/user"; false is a refusal
}

func loadConsents(path string) (*consents, error) {
	c := &consents{path: path, yes: map[string]bool{}}
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c, nil
	case err != nil:
		return nil, fmt.Errorf("discord: read who agreed to be heard: %w", err)
	}
	if err := json.Unmarshal(b, &c.yes); err != nil {
		return nil, fmt.Errorf("discord: %s is damaged (%w): remove it, and everybody is asked again", path, err)
	}
	return c, nil
}

// agreed reports whether the user agreed; asked is false if they have not decided.
func (c *consents) agreed(guild, user string) (yes, asked bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	yes, asked = c.yes[guild+"/"+user]
	return yes, asked
}

// decide keeps a user's decision, on disk before it is true.
func (c *consents) decide(guild, user string, yes bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := guild + "/" + user
	if _, known := c.yes[key]; !known && len(c.yes) >= maxConsents {
		return errors.New("discord: too many decisions are kept already")
	}
	before, known := c.yes[key]
	c.yes[key] = yes
	b, err := json.Marshal(c.yes)
	if err == nil {
		err = replaceFile(c.path, b)
	}
	if err != nil {
		delete(c.yes, key)
		if known {
			c.yes[key] = before
		}
		return err
	}
	return nil
}
