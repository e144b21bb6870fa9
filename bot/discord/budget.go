package discord

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// maxLogins a day: Discord resets the token of a bot that identifies 1,000 times,
// which a crash loop under a supervisor does within minutes.
const maxLogins = 900

// logins counts the logins since a day began.
type logins struct {
	Since time.Time `json:"since"`
	Count int       `json:"count"`
}

// spend counts one login, or refuses it.
func spend(path string) error {
	var l logins
	b, err := os.ReadFile(path)
	switch {
	case err == nil:
		if json.Unmarshal(b, &l) != nil {
			l = logins{} // a damaged counter must not keep the bot out
		}
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("discord: count logins: %w", err)
	}
	now := time.Now()
	if now.Sub(l.Since) > 24*time.Hour {
		l = logins{Since: now}
	}
	if l.Count >= maxLogins {
		return fmt.Errorf("discord: %d logins since %s: Discord resets a token at 1,000 a day; find out why the bot restarts, and wait until %s",
			l.Count, l.Since.Format(time.Kitchen), l.Since.Add(24*time.Hour).Format(time.Kitchen))
	}
	l.Count++
	if b, err = json.Marshal(l); err != nil {
		return fmt.Errorf("discord: count logins: %w", err)
	}
	return replaceFile(path, b)
}

// replaceFile writes a file so that a crash leaves the old one or the new one.
func replaceFile(path string, b []byte) error {
	tmp := path + ".new"
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		return fmt.Errorf("discord: %w", err)
	}
	if err := os.Rename(tmp, path); err != nil {
		return fmt.Errorf("discord: %w", err)
	}
	return nil
}
