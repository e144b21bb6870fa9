// Package stt holds the recognisers that turn a speaker's sound into text:
// pocketsphinx, which runs on this machine without a key and is good for names and
// short sentences; any server with OpenAI's transcription API, which may run here
// too (whisper.cpp, speaches, Ollama, llama.cpp); Deepgram and ElevenLabs, which
// recognise while somebody speaks. [Discover] finds what this machine has.
//
// # Promises
//
//   - One utterance at a time and speaker: 20 ms frames in, one final transcript
//     out. Nothing heard is an empty transcript, not an error.
//   - An utterance has at most [MaxUtterance]; what comes after is not heard.
//   - Sound goes to the configured server or to a child process, nowhere else, and
//     is not written to disk.
package stt

import (
	"iter"
	"time"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// MaxUtterance is how much of an utterance is heard. Nobody at a table speaks for a
// minute without a pause; an open microphone beside a television does.
const MaxUtterance = time.Minute

// limited is the first MaxUtterance of frames, in whole frames only. It takes the
// rest too, so that whoever gives the frames is not held up.
func limited(frames iter.Seq[[]int16]) iter.Seq[[]int16] {
	return func(yield func([]int16) bool) {
		n := 0
		for f := range frames {
			if n++; n > int(MaxUtterance/pcm.FrameTime) || len(f) != pcm.HearSize {
				continue
			}
			if !yield(f) {
				return
			}
		}
	}
}
