package dice

import (
	"fmt"
	"strings"
)

// Class says what kind of mistake an [Error] is.
type Class string

// The classes: it cannot be read, it can be read but has no value, it is too
// much.
const (
	Syntax Class = "syntax"
	Value  Class = "value"
	Limit  Class = "limit"
)

// An Error says what is wrong with an expression, where, and what to write
// instead. Message and Hint are made to be said aloud.
type Error struct {
	Class Class `json:"class"`
	// Column is the character the error is about, counting from 1.
	Column  int    `json:"column"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Error is the message with its hint: "I did not understand kx3 after 4d6; did
// you mean kh3?".
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "; " + e.Hint
}

// quote repeats input in a message, short enough to be said and without
// control characters.
func quote(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
	if r := []rune(s); len(r) > 24 {
		s = string(r[:24]) + "…"
	}
	return fmt.Sprintf("“%s”", s)
}
