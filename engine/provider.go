package engine

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// A Role says who speaks in a [Message].
type Role string

// The roles that every chat API knows.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// A Message is one entry of the talk a model is shown.
type Message struct {
	Role Role
	// Name is who spoke: a player's or an NPC's name; "" for the NPC itself.
	Name string
	Text string
	// Calls are the tools an assistant message asked for.
	Calls []Call
	// CallID links a tool's result to the [Call] that asked for it.
	CallID string
}

// A Call is a model's wish to run a tool.
type Call struct {
	ID   string
	Name string
	Args json.RawMessage
}

// A Request is all that a model is given for one round.
type Request struct {
	// System is the stable part of the brief: it changes as rarely as possible,
	// so that a vendor's prompt cache can serve it.
	System string
	// Messages are the talk so far, oldest first; the volatile part of the brief
	// is in the last of them.
	Messages []Message
	// Tools are what the model may call: exactly the belt's, in its order.
	Tools []mcp.Tool
	// MaxTokens bounds the answer. Zero means 300.
	MaxTokens int
	// Temperature is nil for the vendor's default.
	Temperature *float64
	// JSON asks for one JSON object instead of speech.
	JSON bool
}

// A Delta is a piece of a model's answer. Exactly one with Done set comes last.
type Delta struct {
	Text string
	// Calls are complete: arguments are assembled before they are yielded.
	Calls []Call
	Done  bool
	Usage Usage
}

// Usage is what was used of a provider, in the provider's own counting.
type Usage struct {
	// In, CachedIn and Out are tokens; the cached are part of In. Thoughts count as
	// Out, as vendors charge them.
	In, CachedIn, Out int
	// AudioIn, CachedAudioIn and AudioOut are how many of these were sound, which has
	// a price of its own.
	AudioIn, CachedAudioIn, AudioOut int
	// Heard is sound that was recognised, Letters text that was synthesised.
	Heard   time.Duration
	Letters int
}

// Plus is both together.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		In: u.In + v.In, CachedIn: u.CachedIn + v.CachedIn, Out: u.Out + v.Out,
		AudioIn: u.AudioIn + v.AudioIn, CachedAudioIn: u.CachedAudioIn + v.CachedAudioIn, AudioOut: u.AudioOut + v.AudioOut,
		Heard: u.Heard + v.Heard, Letters: u.Letters + v.Letters,
	}
}

// A Model turns a request into text and tool calls. Its stream ends with one
// Done delta or one error; breaking out of the loop ends the request within
// 100 ms. An answer that stops without the vendor's own end mark is an error.
type Model interface {
	// Name is for the console, such as "gpt-5-mini at api.openai.com".
	Name() string
	Stream(ctx context.Context, r Request) iter.Seq2[Delta, error]
}

// A Voice is how an NPC sounds. Zero fields take the synthesiser's defaults.
type Voice struct {
	// Engine names the synthesiser: "espeak", "flite", "openai", ... "" takes the
	// table's default.
	Engine string
	// ID is the vendor's voice: "en-gb+m3", "slt", "onyx".
	ID string
	// Language is a BCP 47 tag such as "en-GB".
	Language string
	// Pitch and Rate are factors around 1; Gain is in decibels.
	Pitch, Rate, Gain float64
}

// A Synthesizer speaks one sentence. The stream yields sound as soon as there is
// some and ends within 100 ms of ctx; chunks are the caller's to keep. Words is
// filled where the vendor reports timing.
type Synthesizer interface {
	Name() string
	Speak(ctx context.Context, v Voice, text string) iter.Seq2[Speech, error]
}

// Speech is a piece of spoken sound.
type Speech struct {
	pcm.Chunk
	// Words are the words that begin in this chunk, if the vendor tells.
	Words []WordTime
}

// A WordTime says when a word begins, counted from the sentence's first sample.
type WordTime struct {
	Text  string
	Start time.Duration
}

// A Recognizer turns one speaker's sound into text. frames are 20 ms of 16 kHz
// mono each. It may yield provisional text and yields exactly one final
// [Transcript] last; when ctx ends it stops within 100 ms with its cause.
type Recognizer interface {
	Name() string
	// Basic reports that recognition is only good for names and commands.
	Basic() bool
	Hear(ctx context.Context, o Hearing, frames iter.Seq[[]int16]) iter.Seq2[Transcript, error]
}

// Hearing helps a recogniser.
type Hearing struct {
	Language string
	// Terms are names that may come up, most likely first.
	Terms []string
	// Fresh, if it is not nil, tells the names as they are now: the scene may change,
	// even while somebody speaks. It must not block.
	Fresh func() []string
}

// Now is the names that may come up now.
func (h Hearing) Now() []string {
	if h.Fresh != nil {
		return h.Fresh()
	}
	return h.Terms
}

// A Transcript is what was heard so far, or in the end if Final.
type Transcript struct {
	Text  string
	Final bool
	// Confidence is between 0 and 1; 0 where the vendor does not say.
	Confidence float64
}
