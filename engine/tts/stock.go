package tts

import (
	"slices"
	"strings"

	"github.com/glyphoxa/glyphoxa/engine"
)

// kind is how a voice sounds to most ears.
type kind byte

const (
	either kind = iota
	female
	male
)

// stockVoice is a voice that every customer of its vendor has.
type stockVoice struct {
	id   string
	kind kind
}

// stock are the voices to choose from where nobody chose: this machine's, and those
// that vendors give to every customer.
var stock = map[string][]stockVoice{
	"flite": {{"slt", female}, {"rms", male}, {"awb", male}},
	"espeak": {
		{"+m1", male}, {"+m2", male}, {"+m3", male}, {"+m4", male}, {"+m7", male},
		{"+f1", female}, {"+f2", female}, {"+f3", female}, {"+f4", female}, {"+f5", female},
	},
	"openai": {
		{"alloy", either}, {"ash", male}, {"ballad", male}, {"coral", female}, {"echo", male}, {"fable", either},
		{"nova", female}, {"onyx", male}, {"sage", female}, {"shimmer", female}, {"verse", male},
	},
	"elevenlabs": {
		{"EXAVITQu4vr4xnSDxMaL", female}, {"21m00Tcm4TlvDq8ikWAM", female}, {"XB0fDUnXU5powFXDhCwa", female}, {"pFZP5JQG7iQjIQuC4Bku", female},
		{"JBFqnCBsd6RMkjVDRZzb", male}, {"nPczCjzI2devNBz1zQrb", male}, {"onwK4e9ZLuTAKqWW03F9", male}, {"pNInz6obpgDQGcFmaJgB", male},
	},
	"cartesia": {
		{"79a125e8-cd45-4c13-8a67-188112f4dd22", female}, {"694f9389-aac1-45b6-b726-9d9369183238", female},
		{"a0e99841-438c-4a64-b679-ae501e7d6091", male},
	},
	"deepgram": {
		{"aura-2-thalia-en", female}, {"aura-2-andromeda-en", female}, {"aura-2-helena-en", female},
		{"aura-2-apollo-en", male}, {"aura-2-arcas-en", male}, {"aura-2-orion-en", male},
	},
}

// kindOf tells how a voice sounds, as far as it is known.
func kindOf(v engine.Voice) kind {
	id := v.ID
	if v.Engine == "espeak" {
		_, variant, _ := strings.Cut(id, "+")
		if id = "+" + variant; variant == "grandma" || variant == "whisperf" {
			return female
		}
	}
	voices := stock[v.Engine]
	if i := slices.IndexFunc(voices, func(s stockVoice) bool { return s.id == id }); i >= 0 {
		return voices[i].kind
	}
	return either
}

// kindFor is how pronouns let one expect a voice to sound.
func kindFor(pronouns string) kind {
	first, _, _ := strings.Cut(strings.ToLower(pronouns), "/")
	switch strings.TrimSpace(first) {
	case "she", "sie":
		return female
	case "he", "er":
		return male
	}
	return either
}
