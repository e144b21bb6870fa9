package music

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/glyphoxa/glyphoxa/voice/opus"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// opusReader decodes Ogg Opus. RFC 7845.
type opusReader struct {
	ogg  oggReader
	dec  *opus.Decoder
	gain float32
	out  [5760]int16 // 120 ms

	skip int   // samples at the beginning that only warm the decoder up
	left int64 // samples until the end, once known; -1 before
	sent int64
	pre  int64
}

func openOpus(data []byte) (decoder, error) {
	r := &opusReader{ogg: oggReader{rest: data}, left: -1}
	head, cut, err := r.ogg.next()
	if err != nil {
		return nil, broken(err)
	}
	switch {
	case len(head) > 7 && string(head[1:7]) == "vorbis":
		return nil, fmt.Errorf("%w: it is Ogg Vorbis; ffmpeg -i OLD.ogg -c:a libopus NEW.opus makes Opus of it", ErrUnknown)
	case cut || len(head) < 19 || string(head[:8]) != "OpusHead":
		return nil, fmt.Errorf("%w: an Ogg file, but not Opus", ErrUnknown)
	case head[8]&0xf0 != 0:
		return nil, fmt.Errorf("version %d of Ogg Opus is not known", head[8])
	case head[18] != 0 || head[9] < 1 || head[9] > 2:
		return nil, fmt.Errorf("%d channels: only mono and stereo are played", head[9])
	}
	r.skip = int(binary.LittleEndian.Uint16(head[10:]))
	r.pre = int64(r.skip)
	r.gain = pcm.Factor(float64(int16(binary.LittleEndian.Uint16(head[16:]))) / 256)
	if _, _, err := r.ogg.next(); err != nil { // titles, of any length
		return nil, broken(err)
	}
	r.dec, err = opus.NewDecoder(pcm.Rate)
	return r, err
}

func broken(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: it ends before any sound", errOgg)
	}
	return err
}

func (r *opusReader) next() (pcm.Chunk, error) {
	for {
		packet, cut, err := r.ogg.next()
		if err != nil {
			return pcm.Chunk{}, err
		}
		if cut {
			return pcm.Chunk{}, opus.ErrPacket
		}
		if len(packet) == 0 {
			continue
		}
		if r.ogg.last && r.left < 0 && r.ogg.position >= 0 {
			// Only the last page may say less than it holds: the rest is padding.
			r.left = max(0, r.ogg.position-r.pre-r.sent)
		}
		n, err := r.dec.Decode(packet, r.out[:])
		if err != nil {
			return pcm.Chunk{}, err
		}
		sound := r.out[:n]
		drop := min(r.skip, len(sound))
		r.skip -= drop
		sound = sound[drop:]
		if r.left >= 0 {
			sound = sound[:min(int64(len(sound)), r.left)]
			r.left -= int64(len(sound))
		}
		r.sent += int64(len(sound))
		if len(sound) == 0 {
			continue
		}
		if r.gain != 1 {
			pcm.Amplify(sound, r.gain)
		}
		return pcm.Chunk{Rate: pcm.Rate, Samples: sound}, nil
	}
}
