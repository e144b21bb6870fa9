package pcm

import (
	"bufio"
	"encoding/binary"
	"io"
)

// A Reader reads headerless sound: 16-bit little-endian mono samples. Pieces of
// any length may arrive, also half a sample.
type Reader struct {
	r *bufio.Reader
}

// NewReader reads samples from r.
func NewReader(r io.Reader) *Reader { return &Reader{bufio.NewReaderSize(r, 4<<10)} }

// ReadSome waits for the first sample and then returns what has arrived rather than
// waiting for more. At the end it returns [io.EOF]; half a sample there is dropped.
func (r *Reader) ReadSome(samples []int16) (int, error) {
	if len(samples) == 0 {
		return 0, nil
	}
	if _, err := r.r.Peek(2); err != nil {
		return 0, err
	}
	n := min(len(samples), r.r.Buffered()/2)
	b, err := r.r.Peek(2 * n)
	if err != nil {
		return 0, err
	}
	for i := range samples[:n] {
		samples[i] = int16(binary.LittleEndian.Uint16(b[2*i:]))
	}
	_, err = r.r.Discard(2 * n)
	return n, err
}

// Samples turns bytes into samples; half a sample at the end is left out.
func Samples(b []byte) []int16 {
	out := make([]int16, len(b)/2)
	for i := range out {
		out[i] = int16(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return out
}
