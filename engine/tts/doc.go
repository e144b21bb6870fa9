// Package tts holds the synthesisers an NPC can speak with: espeak-ng and flite,
// which run on this machine without a key; any server with OpenAI's speech API,
// which may run here too; ElevenLabs, Cartesia and Deepgram. A [Set] chooses between
// them by the voice's engine and carries on with the next one where the chosen one
// is missing or fails.
//
// # Promises
//
//   - Sound is yielded as it is made: espeak-ng's first after 10 ms, flite's after
//     60 ms (it makes a sentence at a time).
//   - A voice's pitch and rate are factors that mean the same for every engine, as
//     far as the engine can; espeak-ng and flite come out equally loud.
//   - Text is only ever spoken: it never reaches a shell or an argument list, and
//     markup, phoneme codes and control characters in it do nothing.
//   - A text has at most [MaxText] bytes. A program of this machine has five to
//     thirteen seconds for it, and at most four of one kind run at once.
package tts
