// Package voicetest is a Discord voice server that runs on loopback: for tests,
// and for trying the program out without Discord.
//
// It speaks the voice gateway's real protocol on a real WebSocket (TLS, with a
// certificate of its own) and relays sound between the members of a call over
// real UDP; it proposes and orders the changes of each call's encrypted group
// ([Group]) and cannot listen, as the real one cannot. Third-party clients such
// as discord.js join it unchanged, if they are told of its certificate.
//
// Who may join is said with [Server.Admit], as Discord's main gateway would.
//
// # Misbehaviour
//
// A [Server] does on request what networks and servers do: it loses, repeats,
// delays and reorders packets ([Faults]), sends garbage, cuts sockets, closes
// them with any code, forgets heartbeats, falls silent, spoils commits and
// welcomes, and describes a call without encryption.
//
// # Limits
//
// Any number of calls, 100 members each; 2,000 messages are kept per member for
// resuming, for a minute. It is made for loopback: do not open it to a network.
package voicetest
