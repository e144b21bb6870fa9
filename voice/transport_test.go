package voice

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"golang.org/x/crypto/chacha20poly1305"
)

var modes = []string{modeGCM, modeChaCha}

func transports(t testing.TB, mode string) (out, in *transport) {
	t.Helper()
	key := bytes.Repeat([]byte{7}, 32)
	out, err := newTransport(mode, key)
	if err != nil {
		t.Fatal(err)
	}
	in, err = newTransport(mode, key)
	if err != nil {
		t.Fatal(err)
	}
	return out, in
}

func TestDatagramsOpenInBothModes(t *testing.T) {
	for _, mode := range modes {
		out, in := transports(t, mode)
		for n := range 3 {
			packet := appendHeader(make([]byte, 0, 256), uint16(n), uint32(960*n), 42)
			packet = append(packet, "hello"...)
			datagram := out.seal(packet, rtpSize)
			if got, want := len(datagram), rtpSize+5+tagSize+counterSize; got != want {
				t.Errorf("%s: %d bytes, want %d", mode, got, want)
			}
			h, frame, err := in.open(datagram)
			if err != nil || string(frame) != "hello" || h.Sequence != uint16(n) || h.Timestamp != uint32(960*n) || h.SSRC != 42 {
				t.Errorf("%s: opened %+v %q, %v", mode, h, frame, err)
			}
		}
	}
}

// foreign makes a datagram as other clients send it, with everything that may be
// in one.
func foreign(t testing.TB, tr *transport, first byte, csrc []byte, extension, body, padding []byte) []byte {
	t.Helper()
	d := appendHeader(nil, 1, 2, 3)
	d[0] = first
	d = append(d, csrc...)
	if first&0x10 != 0 {
		d = append(d, 0xbe, 0xde, 0, byte(len(extension)/4))
	}
	size := len(d)
	d = append(append(append(d, extension...), body...), padding...)
	return tr.seal(append(make([]byte, 0, 512), d...), size)
}

func TestPaddingExtensionAndSourcesAreCutBeforeTheFrame(t *testing.T) {
	for _, mode := range modes {
		out, in := transports(t, mode)
		for name, d := range map[string][]byte{
			"padding":   foreign(t, out, 0xa0, nil, nil, []byte("sound"), []byte{0, 0, 3}),
			"extension": foreign(t, out, 0x90, nil, []byte{1, 2, 3, 4, 5, 6, 7, 8}, []byte("sound"), nil),
			"sources":   foreign(t, out, 0x82, make([]byte, 8), nil, []byte("sound"), nil),
			"all":       foreign(t, out, 0xb1, make([]byte, 4), []byte{1, 2, 3, 4}, []byte("sound"), []byte{9, 2}),
		} {
			if _, frame, err := in.open(d); err != nil || string(frame) != "sound" {
				t.Errorf("%s, %s: opened %q, %v", mode, name, frame, err)
			}
		}
	}
}

func TestWhatIsNoSoundOrWasTouchedIsRefused(t *testing.T) {
	for _, mode := range modes {
		out, in := transports(t, mode)
		good := foreign(t, out, 0x80, nil, nil, []byte("sound"), nil)
		touched := bytes.Clone(good)
		touched[13] ^= 1
		moved := bytes.Clone(good)
		moved[9] ^= 1 // the SSRC is authenticated too
		long := bytes.Clone(foreign(t, out, 0x90, nil, []byte{1, 2, 3, 4}, nil, nil))
		for name, tc := range map[string]struct {
			datagram []byte
			want     error
		}{
			"empty":        {nil, errTruncated},
			"keep-alive":   {make([]byte, 8), errTruncated},
			"RTCP":         {append([]byte{0x80, 200}, make([]byte, 40)...), errNotSound},
			"version 1":    {append([]byte{0x40, 120}, make([]byte, 40)...), errNotSound},
			"no tag":       {good[:rtpSize+10], errTruncated},
			"sources lie":  {append([]byte{0x8f, 120}, make([]byte, 30)...), errTruncated},
			"touched":      {touched, nil},
			"other SSRC":   {moved, nil},
			"padding lies": {foreign(t, out, 0xa0, nil, nil, []byte("so"), []byte{200}), errPadding},
			"padding zero": {foreign(t, out, 0xa0, nil, nil, []byte("so"), []byte{0}), errPadding},
			"cut":          {long[:len(long)-1], nil},
		} {
			_, frame, err := in.open(bytes.Clone(tc.datagram))
			if err == nil || tc.want != nil && !errors.Is(err, tc.want) {
				t.Errorf("%s, %s: opened %q, %v, want %v", mode, name, frame, err, tc.want)
			}
		}
	}
}

func TestNonceIsTheCounterAndNeverRepeats(t *testing.T) {
	out, _ := transports(t, modeChaCha)
	seen := map[uint32]bool{}
	for range 1000 {
		d := out.seal(append(make([]byte, 0, 64), make([]byte, rtpSize+1)...), rtpSize)
		n := binary.BigEndian.Uint32(d[len(d)-4:])
		if seen[n] {
			t.Fatalf("nonce %d was used twice", n)
		}
		seen[n] = true
	}
	if chacha20poly1305.NonceSizeX != 24 {
		t.Fatal("the nonce is not as long as the protocol says")
	}
}

func TestModesAreChosenBestFirstAndUnknownOnesRefused(t *testing.T) {
	for _, tc := range []struct {
		offered []string
		want    string
	}{
		{[]string{modeChaCha, modeGCM}, modeGCM}, {[]string{"xsalsa20_poly1305", modeChaCha}, modeChaCha}, {[]string{"xsalsa20_poly1305"}, ""}, {nil, ""},
	} {
		got, err := chooseMode(tc.offered)
		if got != tc.want || (err == nil) != (tc.want != "") {
			t.Errorf("%v: %q, %v, want %q", tc.offered, got, err, tc.want)
		}
	}
	if _, err := newTransport("xsalsa20_poly1305", make([]byte, 32)); !errors.Is(err, ErrNoMode) {
		t.Errorf("an old mode was accepted: %v", err)
	}
	if _, err := newTransport(modeGCM, make([]byte, 16)); err == nil {
		t.Error("a short key was accepted")
	}
}

func TestTransportAllocatesNothing(t *testing.T) {
	for _, mode := range modes {
		out, in := transports(t, mode)
		buf := make([]byte, 0, 1500)
		if n := testing.AllocsPerRun(100, func() {
			packet := appendHeader(buf, 1, 2, 3)
			packet = packet[:rtpSize+160]
			if _, _, err := in.open(out.seal(packet, rtpSize)); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations a datagram, want none", mode, n)
		}
	}
}

func FuzzDatagramsNeverPanic(f *testing.F) {
	out, in := transports(f, modeGCM)
	f.Add(foreign(f, out, 0xb1, make([]byte, 4), []byte{1, 2, 3, 4}, []byte("sound"), []byte{9, 2}))
	f.Add(make([]byte, 8))
	f.Fuzz(func(t *testing.T, d []byte) {
		_, _, _ = in.open(d)
		// Behind the encryption anything may stand as well.
		if h, err := parseHeader(d); err == nil {
			_, _ = h.media(d[h.Size:])
		}
	})
}
