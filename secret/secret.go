// Package secret holds tokens and keys so that they cannot be printed by
// accident.
//
// A configuration names where a secret is, never the secret itself: ${NAME} is
// an environment variable, file:PATH the first line of a file. A [Text] prints as
// [secret] through fmt, slog, JSON and YAML, and is opened by [Text.Reveal] only
// where it goes on the wire.
package secret

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
)

// maxFile bounds a secret's file: keys are far shorter, and a path that points
// at something else by mistake must not be read whole.
const maxFile = 16 << 10

const hidden = "[secret]"

// A Text is a secret. The zero value is no secret at all.
type Text struct{ text string }

// New wraps a secret that is already at hand, such as one just received.
func New(s string) Text { return Text{s} }

// Env is the secret in an environment variable, if it is set.
func Env(name string) Text { return Text{os.Getenv(name)} }

// Reveal opens the secret. Call it where it is put on the wire, nowhere else.
func (t Text) Reveal() string { return t.text }

// IsZero reports whether there is no secret.
func (t Text) IsZero() bool { return t.text == "" }

// UnmarshalText reads ${NAME} or file:PATH. A name that is not set leaves the
// secret empty, so that one file serves machines with and without a key; a file
// that cannot be read is an error. Anything else is refused: it would be the
// secret itself, in a file that people copy and commit.
func (t *Text) UnmarshalText(b []byte) error {
	s := string(b)
	if name, ok := strings.CutPrefix(s, "${"); ok && strings.HasSuffix(name, "}") {
		t.text = os.Getenv(strings.TrimSuffix(name, "}"))
		return nil
	}
	if path, ok := strings.CutPrefix(s, "file:"); ok {
		return t.read(path)
	}
	if s == "" {
		t.text = ""
		return nil
	}
	return fmt.Errorf("a secret must not stand here: write ${NAME} for an environment variable or file:PATH")
}

func (t *Text) read(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read a secret: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return fmt.Errorf("read a secret: %w", err)
	case len(b) > maxFile:
		return fmt.Errorf("read a secret: %s is over %d bytes", path, maxFile)
	}
	line, _, _ := strings.Cut(string(b), "\n")
	t.text = strings.TrimSpace(line)
	return nil
}

// Format prints [secret], whatever the verb.
func (t Text) Format(f fmt.State, _ rune) {
	if !t.IsZero() {
		_, _ = io.WriteString(f, hidden) // a formatter has nobody to tell
	}
}

// LogValue prints [secret].
func (t Text) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(t)) }

// MarshalText prints [secret], for JSON and YAML.
func (t Text) MarshalText() ([]byte, error) { return fmt.Append(nil, t), nil }
