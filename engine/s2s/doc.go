// Package s2s lets an NPC be played by a model that hears and speaks by itself,
// speech to speech: OpenAI's Realtime API and Google's Gemini Live.
//
// A [Performer] is one NPC's conversation with such a model. It takes the turns that
// the table gives it, with the sound that was said, and plays them with
// [engine.Run]: the model's transcript takes the place of a language model and its
// sound that of a synthesiser. So addressing, the censor, interruptions, captions and
// memory are the same as for every other NPC.
//
// # Promises
//
//   - The table decides when a turn ends and who answers: the vendors' own turn
//     detection is off.
//   - No sound is played before its words are known and have passed the plan's
//     filter. What is struck is never heard; the answer ends there.
//   - After an interruption the vendor's session is cut back to what was played, so
//     that the model remembers what the room does.
//   - Tools run only through the NPC's belt, by [bridge]. When the tier changes, the
//     session is told by the vendor's own means, and only if the tools differ.
//   - A turn that may take the deep tier's time, and one that the vendor does not
//     answer within 2.5 s, is played by the plan's own model and synthesiser, as a
//     whole. What a session misses in this way it is told before its next turn.
//   - A session that is about to end is replaced between turns by another that knows
//     what was said: in a summary what is old, word for word what is new.
//
// # Limits
//
// One answer is at most two minutes of sound; a message of a vendor at most 16 MiB. A
// vendor that fails three times is left alone for a while, see [engine.Breaker].
package s2s
