// Package mcp is the tool host: it knows every tool there is, decides which of
// them an NPC may use in one turn, and runs them.
//
// Tools come from two places: Go functions in this process ([Builtin]) and
// servers that speak the Model Context Protocol ([ServerConfig]), as child
// processes or over HTTP. To a model they look alike.
//
// # The belt
//
// A [Belt] is what one NPC may use in one turn: the NPC's whitelist, cut down to
// what the turn has time for ([Tier]), what is healthy, what an operator has
// approved, and what the words of the player ask for ([Constraint]). It is fixed
// before the model runs, and [Belt.Call] is the only way to run a tool. So what
// is not on the belt cannot be called, whoever asks, in whatever words.
//
// # Promises
//
//   - Call returns at the tier's limit at the latest, whatever a server does.
//   - Arguments reach a tool only if they match its schema.
//   - A tool's speed is measured, not believed: a server that is not trusted can
//     make its tools slower by what it says about them, never faster.
//   - A call is repeated only if repeating it is harmless.
//   - A tool whose definition changed since an operator saw it is off the belt
//     until somebody approves the change.
//   - After a result from a server that is not trusted, or from the open world,
//     tools that change anything are off the belt for the rest of the turn.
//   - One dead, silent or babbling server never delays another, nor the start.
//
// # Limits
//
// 128 tools a server, 120 a belt, 64 KiB of arguments and of schema, 1 MiB a
// message of a server, 8 KiB of a result shown to a model. See [Limits].
package mcp
