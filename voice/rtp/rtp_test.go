package rtp

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var key = bytes.Repeat([]byte{7}, 32)

func newCipher(t testing.TB, mode string) *Cipher {
	t.Helper()
	c, err := NewCipher(mode, key)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestPacketsComeOutAsTheyWentIn(t *testing.T) {
	for _, mode := range Modes {
		for _, h := range []Header{
			{Sequence: 1, Timestamp: 960, SSRC: 5, Extension: []byte{}},
			{Sequence: 65535, Timestamp: 1<<32 - 1, SSRC: 1<<32 - 1, Extension: []byte("12345678")},
			{SSRC: 9, Extension: []byte{}, Padding: 1},
			{SSRC: 9, Extension: []byte("1234"), Padding: 255},
		} {
			seal, open := newCipher(t, mode), newCipher(t, mode)
			payload := []byte("a frame of sound")
			b := seal.Seal([]byte("front"), h, payload)[len("front"):]
			if bytes.Contains(b, payload) {
				t.Errorf("%s: not encrypted", mode)
			}
			got, body, err := open.Open(b)
			if err != nil || !bytes.Equal(body, payload) {
				t.Errorf("%s, %+v: %q, %v", mode, h, body, err)
			}
			if d := cmp.Diff(h, got); d != "" {
				t.Errorf("%s header (-sent +received):\n%s", mode, d)
			}
		}
	}
}

func TestSealedPacketHasTheLayoutOfDiscord(t *testing.T) {
	c := newCipher(t, ModeAES)
	h := Header{Sequence: 0x0102, Timestamp: 0x03040506, SSRC: 0x0708090a}
	b := c.Seal(nil, h, make([]byte, 10))
	if got, want := hex.EncodeToString(b[:12]), "80780102030405060708090a"; got != want {
		t.Errorf("header %s, want %s", got, want)
	}
	if len(b) != 10+Overhead {
		t.Errorf("%d bytes, want %d", len(b), 10+Overhead)
	}
	if counter := b[len(b)-4:]; !bytes.Equal(counter, []byte{0, 0, 0, 1}) {
		t.Errorf("counter %x, want 1", counter)
	}
	if counter := c.Seal(nil, h, nil); !bytes.HasSuffix(counter, []byte{0, 0, 0, 2}) {
		t.Error("the counter stands still")
	}
}

func TestPacketsThatAreNotOpened(t *testing.T) {
	seal := func(h Header, payload string) func(c *Cipher) []byte {
		return func(c *Cipher) []byte { return c.Seal(nil, h, []byte(payload)) }
	}
	sealed := seal(Header{SSRC: 5}, "sound")
	change := func(at int, v byte) func(c *Cipher) []byte {
		return func(c *Cipher) []byte {
			b := sealed(c)
			if at < 0 {
				at += len(b)
			}
			b[at] = v
			return b
		}
	}
	for _, c := range []struct {
		name string
		make func(c *Cipher) []byte
		want error
	}{
		{"nothing", func(*Cipher) []byte { return nil }, ErrOther},
		{"the echo of a keep-alive", func(*Cipher) []byte { return make([]byte, 8) }, ErrOther},
		{"RTCP", change(1, 201), ErrOther},
		{"another version", change(0, 0x40), ErrOther},
		{"a header alone", func(c *Cipher) []byte { return sealed(c)[:12] }, ErrShort},
		{"more sources than there is room for", change(0, 0x8f), ErrShort},
		{"an extension without its length", func(c *Cipher) []byte { b := sealed(c)[:14]; b[0] |= 0x10; return b }, ErrShort},
		{"an altered header", change(3, 9), ErrForged},
		{"an altered payload", change(13, 9), ErrForged},
		{"an altered counter", change(-1, 9), ErrForged},
		{"a flag that was set on the way", change(0, 0xa0), ErrForged},
		{"another key", func(*Cipher) []byte {
			other, err := NewCipher(ModeAES, make([]byte, 32))
			if err != nil {
				t.Fatal(err)
			}
			return sealed(other)
		}, ErrForged},
		{"nothing inside", seal(Header{}, ""), ErrEmpty},
		{"only padding", seal(Header{Padding: 4}, ""), ErrEmpty},
		{"only an extension", seal(Header{Extension: []byte("1234")}, ""), ErrEmpty},
		{"padding that is longer than the packet", func(c *Cipher) []byte {
			b := (Header{Padding: 1}).appendClear(nil)
			b = c.aead.Seal(b, make([]byte, 12), []byte{1, 200}, b)
			return append(b, 0, 0, 0, 0)
		}, ErrShort},
		{"padding of no bytes", func(c *Cipher) []byte {
			b := (Header{Padding: 1}).appendClear(nil)
			b = c.aead.Seal(b, make([]byte, 12), []byte{1, 0}, b)
			return append(b, 0, 0, 0, 0)
		}, ErrShort},
		{"an extension that is longer than the packet", func(c *Cipher) []byte {
			b := (Header{Extension: make([]byte, 400)}).appendClear(nil)
			b = c.aead.Seal(b, make([]byte, 12), []byte{1, 2, 3}, b)
			return append(b, 0, 0, 0, 0)
		}, ErrShort},
	} {
		t.Run(c.name, func(t *testing.T) {
			sender, receiver := newCipher(t, ModeAES), newCipher(t, ModeAES)
			if _, body, err := receiver.Open(c.make(sender)); !errors.Is(err, c.want) || body != nil {
				t.Errorf("%q, %v; want %v", body, err, c.want)
			}
		})
	}
}

func TestModesAndKeysThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		mode string
		key  []byte
	}{
		{"xsalsa20_poly1305", key}, {"", key},
		{ModeAES, key[:16]}, {ModeXChaCha, key[:16]}, {ModeAES, nil},
	} {
		if _, err := NewCipher(c.mode, c.key); err == nil {
			t.Errorf("mode %q with a key of %d bytes is accepted", c.mode, len(c.key))
		}
	}
}

