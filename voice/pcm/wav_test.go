package pcm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// wavFile builds a WAV by hand, so that the reader is not judged by the writer.
func wavFile(kind, channels, rate, bits int, extensible bool, data []byte) []byte {
	le := binary.LittleEndian
	fmtChunk := le.AppendUint16(nil, uint16(kind))
	if extensible {
		le.PutUint16(fmtChunk, formatExtensible)
	}
	fmtChunk = le.AppendUint16(fmtChunk, uint16(channels))
	fmtChunk = le.AppendUint32(fmtChunk, uint32(rate))
	fmtChunk = le.AppendUint32(fmtChunk, uint32(rate*channels*bits/8))
	fmtChunk = le.AppendUint16(fmtChunk, uint16(channels*bits/8))
	fmtChunk = le.AppendUint16(fmtChunk, uint16(bits))
	if extensible {
		fmtChunk = le.AppendUint16(fmtChunk, 22)
		fmtChunk = le.AppendUint16(fmtChunk, uint16(bits))
		fmtChunk = le.AppendUint32(fmtChunk, 0)
		fmtChunk = le.AppendUint16(fmtChunk, uint16(kind))
		fmtChunk = append(fmtChunk, "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"...)
	}
	b := []byte("RIFF\x00\x00\x00\x00WAVELIST\x05\x00\x00\x00title\x00fmt ")
	b = le.AppendUint32(b, uint32(len(fmtChunk)))
	b = append(b, fmtChunk...)
	b = append(b, "data"...)
	b = le.AppendUint32(b, uint32(len(data)))
	b = append(b, data...)
	le.PutUint32(b[4:], uint32(len(b)-8))
	return b
}

func readAll(r *WAVReader) ([]int16, error) {
	var out []int16
	buf := make([]int16, 7)
	for {
		n, err := r.Read(buf)
		out = append(out, buf[:n]...)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
	}
}

