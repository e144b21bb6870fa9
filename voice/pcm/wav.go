package pcm

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

const (
	// MaxWAVChannels is more than any recorder at a table has.
	MaxWAVChannels = 32
	// maxFormat bounds the format chunk; the largest that is used has 40 bytes.
	maxFormat = 1024
	// maxBeside bounds what may stand in front of the sound: titles, pictures.
	maxBeside = 16 << 20
	// maxChunks bounds the number of chunks in front of the sound.
	maxChunks = 256
	// unknownSize is the smallest size that says "as long as it comes": programs
	// that write to a pipe cannot know, and write nearly 2 or 4 GB instead.
	unknownSize = 0x7ff00000
)

// ErrNotWAV is what a reader finds that does not begin like a WAV file.
var ErrNotWAV = errors.New("not a WAV file")

// The numbers of the format chunk, from RFC 2361.
const (
	formatInt        = 1
	formatFloat      = 3
	formatExtensible = 0xfffe
)

// A WAVReader reads the sound of a WAV file or pipe as it comes, folding all
// channels to one. It reads whole numbers of 8, 16, 24 and 32 bits and floating
// point of 32 and 64.
type WAVReader struct {
	r        *bufio.Reader
	rate     int
	channels int
	bytes    int // of one sample of one channel
	float    bool
	left     int64 // bytes of sound that the header promised; -1: until the end
}

// NewWAVReader reads up to where the sound begins. Its errors say what a person
// can do about the file.
func NewWAVReader(r io.Reader) (*WAVReader, error) {
	w := &WAVReader{r: bufio.NewReaderSize(r, 64<<10)}
	if err := w.header(); err != nil {
		return nil, fmt.Errorf("wav: %w", err)
	}
	return w, nil
}

// Rate is the file's sample rate in Hz.
func (w *WAVReader) Rate() int { return w.rate }

// Duration is how much sound is left by the header's word, or 0 if that does not
// say.
func (w *WAVReader) Duration() time.Duration {
	if w.left < 0 {
		return 0
	}
	return time.Duration(float64(w.left) / float64(w.channels*w.bytes*w.rate) * float64(time.Second))
}

func (w *WAVReader) header() error {
	var riff [12]byte
	if n, err := io.ReadFull(w.r, riff[:]); err != nil {
		if n == 0 && errors.Is(err, io.EOF) {
			return errors.New("the file is empty")
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("%w: it has only %d bytes", ErrNotWAV, n)
		}
		return err
	}
	if string(riff[:4]) != "RIFF" || string(riff[8:]) != "WAVE" {
		return notWAV(riff[:])
	}
	haveFormat := false
	beside := int64(0)
	for range maxChunks {
		var head [8]byte
		if _, err := io.ReadFull(w.r, head[:]); err != nil {
			return fmt.Errorf("the header ends before any sound: %w", unexpected(err))
		}
		size := int64(binary.LittleEndian.Uint32(head[4:]))
		switch id := string(head[:4]); id {
		case "fmt ":
			if err := w.format(size); err != nil {
				return err
			}
			haveFormat = true
		case "data":
			if !haveFormat {
				return errors.New("the sound comes before its format: the file is broken")
			}
			w.left = size
			if size == 0 || size >= unknownSize {
				w.left = -1
			}
			return nil
		default:
			size += size & 1 // chunks are padded to an even length
			if beside += size; beside > maxBeside {
				return fmt.Errorf("more than %d MB of other things before the sound (chunk %q)", maxBeside>>20, id)
			}
			if _, err := w.r.Discard(int(size)); err != nil {
				return fmt.Errorf("chunk %q: %w", id, unexpected(err))
			}
		}
	}
	return fmt.Errorf("over %d chunks and no sound among them", maxChunks)
}

// format reads the format chunk.
func (w *WAVReader) format(size int64) error {
	if size < 16 || size > maxFormat {
		return fmt.Errorf("the format chunk has %d bytes, want 16 to %d: the file is broken", size, maxFormat)
	}
	b := make([]byte, size+size&1)
	if _, err := io.ReadFull(w.r, b); err != nil {
		return fmt.Errorf("format chunk: %w", unexpected(err))
	}
	kind := int(binary.LittleEndian.Uint16(b))
	w.channels = int(binary.LittleEndian.Uint16(b[2:]))
	rate := binary.LittleEndian.Uint32(b[4:])
	align := int(binary.LittleEndian.Uint16(b[12:]))
	bits := int(binary.LittleEndian.Uint16(b[14:]))
	if kind == formatExtensible {
		if size < 40 {
			return errors.New("the extended format is cut short: the file is broken")
		}
		kind = int(binary.LittleEndian.Uint16(b[24:])) // the sub-format's first two bytes
	}
	switch {
	case kind == formatInt && (bits == 8 || bits == 16 || bits == 24 || bits == 32):
	case kind == formatFloat && (bits == 32 || bits == 64):
		w.float = true
	default:
		return fmt.Errorf("%s of %d bits is not read here: convert it with 'ffmpeg -i IN -c:a pcm_s16le OUT.wav'", formatName(kind), bits)
	}
	w.bytes = bits / 8
	if w.channels < 1 || w.channels > MaxWAVChannels {
		return fmt.Errorf("%d channels: want 1 to %d", w.channels, MaxWAVChannels)
	}
	if rate < MinRate || rate > MaxRate {
		return fmt.Errorf("sample rate %d Hz: want %d to %d", rate, MinRate, MaxRate)
	}
	w.rate = int(rate)
	if align != w.channels*w.bytes {
		return fmt.Errorf("a frame of %d channels of %d bits has %d bytes, not %d: the file is broken",
			w.channels, bits, w.channels*w.bytes, align)
	}
	return nil
}