func TestNoAllocationPerPacket(t *testing.T) {
	for _, mode := range Modes {
		seal, open := newCipher(t, mode), newCipher(t, mode)
		payload, b := make([]byte, 160), make([]byte, 0, 1500)
		if n := testing.AllocsPerRun(100, func() {
			b = seal.Seal(b[:0], Header{SSRC: 1}, payload)
			if _, _, err := open.Open(b); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", mode, n)
		}
	}
}

func FuzzOpenSurvivesAnything(f *testing.F) {
	c := newCipher(f, ModeAES)
	f.Add(c.Seal(nil, Header{Extension: []byte("1234"), Padding: 3}, []byte("sound")), []byte{0, 4})
	f.Fuzz(func(t *testing.T, b, inside []byte) {
		c := newCipher(t, ModeAES)
		if _, body, err := c.Open(bytes.Clone(b)); err == nil && len(body) == 0 {
			t.Error("nothing, and no error")
		}
		// And a genuine packet whose clear part is b.
		clear, err := parseClear(b)
		if err != nil || len(b) < clear.size {
			return
		}
		forged := bytes.Clone(b[:clear.size])
		forged = c.aead.Seal(forged, make([]byte, 12), inside, forged)
		if _, body, err := c.Open(append(forged, 0, 0, 0, 0)); err == nil && len(body) == 0 {
			t.Error("nothing, and no error")
		}
	})
}

func BenchmarkSealAndOpen(b *testing.B) {
	for _, mode := range Modes {
		b.Run(mode, func(b *testing.B) {
			seal, open := newCipher(b, mode), newCipher(b, mode)
			payload, packet := make([]byte, 160), make([]byte, 0, 1500)
			b.ReportAllocs()
			for b.Loop() {
				packet = seal.Seal(packet[:0], Header{SSRC: 1}, payload)
				if _, _, err := open.Open(packet); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
