package mls

import (
	"io"
	"math/rand/v2"
)

// newSeeded makes random bytes that are the same on every run.
func newSeeded(seed byte) io.Reader { return rand.NewChaCha8([32]byte{seed}) }
