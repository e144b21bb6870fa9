// Package discordtest is a Discord on loopback: the parts of its REST API and main
// gateway that a voice bot uses, with one server (guild) whose members do what a
// test tells them.
//
// It refuses what Discord refuses: a wrong token, a command nobody registered,
// autocomplete for an option without it, an answer to an interaction that was
// answered before, a message over 2,000 characters or one that may mention
// people. The voice servers it sends bots to are voicetest's.
//
// At most 64 answers are kept for a test that does not look at them.
package discordtest
