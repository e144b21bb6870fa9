package dave

import (
	"encoding/binary"
	"errors"
	"math"
)

// What stands around the ciphertext of a frame. DAVE, "Payload Format".
//
//	ciphertext
//	tag       8 bytes, the first half of the GCM tag
//	nonce     ULEB128 of 32 bits, 1 to 5 bytes
//	ranges    ULEB128 pairs of bytes left in the clear: none, for Opus
//	size      1 byte: all from the tag to the end
//	FA FA
const (
	tagSize     = 8
	footSize    = tagSize + 1 + 2 // without the nonce
	maxNonce    = 5
	marker      = 0xFAFA
	minOverhead = footSize + 1

	// Overhead is what sealing adds to a frame at most.
	Overhead = footSize + maxNonce
	// MaxFrame is the longest frame that is opened: an Opus packet has at most
	// 6 frames of 1,275 bytes.
	MaxFrame = 8 << 10
)

// silence is the one frame that everybody may send in the clear: the voice
// server itself makes it, to fill the end of a speaker who left.
// DAVE, "Silence Packets".
var silence = [3]byte{0xF8, 0xFF, 0xFE}

// Why a frame is not opened.
var (
	// ErrPlain: the frame is not encrypted.
	ErrPlain = errors.New("dave: frame is not encrypted")
	// ErrFrame: it looks like an encrypted frame, but not like one of sound.
	ErrFrame = errors.New("dave: malformed frame")
	// ErrStranger: nobody of that id is in the group.
	ErrStranger = errors.New("dave: frame of somebody who is not in the group")
	// ErrReplay: a frame that was here before, or that comes too late to tell.
	ErrReplay = errors.New("dave: frame was here before")
	// ErrKey: no key of the speaker opens it.
	ErrKey = errors.New("dave: no key opens this frame")
)

type frame struct {
	ciphertext []byte
	tag        []byte
	nonce      uint32
}

// parseFrame takes a frame apart. ErrPlain says that it has none of the marks of
// an encrypted one.
func parseFrame(b []byte) (f frame, err error) {
	n := len(b)
	if n < minOverhead || binary.BigEndian.Uint16(b[n-2:]) != marker {
		return f, ErrPlain
	}
	size := int(b[n-3])
	if size < minOverhead || size > n {
		return f, ErrPlain
	}
	foot := b[n-size : n-3]
	nonce, used := binary.Uvarint(foot[tagSize:]) // Go's varint is ULEB128
	switch {
	case used <= 0 || nonce > math.MaxUint32 || used > maxNonce:
		return f, ErrPlain
	case used < len(foot)-tagSize:
		return f, ErrFrame // ranges in the clear
	case n > MaxFrame+Overhead:
		return f, ErrFrame
	}
	return frame{ciphertext: b[:n-size], tag: foot[:tagSize], nonce: uint32(nonce)}, nil
}

// appendFoot appends all that follows the tag.
func appendFoot(b []byte, nonce uint32) []byte {
	before := len(b)
	b = binary.AppendUvarint(b, uint64(nonce))
	b = append(b, byte(len(b)-before+footSize))
	return binary.BigEndian.AppendUint16(b, marker)
}
