// Package rtp reads and writes the datagrams of a Discord voice call: RTP
// (RFC 3550) with the one payload type that carries Opus, sealed between us and
// the voice server in one of Discord's two "rtpsize" modes.
//
// What is inside is sealed once more, between the members of the call: see
// package dave. Nothing here allocates per packet.
package rtp

import (
	"encoding/binary"
	"errors"
)

const (
	headerSize = 12
	version    = 2
	// payloadOpus is Discord's payload type for sound.
	payloadOpus = 120
	// extensionProfile is the one-byte form of RFC 8285.
	extensionProfile = 0xBEDE
)

// What is wrong with a datagram. None of them is worth a line in a log: strangers
// can send anything to an open port.
var (
	// ErrOther: not sound. The server sends RTCP and echoes keep-alives, too.
	ErrOther = errors.New("rtp: not a packet of sound")
	// ErrShort: the packet ends before what it claims to hold.
	ErrShort = errors.New("rtp: packet too short")
	// ErrForged: the packet is not from the voice server, or was altered.
	ErrForged = errors.New("rtp: packet not authentic")
	// ErrEmpty: there is nothing in it but padding.
	ErrEmpty = errors.New("rtp: empty packet")
)

// A Header says which packet of which stream this is.
type Header struct {
	Sequence  uint16
	Timestamp uint32 // in samples at 48 kHz, whatever is encoded
	SSRC      uint32
	// Extension is the body of a header extension, in whole words of 4 bytes. We
	// send none and skip what we get.
	Extension []byte
	// Padding is how many bytes stand behind the payload, the last of which
	// says so. We send none; the server does.
	Padding uint8
}

// appendClear appends the part of the header that stays readable:
//
//	byte 0      version (2 bits), padding, extension, CSRC count (4 bits)
//	byte 1      payload type
//	bytes 2-3   sequence
//	bytes 4-7   timestamp
//	bytes 8-11  SSRC
//	            extension: profile (2 bytes), length in words (2 bytes)
func (h Header) appendClear(b []byte) []byte {
	first := byte(version << 6)
	if h.Padding > 0 {
		first |= 1 << 5
	}
	if len(h.Extension) > 0 {
		first |= 1 << 4
	}
	b = append(b, first, payloadOpus)
	b = binary.BigEndian.AppendUint16(b, h.Sequence)
	b = binary.BigEndian.AppendUint32(b, h.Timestamp)
	b = binary.BigEndian.AppendUint32(b, h.SSRC)
	if len(h.Extension) > 0 {
		b = binary.BigEndian.AppendUint16(b, extensionProfile)
		b = binary.BigEndian.AppendUint16(b, uint16(len(h.Extension)/4))
	}
	return b
}

// clear is what can be read of a packet before it is decrypted.
type clear struct {
	header    Header
	size      int // of the readable part
	extension int // bytes of it that are at the front of the encrypted part
	padded    bool
}

func parseClear(b []byte) (c clear, err error) {
	if len(b) < headerSize || b[0]>>6 != version || b[1]&0x7f != payloadOpus {
		return c, ErrOther
	}
	c.header = Header{
		Sequence:  binary.BigEndian.Uint16(b[2:]),
		Timestamp: binary.BigEndian.Uint32(b[4:]),
		SSRC:      binary.BigEndian.Uint32(b[8:]),
	}
	c.padded = b[0]&(1<<5) != 0
	c.size = headerSize + 4*int(b[0]&0xf)
	if b[0]&(1<<4) != 0 {
		if len(b) < c.size+4 {
			return c, ErrShort
		}
		c.extension = 4 * int(binary.BigEndian.Uint16(b[c.size+2:]))
		c.size += 4
	}
	return c, nil
}
