package dave

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"
)

const keySize = 16

// A frameCipher is AES-128-GCM with the tag cut to 8 bytes, which crypto/cipher
// does not offer. DAVE, "Payload Encryption". The buffers are here because they
// would be allocated anew for each frame on the stack: they escape through the
// cipher.AEAD. Not safe for concurrent use.
type frameCipher struct {
	gcm     cipher.AEAD
	nonce   [12]byte
	scratch []byte
}

func newFrameCipher(key []byte) *frameCipher {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // keys are 16 bytes
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // AES blocks are 16 bytes
	}
	return &frameCipher{gcm: gcm}
}

// at makes the nonce of a frame: the counter stands at the end, least
// significant byte first.
func (c *frameCipher) at(nonce uint32) []byte {
	binary.LittleEndian.PutUint32(c.nonce[8:], nonce)
	return c.nonce[:]
}

// seal appends ciphertext and tag.
func (c *frameCipher) seal(dst, plain []byte, nonce uint32) []byte {
	dst = c.gcm.Seal(dst, c.at(nonce), plain, nil)
	return dst[:len(dst)-c.gcm.Overhead()+tagSize]
}

// open appends the plaintext, or nothing and false if the tag is wrong. GCM
// encrypts by exclusive or with a key stream, so sealing the ciphertext yields
// the plaintext; sealing that again yields the tag there should have been.
func (c *frameCipher) open(dst []byte, f frame) ([]byte, bool) {
	before := len(dst)
	out := c.gcm.Seal(dst, c.at(f.nonce), f.ciphertext, nil)
	plain := out[before : before+len(f.ciphertext)]
	c.scratch = c.gcm.Seal(c.scratch[:0], c.at(f.nonce), plain, nil)
	tag := c.scratch[len(plain) : len(plain)+tagSize]
	if subtle.ConstantTimeCompare(tag, f.tag) != 1 {
		clear(plain)
		return dst, false
	}
	return out[:before+len(plain)], true
}
