package mls

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"
)

func TestLengthHeadersHaveOneForm(t *testing.T) {
	for _, c := range []struct {
		header string
		length int
		want   error
	}{
		{"00", 0, nil},
		{"25", 37, nil},
		{"3f", 63, nil},
		{"4040", 64, nil},
		{"7bbd", 15293, nil}, // RFC 9420, "Variable-Size Vector Length Headers"
		{"7fff", 16383, nil},
		{"80004000", 16384, nil},
		{"9d7f3e7d", 494878333, nil}, // the same section
		{"bfffffff", 1<<30 - 1, nil},
		{"4025", 0, ErrFormat},     // 37 in two bytes
		{"80003fff", 0, ErrFormat}, // 16383 in four
		{"c0", 0, ErrFormat},
		{"ffffffffffffffff", 0, ErrFormat},
		{"40", 0, ErrFormat},
		{"800040", 0, ErrFormat},
		{"", 0, ErrFormat},
	} {
		b, err := hex.DecodeString(c.header)
		if err != nil {
			t.Fatal(err)
		}
		r := reader{b: b}
		got := r.header()
		if got != c.length || !errors.Is(r.err, c.want) || (c.want == nil) != (r.err == nil) {
			t.Errorf("header %s: %d, %v; want %d, %v", c.header, got, r.err, c.length, c.want)
		}
		if c.want == nil && !bytes.Equal(appendHeader(nil, c.length), b) {
			t.Errorf("length %d: %x, want %s", c.length, appendHeader(nil, c.length), c.header)
		}
	}
}

func TestMessagesOutsideTheSubsetAreRefused(t *testing.T) {
	r := newFullRoom(t, 1, 2)
	own := r.invitation()
	for _, c := range []struct {
		name  string
		parse func() error
	}{
		{"version of a message", func() error {
			_, _, err := ParsePublicMessage([]byte{0, 2, 0, 1})
			return err
		}},
		{"private message", func() error {
			_, _, err := ParsePublicMessage([]byte{0, 1, 0, 2})
			return err
		}},
		{"cipher suite of a welcome", func() error {
			_, err := ParseWelcome([]byte{0, 1, 0, 0})
			return err
		}},
		{"cipher suite of a key package", func() error {
			b := own.Package.Append(nil)
			b[3] = 1
			_, err := ParseKeyPackage(b)
			return err
		}},
		{"X.509 credential", func() error {
			b := r.external.Sender.Append(nil)
			b[len(b)-3] = 2
			_, err := ParseExternalSender(b)
			return err
		}},
		{"update proposal", func() error {
			m := r.remove(1)
			m.content = bytes.Clone(m.content)
			m.content[len(m.content)-5] = 2
			_, _, err := ParsePublicMessage(m.Append(nil))
			return err
		}},
		{"newcomer proposing itself", func() error {
			m := r.remove(1)
			m.content = bytes.Clone(m.content)
			m.content[1+len(roomID)+8] = 4
			_, _, err := ParsePublicMessage(m.Append(nil))
			return err
		}},
		{"identity that is no user id", func() error {
			_, err := credential{[]byte("nobody")}.user()
			return err
		}},
	} {
		if err := c.parse(); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %v, want %v", c.name, err, ErrUnsupported)
		}
	}
}

func TestExternalSenderNeedsAKey(t *testing.T) {
	if _, err := ParseExternalSender([]byte{1, 9, 0, 1, 1, 0}); !errors.Is(err, ErrFormat) {
		t.Errorf("%v, want %v", err, ErrFormat)
	}
}

// TestRatchetMatchesKnownKey has davey's test vector of a DAVE sender key.
func TestRatchetMatchesKnownKey(t *testing.T) {
	base, err := hex.DecodeString("cedd61b1b8a1ca69046554282cf70b7b")
	if err != nil {
		t.Fatal(err)
	}
	r := NewRatchet(base)
	if _, key := r.Next(16); hex.EncodeToString(key) != "7530f9a9945e2d2e06d0651f7b2a864b" {
		t.Errorf("key of generation 0 is %x", key)
	}
	if !bytes.Equal(base, make([]byte, 16)) {
		t.Error("the secret of generation 0 is still in memory")
	}
	if generation, _ := r.Next(16); generation != 1 || r.Generation() != 2 {
		t.Errorf("generation %d, then %d; want 1, 2", generation, r.Generation())
	}
}
