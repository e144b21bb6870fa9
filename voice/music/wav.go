package music

import (
	"bytes"
	"errors"
	"io"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

type wavReader struct {
	r   *pcm.WAVReader
	out [4096]int16
}

func openWAV(data []byte) (decoder, error) {
	r, err := pcm.NewWAVReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return &wavReader{r: r}, nil
}

func (w *wavReader) next() (pcm.Chunk, error) {
	n, err := w.r.Read(w.out[:])
	if n == 0 {
		if err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
			err = io.EOF // shorter than its header says: that is all there is
		}
		return pcm.Chunk{}, err
	}
	return pcm.Chunk{Rate: w.r.Rate(), Samples: w.out[:n]}, nil
}
