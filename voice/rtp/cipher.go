package rtp

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"fmt"

	"golang.org/x/crypto/chacha20poly1305"
)

// The modes that Discord accepts. The server lists what it can in opcode 2; the
// second is always among them. Discord, "Transport Encryption Modes".
const (
	ModeAES     = "aead_aes256_gcm_rtpsize"
	ModeXChaCha = "aead_xchacha20_poly1305_rtpsize"
)

// Modes are both, the better first: AES is three times as fast with the
// processor's help.
var Modes = [...]string{ModeAES, ModeXChaCha}

const (
	tagSize     = 16
	counterSize = 4 // the part of the nonce that travels
	// Overhead is what sealing adds to a payload.
	Overhead = headerSize + tagSize + counterSize
)

// A Cipher seals what we send to the voice server and opens what comes from it.
// One goroutine may seal while another opens.
type Cipher struct {
	aead cipher.AEAD
	// The buffers stand here because they escape through the interface and
	// would be allocated for each packet.
	sealNonce, openNonce [chacha20poly1305.NonceSizeX]byte
	clear                []byte
	count                uint32
}

// NewCipher makes the cipher of a session from its secret key (opcode 4).
func NewCipher(mode string, key []byte) (*Cipher, error) {
	var aead cipher.AEAD
	switch mode {
	case ModeAES:
		if len(key) != 32 {
			return nil, fmt.Errorf("rtp: key of %d bytes, want 32", len(key))
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		if aead, err = cipher.NewGCM(block); err != nil {
			return nil, err
		}
	case ModeXChaCha:
		var err error
		if aead, err = chacha20poly1305.NewX(key); err != nil {
			return nil, fmt.Errorf("rtp: %w", err)
		}
	default:
		return nil, fmt.Errorf("rtp: mode %q, which is none of %v", mode, Modes)
	}
	return &Cipher{aead: aead}, nil
}

// Seal appends a datagram with payload in it to dst. The nonce is a counter, so a
// Cipher must not be made twice from one key.
func (c *Cipher) Seal(dst []byte, h Header, payload []byte) []byte {
	start := len(dst)
	dst = h.appendClear(dst)
	c.clear = append(c.clear[:0], dst[start:]...)
	body := len(dst)
	dst = append(dst, h.Extension...)
	dst = append(dst, payload...)
	if h.Padding > 0 {
		for range h.Padding {
			dst = append(dst, 0)
		}
		dst[len(dst)-1] = h.Padding
	}
	c.count++
	binary.BigEndian.PutUint32(c.sealNonce[:], c.count)
	sealed := c.aead.Seal(dst[body:body], c.sealNonce[:c.aead.NonceSize()], dst[body:], c.clear)
	return append(append(dst[:body], sealed...), c.sealNonce[:counterSize]...)
}

// Open decrypts a datagram in place and returns what it carries, which shares the
// memory of b. Padding and the header extension are gone: whoever leaves them to
// the next layer loses every packet that has them.
func (c *Cipher) Open(b []byte) (Header, []byte, error) {
	clear, err := parseClear(b)
	if err != nil {
		return clear.header, nil, err
	}
	end := len(b) - counterSize
	if end < clear.size+tagSize {
		return clear.header, nil, ErrShort
	}
	copy(c.openNonce[:counterSize], b[end:])
	body, err := c.aead.Open(b[clear.size:clear.size], c.openNonce[:c.aead.NonceSize()], b[clear.size:end], b[:clear.size])
	if err != nil {
		return clear.header, nil, ErrForged
	}
	if clear.padded {
		if len(body) == 0 || int(body[len(body)-1]) > len(body) || body[len(body)-1] == 0 {
			return clear.header, nil, ErrShort
		}
		clear.header.Padding = body[len(body)-1]
		body = body[:len(body)-int(clear.header.Padding)]
	}
	if clear.extension > len(body) {
		return clear.header, nil, ErrShort
	}
	clear.header.Extension = body[:clear.extension]
	if body = body[clear.extension:]; len(body) == 0 {
		return clear.header, nil, ErrEmpty
	}
	return clear.header, body, nil
}
