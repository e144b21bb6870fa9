//go:build gopus

package opus

import (
	"fmt"

	"layeh.com/gopus"
)

// Version is the linked library's.
func Version() string { return "libopus 1.1.2 (gopus)" }

// A Decoder decodes one stream to mono.
type Decoder struct {
	g    *gopus.Decoder
	rate int
}

// NewDecoder makes a decoder that gives mono sound at 8, 12, 16, 24 or 48 kHz,
// whatever the packets hold.
func NewDecoder(rate int) (*Decoder, error) {
	g, err := gopus.NewDecoder(rate, 1)
	if err != nil {
		return nil, fmt.Errorf("opus: make a decoder: %w", err)
	}
	return &Decoder{g, rate}, nil
}

// Decode decodes a packet into out and returns the number of samples. out must
// have room for the packet's [Duration]; 120 ms always suffice.
func (d *Decoder) Decode(packet []byte, out []int16) (int, error) {
	n, err := samples(packet, d.rate)
	if err != nil {
		return 0, err
	}
	if len(out) < n {
		return 0, ErrBuffer
	}
	return d.decode(packet, out[:n], false)
}

// Recover decodes, into all of out, the packet that was lost before this one,
// from the copy in this one if it holds one ([HasFEC]), else by concealment.
func (d *Decoder) Recover(packet []byte, out []int16) (int, error) {
	if _, err := samples(packet, d.rate); err != nil {
		return 0, err
	}
	return d.decode(packet, out, true)
}

// Conceal fills out with what may have been lost. It is never silence at once,
// and fades.
func (d *Decoder) Conceal(out []int16) (int, error) { return d.decode(nil, out, false) }

func (d *Decoder) decode(packet []byte, out []int16, fec bool) (int, error) {
	if len(out) == 0 {
		return 0, ErrBuffer
	}
	pcm, err := d.g.Decode(packet, len(out), fec)
	if err != nil {
		return 0, fmt.Errorf("opus: decode: %w", err)
	}
	return copy(out, pcm), nil
}

// Reset forgets the stream so far, as after a long pause.
func (d *Decoder) Reset() { d.g.ResetState() }

// An Encoder encodes 48 kHz mono frames of 20 ms.
type Encoder struct{ g *gopus.Encoder }

// EncoderOptions say how to encode. The zero value is good for speech and music.
type EncoderOptions struct {
	// Bitrate in bits a second; zero means 64,000.
	Bitrate int
	// Complexity and Loss have no effect in this build.
	Complexity, Loss int
}

// NewEncoder makes an encoder in libopus' AUDIO mode.
func NewEncoder(o EncoderOptions) (*Encoder, error) {
	g, err := gopus.NewEncoder(48000, 1, gopus.Audio)
	if err != nil {
		return nil, fmt.Errorf("opus: make an encoder: %w", err)
	}
	if o.Bitrate == 0 {
		o.Bitrate = 64000
	}
	g.SetBitrate(o.Bitrate)
	return &Encoder{g}, nil
}

// Encode encodes a frame of 960 samples into out and returns the packet's length.
// out should have 1,275 bytes.
func (e *Encoder) Encode(frame []int16, out []byte) (int, error) {
	if len(frame) != 960 || len(out) == 0 {
		return 0, fmt.Errorf("%w: a frame has 960 samples, not %d", ErrBuffer, len(frame))
	}
	p, err := e.g.Encode(frame, 960, len(out))
	if err != nil {
		return 0, fmt.Errorf("opus: encode: %w", err)
	}
	return copy(out, p), nil
}

// Reset forgets the stream so far.
func (e *Encoder) Reset() { e.g.ResetState() }
