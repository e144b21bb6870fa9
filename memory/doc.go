// Package memory is what a campaign remembers: what was said at the table, what
// is true in its world, and who knows which part of it.
//
// It has three layers. Lines are the transcript, written once and never changed.
// Claims are facts, attributes and relations with a time from which they held and
// a time at which they ended. Entities are the people, places and things that
// claims are about. A [Store] keeps them; memory/sqlite and memory/postgres are
// stores.
//
// # Promises
//
//   - Every read is made by a [Viewer]. An NPC's viewer sees the lines it
//     witnessed or was told, and the claims whose audience it belongs to. Nothing
//     an NPC asks for, in whatever words, can return anything else.
//   - What [Store.Append] acknowledged survives the death of the process.
//   - Nothing is overwritten: a claim ends, and a viewer with an earlier AsOf
//     still sees it.
//   - [Writer.Write] never waits for a disk or a network.
//
// # Limits
//
// A line holds at most [MaxText] bytes and [MaxAudience] witnesses. A search
// returns at most [MaxHits] lines and looks at a bounded number of candidates,
// so that its time does not grow with the age of the campaign.
package memory
