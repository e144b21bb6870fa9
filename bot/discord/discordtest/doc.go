// Package discordtest is a Discord on loopback: the parts of its REST API (versions
// 9 and 10) and main gateway that a voice bot uses, with one server (guild) whose
// members do what a test tells them.
//
// It refuses what Discord refuses: a wrong token, a command nobody registered,
// autocomplete for an option without it, an answer to an interaction that was
// answered before, a message over 2,000 characters or one that may mention
// people. The voice servers it sends bots to are voicetest's. Members can be
// programs too: [Server.Token] lets one log in, and discord.js does, unchanged
// (see the folder interop beside this one).
//
// # Misbehaviour
//
// A [Server] does on request what Discord's gateway does on bad days: it cuts
// connections at any point, asks for new ones, declares sessions invalid, closes
// with any code, forgets heartbeats, and denies the bot permissions.
//
// # Limits
//
// At most 64 answers are kept for a test that does not look at them, and 1,000
// events for a bot that may resume.
package discordtest
