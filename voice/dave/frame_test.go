package dave

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"testing"
	"time"
)

var (
	start = time.Unix(1_000_000, 0)
	base  = []byte("sixteen byte key")
)

// newPair is a sealer of user 7 and an opener that knows its key.
func newPair() (*Sealer, *Opener) {
	s, o := &Sealer{}, &Opener{}
	s.use(bytes.Clone(base))
	o.use(map[uint64][]byte{7: bytes.Clone(base)}, start)
	return s, o
}

func seal(t testing.TB, s *Sealer, plain []byte) []byte {
	t.Helper()
	b, err := s.Seal(nil, plain)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSealedFrameHasTheLayoutOfTheProtocol(t *testing.T) {
	s, _ := newPair()
	b := seal(t, s, make([]byte, 20))
	if len(b) != 20+12 {
		t.Errorf("first frame has %d bytes more, want 12", len(b)-20)
	}
	if tail := b[len(b)-4:]; !bytes.Equal(tail, []byte{1, 12, 0xFA, 0xFA}) {
		t.Errorf("first frame ends in %x: nonce 1, size 12, marker wanted", tail)
	}
	for range 127 {
		b = seal(t, s, make([]byte, 20))
	}
	if tail := b[len(b)-5:]; !bytes.Equal(tail, []byte{0x80, 1, 13, 0xFA, 0xFA}) {
		t.Errorf("frame 128 ends in %x: nonce 128, size 13, marker wanted", tail)
	}
}

func TestDisplayableCodeMatchesKnownOne(t *testing.T) {
	data, err := hex.DecodeString("aabbccddeebbccddeeffccddeeffaaddeeffaabbeeffaabbccffaabbccdd")
	if err != nil {
		t.Fatal(err)
	}
	// libdave's test vector
	if got, want := privacyCode(data), "05870 81055 56138 05211 95724 94877"; got != want {
		t.Errorf("code %q, want %q", got, want)
	}
}

func TestFramesThatAreNotOpened(t *testing.T) {
	good := func(t *testing.T) []byte {
		s, _ := newPair()
		return seal(t, s, []byte("what somebody says"))
	}
	for _, c := range []struct {
		name string
		make func(t *testing.T) []byte
		want error
	}{
		{"nothing", func(*testing.T) []byte { return nil }, ErrPlain},
		{"plain Opus", func(*testing.T) []byte { return []byte{0x78, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12} }, ErrPlain},
		{"a marker and nothing else", func(*testing.T) []byte { return []byte{0xFA, 0xFA} }, ErrPlain},
		{"a size beyond the frame", func(t *testing.T) []byte { b := good(t); b[len(b)-3] = 200; return b }, ErrPlain},
		{"a size that is too small", func(t *testing.T) []byte { b := good(t); b[len(b)-3] = 11; return b }, ErrPlain},
		{"a nonce without end", func(t *testing.T) []byte { b := good(t); b[len(b)-4] = 0x81; return b }, ErrPlain},
		{"bytes in the clear", func(t *testing.T) []byte {
			b := good(t)
			return append(slices.Clone(b[:len(b)-3]), 0, 2, 14, 0xFA, 0xFA)
		}, ErrFrame},
		{"too long", func(t *testing.T) []byte {
			s, _ := newPair()
			return seal(t, s, make([]byte, MaxFrame+Overhead))
		}, ErrFrame},
		{"altered ciphertext", func(t *testing.T) []byte { b := good(t); b[0] ^= 1; return b }, ErrKey},
		{"altered tag", func(t *testing.T) []byte { b := good(t); b[len(b)-5] ^= 1; return b }, ErrKey},
		{"altered nonce", func(t *testing.T) []byte { b := good(t); b[len(b)-4] = 2; return b }, ErrKey},
		{"nonce 0, which nobody uses first", func(t *testing.T) []byte { b := good(t); b[len(b)-4] = 0; return b }, ErrKey},
		{"cut short in front", func(t *testing.T) []byte { return good(t)[1:] }, ErrKey},
		{"all of the size, no ciphertext", func(t *testing.T) []byte { b := good(t); return b[len(b)-12:] }, ErrKey},
		{"another key", func(t *testing.T) []byte {
			s := &Sealer{}
			s.use([]byte("another 16 bytes"))
			return seal(t, s, []byte("what somebody says"))
		}, ErrKey},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, o := newPair()
			b := c.make(t)
			if out, err := o.Open([]byte("before"), 7, b, start); !errors.Is(err, c.want) || string(out) != "before" {
				t.Errorf("got %q, %v; want %v", out, err, c.want)
			}
			if _, err := o.Open(nil, 7, good(t), start); err != nil {
				t.Errorf("a good frame after it: %v", err)
			}
		})
	}
}

