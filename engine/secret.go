package engine

import (
	"fmt"
	"log/slog"
)

// A Secret is a key or a password. However it is printed, logged or marshalled it
// reads [secret]; only [Secret.Reveal] opens it, where it goes on the wire.
type Secret struct{ text string }

// NewSecret closes a secret in.
func NewSecret(text string) Secret { return Secret{text} }

// Reveal is the secret itself.
func (s Secret) Reveal() string { return s.text }

// Empty reports whether there is no secret.
func (s Secret) Empty() bool { return s.text == "" }

// String is what a person may see.
func (s Secret) String() string {
	if s.text == "" {
		return ""
	}
	return "[secret]"
}

// Format keeps every verb of fmt, %#v among them, from looking inside.
func (s Secret) Format(f fmt.State, _ rune) {
	fmt.Fprint(f, s.String())
}

// LogValue keeps a secret out of logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText keeps a secret out of JSON, YAML and everything else that asks
// values for their text.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
