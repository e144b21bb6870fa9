package opus

import (
	"errors"
	"math"
	"testing"
	"time"
)

// tone is 20 ms of 440 Hz at 48 kHz, the n-th of a run.
func tone(n int) []int16 {
	f := make([]int16, 960)
	for i := range f {
		f[i] = int16(8000 * math.Sin(2*math.Pi*440*float64(n*960+i)/48000))
	}
	return f
}

func coders(t testing.TB, rate int) (*Encoder, *Decoder) {
	t.Helper()
	e, err := NewEncoder(EncoderOptions{Loss: 10})
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDecoder(rate)
	if err != nil {
		t.Fatal(err)
	}
	return e, d
}

func TestToneComesBackAtSixteenKilohertz(t *testing.T) {
	e, d := coders(t, 16000)
	var heard []int16
	for n := range 50 {
		packet := make([]byte, 1275)
		k, err := e.Encode(tone(n), packet)
		if err != nil {
			t.Fatal(err)
		}
		out := make([]int16, 16000*120/1000)
		m, err := d.Decode(packet[:k], out)
		if err != nil {
			t.Fatal(err)
		}
		if m != 320 {
			t.Fatalf("packet %d gave %d samples, want 320", n, m)
		}
		heard = append(heard, out[:m]...)
	}
	crossings := 0
	for i := 8001; i < len(heard); i++ { // the codec's start is not the tone's
		if (heard[i-1] < 0) != (heard[i] < 0) {
			crossings++
		}
	}
	if got, want := float64(crossings)/2/0.5, 440.0; math.Abs(got-want) > 6 {
		t.Errorf("heard %.0f Hz, want %.0f", got, want)
	}
}

func TestLostPacketIsConcealed(t *testing.T) {
	e, d := coders(t, 16000)
	packet, out := make([]byte, 1275), make([]int16, 320)
	for n := range 20 {
		k, err := e.Encode(tone(n), packet)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Decode(packet[:k], out); err != nil {
			t.Fatal(err)
		}
	}
	n, err := d.Conceal(out)
	if err != nil || n != 320 {
		t.Fatalf("Conceal() = %d, %v, want 320 samples", n, err)
	}
	var energy float64
	for _, s := range out {
		energy += float64(s) * float64(s)
	}
	if rms := math.Sqrt(energy / 320); rms < 1000 {
		t.Errorf("the concealed frame has level %.0f, want the tone to go on", rms)
	}
}

func TestDurationIsReadFromTheFirstBytes(t *testing.T) {
	for _, tc := range []struct {
		packet []byte
		want   time.Duration
	}{
		{Silence, 20 * time.Millisecond},
		{[]byte{0x08, 1}, 20 * time.Millisecond},      // SILK narrowband 20 ms
		{[]byte{0x18, 1}, 60 * time.Millisecond},      // SILK narrowband 60 ms
		{[]byte{0x79, 1}, 40 * time.Millisecond},      // hybrid 20 ms, two frames
		{[]byte{0x83, 3, 1}, 7500 * time.Microsecond}, // CELT 2.5 ms, three frames
		{[]byte{0xfb, 6, 1}, 120 * time.Millisecond},  // CELT 20 ms, six frames
	} {
		if got, err := Duration(tc.packet); err != nil || got != tc.want {
			t.Errorf("Duration(% x) = %v, %v, want %v", tc.packet, got, err, tc.want)
		}
	}
}

func TestMalformedPacketsAreRefusedBeforeTheCodec(t *testing.T) {
	_, d := coders(t, 16000)
	out := make([]int16, 1920)
	for _, p := range [][]byte{nil, {}, {0xff}, {0xfb, 0}, {0xfb, 7, 1}, {0x1b, 3}, make([]byte, MaxPacket+1)} {
		if _, err := d.Decode(p, out); !errors.Is(err, ErrPacket) {
			t.Errorf("Decode(% x…) = %v, want %v", p[:min(len(p), 4)], err, ErrPacket)
		}
	}
	if _, err := d.Decode([]byte{0xfb, 6, 1, 2}, out[:320]); !errors.Is(err, ErrBuffer) {
		t.Errorf("a packet of 120 ms in a buffer of 20 ms: %v, want %v", err, ErrBuffer)
	}
}

func FuzzDecodeSurvivesAnyPacket(f *testing.F) {
	e, _ := coders(f, 16000)
	packet := make([]byte, 1275)
	for n := range 5 {
		k, err := e.Encode(tone(n), packet)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(packet[:k])
	}
	f.Add(Silence)
	d, err := NewDecoder(16000)
	if err != nil {
		f.Fatal(err)
	}
	out := make([]int16, 1920)
	f.Fuzz(func(t *testing.T, p []byte) {
		if n, err := d.Decode(p, out); err == nil && (n < 0 || n > len(out)) {
			t.Errorf("Decode gave %d samples", n)
		}
		_, _ = d.Recover(p, out[:320])
	})
}

func BenchmarkDecodeTo16k(b *testing.B) {
	e, d := coders(b, 16000)
	packet, out := make([]byte, 1275), make([]int16, 1920)
	k, err := e.Encode(tone(3), packet)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Decode(packet[:k], out); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	e, _ := coders(b, 16000)
	packet, frame := make([]byte, 1275), tone(3)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Encode(frame, packet); err != nil {
			b.Fatal(err)
		}
	}
}