func TestFrameIsOnlyOpenedForItsSpeaker(t *testing.T) {
	s, o := newPair()
	o.use(map[uint64][]byte{8: []byte("another 16 bytes")}, start)
	b := seal(t, s, []byte("hello"))
	if _, err := o.Open(nil, 8, b, start); !errors.Is(err, ErrKey) {
		t.Errorf("as user 8: %v, want %v", err, ErrKey)
	}
	if _, err := o.Open(nil, 9, b, start); !errors.Is(err, ErrStranger) {
		t.Errorf("as user 9: %v, want %v", err, ErrStranger)
	}
	if user, plain, err := o.Find(nil, b, start); user != 7 || string(plain) != "hello" || err != nil {
		t.Errorf("found user %d, %q, %v", user, plain, err)
	}
	if _, _, err := o.Find(nil, b, start); !errors.Is(err, ErrKey) {
		t.Errorf("found again: %v, want %v", err, ErrKey)
	}
}

func TestSilenceOfTheServerIsHeardAndOursIsSealed(t *testing.T) {
	s, o := newPair()
	if out, err := o.Open(nil, 7, silence[:], start); err != nil || !bytes.Equal(out, silence[:]) {
		t.Errorf("heard %x, %v", out, err)
	}
	if b := seal(t, s, silence[:]); bytes.HasPrefix(b, silence[:]) {
		t.Errorf("sent %x", b)
	}
}

func TestEachFrameOpensOnceInAnyOrder(t *testing.T) {
	s, o := newPair()
	var frames [][]byte
	for i := range 3000 {
		frames = append(frames, seal(t, s, []byte{byte(i)}))
	}
	open := func(i int) error {
		_, err := o.Open(nil, 7, frames[i], start)
		return err
	}
	for _, i := range []int{0, 5, 3, 1, 4, 2, 1000, 999, 6} {
		if err := open(i); err != nil {
			t.Errorf("frame %d: %v", i, err)
		}
	}
	for _, i := range []int{0, 3, 5, 999, 1000} {
		if err := open(i); !errors.Is(err, ErrReplay) {
			t.Errorf("frame %d again: %v, want %v", i, err, ErrReplay)
		}
	}
	if err := open(2500); err != nil {
		t.Error(err)
	}
	// In this order: the last one moves the window.
	for _, tc := range []struct {
		frame int
		want  error
	}{{2500 - windowSize, ErrReplay}, {2500 - windowSize + 1, nil}, {2499, nil}, {2999, nil}} {
		if err := open(tc.frame); !errors.Is(err, tc.want) {
			t.Errorf("frame %d after 2500: %v, want %v", tc.frame, err, tc.want)
		}
	}
}

func TestForgedFrameDoesNotUseUpTheNonce(t *testing.T) {
	s, o := newPair()
	b := seal(t, s, []byte("hello"))
	forged := bytes.Clone(b)
	forged[0] ^= 1
	if _, err := o.Open(nil, 7, forged, start); !errors.Is(err, ErrKey) {
		t.Errorf("forged: %v", err)
	}
	if _, err := o.Open(nil, 7, b, start); err != nil {
		t.Errorf("genuine: %v", err)
	}
}

func TestKeyChangesEvery16MillionFrames(t *testing.T) {
	s, o := newPair()
	later := start.Add(100 * time.Hour)
	s.count = 1<<24 - 3
	var frames [][]byte
	for range 6 {
		frames = append(frames, seal(t, s, []byte("hello")))
	}
	for _, i := range []int{0, 3, 1, 2, 5, 4} { // 2 is the first of the new key
		if _, err := o.Open(nil, 7, frames[i], later); err != nil {
			t.Errorf("frame %d: %v", i, err)
		}
	}
	for i, b := range frames {
		if _, err := o.Open(nil, 7, b, later); !errors.Is(err, ErrReplay) {
			t.Errorf("frame %d again: %v", i, err)
		}
	}
	// Two generations on, where nothing was heard in between.
	s.count = 3<<24 + 9
	for s.ratchet.Generation() < 3 {
		s.ratchet.Next(keySize)
	}
	if _, err := o.Open(nil, 7, seal(t, s, []byte("hello")), later.Add(400*time.Hour)); err != nil {
		t.Errorf("generation 3: %v", err)
	}
}

func TestNonceWrapsWithoutUsingAKeyTwice(t *testing.T) {
	s, o := newPair()
	for s.ratchet.Generation() < 256 {
		_, key := s.ratchet.Next(keySize)
		s.cipher = newFrameCipher(key)
	}
	s.count = 1<<32 - 2
	years := start.Add(10_000 * time.Hour)
	for i := range 4 {
		if _, err := o.Open(nil, 7, seal(t, s, []byte("hello")), years); err != nil {
			t.Errorf("frame %d: %v", i, err)
		}
	}
	if s.ratchet.Generation() != 257 {
		t.Errorf("generation %d, want 256", s.ratchet.Generation()-1)
	}
}

