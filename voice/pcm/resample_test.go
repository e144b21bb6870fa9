package pcm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// tone is a sine of half full scale.
func tone(rate int, hz float64, d time.Duration) []int16 {
	out := make([]int16, int(d.Seconds()*float64(rate)))
	for i := range out {
		out[i] = int16(16384 * math.Sin(2*math.Pi*hz*float64(i)/float64(rate)))
	}
	return out
}

// strength is the amplitude of a frequency in the middle of the samples, where a
// filter has settled.
func strength(samples []int16, rate int, hz float64) float64 {
	samples = samples[len(samples)/4 : len(samples)*3/4]
	var re, im float64
	for i, s := range samples {
		w := 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/float64(len(samples))) // Hann
		sin, cos := math.Sincos(2 * math.Pi * hz * float64(i) / float64(rate))
		re, im = re+w*float64(s)*cos, im+w*float64(s)*sin
	}
	return 4 * math.Hypot(re, im) / float64(len(samples))
}

func resample(t testing.TB, in []int16, from, to int) []int16 {
	t.Helper()
	r, err := NewResampler(from, to)
	if err != nil {
		t.Fatal(err)
	}
	return r.Flush(r.Append(nil, in))
}

var rates = []int{8000, 16000, 22050, 24000, 44100, 48000}

func TestAToneKeepsItsPitchAndLoudnessAtEveryPairOfRates(t *testing.T) {
	for _, from := range rates {
		for _, to := range rates {
			t.Run(fmt.Sprintf("%d to %d", from, to), func(t *testing.T) {
				out := resample(t, tone(from, 1000, time.Second), from, to)
				if got := strength(out, to, 1000); math.Abs(got-16384) > 100 {
					t.Errorf("1 kHz came out with amplitude %.0f, want 16384", got)
				}
				// 40 ms of tolerance: the filter's delay and its tail.
				if got := len(out) - to; got < 0 || got > to/25 {
					t.Errorf("one second became %d samples, want about %d", len(out), to)
				}
			})
		}
	}
}

func TestWhatTheLowerRateCannotCarryIsRemovedNotFolded(t *testing.T) {
	out := resample(t, tone(48000, 11000, time.Second), 48000, 16000)
	if level := Level(out[len(out)/4 : len(out)*3/4]); level > -80 {
		t.Errorf("11 kHz left %.0f dBFS in 16 kHz sound, want silence", level)
	}
	up := resample(t, tone(24000, 9000, time.Second), 24000, 48000)
	if image := strength(up, 48000, 15000); image > 2 {
		t.Errorf("9 kHz at 24 kHz left an image of amplitude %.1f at 15 kHz", image)
	}
}

func TestTheSizeOfTheChunksChangesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	in := make([]int16, 20000)
	for i := range in {
		in[i] = int16(rng.IntN(40000) - 20000)
	}
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.SampledFrom(rates).Draw(t, "from")
		to := rapid.SampledFrom(rates).Draw(t, "to")
		whole, _ := NewResampler(from, to)
		want := whole.Flush(whole.Append(nil, in))
		r, _ := NewResampler(from, to)
		var got []int16
		for rest := in; len(rest) > 0; {
			n := min(len(rest), rapid.IntRange(1, 9000).Draw(t, "chunk"))
			got = r.Append(got, rest[:n])
			rest = rest[n:]
		}
		if got = r.Flush(got); !slices.Equal(got, want) {
			t.Fatalf("in chunks: %d samples, whole: %d, or they differ in value", len(got), len(want))
		}
	})
}

func TestAFlushedResamplerIsAsGoodAsNew(t *testing.T) {
	r, err := NewResampler(22050, 48000)
	if err != nil {
		t.Fatal(err)
	}
	in := tone(22050, 440, 100*time.Millisecond)
	first := r.Flush(r.Append(nil, in))
	second := r.Flush(r.Append(nil, in))
	if !slices.Equal(first, second) {
		t.Error("the second sound differs from the first")
	}
}

