// Package opus encodes and decodes the Opus codec (RFC 6716) for voice calls.
//
// It is a thin binding of the system's libopus, made for packets that strangers
// send: what a packet claims to hold is checked before the C code sees it, and
// nothing is allocated per packet. A [Decoder] gives 16 kHz or 48 kHz mono
// whatever the sender used; an [Encoder] takes 48 kHz mono frames of 20 ms.
//
// Neither is safe for concurrent use; different ones may run in parallel.
//
// # Which libopus
//
// By default the system's library is linked (Debian: libopus-dev). With
// -tags gopus the libopus 1.1.2 inside layeh.com/gopus is built instead, for
// machines without one. It is of 2016, lacks forward error correction, allocates
// per packet, and has a known fault (CVE-2017-0381) that any member of a call can
// reach; that is why it is not the default. Never link both into one program:
// their symbols collide and the old one wins.
package opus

import (
	"errors"
	"fmt"
	"time"
)

const (
	// MaxPacket is the longest packet that is looked at: RFC 6716 allows 1,275
	// bytes a frame, and nobody sends more than six at once.
	MaxPacket = 6 * 1275
	// MaxDuration is the longest packet: 120 ms.
	MaxDuration = 120 * time.Millisecond
)

// Errors of a packet that cannot be decoded. Treat it as lost.
var (
	ErrPacket = errors.New("opus: malformed packet")
	ErrBuffer = errors.New("opus: the buffer is too short for the packet")
)

// Silence is the packet that Discord's clients send five times when their user
// stops talking. Discord, "Voice Data Interpolation".
var Silence = []byte{0xf8, 0xff, 0xfe}

// IsSilence reports whether a packet is [Silence].
func IsSilence(packet []byte) bool {
	return len(packet) == 3 && packet[0] == 0xf8 && packet[1] == 0xff && packet[2] == 0xfe
}

// Duration is how long a packet sounds, read from its first bytes (RFC 6716,
// section 3.1). It allocates nothing and touches no C code.
func Duration(packet []byte) (time.Duration, error) {
	frame, count, err := toc(packet)
	if err != nil {
		return 0, err
	}
	return frame * time.Duration(count), nil
}

// HasFEC reports whether a packet may carry a copy of the one before it: only the
// SILK and hybrid modes can. RFC 6716, section 2.1.7.
func HasFEC(packet []byte) bool { return len(packet) > 1 && packet[0]>>3 < 16 }

// toc reads the table-of-contents byte.
func toc(packet []byte) (frame time.Duration, count int, err error) {
	if len(packet) == 0 || len(packet) > MaxPacket {
		return 0, 0, fmt.Errorf("%w: %d bytes", ErrPacket, len(packet))
	}
	switch config := packet[0] >> 3; {
	case config < 12: // SILK: 10, 20, 40, 60 ms
		frame = [...]time.Duration{10, 20, 40, 60}[config&3] * time.Millisecond
	case config < 16: // hybrid: 10, 20 ms
		frame = [...]time.Duration{10, 20}[config&1] * time.Millisecond
	default: // CELT: 2.5, 5, 10, 20 ms
		frame = 2500 * time.Microsecond << (config & 3)
	}
	switch packet[0] & 3 {
	case 0:
		count = 1
	case 1, 2:
		count = 2
	default:
		if len(packet) < 2 {
			return 0, 0, fmt.Errorf("%w: no frame count", ErrPacket)
		}
		count = int(packet[1] & 0x3f)
	}
	if count == 0 || frame*time.Duration(count) > MaxDuration {
		return 0, 0, fmt.Errorf("%w: %d frames of %v", ErrPacket, count, frame)
	}
	return frame, count, nil
}

// samples checks a packet and says how many samples it holds at rate.
func samples(packet []byte, rate int) (int, error) {
	d, err := Duration(packet)
	if err != nil {
		return 0, err
	}
	return int(d * time.Duration(rate) / time.Second), nil
}
