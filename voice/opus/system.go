//go:build !gopus

package opus

/*
#cgo pkg-config: opus
#include <opus.h>

// cgo cannot call variadic functions.
static int set_bitrate(OpusEncoder *e, opus_int32 v)    { return opus_encoder_ctl(e, OPUS_SET_BITRATE(v)); }
static int set_complexity(OpusEncoder *e, opus_int32 v) { return opus_encoder_ctl(e, OPUS_SET_COMPLEXITY(v)); }
static int set_fec(OpusEncoder *e, opus_int32 loss) {
	int err = opus_encoder_ctl(e, OPUS_SET_INBAND_FEC(loss > 0));
	return err ? err : opus_encoder_ctl(e, OPUS_SET_PACKET_LOSS_PERC(loss));
}
static int reset_encoder(OpusEncoder *e) { return opus_encoder_ctl(e, OPUS_RESET_STATE); }
static int reset_decoder(OpusDecoder *d) { return opus_decoder_ctl(d, OPUS_RESET_STATE); }

#cgo noescape opus_decode
#cgo nocallback opus_decode
#cgo noescape opus_encode
#cgo nocallback opus_encode
*/
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"
)

// Version is the linked library's, such as "libopus 1.3.1".
func Version() string { return C.GoString(C.opus_get_version_string()) }

// A Decoder decodes one stream to mono.
type Decoder struct {
	c    *C.OpusDecoder
	rate int
	free runtime.Cleanup
}

// NewDecoder makes a decoder that gives mono sound at 8, 12, 16, 24 or 48 kHz,
// whatever the packets hold.
func NewDecoder(rate int) (*Decoder, error) {
	var code C.int
	c := C.opus_decoder_create(C.opus_int32(rate), 1, &code)
	if code != C.OPUS_OK {
		return nil, failure("make a decoder", code)
	}
	d := &Decoder{c: c, rate: rate}
	d.free = runtime.AddCleanup(d, func(c *C.OpusDecoder) { C.opus_decoder_destroy(c) }, c)
	return d, nil
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
	return d.decode(packet, out[:n], 0)
}

// Recover decodes, into all of out, the packet that was lost before this one,
// from the copy in this one if it holds one ([HasFEC]), else by concealment.
func (d *Decoder) Recover(packet []byte, out []int16) (int, error) {
	if _, err := samples(packet, d.rate); err != nil {
		return 0, err
	}
	return d.decode(packet, out, 1)
}

// Conceal fills out with what may have been lost. It is never silence at once,
// and fades.
func (d *Decoder) Conceal(out []int16) (int, error) { return d.decode(nil, out, 0) }

func (d *Decoder) decode(packet []byte, out []int16, fec C.int) (int, error) {
	if len(out) == 0 {
		return 0, ErrBuffer
	}
	n := C.opus_decode(d.c, (*C.uchar)(unsafe.SliceData(packet)), C.opus_int32(len(packet)),
		(*C.opus_int16)(&out[0]), C.int(len(out)), fec)
	runtime.KeepAlive(d)
	if n < 0 {
		return 0, failure("decode", n)
	}
	return int(n), nil
}

// Reset forgets the stream so far, as after a long pause.
func (d *Decoder) Reset() {
	C.reset_decoder(d.c)
	runtime.KeepAlive(d)
}

// An Encoder encodes 48 kHz mono frames of 20 ms.
type Encoder struct {
	c    *C.OpusEncoder
	free runtime.Cleanup
}

// EncoderOptions say how to encode. The zero value is good for speech and music.
type EncoderOptions struct {
	// Bitrate in bits a second; zero means 64,000.
	Bitrate int
	// Complexity from 1 to 10; zero means 9.
	Complexity int
	// Loss is the share of packets, in percent, that forward error correction
	// is to survive; zero means none. Up to 5 it takes a complexity of 7 or more.
	Loss int
}

// NewEncoder makes an encoder in libopus' AUDIO mode, which costs a third of its
// VOIP mode and is as good for clean synthetic speech.
func NewEncoder(o EncoderOptions) (*Encoder, error) {
	var code C.int
	c := C.opus_encoder_create(48000, 1, C.OPUS_APPLICATION_AUDIO, &code)
	if code != C.OPUS_OK {
		return nil, failure("make an encoder", code)
	}
	e := &Encoder{c: c}
	e.free = runtime.AddCleanup(e, func(c *C.OpusEncoder) { C.opus_encoder_destroy(c) }, c)
	if o.Bitrate == 0 {
		o.Bitrate = 64000
	}
	if o.Complexity == 0 {
		o.Complexity = 9
	}
	for _, code := range []C.int{
		C.set_bitrate(c, C.opus_int32(o.Bitrate)), C.set_complexity(c, C.opus_int32(o.Complexity)), C.set_fec(c, C.opus_int32(o.Loss)),
	} {
		if code != C.OPUS_OK {
			return nil, failure("configure the encoder", code)
		}
	}
	return e, nil
}

// Encode encodes a frame of 960 samples into out and returns the packet's length.
// out should have 1,275 bytes.
func (e *Encoder) Encode(frame []int16, out []byte) (int, error) {
	if len(frame) != 960 || len(out) == 0 {
		return 0, fmt.Errorf("%w: a frame has 960 samples, not %d", ErrBuffer, len(frame))
	}
	n := C.opus_encode(e.c, (*C.opus_int16)(&frame[0]), 960, (*C.uchar)(&out[0]), C.opus_int32(len(out)))
	runtime.KeepAlive(e)
	if n < 0 {
		return 0, failure("encode", n)
	}
	return int(n), nil
}

// Reset forgets the stream so far.
func (e *Encoder) Reset() {
	C.reset_encoder(e.c)
	runtime.KeepAlive(e)
}

func failure(what string, code C.int) error {
	return fmt.Errorf("opus: %s: %s", what, C.GoString(C.opus_strerror(code)))
}
