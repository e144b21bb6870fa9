// Package music plays a campaign's music: Ogg Opus, FLAC, MP3 and WAV files, looped
// without a seam, faded from one to the next and turned down while somebody speaks.
//
//	library.go   which pieces there are, and which fits a mood
//	piece.go     Piece: a file that was looked at; what it is, is seen in its bytes
//	ogg.go       Ogg pages to packets; opus.go, flac.go, mp3.go, wav.go: to sound
//	loop.go      one piece, over and over
//	deck.go      Deck: the piece that plays, the one that fades away, the ducking
//	compose/     the program that made the two pieces in shipped/
//
// # Promises
//
//   - A file can be any bytes. What is wrong with it is an error that says so, and
//     at most 64 MiB of it are held; what it claims to be long, or to hold in
//     pictures and titles, is never made room for.
//   - Sound is decoded as it is played, so that an hour costs no more memory than
//     its file.
package music
