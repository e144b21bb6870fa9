// Package discordtest is a Discord on loopback: the parts of its REST API (versions
// 9 and 10) and main gateway that a voice bot uses, with servers (guilds) whose
// members do what a test tells them: type commands, press buttons, choose in menus,
// fill in windows and send files.
//
// It refuses what Discord refuses: a wrong token, names, descriptions and lists of
// options that are too long, an answer to an interaction that was answered before,
// an edit of a message that is not there, a message over 2,000 characters or one
// that may mention people. The voice servers it sends bots to are voicetest's. Members can be
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
// At most 512 messages are kept, the latest, and 1,000
// events for a bot that may resume.
package discordtest
