package music

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

const (
	// MaxFile is the largest file that is played: an hour of good Opus, a quarter
	// of an hour of MP3, six minutes of WAV.
	MaxFile = 64 << 20
	// shortest is the least that can be looped: less is a noise.
	shortest = time.Second
)

// Errors of files that cannot be played.
var (
	ErrTooLarge = fmt.Errorf("the file has more than %d MB: make it Opus, which needs a tenth", MaxFile>>20)
	ErrUnknown  = errors.New("this is no Ogg Opus, FLAC, MP3 or WAV")
	ErrShort    = fmt.Errorf("it sounds for less than %v", shortest)
)

// A Piece is a file of music that was found playable.
type Piece struct {
	// Name is its file's, or that of a shipped piece.
	Name string
	data []byte
	open func(data []byte) (decoder, error)
}

// A decoder gives a file's sound, mono, from its beginning; io.EOF after the last.
// A chunk is good until the next one.
type decoder interface {
	next() (pcm.Chunk, error)
}

// NewPiece looks at a file: what it is, and whether the first second can be
// decoded. It keeps data.
func NewPiece(name string, data []byte) (*Piece, error) {
	if len(data) > MaxFile {
		return nil, fmt.Errorf("%s: %w", name, ErrTooLarge)
	}
	p := &Piece{Name: name, data: data}
	switch {
	case bytes.HasPrefix(data, []byte("OggS")):
		p.open = openOpus
	case bytes.HasPrefix(data, []byte("fLaC")):
		p.open = openFLAC
	case bytes.HasPrefix(data, []byte("RIFF")):
		p.open = openWAV
	case bytes.HasPrefix(data, []byte("ID3")), len(data) > 1 && data[0] == 0xff && data[1]&0xe0 == 0xe0:
		p.open = openMP3
	default:
		return nil, fmt.Errorf("%s: %w", name, ErrUnknown)
	}
	d, err := p.decode()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for heard := time.Duration(0); heard < shortest; {
		c, err := d.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil, fmt.Errorf("%s: %w", name, ErrShort)
		case err != nil:
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		heard += c.Duration()
	}
	return p, nil
}

// decode starts at the beginning.
func (p *Piece) decode() (d decoder, err error) {
	defer func() {
		if v := recover(); v != nil {
			d, err = nil, fmt.Errorf("the file is broken: %v", v)
		}
	}()
	d, err = p.open(p.data)
	if err != nil {
		return nil, err
	}
	return guarded{d}, nil
}

// guarded turns a panic of a decoder that we did not write into an error.
type guarded struct{ decoder }

func (g guarded) next() (c pcm.Chunk, err error) {
	defer func() {
		if v := recover(); v != nil {
			c, err = pcm.Chunk{}, fmt.Errorf("the file is broken: %v", v)
		}
	}()
	return g.decoder.next()
}