func TestEveryUsualFormatIsReadAsMono(t *testing.T) {
	le := binary.LittleEndian
	want := []int16{0, 16384, -16384, 32767, -32768}
	values := []float64{0, 0.5, -0.5, 1, -1}
	encode := func(one func(v float64) []byte, channels int) (b []byte) {
		for _, v := range values {
			for range channels {
				b = append(b, one(v)...)
			}
		}
		return b
	}
	i := func(bits int) func(float64) []byte {
		return func(v float64) []byte {
			n := int64(max(-math.Exp2(float64(bits-1)), min(math.Exp2(float64(bits-1))-1, v*math.Exp2(float64(bits-1)))))
			if bits == 8 {
				n += 128
			}
			return le.AppendUint64(nil, uint64(n))[:bits/8]
		}
	}
	f32 := func(v float64) []byte { return le.AppendUint32(nil, math.Float32bits(float32(v))) }
	f64 := func(v float64) []byte { return le.AppendUint64(nil, math.Float64bits(v)) }
	for _, c := range []struct {
		name           string
		kind, channels int
		bits           int
		ext            bool
		one            func(float64) []byte
		tolerance      int
	}{
		{"8 bit", formatInt, 1, 8, false, i(8), 256},
		{"16 bit", formatInt, 1, 16, false, i(16), 0},
		{"16 bit stereo", formatInt, 2, 16, false, i(16), 0},
		{"24 bit", formatInt, 1, 24, false, i(24), 1},
		{"24 bit, 6 channels, extensible", formatInt, 6, 24, true, i(24), 1},
		{"32 bit", formatInt, 1, 32, false, i(32), 1},
		{"float", formatFloat, 1, 32, false, f32, 1},
		{"float stereo extensible", formatFloat, 2, 32, true, f32, 1},
		{"double", formatFloat, 1, 64, false, f64, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := wavFile(c.kind, c.channels, 44100, c.bits, c.ext, encode(c.one, c.channels))
			r, err := NewWAVReader(iotest.OneByteReader(bytes.NewReader(file)))
			if err != nil {
				t.Fatal(err)
			}
			if r.Rate() != 44100 {
				t.Errorf("rate %d, want 44100", r.Rate())
			}
			got, err := readAll(r)
			if err != nil {
				t.Fatal(err)
			}
			near := cmp.Comparer(func(a, b int16) bool { return max(a, b)-min(a, b) <= int16(c.tolerance) || a == b })
			if diff := cmp.Diff(want, got, near); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestChannelsAreFoldedToTheirMean(t *testing.T) {
	data := []byte{0x00, 0x10, 0x00, 0x30} // 4096 and 12288
	got, err := ReadWAV(bytes.NewReader(wavFile(formatInt, 2, 48000, 16, false, data)), 48000, time.Second)
	if err != nil || !slices.Equal(got, []int16{8192}) {
		t.Errorf("got %v, %v; want 8192", got, err)
	}
}

func TestAFloatThatIsNoNumberIsSilence(t *testing.T) {
	nan := binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(math.NaN())))
	got, err := ReadWAV(bytes.NewReader(wavFile(formatFloat, 1, 48000, 32, false, nan)), 48000, time.Second)
	if err != nil || !slices.Equal(got, []int16{0}) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestBrokenFilesAreExplained(t *testing.T) {
	ok := wavFile(formatInt, 1, 16000, 16, false, make([]byte, 3200))
	with := func(offset int, b ...byte) []byte {
		c := bytes.Clone(ok)
		copy(c[offset:], b)
		return c
	}
	const f = 34 // where the format's fields begin in ok
	for _, c := range []struct {
		name, want string
		file       []byte
	}{
		{"empty", "empty", nil},
		{"text", `begins with "Hell"`, []byte("Hello, I am not sound.")},
		{"short", "only 3 bytes", []byte("RIF")},
		{"ogg", "Ogg file: convert", []byte("OggS\x00\x02\x00\x00\x00\x00\x00\x00\x00")},
		{"mp3", "MP3 file: convert", []byte("ID3\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00")},
		{"mp4", "MP4 file", []byte("\x00\x00\x00\x20ftypM4A ")},
		{"RF64", "RF64", append([]byte("RF64"), ok[4:]...)},
		{"header only", "before any sound", ok[:12]},
		{"cut in the format", "format chunk", ok[:f+4]},
		{"cut in the sound", "too early", ok[:len(ok)-1000]},
		{"mu-law", "mu-law of 16 bits", with(f, 7, 0)},
		{"no channels", "0 channels", with(f+2, 0, 0)},
		{"very many channels", "65535 channels", with(f+2, 0xff, 0xff)},
		{"rate 0", "sample rate 0", with(f+4, 0, 0, 0, 0)},
		{"rate of 4 GHz", "sample rate 4294967295", with(f+4, 0xff, 0xff, 0xff, 0xff)},
		{"odd alignment", "has 2 bytes, not 5", with(f+12, 5, 0)},
		{"12 bits", "PCM of 12 bits", with(f+14, 12, 0)},
		{"huge picture first", "other things before", with(16, 0xff, 0xff, 0xff, 0x70)},
		{"sound before format", "before its format", append(bytes.Clone(ok[:12]), "data\x04\x00\x00\x00abcd"...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadWAV(bytes.NewReader(c.file), HearRate, time.Minute)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestACutFileGivesItsSoundFirstAndThenTheError(t *testing.T) {
	file := wavFile(formatInt, 1, 16000, 16, false, make([]byte, 3200))
	r, err := NewWAVReader(bytes.NewReader(file[:len(file)-1000]))
	if err != nil {
		t.Fatal(err)
	}
	got, err := readAll(r)
	if len(got) != 1100 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%d samples and %v, want 1100 and an unexpected end", len(got), err)
	}
}

func TestTooLongFilesAreRefusedWhateverTheHeaderSays(t *testing.T) {
	long := wavFile(formatInt, 1, 16000, 16, false, make([]byte, 2*16000*3))
	piped := bytes.Clone(long)
	_, after, _ := bytes.Cut(piped, []byte("data"))
	copy(after, "\xff\xff\xff\xff")
	for name, file := range map[string][]byte{"honest": long, "pipe": piped} {
		if _, err := ReadWAV(bytes.NewReader(file), HearRate, 2*time.Second); err == nil || !strings.Contains(err.Error(), "longer than 2s") {
			t.Errorf("%s: got %v", name, err)
		}
		if got, err := ReadWAV(bytes.NewReader(file), HearRate, 3*time.Second); err != nil || len(got) != 48000 {
			t.Errorf("%s: %d samples, %v; want three seconds", name, len(got), err)
		}
	}
}

func TestLiveSoundIsGivenOutAsItArrives(t *testing.T) {
	pr, pw := io.Pipe()
	go func() {
		w, err := NewWAVWriter(pw, 22050)
		if err == nil {
			err = w.Write([]int16{1, 2, 3})
		}
		if err != nil {
			pw.CloseWithError(err)
		}
		// The writer stays open: a reader that waits for a full buffer hangs.
	}()
	r, err := NewWAVReader(pr)
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]int16, 100)
	n, err := r.ReadSome(buf)
	if err != nil || !slices.Equal(buf[:n], []int16{1, 2, 3}) {
		t.Errorf("got %v, %v", buf[:n], err)
	}
	if err := pw.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := r.ReadSome(buf); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %d, %v", n, err)
	}
}

func TestWhatIsWrittenToAFileHasItsLengthAndReadsBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.wav")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	want := tone(22050, 440, time.Second)
	w, err := NewWAVWriter(f, 22050)
	if err != nil {
		t.Fatal(err)
	}
	for part := range slices.Chunk(want, 777) {
		if err := w.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, EncodeWAV(22050, want)) {
		t.Error("the file differs from the same sound encoded at once")
	}
	back, err := ReadWAV(bytes.NewReader(got), 22050, time.Minute)
	if err != nil || !slices.Equal(back, want) {
		t.Errorf("read back: %d samples, %v", len(back), err)
	}
}

func TestWritingToAPipeNeedsNoSeeking(t *testing.T) {
	r, f, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w, err := NewWAVWriter(f, 48000)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write([]int16{5}), w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	got, err := ReadWAV(r, 48000, time.Second)
	if err != nil || !slices.Equal(got, []int16{5}) {
		t.Errorf("got %v, %v", got, err)
	}
}

func FuzzReadWAV(f *testing.F) {
	f.Add(wavFile(formatInt, 1, 16000, 16, false, make([]byte, 64)))
	f.Add(wavFile(formatFloat, 2, 44100, 32, true, make([]byte, 64)))
	f.Add(wavFile(formatInt, 3, 4000, 24, true, make([]byte, 64)))
	f.Add([]byte("RIFF\xff\xff\xff\xffWAVEdata"))
	f.Fuzz(func(t *testing.T, file []byte) {
		got, err := ReadWAV(bytes.NewReader(file), HearRate, time.Second)
		if err == nil && len(got) > HearRate+HearSize {
			t.Errorf("%d bytes became %d samples, over the limit", len(file), len(got))
		}
	})
}
