package voice

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/crypto/chacha20poly1305"
)

// The modes of transport encryption that Discord still accepts, best first. The
// first is faster where the processor knows AES; the second is always offered.
const (
	modeGCM    = "aead_aes256_gcm_rtpsize"
	modeChaCha = "aead_xchacha20_poly1305_rtpsize"
)

const (
	tagSize     = 16
	counterSize = 4
)

// ErrNoMode means that the server offers no encryption that we know.
var ErrNoMode = errors.New("voice: the server offers no known encryption mode")

// chooseMode takes the best of the modes that a server offers.
func chooseMode(offered []string) (string, error) {
	for _, m := range []string{modeGCM, modeChaCha} {
		if slices.Contains(offered, m) {
			return m, nil
		}
	}
	return "", fmt.Errorf("%w: it offers %v; update Glyphoxa", ErrNoMode, offered)
}

// transport seals and opens datagrams with the key of one voice session. Sealing
// and opening may go on at the same time, each by one goroutine.
//
//	header (clear) | ciphertext | tag (16) | counter (4)
//
// The counter is the first four bytes of the nonce; the rest is zero.
type transport struct {
	aead cipher.AEAD
	// Nonces are kept here because what is passed to an interface's method
	// escapes: on the stack they would be allocated for every packet.
	sealNonce, openNonce [chacha20poly1305.NonceSizeX]byte
	counter              uint32
}

// newTransport makes a transport from op 4's mode and key.
func newTransport(mode string, key []byte) (*transport, error) {
	if len(key) != 32 {
		return nil, fmt.Errorf("voice: the session's key has %d bytes, want 32", len(key))
	}
	t := new(transport)
	switch mode {
	case modeGCM:
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, fmt.Errorf("voice: %w", err)
		}
		if t.aead, err = cipher.NewGCM(block); err != nil {
			return nil, fmt.Errorf("voice: %w", err)
		}
	case modeChaCha:
		var err error
		if t.aead, err = chacha20poly1305.NewX(key); err != nil {
			return nil, fmt.Errorf("voice: %w", err)
		}
	default:
		return nil, fmt.Errorf("%w: it chose %q", ErrNoMode, mode)
	}
	return t, nil
}

// seal encrypts everything in packet behind its clear header of headerSize bytes,
// in place, and returns the whole datagram. packet needs room for 20 bytes more.
func (t *transport) seal(packet []byte, headerSize int) []byte {
	t.counter++
	nonce := t.sealNonce[:t.aead.NonceSize()]
	binary.BigEndian.PutUint32(nonce, t.counter)
	head, body := packet[:headerSize], packet[headerSize:]
	sealed := t.aead.Seal(body[:0], nonce, body, head)
	return append(packet[:headerSize+len(sealed)], nonce[:counterSize]...)
}

// open checks and decrypts a datagram in place. The result is the frame as the
// sender made it, without padding and extension, inside datagram's memory.
func (t *transport) open(datagram []byte) (header, []byte, error) {
	h, err := parseHeader(datagram)
	if err != nil {
		return h, nil, err
	}
	end := len(datagram) - counterSize
	if end-tagSize < h.Size {
		return h, nil, errTruncated
	}
	nonce := t.openNonce[:t.aead.NonceSize()]
	copy(nonce, datagram[end:])
	plain, err := t.aead.Open(datagram[h.Size:h.Size], nonce, datagram[h.Size:end], datagram[:h.Size])
	if err != nil {
		return h, nil, fmt.Errorf("voice: datagram: %w", err)
	}
	plain, err = h.media(plain)
	return h, plain, err
}
