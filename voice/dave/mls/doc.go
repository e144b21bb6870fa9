// Package mls keeps the keys of a group whose members come and go while none
// but them may listen: the part of Messaging Layer Security (RFC 9420) that
// Discord's end-to-end encryption for calls, DAVE, is built on.
//
// A member holds a [Group]: the state of one epoch. The voice gateway, which is
// no member, proposes whom to add and remove ([Group.Propose]); any member turns
// the proposals into a commit ([Group.Commit]); everybody else applies it
// ([Group.Process]), or joins by the [Welcome] that goes with it ([Join]). All
// members then hold the same new secrets, and [Group.Export] derives keys from
// them. A Group does not change when an epoch ends: a new one takes its place,
// so a commit that is refused half-way leaves nothing behind.
//
// # What is here, and what is not
//
//   - Ciphersuite 2 alone: DHKEM and ECDSA on P-256, AES-128-GCM, SHA-256.
//   - Basic credentials that name a 64-bit user id.
//   - PublicMessage framing alone; adds and removes by reference alone, from one
//     external sender; no updates, no pre-shared keys, no external commits.
//
// Anything else is refused with [ErrUnsupported]. What is here follows the RFC
// to the letter and is checked against the MLS working group's test vectors
// (build tag vectors) and against two other implementations.
//
// # Promises
//
//   - Pure: no clock, no I/O, no goroutine, and no randomness but the reader it
//     is given; only the ephemeral key of an HPKE encryption is drawn by
//     crypto/hpke itself. Signatures are deterministic (RFC 6979).
//   - Whatever arrives, it does not panic, and holds at most [MaxMessage] bytes a
//     message, [MaxMembers] leaves a tree and [MaxProposals] proposals an epoch.
//   - A Group is not safe for concurrent use.
package mls
