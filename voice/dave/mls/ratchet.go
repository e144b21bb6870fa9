package mls

import "bytes"

// A Ratchet yields one key per generation from a secret and forgets how to make
// the earlier ones. RFC 9420, "Encryption Keys"; DAVE, "Sender Key Derivation",
// runs it on 16 bytes exported from the group and takes 16-byte keys.
type Ratchet struct {
	secret     []byte
	generation uint32
}

// NewRatchet starts a ratchet at generation 0. It keeps secret.
func NewRatchet(secret []byte) *Ratchet { return &Ratchet{secret: secret} }

// Next returns the generation and its key of length bytes, and moves on.
func (r *Ratchet) Next(length int) (generation uint32, key []byte) {
	generation = r.generation
	key = deriveTreeSecret(r.secret, "key", generation, length)
	next := deriveTreeSecret(r.secret, "secret", generation, secretSize)
	clear(r.secret)
	r.secret = next
	r.generation++
	return generation, key
}

// Clone returns a ratchet at the same generation that moves on by itself.
func (r *Ratchet) Clone() *Ratchet {
	return &Ratchet{secret: bytes.Clone(r.secret), generation: r.generation}
}

// Generation is the one that Next will return.
func (r *Ratchet) Generation() uint32 { return r.generation }

func deriveTreeSecret(secret []byte, label string, generation uint32, length int) []byte {
	return expandWithLabel(secret, label, appendUint32(nil, generation), length)
}
