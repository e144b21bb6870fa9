// Package routed lets a model choose tools that cannot reliably call them.
//
// Many small models write something that looks like a tool call instead of
// making one. Routed tool choice takes the choice out of the conversation: a
// quick look at the request says whether a tool may be needed at all, then a
// model is asked, coldly and for one JSON object, which tool and with what, a
// stronger model may review that, and only a choice of at least 0.7 confidence
// is carried out. What the tool found goes into the brief as data, and the
// model that speaks never sees a tool.
//
// A [Packet] carries one request through these states and can be read
// afterwards as its audit trail. It is a state machine without models, tools or
// clocks: [Packet.Step] is told what happened and says what to do. [Router] runs
// it.
//
// # Promises
//
//   - Tools run only through an [mcp.Belt], which checks again what may be
//     called: nothing is written or executed unless the belt allows it.
//   - Nothing below the threshold runs without a person's leave.
//   - The same call is not made twice, and at most three calls are made.
//   - Our own share of a request is under five milliseconds.
package routed
