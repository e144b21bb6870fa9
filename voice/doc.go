// Package voice joins one Discord voice channel and turns it into sound.
//
// Incoming audio arrives as one ordered stream of 20 ms frames per speaker;
// outgoing audio is whatever the voices of a [Conn] are given, mixed and paced to
// real time. Discord's end-to-end encryption (package dave) is always on.
//
// # Promises
//
//   - Frames of one speaker arrive in order, each at most once. Nothing is
//     promised between speakers.
//   - A reader that falls behind loses its oldest frames, and [Stats] says how
//     many. A slow reader never delays another speaker or the sender.
//   - At most 64 speakers and 64 packets a speaker are held, whatever arrives.
//   - A connection that drops is resumed, and a channel that moves to another
//     server is followed, without a word lost that was given to a voice.
//   - No allocation per packet, no log line per packet.
//
// # How it is laid out
//
// The gateway, a WebSocket that says who is there and with which keys:
//
//	join.go      Server, Options, Join, Conn: the life of a call
//	session.go   session: the handshake as a pure step machine; it asks, by
//	             actions, for what the runner shall do
//	wire.go      the gateway's messages, JSON and binary
//	close.go     after: what to do once a socket closed, by close code
//	hold.go      one session held over its sockets, with the line that belongs to it
//	socket.go    one WebSocket and its heartbeat; udp.go: discovery of our address
//
// The line, datagrams of sound in both directions:
//
//	rtp/          datagrams: RTP headers and the transport's two ciphers
//	line.go       line: everything a connection's datagrams need (UDP socket,
//	              rtp.Cipher, our SSRC, dave.Sealer, dave.Opener); it is replaced
//	              as a whole when the connection is, and nil while there is none
//	reorder.go    queue: one SSRC's packets in order, waiting only at a gap
//	listen.go     the loop that reads datagrams, the watchdog and the keep-alive
//	receive.go    receiver: datagram in, speaker found, ordered, decoded, frame out
//	hear.go       Conn.Hear: the frames of all speakers
//	mix.go        mixer: the voices, their priorities and ducking, one frame out
//	send.go       sender: mixes and encodes ahead, speaking flag, silence at the end
//	pace.go       Pacer: one locked thread that sends for all calls of a process
package voice
