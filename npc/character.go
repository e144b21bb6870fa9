package npc

import (
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/memory"
)

// A Character is one NPC as its campaign defines it.
type Character struct {
	// ID is the entity id in the campaign: lower case, digits and dashes.
	ID string
	// Name is as it is shown: "Greymantle the Sage".
	Name string
	// Aliases are other names one may call it by; Titles are forms of address
	// that are only unique in its scene: "barkeep", "innkeeper", "sage".
	Aliases, Titles []string
	// Species and Role are said of it and to it: "halfling", "tavern keeper".
	Species, Role string
	Pronouns      string
	// Language is a BCP 47 tag; "" is the campaign's.
	Language string

	// Personality is who it is, in prose for the model; Manner is how it talks.
	Personality, Manner string
	// Background is what it has lived through. Its own to tell.
	Background string
	// Goals drive it; Secrets are never told, whatever is asked.
	Goals, Secrets []string
	// Knowledge is what it knows and may tell.
	Knowledge []Knowledge
	// Lines are its own words by occasion: "greeting", "farewell", "unknown",
	// "thanks", "filler", "roll", "rule", ...
	Lines map[string][]string

	// Voice is how it sounds.
	Voice VoiceSpec
	// Engine is "cascaded", "s2s" or "sentence_cascade".
	Engine string
	// Tier is the highest tier its turns may take.
	Tier mcp.Tier
	// Tools is the whitelist of tool names; nothing else is ever on its belt.
	Tools []string
	// Helper marks one who answers the players' questions instead of playing a
	// part in the story. Some tools are for helpers only.
	Helper bool
	// ToolChoice is "native", "routed" or "auto".
	ToolChoice string
	// Talkativeness is from 0 (only answers) to 1.
	Talkativeness float64
	// Portrait is a path within the campaign folder; "" shows initials.
	Portrait string
	// Moods are the moods it may be in, the first being its usual one.
	Moods []string
}

// Knowledge is something an NPC can tell when asked about it.
type Knowledge struct {
	// About are the words that bring it up: "the old mill", "gundren".
	About []string
	// Text is what the NPC says or knows.
	Text string
	// Audience is who else may hear it from this NPC; empty means anybody.
	Audience memory.Audience
}

// VoiceSpec is an NPC's voice as its campaign spells it; engine.Voice is made
// from it.
type VoiceSpec struct {
	Engine, ID, Language string
	Pitch, Rate, Gain    float64
}
