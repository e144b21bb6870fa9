package discord

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"
)

const (
	// maxLogins a day and maxHourly an hour: Discord resets the token of a bot
	// that identifies 1,000 times a day, which a crash loop under a supervisor does
	// within minutes. A healthy bot needs one or two a day.
	maxLogins = 500
	maxHourly = 20
	// maxBudgetFile is more than maxLogins times take.
	maxBudgetFile = 64 << 10
)

// A tooManyLogins says when the next login is allowed.
type tooManyLogins struct {
	count int
	span  string
	until time.Time
}

// Error says what to do about it.
func (e *tooManyLogins) Error() string {
	return fmt.Sprintf("discord: %d logins within %s, and Discord resets the token of a bot that tries 1,000 a day: find out why it logs in so often, and wait until %s",
		e.count, e.span, e.until.Format("15:04"))
}

// budget counts logins on disk, so that restarts count too.
type budget struct {
	path string
	mu   sync.Mutex // one login at a time
}

// spend counts one login, or refuses it with a [tooManyLogins].
func (b *budget) spend() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	logins, err := b.load()
	if err != nil {
		return err
	}
	now := time.Now()
	logins = slices.DeleteFunc(logins, func(t time.Time) bool { return now.Sub(t) >= 24*time.Hour })
	if n := len(logins); n >= maxLogins {
		return &tooManyLogins{n, "a day", logins[n-maxLogins].Add(24 * time.Hour)}
	}
	hour := slices.IndexFunc(logins, func(t time.Time) bool { return now.Sub(t) < time.Hour })
	if hour >= 0 && len(logins)-hour >= maxHourly {
		return &tooManyLogins{len(logins) - hour, "an hour", logins[len(logins)-maxHourly].Add(time.Hour)}
	}
	text, err := json.Marshal(append(logins, now))
	if err != nil {
		return fmt.Errorf("discord: count logins: %w", err)
	}
	return replaceFile(b.path, text)
}

func (b *budget) load() (logins []time.Time, err error) {
	text, err := os.ReadFile(b.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("discord: count logins: %w", err)
	case len(text) > maxBudgetFile || json.Unmarshal(text, &logins) != nil:
		return nil, nil // a damaged counter must not keep the bot out
	}
	slices.SortFunc(logins, time.Time.Compare)
	return logins, nil
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
