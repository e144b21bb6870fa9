// Package pcm is plain sound: 16-bit mono samples, and what the table does with
// them before they are encoded or after they were decoded.
//
// The table's own format is 48 kHz mono in frames of 20 ms ([Rate], [FrameSize]);
// recognisers hear 16 kHz ([HearRate], [HearSize]). A [Resampler] goes between any
// two rates, a [Framer] cuts what arrives in odd pieces into whole frames, a
// [WAVReader] and a [WAVWriter] go between sound and files or pipes.
//
// # Promises
//
//   - Nothing here allocates per frame once it is warm.
//   - A stranger's WAV can be any bytes: at most 64 KiB of it are held at a time,
//     and what is wrong with it is said in words. See the Max constants in wav.go.
//   - Sums and gains never wrap around: what is too loud is bent, not folded.
//
// It does not decode compressed sound, and it knows nothing of stereo beyond
// folding a file's channels to one.
package pcm
