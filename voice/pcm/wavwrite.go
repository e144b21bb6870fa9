package pcm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"syscall"
)

// wavHeader is the length of what stands before the samples.
const wavHeader = 44

// A WAVWriter writes 16-bit mono WAV as the sound comes. Into a file the header
// is put right by [WAVWriter.Close]; into a pipe it says "as long as it comes".
type WAVWriter struct {
	w     io.Writer
	buf   []byte
	bytes int64
}

// NewWAVWriter writes a header for sound of the given rate.
func NewWAVWriter(w io.Writer, rate int) (*WAVWriter, error) {
	ww := &WAVWriter{w: w}
	ww.buf = appendHeader(ww.buf, rate, math.MaxUint32)
	if _, err := w.Write(ww.buf); err != nil {
		return nil, fmt.Errorf("wav header: %w", err)
	}
	return ww, nil
}

// Write writes samples.
func (ww *WAVWriter) Write(samples []int16) error {
	for len(samples) > 0 {
		n := min(len(samples), block)
		ww.buf = appendSamples(ww.buf[:0], samples[:n])
		m, err := ww.w.Write(ww.buf)
		ww.bytes += int64(m)
		if err != nil {
			return fmt.Errorf("wav: %w", err)
		}
		samples = samples[n:]
	}
	return nil
}

// Close puts the length into the header if the writer can seek. It does not
// close the writer.
func (ww *WAVWriter) Close() error {
	f, ok := ww.w.(io.WriterAt)
	if !ok {
		return nil
	}
	if ww.bytes > math.MaxUint32-wavHeader {
		return errors.New("wav: more than 4 GB of sound")
	}
	size := uint32(ww.bytes)
	le := binary.LittleEndian
	_, err := f.WriteAt(le.AppendUint32(nil, size+wavHeader-8), 4)
	if err == nil {
		_, err = f.WriteAt(le.AppendUint32(nil, size), wavHeader-4)
	}
	// Standard output is an *os.File even when it is a pipe.
	if errors.Is(err, syscall.ESPIPE) {
		return nil
	}
	return err
}

// EncodeWAV is a whole WAV file in memory.
func EncodeWAV(rate int, samples []int16) []byte {
	b := appendHeader(make([]byte, 0, wavHeader+2*len(samples)), rate, uint32(2*len(samples)))
	return appendSamples(b, samples)
}

// appendHeader appends the 44 bytes of a 16-bit mono WAV:
//
//	RIFF size WAVE | fmt_ 16 1 channels=1 rate bytes/s align=2 bits=16 | data size
func appendHeader(b []byte, rate int, size uint32) []byte {
	riff := uint32(math.MaxUint32)
	if size <= math.MaxUint32-wavHeader {
		riff = size + wavHeader - 8
	}
	le := binary.LittleEndian
	b = append(b, "RIFF"...)
	b = le.AppendUint32(b, riff)
	b = append(b, "WAVEfmt "...)
	b = le.AppendUint32(b, 16)
	b = le.AppendUint16(b, formatInt)
	b = le.AppendUint16(b, 1)
	b = le.AppendUint32(b, uint32(rate))
	b = le.AppendUint32(b, uint32(2*rate))
	b = le.AppendUint16(b, 2)
	b = le.AppendUint16(b, 16)
	b = append(b, "data"...)
	return le.AppendUint32(b, size)
}

func appendSamples(b []byte, samples []int16) []byte {
	for _, s := range samples {
		b = binary.LittleEndian.AppendUint16(b, uint16(s))
	}
	return b
}
