package music

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/hajimehoshi/go-mp3"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// mp3Reader decodes MP3; the library gives 16 bit stereo, whatever the file holds.
type mp3Reader struct {
	dec  *mp3.Decoder
	rate int
	in   [4 * 1152]byte // one frame
	out  [1152]int16
}

func openMP3(data []byte) (decoder, error) {
	data, err := withoutTitles(data)
	if err != nil {
		return nil, err
	}
	// Not a seeker: the library would go through the whole file first.
	d, err := mp3.NewDecoder(struct{ io.Reader }{bytes.NewReader(data)})
	if err != nil {
		return nil, fmt.Errorf("mp3: %w", err)
	}
	rate := d.SampleRate()
	if rate < pcm.MinRate || rate > pcm.MaxRate {
		return nil, fmt.Errorf("mp3: %d Hz is no sample rate of music", rate)
	}
	return &mp3Reader{dec: d, rate: rate}, nil
}

// withoutTitles steps over ID3 tags in front, which the library would make room
// for, however long they claim to be.
func withoutTitles(data []byte) ([]byte, error) {
	for bytes.HasPrefix(data, []byte("ID3")) {
		const head = 10
		if len(data) < head {
			return nil, errors.New("mp3: it ends in its titles")
		}
		size := 0
		for _, b := range data[6:head] {
			if b > 0x7f {
				return nil, errors.New("mp3: the length of its titles is no length")
			}
			size = size<<7 | int(b)
		}
		if size > len(data)-head {
			return nil, fmt.Errorf("mp3: its titles claim %d bytes, and the file has %d", size, len(data))
		}
		data = data[head+size:]
	}
	return data, nil
}

func (r *mp3Reader) next() (pcm.Chunk, error) {
	n, err := io.ReadFull(r.dec, r.in[:])
	if n < 4 {
		if err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
			err = io.EOF
		}
		return pcm.Chunk{}, err
	}
	stereo := pcm.Samples(r.in[:n])
	for i := range n / 4 {
		r.out[i] = int16((int(stereo[2*i]) + int(stereo[2*i+1])) / 2)
	}
	return pcm.Chunk{Rate: r.rate, Samples: r.out[:n/4]}, nil
}
