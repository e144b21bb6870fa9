// Package llm holds the language models an NPC can think with: any server with
// OpenAI's chat API, Anthropic's, and Google's. [Discover] finds the one that this
// machine has.
//
// # Promises
//
//   - Text is yielded as it comes, without what a model thinks aloud. Tool calls
//     are yielded whole, with valid JSON for arguments.
//   - An answer that ends without the vendor's own end mark is an error, also when
//     the connection closed in good order.
//   - A request is repeated at most twice, and only while nothing of its answer has
//     been yielded.
//   - A model may take 30 s to begin and 10 s between two pieces. An answer has at
//     most 16 KB of text and 32 tool calls of 256 KB.
package llm