func TestFrameThatNobodyCanHaveSentYetIsNotTried(t *testing.T) {
	s, o := newPair()
	s.count = 1 << 24
	b := seal(t, s, []byte("hello"))
	if _, err := o.Open(nil, 7, b, start.Add(time.Hour)); !errors.Is(err, ErrKey) {
		t.Errorf("after an hour: %v, want %v", err, ErrKey)
	}
	if _, err := o.Open(nil, 7, b, start.Add(100*time.Hour)); err != nil {
		t.Errorf("after 100 hours: %v", err)
	}
}

func TestSpeakerHoldsAtMostEightKeys(t *testing.T) {
	_, o := newPair()
	for i := range 20 {
		o.use(map[uint64][]byte{7: {byte(i), 15: 0}}, start)
	}
	if n := len(o.speakers[7].keys); n != maxEpochs {
		t.Errorf("%d keys, want %d", n, maxEpochs)
	}
	o.use(nil, start)
	o.use(nil, start.Add(retention))
	if len(o.speakers) != 0 {
		t.Error("a speaker who left is never forgotten")
	}
}

func TestSealingAndOpeningAllocatesNothing(t *testing.T) {
	s, o := newPair()
	o.use(map[uint64][]byte{7: []byte("another 16 bytes")}, start) // with an old key
	s.use([]byte("another 16 bytes"))
	said, sealed, heard := make([]byte, 160), make([]byte, 0, 512), make([]byte, 0, 512)
	if n := testing.AllocsPerRun(1000, func() {
		var err error
		if sealed, err = s.Seal(sealed[:0], said); err != nil {
			t.Fatal(err)
		}
		if heard, err = o.Open(heard[:0], 7, sealed, start); err != nil {
			t.Fatal(err)
		}
		if _, err = o.Open(heard[:0], 7, sealed, start); !errors.Is(err, ErrReplay) {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations per frame, want 0", n)
	}
}

func FuzzOpenerSurvivesAnyFrame(f *testing.F) {
	s, _ := newPair()
	f.Add(seal(f, s, []byte("hello")))
	f.Add(silence[:])
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x80, 0x80, 0x80, 0x10, 16, 0xFA, 0xFA})
	f.Fuzz(func(t *testing.T, b []byte) {
		s, o := newPair()
		now := start.Add(1000 * time.Hour)
		if out, err := o.Open(nil, 7, b, now); err == nil && !bytes.Equal(out, silence[:]) {
			again := &Sealer{}
			again.use(bytes.Clone(base))
			if !bytes.Equal(seal(t, again, out), b) {
				t.Errorf("opened %x, which nobody sealed", b)
			}
		}
		_, _, _ = o.Find(nil, b, now)
		if _, err := o.Open(nil, 7, seal(t, s, []byte("good")), now); err != nil && !errors.Is(err, ErrReplay) {
			t.Errorf("a good frame after %x: %v", b, err)
		}
	})
}

func FuzzSessionSurvivesAnyMessage(f *testing.F) {
	f.Add(uint8(OpExternalSender), []byte{0})
	f.Add(uint8(OpProposals), []byte{0, 0})
	f.Add(uint8(OpAnnounceCommit), []byte{0, 1, 0, 1, 0, 1})
	f.Add(uint8(OpWelcome), []byte{0, 1, 0, 2, 0, 0})
	external, err := hex.DecodeString(capturedSender)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint8(OpExternalSender), external)
	f.Fuzz(func(t *testing.T, op uint8, b []byte) {
		for _, state := range []func(s *Session){
			func(*Session) {},
			func(s *Session) { _ = s.receiveExternalSender(external) },
			func(s *Session) { _, _ = s.Begin(Version) },
			func(s *Session) {
				_ = s.receiveExternalSender(external)
				_, _ = s.Begin(Version)
			},
		} {
			s, err := NewSession(Config{User: 1, Channel: 2})
			if err != nil {
				t.Fatal(err)
			}
			state(s)
			_, _ = s.Receive(op, b, start)
			if s.Sealer().Ready() {
				t.Errorf("ready to send after opcode %d %x", op, b)
			}
		}
	})
}

func BenchmarkSeal(b *testing.B) {
	s, _ := newPair()
	said, sealed := make([]byte, 160), make([]byte, 0, 512)
	b.ReportAllocs()
	for b.Loop() {
		sealed, _ = s.Seal(sealed[:0], said)
	}
}

func BenchmarkOpen(b *testing.B) {
	s, o := newPair()
	said, sealed, heard := make([]byte, 160), make([]byte, 0, 512), make([]byte, 0, 512)
	b.ReportAllocs()
	for b.Loop() {
		sealed, _ = s.Seal(sealed[:0], said)
		if _, err := o.Open(heard, 7, sealed, start); err != nil {
			b.Fatal(err)
		}
	}
}
