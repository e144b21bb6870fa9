package discord

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/glyphoxa/glyphoxa/bot"
)

// Consent is what is done with what players say.
type Consent string

// What may be done.
const (
	// Off hears nobody; players type.
	Off Consent = "off"
	// Live answers and forgets.
	Live Consent = "live"
	// Transcript remembers the words of those who agreed. The default.
	Transcript Consent = "transcript"
	// Audio keeps the sound as well, of those who agreed to that. Nobody gets there
	// by default, and agreeing to less does not count.
	Audio Consent = "audio"
)

// consentStates are all there are, in the order of how much is kept.
var consentStates = []Consent{Off, Live, Transcript, Audio}

// notice tells players what happens to what they say.
func (c Consent) notice(l tongue) string {
	switch c {
	case Off:
		return l.say("Nobody is listened to; use `/say` to talk to the NPCs.")
	case Live:
		return l.say("The NPCs hear only those who agree below, and nothing is kept. `/privacy` changes your mind, `/x` stops everything.")
	case Audio:
		return l.say("The NPCs hear only those who agree below. Your words are kept as text, and the sound of your voice only if you agree to that as well. `/privacy` changes your mind, `/x` stops everything.")
	}
	return l.say("The NPCs hear only those who agree below. Your words are kept as text, never as sound. `/privacy` changes your mind, `/x` stops everything.")
}

// aloud is the notice as it is spoken when the NPCs join.
func (c Consent) aloud(l tongue) string {
	switch c {
	case Off:
		return l.say("The characters are here. They are played by software, and nobody is listened to.")
	case Live:
		return l.say("The characters are here. They are played by software, which hears only those who agree in the text channel, and keeps nothing.")
	case Audio:
		return l.say("The characters are here. They are played by software, which hears only those who agree in the text channel. It writes down what they say, and keeps the sound of those who agree to that as well.")
	}
	return l.say("The characters are here. They are played by software, which hears only those who agree in the text channel, and writes down what they say.")
}

// An assent is how far somebody agreed; "" is somebody who was not asked.
type assent string

const (
	refused assent = "no"
	heard   assent = "heard" // recognised; kept as text where the server does
	kept    assent = "kept"  // and the sound, where the server does
)

// maxConsents bounds the file: a server's worth of players.
const maxConsents = 100_000

// consents remembers who agreed to be heard, by server and user.
type consents struct {
	path string
	mu   sync.RWMutex // guards the below; every frame of sound asks
	of   map[string]assent
}

func loadConsents(path string) (*consents, error) {
	c := &consents{path: path, of: map[string]assent{}}
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c, nil
	case err != nil:
		return nil, fmt.Errorf("discord: read who agreed to be heard: %w", err)
	}
	if err := json.Unmarshal(b, &c.of); err != nil {
		return nil, fmt.Errorf("discord: %s is damaged (%w): remove it, and everybody is asked again", path, err)
	}
	return c, nil
}

// given is how far a user agreed.
func (c *consents) given(guild, user string) assent {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.of[guild+"/"+user]
}

// agreed reports whether the user may be heard.
func (c *consents) agreed(guild, user string) bool {
	a := c.given(guild, user)
	return a == heard || a == kept
}

// decide keeps a user's decision, on disk before it is true; "" forgets it. A
// refusal holds at once, even if it cannot be written.
func (c *consents) decide(guild, user string, a assent) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := guild + "/" + user
	before, known := c.of[key]
	if !known && len(c.of) >= maxConsents {
		return bot.Refuse("too many decisions are kept already")
	}
	c.of[key] = a
	if a == "" {
		delete(c.of, key)
	}
	b, err := json.Marshal(c.of)
	if err == nil {
		err = replaceFile(c.path, b)
	}
	if err != nil && (a == heard || a == kept) {
		c.of[key] = before
		if !known {
			delete(c.of, key)
		}
	}
	return err
}
