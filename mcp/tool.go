package mcp

import (
	"context"
	"encoding/json"
	"strings"
	"time"
)

// A Tool is what is known about one tool before it is called. For tools of
// external servers, everything but Name and Server is a claim, not a fact.
type Tool struct {
	// Name is legal for every model API: [a-zA-Z0-9_-], at most 64 bytes.
	// Tools of external servers are called server__tool.
	Name string
	// Server is the configured name of the tool's server; "" for built-ins.
	Server string
	// Title is for people, Description for the model.
	Title, Description string
	// Schema is the JSON Schema of the arguments, always an object's.
	Schema json.RawMessage
	// Category groups tools; see [Category].
	Category Category
	// Estimated and Max are the author's median and upper bound. Zero Estimated
	// means that nothing is known.
	Estimated, Max time.Duration
	// Cache is how long a result may be reused. Zero means never.
	Cache time.Duration
	// ReadOnly tools change nothing; Idempotent ones may be called twice.
	ReadOnly, Idempotent bool
	// Destructive tools overwrite or remove; OpenWorld ones reach outside.
	Destructive, OpenWorld bool
	// Writes marks a tool that needs approval where writing is not allowed.
	Writes bool
	// Least is the tier that the tool needs however fast it answers: for tools
	// that cost money, or go on working after they have answered.
	Least Tier
	// HelpersOnly keeps the tool from characters of the story: only the game
	// master and NPCs that are helpers ([Grant]) may use it.
	HelpersOnly bool
	// Missing says what a tool of our own cannot be used without, and how to get
	// it, such as a setting; "" if nothing is missing. A tool that misses something
	// is known, so that people can be told, and on no belt.
	Missing string
}

// Category says where a tool lives and how far it reaches.
type Category string

// The categories: core tools run in this process and cannot be
// disabled, system tools touch this machine, network tools reach out of it,
// external tools belong to somebody else's server.
const (
	Core     Category = "core"
	System   Category = "system"
	Network  Category = "network"
	External Category = "external"
)

// A Caller is on whose behalf a tool runs. Tools that read memory read it
// through the eyes of NPC, so that no argument can widen what it may know.
type Caller struct {
	// Campaign is the campaign's id.
	Campaign string `json:"campaign,omitempty"`
	// Session is the running session's id.
	Session string `json:"session,omitempty"`
	// NPC is the entity id of the character; "" is the game master.
	NPC string `json:"npc,omitempty"`
	// Speaker is who asked: a player's id.
	Speaker string `json:"speaker,omitempty"`
	// Turn numbers the turn within the session.
	Turn uint64 `json:"turn,omitempty"`
}

// A Builtin is a tool that runs in this process, called directly.
type Builtin struct {
	Tool
	// Call runs the tool. args has already been validated against Schema. It
	// must be safe for concurrent use and return soon after ctx ends. The text
	// is for a model; an error's text is shown to it too.
	Call func(ctx context.Context, who Caller, args json.RawMessage) (string, error)
}

// Executes reports whether the tool's name says that it runs programs: a shell, a
// command or a script. That is a claim like everything that a tool says of itself:
// one that hides it still needs leave for each call.
func (t Tool) Executes() bool {
	for part := range strings.FieldsFuncSeq(strings.ToLower(t.Name), func(r rune) bool { return r == '_' || r == '-' }) {
		switch part {
		case "run", "exec", "execute", "shell", "bash", "sh", "command", "cmd", "script", "eval", "spawn", "terminal", "powershell", "python":
			return true
		}
	}
	return false
}
