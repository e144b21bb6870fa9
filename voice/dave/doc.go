// Package dave is Discord's end-to-end encryption for calls (DAVE, protocol
// version 1) as one member sees it: who holds which key, and frames of sound
// sealed and opened with them.
//
// A [Session] is the member's state machine. It is told what the voice gateway
// sent and answers what to send back; it has no socket, no clock and no
// goroutine. The keys it arrives at go to two objects that the audio path uses
// at the same time: a [Sealer] for our own frames and an [Opener] for everybody
// else's.
//
// # Promises
//
//   - Fails closed. Without a key nothing is sealed, and what does not open under
//     its speaker's key is not sound. A call that is not encrypted, and a switch
//     to one, is refused unless [Config.AllowPlain] is set.
//   - Each frame opens once, under its own speaker's key, up to 1,024 frames out
//     of order. Keys of an epoch live ten seconds longer than the epoch.
//   - Sealing and opening a frame allocates nothing.
//   - Whoever is in the room can be compared by a human: [Session.PrivacyCode] is
//     what Discord shows in the call's details.
//
// # What is not here
//
// Video: its frames leave bytes in the clear for the server to read. Sound is
// encrypted whole, so a frame that claims clear bytes is refused.
package dave
