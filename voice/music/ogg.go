package music

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	// pageHead is the length of a page's head without its table of segments.
	pageHead = 27
	// maxPacket is the longest packet that is put together: six frames of Opus.
	// Titles and pictures may be longer, and are dropped.
	maxPacket = 6 * 1275
)

// A page's flags. RFC 3533, section 6.
const (
	continued = 1
	lastPage  = 4
)

var errOgg = errors.New("the Ogg file is broken")

// oggReader takes packets out of the pages of one logical stream, the first.
//
//	| OggS | 0 | flags | position 8 | serial 4 | number 4 | crc 4 | n | n lengths | bytes |
type oggReader struct {
	rest   []byte // behind the page
	serial uint32
	begun  bool

	lengths []byte // of the page's segments that have not been read
	body    []byte
	packet  []byte
	// position is what the page says of where it ends; last that no page follows.
	position int64
	last     bool
}

// next returns the next packet, or io.EOF. cut says that it was longer than
// [maxPacket]; then only its beginning is there. It is good until the next call.
func (o *oggReader) next() (packet []byte, cut bool, err error) {
	o.packet = o.packet[:0]
	for {
		for len(o.lengths) > 0 {
			n := int(o.lengths[0])
			o.lengths = o.lengths[1:]
			room := min(n, maxPacket-len(o.packet))
			o.packet = append(o.packet, o.body[:room]...)
			cut = cut || room < n
			o.body = o.body[n:]
			if n < 255 { // a segment that is not full ends the packet
				return o.packet, cut, nil
			}
		}
		if o.last {
			return nil, false, io.EOF
		}
		if err := o.page(); err != nil {
			return nil, false, err
		}
	}
}

// page reads the stream's next page, over those of other streams.
func (o *oggReader) page() error {
	for {
		if len(o.rest) == 0 {
			return io.EOF
		}
		if len(o.rest) < pageHead || string(o.rest[:4]) != "OggS" || o.rest[4] != 0 {
			return fmt.Errorf("%w: no page where one should be", errOgg)
		}
		head := o.rest[:pageHead]
		segments := int(head[26])
		if len(o.rest) < pageHead+segments {
			return fmt.Errorf("%w: it ends in a page's head", errOgg)
		}
		lengths, size := o.rest[pageHead:pageHead+segments], 0
		for _, n := range lengths {
			size += int(n)
		}
		end := pageHead + segments + size
		if len(o.rest) < end {
			return fmt.Errorf("%w: it ends in a page", errOgg)
		}
		whole := o.rest[:end]
		o.rest = o.rest[end:]
		if oggCRC(whole) != binary.LittleEndian.Uint32(head[22:]) {
			return fmt.Errorf("%w: a page's checksum is wrong", errOgg)
		}
		serial := binary.LittleEndian.Uint32(head[14:])
		if !o.begun {
			o.begun, o.serial = true, serial
		}
		if serial != o.serial {
			continue // a picture, or another voice
		}
		if head[5]&continued == 0 && len(o.packet) > 0 {
			return fmt.Errorf("%w: a packet without an end", errOgg)
		}
		o.lengths, o.body = lengths, whole[pageHead+segments:]
		o.position = int64(binary.LittleEndian.Uint64(head[6:]))
		o.last = head[5]&lastPage != 0
		return nil
	}
}

var oggTable = func() (t [256]uint32) {
	for i := range t {
		r := uint32(i) << 24
		for range 8 {
			if r&0x80000000 != 0 {
				r = r<<1 ^ 0x04c11db7
			} else {
				r <<= 1
			}
		}
		t[i] = r
	}
	return t
}()

// oggCRC is the checksum of a page, in which the checksum itself counts as zero.
func oggCRC(page []byte) (crc uint32) {
	for i, b := range page {
		if i >= 22 && i < 26 {
			b = 0
		}
		crc = crc<<8 ^ oggTable[byte(crc>>24)^b]
	}
	return crc
}