// Read fills samples, all of them unless the sound ends. At the end it returns
// [io.EOF]; where a file is shorter than its header says, first all the sound
// there is and then an error that wraps [io.ErrUnexpectedEOF].
func (w *WAVReader) Read(samples []int16) (int, error) {
	frame := w.channels * w.bytes
	for i := range samples {
		if w.left >= 0 && w.left < int64(frame) {
			return i, io.EOF
		}
		b, err := w.r.Peek(frame)
		if err != nil {
			switch {
			case !errors.Is(err, io.EOF):
				return i, fmt.Errorf("wav: %w", err)
			case w.left < 0:
				return i, io.EOF
			default:
				return i, fmt.Errorf("wav: the file ends %v too early: %w", w.Duration().Round(time.Millisecond), io.ErrUnexpectedEOF)
			}
		}
		samples[i] = w.fold(b)
		if _, err := w.r.Discard(frame); err != nil {
			return i, fmt.Errorf("wav: %w", err)
		}
		if w.left >= 0 {
			w.left -= int64(frame)
		}
	}
	return len(samples), nil
}

// ReadSome is [WAVReader.Read] for live sound: it waits for the first sample and
// then returns what has arrived rather than waiting for more.
func (w *WAVReader) ReadSome(samples []int16) (int, error) {
	frame := w.channels * w.bytes
	n, err := w.Read(samples[:min(1, len(samples))])
	if err != nil || n == 0 {
		return n, err
	}
	ready := min(len(samples)-1, w.r.Buffered()/frame)
	m, err := w.Read(samples[1 : 1+ready])
	return 1 + m, err
}

// fold reads one sample of each channel and returns their mean.
func (w *WAVReader) fold(b []byte) int16 {
	if w.channels == 1 && w.bytes == 2 {
		return int16(binary.LittleEndian.Uint16(b))
	}
	var sum float64
	for ; len(b) > 0; b = b[w.bytes:] {
		switch {
		case w.float && w.bytes == 4:
			sum += full(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
		case w.float:
			sum += full(math.Float64frombits(binary.LittleEndian.Uint64(b)))
		case w.bytes == 1: // the only one without a sign
			sum += (float64(b[0]) - 128) * 256
		case w.bytes == 2:
			sum += float64(int16(binary.LittleEndian.Uint16(b)))
		case w.bytes == 3:
			sum += float64(int32(uint32(b[0])<<8|uint32(b[1])<<16|uint32(b[2])<<24)) / 65536
		default:
			sum += float64(int32(binary.LittleEndian.Uint32(b))) / 65536
		}
	}
	return round(float32(sum / float64(w.channels)))
}

// full scales a floating-point sample; what is not a number is silence.
func full(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return max(-1, min(1, v)) * 32768
}

// ReadWAV reads a whole WAV at the given rate, at most limit of it: longer files
// are refused, not cut.
func ReadWAV(r io.Reader, rate int, limit time.Duration) ([]int16, error) {
	w, err := NewWAVReader(r)
	if err != nil {
		return nil, err
	}
	long := fmt.Errorf("wav: longer than %v: cut it into pieces", limit)
	if w.Duration() > limit {
		return nil, long
	}
	resample, err := NewResampler(w.rate, rate)
	if err != nil {
		return nil, fmt.Errorf("wav: %w", err)
	}
	most := int(limit.Seconds() * float64(rate))
	var out []int16
	buf := make([]int16, block)
	for {
		n, err := w.Read(buf)
		out = resample.Append(out, buf[:n])
		if len(out) > most {
			return nil, long
		}
		if errors.Is(err, io.EOF) {
			return resample.Flush(out), nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// notWAV says what a file is that is not a WAV, if that can be seen.
func notWAV(b []byte) error {
	const convert = ": convert it with 'ffmpeg -i IN OUT.wav'"
	for _, k := range []struct{ magic, name string }{
		{"OggS", "an Ogg file"}, {"fLaC", "a FLAC file"}, {"ID3", "an MP3 file"},
		{"\xff\xfb", "an MP3 file"}, {"\xff\xf3", "an MP3 file"}, {"FORM", "an AIFF file"},
		{"\x1aE\xdf\xa3", "a WebM or Matroska file"}, {"RF64", "a WAV of more than 4 GB (RF64)"},
		{"RIFX", "a big-endian WAV (RIFX)"},
	} {
		if bytes.HasPrefix(b, []byte(k.magic)) {
			return fmt.Errorf("%w but %s%s", ErrNotWAV, k.name, convert)
		}
	}
	if string(b[4:8]) == "ftyp" {
		return fmt.Errorf("%w but an MP4 file%s", ErrNotWAV, convert)
	}
	return fmt.Errorf("%w: it begins with %q", ErrNotWAV, b[:4])
}

func formatName(kind int) string {
	switch kind {
	case formatInt:
		return "PCM"
	case formatFloat:
		return "floating point"
	case 2, 17:
		return "ADPCM"
	case 6:
		return "A-law"
	case 7:
		return "mu-law"
	case 85:
		return "MP3"
	}
	return fmt.Sprintf("sound format %d", kind)
}

// unexpected turns an end of file into one that should not be there.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
