// Package bot is the [Table]: one running game, and every action that a person
// can take at it.
//
// A table has a campaign with its NPCs, a memory, a tool host and the parts that
// hear, think and speak. Lines come in by [Table.Say] (typed) and [Table.Listen]
// (spoken) and take the same way from there: the line is remembered, the NPCs it
// was meant for are found, and each of them answers in turn through
// [engine.Run]. What happens is told to whoever follows [Table.Events], and what
// the room hears to whoever follows [Table.Sound].
//
// # Promises
//
//   - Actions happen one after the other, on one goroutine that never waits for
//     a model, a disk or a listener.
//   - One NPC speaks at a time. Somebody who talks or types over it cuts it off,
//     and only what had been sent is remembered.
//   - A line that was heard is written to memory before the next turn ends.
//   - Nobody is addressed unless [npc.Cast] says so, and no tool runs but through
//     the belt of the NPC's turn.
//
// # Limits
//
// A typed line has at most [MaxLine] bytes, at most 16 lines wait to be answered,
// and at most 16 people may speak at once.
package bot
