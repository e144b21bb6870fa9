package mls

import (
	"bytes"
	"encoding/binary"
)

// appendHeader appends the length header of a vector.
// RFC 9420, "Variable-Size Vector Length Headers".
//
//	00xxxxxx                             up to 2^6 - 1
//	01xxxxxx xxxxxxxx                    up to 2^14 - 1
//	10xxxxxx xxxxxxxx xxxxxxxx xxxxxxxx  up to 2^30 - 1
func appendHeader(b []byte, n int) []byte {
	switch {
	case n < 1<<6:
		return append(b, byte(n))
	case n < 1<<14:
		return binary.BigEndian.AppendUint16(b, 1<<14|uint16(n))
	default:
		return binary.BigEndian.AppendUint32(b, 2<<30|uint32(n))
	}
}

// appendVec appends opaque v<V>.
func appendVec(b, v []byte) []byte {
	return append(appendHeader(b, len(v)), v...)
}

// appendVecOf appends a vector whose content is written by write.
func appendVecOf(b []byte, write func(b []byte) []byte) []byte {
	return appendVec(b, write(nil))
}

func appendUint16(b []byte, v uint16) []byte { return binary.BigEndian.AppendUint16(b, v) }
func appendUint32(b []byte, v uint32) []byte { return binary.BigEndian.AppendUint32(b, v) }
func appendUint64(b []byte, v uint64) []byte { return binary.BigEndian.AppendUint64(b, v) }

// A reader takes a message apart. The first error sticks: what is read after it
// is zero, loops over [reader.more] end, and the caller asks once, with
// [reader.end]. Everything it returns shares the memory of b.
type reader struct {
	b   []byte
	err error
}

// newReader reads a copy of b, so that the caller may reuse b.
func newReader(b []byte) reader {
	if len(b) > MaxMessage {
		return reader{err: refuse(ErrTooBig, "%d bytes, at most %d", len(b), MaxMessage)}
	}
	return reader{b: bytes.Clone(b)}
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.b = nil
}

func (r *reader) take(n int) []byte {
	if r.err != nil {
		return nil
	}
	if n > len(r.b) {
		r.fail(refuse(ErrFormat, "%d bytes wanted, %d left", n, len(r.b)))
		return nil
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}

func (r *reader) uint8() uint8 {
	if v := r.take(1); v != nil {
		return v[0]
	}
	return 0
}

func (r *reader) uint16() uint16 {
	if v := r.take(2); v != nil {
		return binary.BigEndian.Uint16(v)
	}
	return 0
}

func (r *reader) uint32() uint32 {
	if v := r.take(4); v != nil {
		return binary.BigEndian.Uint32(v)
	}
	return 0
}

func (r *reader) uint64() uint64 {
	if v := r.take(8); v != nil {
		return binary.BigEndian.Uint64(v)
	}
	return 0
}

// header reads the length header of a vector. The shortest form is mandatory:
// otherwise two encodings of one message would have two hashes.
func (r *reader) header() int {
	first := r.uint8()
	n := int(first & 0x3f)
	switch first >> 6 {
	case 1:
		n = n<<8 | int(r.uint8())
		if r.err == nil && n < 1<<6 {
			r.fail(refuse(ErrFormat, "length %d not in its shortest form", n))
		}
	case 2:
		n = n<<24 | int(r.uint8())<<16 | int(r.uint16())
		if r.err == nil && n < 1<<14 {
			r.fail(refuse(ErrFormat, "length %d not in its shortest form", n))
		}
	case 3:
		r.fail(refuse(ErrFormat, "length header %#x", first))
	}
	if r.err != nil {
		return 0
	}
	return n
}

// vec reads opaque v<V>.
func (r *reader) vec() []byte { return r.take(r.header()) }

// inside reads the content of a vector item by item, until it is used up.
func (r *reader) inside(item func(in *reader)) {
	in := &reader{b: r.vec(), err: r.err}
	for in.more() {
		item(in)
	}
	if in.err != nil {
		r.fail(in.err)
	}
}

// optional reads the presence byte of an optional<T>.
func (r *reader) optional() bool {
	switch v := r.uint8(); v {
	case 0:
		return false
	case 1:
		return r.err == nil
	default:
		r.fail(refuse(ErrFormat, "presence byte %d", v))
		return false
	}
}

// expect reads a uint16 that can have one value only.
func (r *reader) expect(what string, want uint16) {
	if got := r.uint16(); r.err == nil && got != want {
		r.fail(refuse(ErrUnsupported, "%s %d, want %d", what, got, want))
	}
}

// since returns the bytes between an earlier rest of the message and now.
func (r *reader) since(start []byte) []byte {
	if r.err != nil {
		return nil
	}
	return start[: len(start)-len(r.b) : len(start)-len(r.b)]
}

func (r *reader) more() bool { return r.err == nil && len(r.b) > 0 }

// end says what went wrong; bytes that are left over are wrong too.
func (r *reader) end() error {
	if r.err == nil && len(r.b) > 0 {
		return refuse(ErrFormat, "%d bytes left over", len(r.b))
	}
	return r.err
}