func TestTwentyMillisecondsInAreTwentyMillisecondsOutAtOnce(t *testing.T) {
	for _, from := range []int{8000, 16000, 24000, 44100, 48000} {
		f := NewFramer(Rate, FrameSize)
		if err := f.Add(Chunk{Rate: from, Samples: tone(from, 300, FrameTime)}); err != nil {
			t.Fatal(err)
		}
		if !f.Next(make([]int16, FrameSize)) {
			t.Errorf("from %d Hz: a chunk of 20 ms gave less", from)
		}
	}
}

func TestWarmResamplersDoNotAllocate(t *testing.T) {
	r, err := NewResampler(22050, 48000)
	if err != nil {
		t.Fatal(err)
	}
	in := tone(22050, 440, FrameTime)
	out := make([]int16, 0, 2*FrameSize)
	if n := testing.AllocsPerRun(100, func() { out = r.Append(out[:0], in) }); n != 0 {
		t.Errorf("Append allocates %v times a frame", n)
	}
	f := NewFramer(Rate, FrameSize)
	frame := make([]int16, FrameSize)
	chunk := Chunk{Rate: 22050, Samples: in}
	add := func() {
		if err := f.Add(chunk); err != nil {
			t.Fatal(err)
		}
		for f.Next(frame) {
		}
	}
	for range 10 {
		add()
	}
	if n := testing.AllocsPerRun(100, add); n != 0 {
		t.Errorf("Framer allocates %v times a chunk", n)
	}
}

func TestRatesThatMakeNoSenseAreRefused(t *testing.T) {
	for _, p := range [][2]int{{0, 48000}, {-8000, 48000}, {48000, 1}, {3999, 48000}, {192001, 48000}, {47999, 48000}} {
		if _, err := NewResampler(p[0], p[1]); err == nil {
			t.Errorf("%d to %d Hz was accepted", p[0], p[1])
		}
	}
}

func TestFramesAreWholeAndInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := NewFramer(Rate, FrameSize)
		frame := make([]int16, FrameSize)
		var got []int16
		next := int16(0)
		total := 0
		for range rapid.IntRange(1, 20).Draw(t, "chunks") {
			c := Chunk{Rate: Rate, Samples: make([]int16, rapid.IntRange(0, 3000).Draw(t, "size"))}
			for i := range c.Samples {
				c.Samples[i] = next
				next++
			}
			total += len(c.Samples)
			if err := f.Add(c); err != nil {
				t.Fatal(err)
			}
			for f.Next(frame) {
				got = append(got, frame...)
			}
		}
		f.End()
		for f.Next(frame) {
			got = append(got, frame...)
		}
		if len(got)%FrameSize != 0 || len(got) < total || len(got) >= total+FrameSize {
			t.Fatalf("%d samples became %d", total, len(got))
		}
		for i, s := range got {
			want := int16(0)
			if i < total {
				want = int16(i)
			}
			if s != want {
				t.Fatalf("sample %d is %d, want %d", i, s, want)
			}
		}
	})
}

func TestAFramerTakesChunksOfChangingRates(t *testing.T) {
	f := NewFramer(Rate, FrameSize)
	for _, rate := range []int{22050, 16000, 48000} {
		if err := f.Add(Chunk{Rate: rate, Samples: tone(rate, 500, 200*time.Millisecond)}); err != nil {
			t.Fatal(err)
		}
	}
	f.End()
	got := 0
	for frame := make([]int16, FrameSize); f.Next(frame); {
		got++
	}
	if got < 30 || got > 34 {
		t.Errorf("600 ms in three rates became %d frames of 20 ms", got)
	}
	if err := f.Add(Chunk{Rate: 7, Samples: []int16{1}}); err == nil {
		t.Error("a chunk of 7 Hz was taken")
	}
}

func BenchmarkResample(b *testing.B) {
	for _, p := range [][2]int{{22050, 48000}, {24000, 48000}, {48000, 16000}} {
		b.Run(fmt.Sprintf("%d to %d, 20 ms", p[0], p[1]), func(b *testing.B) {
			r, err := NewResampler(p[0], p[1])
			if err != nil {
				b.Fatal(err)
			}
			in := tone(p[0], 440, FrameTime)
			out := make([]int16, 0, 2*FrameSize)
			b.ReportAllocs()
			for b.Loop() {
				out = r.Append(out[:0], in)
			}
		})
	}
}
