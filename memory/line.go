package memory

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits on one line, far above what is said in one breath: an hour of speech is
// about 50 kB.
const (
	MaxText     = 64 << 10 // bytes of Text, and of Raw
	MaxID       = 256      // bytes of any id or name
	MaxAudience = 256      // entity ids
)

// A Speaker is who said a line.
type Speaker struct {
	// ID is an entity id for NPCs and a platform's user id for players.
	ID string `json:"id"`
	// Name is as the table showed it when the line was said.
	Name string `json:"name"`
	// Kind says what sort of person it is.
	Kind SpeakerKind `json:"kind"`
}

// A SpeakerKind is the sort of person behind a line.
type SpeakerKind string

// The kinds of speaker.
const (
	PlayerSpeaker SpeakerKind = "player"
	NPCSpeaker    SpeakerKind = "npc"
	DMSpeaker     SpeakerKind = "dm"
)

// A Line is one thing that somebody said, as the room heard it.
type Line struct {
	// ID is unique in its campaign. Appending it again changes nothing, so that
	// a write whose outcome is unknown may be repeated.
	ID       string `json:"id"`
	Campaign string `json:"campaign,omitempty"`
	Session  string `json:"session"`
	Scene    string `json:"scene,omitempty"`

	Speaker  Speaker       `json:"speaker"`
	At       time.Time     `json:"at"`
	Duration time.Duration `json:"duration,omitempty"`

	// Text is what is remembered; Raw is what the recogniser wrote before names
	// were corrected, "" when it wrote the same.
	Text string `json:"text"`
	Raw  string `json:"raw,omitempty"`
	// Confidence is the recogniser's, from 0 to 1; 0 means that it gave none.
	Confidence float64 `json:"confidence,omitempty"`

	// Audience is who could hear it. The speaker hears itself without being
	// listed. An empty audience is the speaker and the game master.
	Audience Audience `json:"audience,omitempty"`
	// To names the NPCs that the line was meant for.
	To []string `json:"to,omitempty"`
	// Cut is set when the speaker was interrupted; CutAt is how far into the
	// line. Text ends there.
	Cut   bool          `json:"cut,omitempty"`
	CutAt time.Duration `json:"cut_at,omitempty"`
	// Whisper marks a line that only its audience could hear, in a room with
	// more people in it.
	Whisper bool `json:"whisper,omitempty"`
	// Aside marks talk of the players, not of their characters: it is kept for
	// the game master and heard by no NPC, whatever Audience says.
	Aside bool `json:"aside,omitempty"`

	// Told is set by reads when the viewer did not witness the line but was told.
	Told *Hearsay `json:"told,omitempty"`
}

// Hearsay says how somebody came to know what it did not witness.
type Hearsay struct {
	// By is the teller's id; "" is the game master.
	By string    `json:"by,omitempty"`
	At time.Time `json:"at"`
}

// Check says what is wrong with a line that cannot be stored.
func (l Line) Check() error {
	switch {
	case l.ID == "":
		return errors.New("memory: a line needs an id")
	case l.Campaign == "":
		return fmt.Errorf("memory: line %q needs a campaign", l.ID)
	case l.Session == "":
		return fmt.Errorf("memory: line %q needs a session", l.ID)
	case l.At.IsZero():
		return fmt.Errorf("memory: line %q needs the time at which it was said", l.ID)
	case len(l.Audience) > MaxAudience, len(l.To) > MaxAudience:
		return fmt.Errorf("memory: line %q has an audience of %d, the most is %d", l.ID, max(len(l.Audience), len(l.To)), MaxAudience)
	}
	for _, s := range [...]string{l.Text, l.Raw} {
		if err := checkText(s); err != nil {
			return fmt.Errorf("memory: line %.40q: %w", l.ID, err)
		}
	}
	for _, s := range [...]string{l.ID, l.Campaign, l.Session, l.Scene, l.Speaker.ID, l.Speaker.Name} {
		if err := checkID(s); err != nil {
			return fmt.Errorf("memory: line %.40q: %w", l.ID, err)
		}
	}
	for _, list := range [...][]string{l.Audience, l.To} {
		for _, s := range list {
			if err := checkID(s); err != nil {
				return fmt.Errorf("memory: audience of line %.40q: %w", l.ID, err)
			}
		}
	}
	return nil
}

// checkText refuses text that could not be stored, or is no text.
func checkText(s string) error {
	switch {
	case len(s) > MaxText:
		return fmt.Errorf("a text of %d bytes, the most is %d", len(s), MaxText)
	case !utf8.ValidString(s):
		return errors.New("a text that is not valid UTF-8")
	case strings.IndexByte(s, 0) >= 0:
		return errors.New("a text with a zero byte")
	}
	return nil
}

// checkID refuses what could not be stored equally in every database.
func checkID(s string) error {
	switch {
	case len(s) > MaxID:
		return fmt.Errorf("id %.20q… has %d bytes, the most is %d", s, len(s), MaxID)
	case !utf8.ValidString(s):
		return fmt.Errorf("id %q is not valid UTF-8", s)
	}
	if strings.IndexByte(s, 0) >= 0 {
		return fmt.Errorf("id %q contains a zero byte", s)
	}
	return nil
}

// A Viewer is through whose eyes memory is read.
type Viewer struct {
	Campaign string
	// Entity is who looks; "" is the game master, who sees everything.
	Entity string
	// AsOf shows memory as it was then. Zero is now.
	AsOf time.Time
}

// A Window says which of the latest lines are wanted. The zero value is the last
// 20 of the campaign.
type Window struct {
	// Session and Scene narrow it; "" is any.
	Session, Scene string
	// Before is the id of a line: only what was said before it. With it, a long
	// session is read page by page.
	Before string
	// Limit is how many lines; zero means 20, and the most is [MaxHits].
	Limit int
}

// A Session is one sitting at the table.
type Session struct {
	ID       string    `json:"id"`
	Campaign string    `json:"campaign,omitempty"`
	Title    string    `json:"title,omitempty"`
	Started  time.Time `json:"started"`
	// Ended is zero while the session runs, and after a crash: such a session
	// was interrupted.
	Ended time.Time `json:"ended,omitzero"`
	// Lines is how many lines were said in it.
	Lines int `json:"lines"`
}
