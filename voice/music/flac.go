package music

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/mewkiz/flac"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// flacReader decodes FLAC. Pictures and titles are stepped over by the library, not
// read.
type flacReader struct {
	stream *flac.Stream
	rate   int
	out    []int16
}

func openFLAC(data []byte) (decoder, error) {
	s, err := flac.New(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("flac: %w", err)
	}
	rate := int(s.Info.SampleRate)
	if rate < pcm.MinRate || rate > pcm.MaxRate {
		return nil, fmt.Errorf("flac: %d Hz is no sample rate of music", rate)
	}
	return &flacReader{stream: s, rate: rate}, nil
}

func (r *flacReader) next() (pcm.Chunk, error) {
	f, err := r.stream.ParseNext()
	if err != nil {
		return pcm.Chunk{}, err // io.EOF at the end
	}
	bits := int(f.BitsPerSample)
	if bits == 0 {
		bits = int(r.stream.Info.BitsPerSample)
	}
	if bits < 4 || bits > 32 || len(f.Subframes) == 0 {
		return pcm.Chunk{}, errors.New("flac: a frame without sound")
	}
	n := len(f.Subframes[0].Samples)
	r.out = r.out[:0]
	for i := range n {
		sum := int64(0)
		for _, s := range f.Subframes {
			if len(s.Samples) != n {
				return pcm.Chunk{}, errors.New("flac: channels of different lengths")
			}
			sum += int64(s.Samples[i])
		}
		v := sum / int64(len(f.Subframes))
		if bits > 16 {
			v >>= bits - 16
		} else {
			v <<= 16 - bits
		}
		r.out = append(r.out, int16(max(-32768, min(32767, v))))
	}
	return pcm.Chunk{Rate: r.rate, Samples: r.out}, nil
}
