// Package spoken makes what a language model wrote fit to be said aloud.
//
// A model that plays an innkeeper also writes his name in front of his lines,
// stage directions, markup, links, its own thoughts, calls of tools that it
// does not have, results of dice that nobody threw, and now and then something
// that the table agreed never to hear. A [Filter] looks at an answer sentence by
// sentence, just before each is spoken, and lets through only what the NPC
// would say.
//
// # Promises
//
//   - No syntax of a tool call is ever spoken, in any shape that models are
//     known to write it, also where it stretches over several sentences.
//   - A number said to have been rolled is one that was rolled in this turn;
//     otherwise it is replaced by a real roll, or the sentence is struck.
//   - A sentence that crosses one of the table's lines, or tells a secret, is
//     not spoken; after one that enters a veil the answer ends.
//   - When the model begins to speak for somebody else, the answer ends.
//   - What was taken out is reported with its reason; nothing vanishes silently.
//
// # Limits
//
// A sentence of more than 2,000 bytes is cut. The filter knows words, not
// meanings: it is the last check after the brief, not a replacement for it.
package spoken
