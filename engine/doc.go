// Package engine is one turn of talk: a player's sound becomes text, a model and
// its tools turn it into an answer, and the answer becomes sound again while it
// is still being made.
//
// # The way through
//
// [Ear] hears one speaker: frames go in, [Utterance]s come out, each when its speaker
// has finished by their own [Pauses]. Before that is sure an answer may be prepared:
// [Run] plays one turn of one NPC, but lets nothing be heard or changed before
// [Plan.Commit]. The model's stream is cut into sentences, each is spoken as soon as
// it is complete, and tools that the model asks for run side by side. A [Floor]
// decides when the voice gives way to people, and a [Rein] makes it. A [Cascade] has
// a quick model say the first sentence. Nothing here knows who was meant or what an
// NPC remembers; that is in the [Plan] which the table makes.
//
// # Promises
//
//   - What [Outcome.Heard] holds was sent to the room, to the word. After an
//     interruption the rest was never said, so nobody may remember it.
//   - The first frame of a sentence leaves as soon as 20 ms of it exist. Never
//     more than 1.5 s are synthesised ahead, so an interruption wastes little.
//   - A tool runs only through the plan's [mcp.Belt]. Calls of one round run in
//     parallel, and there are at most [mcp.Tier.Rounds] rounds.
//   - A guess that is taken back has changed nothing: before the commit only tools run
//     that are read-only, or idempotent and neither destructive nor writing.
//   - A turn ends: by finishing, by its context, or by the limits below.
//
// # Limits
//
// A turn lasts at most [MaxTurn] and a reply is at most [MaxReply] bytes; one
// sentence is at most 400 bytes, and longer ones are split where they breathe.
package engine
