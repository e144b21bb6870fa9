package mls

import (
	"errors"
	"fmt"
)

// Limits on what a message may hold. A Discord voice channel seats 99 people and
// a welcome for 100 members has 26 kB, so all three are generous.
const (
	// MaxMessage bounds the bytes of one message, and so all that parsing it
	// can allocate. The voice socket has the same limit.
	MaxMessage = 1 << 20
	// MaxMembers bounds the leaves of a ratchet tree: hashing and validating one
	// takes time in proportion.
	MaxMembers = 1 << 10
	// MaxProposals bounds the proposals of one epoch: everybody leaving and as
	// many others joining would be 198.
	MaxProposals = 256
)

// Every error of this package is one of these kinds, wrapped with what was wrong.
var (
	// ErrFormat: the bytes are not what they should be.
	ErrFormat = errors.New("mls: malformed message")
	// ErrTooBig: more bytes, leaves or proposals than the limits allow.
	ErrTooBig = errors.New("mls: message over the limit")
	// ErrUnsupported: valid MLS perhaps, but not of the part that DAVE uses.
	ErrUnsupported = errors.New("mls: outside the part of MLS that DAVE uses")
	// ErrEpoch: the message is for another group or another epoch.
	ErrEpoch = errors.New("mls: message for another group or epoch")
	// ErrAuth: a signature, a tag or a ciphertext is not genuine.
	ErrAuth = errors.New("mls: message not authentic")
	// ErrSender: authentic perhaps, but not from somebody who may send this.
	ErrSender = errors.New("mls: sender may not send this")
	// ErrProposal: a proposal that cannot be, or is not known.
	ErrProposal = errors.New("mls: proposal refused")
	// ErrTree: the ratchet tree, or a path for it, is not valid.
	ErrTree = errors.New("mls: ratchet tree not valid")
	// ErrNotForUs: a welcome that holds nothing for our key package.
	ErrNotForUs = errors.New("mls: welcome is for somebody else")
	// ErrRemoved: the commit removes this very member.
	ErrRemoved = errors.New("mls: removed from the group")
)

// refuse wraps a kind of error with what was wrong.
func refuse(kind error, format string, args ...any) error {
	return fmt.Errorf("%w: %s", kind, fmt.Sprintf(format, args...))
}
