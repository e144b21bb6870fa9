package bot

import (
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/mcp"
)

// An Event is something that happened at the table and that somebody watching
// should see. Events are numbered from 1 without gaps, so that a page which lost
// its connection can ask for what it missed.
type Event struct {
	ID uint64    `json:"id"`
	At time.Time `json:"at"`
	// Exactly one of these is set.
	Line  *Line  `json:"line,omitempty"`
	NPC   *NPC   `json:"npc,omitempty"`
	Turn  *Turn  `json:"turn,omitempty"`
	Tool  *Tool  `json:"tool,omitempty"`
	Scene *Scene `json:"scene,omitempty"`
	Alert *Alert `json:"alert,omitempty"`
	Card  *Card  `json:"card,omitempty"`
	Music *Music `json:"music,omitempty"`
	// Picture is for everybody.
	Picture *Picture `json:"picture,omitempty"`
	// Question is for the DM alone.
	Question *Question `json:"question,omitempty"`
}

// A Line is a line of the transcript as it grows: events with the same ID
// replace each other until Final.
type Line struct {
	ID      string `json:"id"`
	Speaker Person `json:"speaker"`
	// Text is what the room heard. While an NPC speaks it is what has been sent
	// so far; Coming is written but not yet heard.
	Text   string `json:"text"`
	Coming string `json:"coming,omitempty"`
	Final  bool   `json:"final"`
	// Cut is set when the speaker was interrupted.
	Cut bool `json:"cut,omitempty"`
	// Captions are what an NPC does while it speaks: shown, never spoken.
	Captions []string `json:"captions,omitempty"`
	// To names the NPCs the line was for, by id; Why says how that was found.
	To  []string `json:"to,omitempty"`
	Why string   `json:"why,omitempty"`
	// Offer is the NPC that the DM may let answer with one tap.
	Offer string `json:"offer,omitempty"`
	// Private lines are between a player and an NPC: nobody else but the DM may see
	// them.
	Private bool `json:"private,omitempty"`
	// Typed lines were written, not spoken.
	Typed bool `json:"typed,omitempty"`
}

// A Person is somebody at the table: a player, the DM or an NPC.
type Person struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// NPC and DM are the two special kinds of person.
	NPC bool `json:"npc,omitempty"`
	DM  bool `json:"dm,omitempty"`
	// Recorded is somebody who agreed that the sound of their voice is kept.
	Recorded bool `json:"-"`
}

// A State is what an NPC is doing.
type State string

// The states an NPC may be in.
const (
	Listening State = "listening"
	Thinking  State = "thinking"
	Speaking  State = "speaking"
	Muted     State = "muted"
	Absent    State = "absent"
)

// An NPC is a character's card.
type NPC struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Role     string `json:"role,omitempty"`
	Portrait string `json:"portrait,omitempty"` // URL path, "" shows initials
	State    State  `json:"state"`
	// Tier is the effective tier of the last or running turn; Why is its cause.
	Tier    mcp.Tier `json:"tier"`
	Ceiling mcp.Tier `json:"ceiling"`
	Why     string   `json:"why,omitempty"`
	Tools   []string `json:"tools,omitempty"`
	Hidden  []Hidden `json:"hidden,omitempty"`
	// Mood is one of Moods, which its campaign allows; Bonds are what it thinks of
	// those at the table. Both are for the DM.
	Mood  string   `json:"mood,omitempty"`
	Moods []string `json:"moods,omitempty"`
	Bonds []Bond   `json:"bonds,omitempty"`
	// Lifted is what the DM set for this NPC; snapshots have it, or nil.
	Lifted *Granted `json:"lifted,omitempty"`
}

// Hidden is a tool that is not on the belt, and the reason.
type Hidden struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// A Turn is how one answer came to be. Durations count from the moment the
// player had finished; zero means that the stage did not happen.
type Turn struct {
	ID   uint64   `json:"id"`
	NPC  string   `json:"npc"`
	Tier mcp.Tier `json:"tier"`
	Why  string   `json:"why"`
	// Brain names the model that answered.
	Brain         string        `json:"brain"`
	Heard         time.Duration `json:"heard"`
	Routed        time.Duration `json:"routed"`
	Briefed       time.Duration `json:"briefed"`
	FirstToken    time.Duration `json:"first_token"`
	FirstSentence time.Duration `json:"first_sentence"`
	FirstSound    time.Duration `json:"first_sound"`
	Ended         time.Duration `json:"ended"`
	Done          bool          `json:"done"`
	Cut           bool          `json:"cut,omitempty"`
	Error         string        `json:"error,omitempty"`
	// Used and Cost are known when the turn has ended.
	Used engine.Usage `json:"used"`
	Cost float64      `json:"cost,omitempty"`
	// Wasted are tokens of answers that were prepared and taken back since the last
	// turn.
	Wasted int `json:"wasted_tokens,omitempty"`
}

// A Tool is one call of a tool.
type Tool struct {
	Turn   uint64        `json:"turn"`
	NPC    string        `json:"npc"`
	Name   string        `json:"name"`
	Args   string        `json:"args"`
	Result string        `json:"result,omitempty"`
	Error  string        `json:"error,omitempty"`
	Took   time.Duration `json:"took"`
	// Began counts like a turn's durations.
	Began  time.Duration `json:"began"`
	Cached bool          `json:"cached,omitempty"`
	Tier   mcp.Tier      `json:"tier"`
	Done   bool          `json:"done"`
}

// A Scene is where the talk takes place.
type Scene struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Text    string   `json:"text"`
	Mood    string   `json:"mood,omitempty"`
	Present []string `json:"present"`
}

// An Alert tells the DM something once, with what to do about it.
type Alert struct {
	Text string `json:"text"`
	Bad  bool   `json:"bad,omitempty"`
}
