package console

import (
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/glyphoxa/glyphoxa/bot"
)

const (
	// maxText is a long paragraph. What is typed is spoken about, thought about
	// and kept, so a pasted chapter helps nobody.
	maxText = 2000
	// maxName is the longest name that Discord allows, for the same people.
	maxName = 32
	// maxBody is a form with the longest text in it, percent-encoded.
	maxBody = 64 << 10

	// maxDraft is a changed file of a campaign and the version that it was begun
	// from, percent-encoded.
	maxDraft = 6 * bot.MaxManuscript

	// actions a browser may take at once, and each second after that.
	actionBurst, actionRate = 20, 5

	// maxStreams is what HTTP/1.1 browsers open to one host anyway.
	maxStreams = 6
	// maxWords is how many microphones may have been closed whose last words are
	// not recognised yet, with the open one.
	maxWords = 3
	// maxSounds is a few tabs; each costs 100 kB a second.
	maxSounds = 4
)

// bucket refills by rate a second up to burst. The zero value is full.
type bucket struct {
	mu   sync.Mutex // guards the two below
	used float64
	at   time.Time
}

// take takes n from the bucket if it holds as many.
func (b *bucket) take(n, rate, burst float64, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used = max(0, b.used-now.Sub(b.at).Seconds()*rate)
	b.at = now
	if b.used+n > burst {
		return false
	}
	b.used += n
	return true
}

// oneLine makes a name of what was typed: no control or invisible characters,
// which could turn the text around it, single spaces, at most maxName runes.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(strings.Map(visible, s)), " ")
	if utf8.RuneCountInString(s) > maxName {
		s = string([]rune(s)[:maxName])
	}
	return s
}

// visible drops what nobody can see but terminals, readers and models obey:
// control characters, and the format characters that reorder text.
func visible(r rune) rune {
	switch {
	case r == '\n', r == '\t':
		return ' '
	case r == '\u200d', r == '\u200c': // joins emoji and scripts
		return r
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == utf8.RuneError:
		return -1
	}
	return r
}
