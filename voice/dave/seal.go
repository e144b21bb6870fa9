package dave

import (
	"errors"
	"sync"

	"github.com/glyphoxa/glyphoxa/voice/dave/mls"
)

// ErrNoKey means that there is no group yet: nobody could open what we would send.
var ErrNoKey = errors.New("dave: no key yet to send with")

// A Sealer encrypts our own frames with the key of the current epoch. The zero
// value has no key and refuses. It may be used while the session moves on.
type Sealer struct {
	mu      sync.Mutex // guards what follows; held for one frame at most
	plain   bool
	ratchet *mls.Ratchet
	cipher  *frameCipher
	// count numbers the frames of this epoch from 1. Its low 32 bits are the
	// nonce; bits 24 and up are the generation of the key, which goes on
	// counting when the nonce wraps.
	count uint64
}

// Seal appends frame, encrypted, to dst; it allocates nothing if dst has room
// for [Overhead] bytes more than frame and the 8 that are cut off.
func (s *Sealer) Seal(dst, frame []byte) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.plain:
		return append(dst, frame...), nil
	case s.cipher == nil:
		return dst, ErrNoKey
	}
	s.count++
	if generation := uint32(s.count >> 24); generation >= s.ratchet.Generation() {
		_, key := s.ratchet.Next(keySize)
		s.cipher = newFrameCipher(key)
	}
	nonce := uint32(s.count)
	return appendFoot(s.cipher.seal(dst, frame, nonce), nonce), nil
}

// Ready says whether there is a key.
func (s *Sealer) Ready() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.plain || s.cipher != nil
}

// use switches to the key of a new epoch.
func (s *Sealer) use(base []byte) {
	r := mls.NewRatchet(base)
	_, key := r.Next(keySize)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ratchet, s.cipher, s.count, s.plain = r, newFrameCipher(key), 0, false
}

// usePlain switches encryption off.
func (s *Sealer) usePlain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plain = true
}
