// Package engine is one turn of talk: a player's sound becomes text, a model and
// its tools turn it into an answer, and the answer becomes sound again while it
// is still being made.
//
// # The way through
//
// [Ear] hears one speaker: frames go in, [Utterance]s come out. [Run] plays one
// turn of one NPC: the model's stream is cut into sentences, each sentence is
// spoken as soon as it is complete, and tools that the model asks for run side by
// side. Nothing here knows who was meant or what an NPC remembers; that is in
// the [Plan] which the table makes.
//
// # Promises
//
//   - What [Outcome.Heard] holds was sent to the room, to the word. After an
//     interruption the rest was never said, so nobody may remember it.
//   - The first frame of a sentence leaves as soon as 20 ms of it exist. Never
//     more than 1.5 s are synthesised ahead, so an interruption wastes little.
//   - A tool runs only through the plan's [mcp.Belt]. Calls of one round run in
//     parallel, and there are at most [mcp.Tier.Rounds] rounds.
//   - A turn ends: by finishing, by its context, or by the limits below.
//
// # Limits
//
// A turn lasts at most [MaxTurn] and a reply is at most [MaxReply] bytes; one
// sentence is at most 400 bytes, and longer ones are split where they breathe.
package engine
