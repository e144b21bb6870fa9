package dice

import (
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
)

// A Fair roller can prove afterwards that nobody chose its dice: it names the
// SHA-256 of its seed before the first roll and the seed after the last, and
// anybody can roll the evening again with [Replay].
type Fair struct {
	*Roller
	seed [32]byte
}

// NewFair starts a session's dice: ChaCha8 seeded from the operating system.
func NewFair() *Fair {
	var seed [32]byte
	crand.Read(seed[:]) // never fails: it ends the program instead
	return &Fair{Roller: newRoller(rand.New(rand.NewChaCha8(seed))), seed: seed}
}

// Commitment is what to publish before the first roll: the SHA-256 of the seed
// in hex.
func (f *Fair) Commitment() string {
	sum := sha256.Sum256(f.seed[:])
	return hex.EncodeToString(sum[:])
}

// Reveal is the seed in hex. Who knows it knows every later roll, so reveal it
// when the session has ended.
func (f *Fair) Reveal() string { return hex.EncodeToString(f.seed[:]) }

// Replay returns the dice of a revealed seed, from the first roll on.
func Replay(revealed string) (*Roller, error) {
	b, err := hex.DecodeString(revealed)
	if err != nil || len(b) != 32 {
		return nil, fmt.Errorf("seed %q: want the 64 hex digits that were revealed", revealed)
	}
	return newRoller(rand.New(rand.NewChaCha8([32]byte(b)))), nil
}

// NewSeeded returns dice that repeat for the same seed: for tests and for
// showing something twice. Whoever knows the seed knows the rolls.
func NewSeeded(seed uint64) *Roller {
	// The second word only has to be fixed; this is the golden ratio's.
	return newRoller(rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)))
}
