package vad

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// speech is two sentences, a man's and a woman's, with 0.9 s between them.
func speech(t testing.TB) []int16 {
	t.Helper()
	b, err := os.ReadFile("testdata/speech.wav")
	if err != nil {
		t.Fatal(err)
	}
	s, err := pcm.ReadWAV(bytes.NewReader(b), pcm.HearRate, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// noisy adds white noise so many decibels below the speech.
func noisy(s []int16, snr float64) []int16 {
	rng := rand.New(rand.NewPCG(7, 7))
	amp := math.Pow(10, (-20-snr)/20) * 32768 // the speech is at -20 dBFS
	out := make([]int16, len(s))
	for i := range s {
		out[i] = int16(max(-32768, min(32767, float64(s[i])+amp*rng.NormFloat64())))
	}
	return out
}

// span is an utterance in frames.
type span struct{ start, end int }

// truth is where the speech is, by its level in the clean recording; pauses below
// 400 ms belong to it.
func truth(s []int16) (spans []span) {
	for i := range len(s) / pcm.HearSize {
		if pcm.Level(s[i*pcm.HearSize:][:pcm.HearSize]) < -45 {
			continue
		}
		if n := len(spans); n > 0 && i-spans[n-1].end < 20 {
			spans[n-1].end = i
		} else {
			spans = append(spans, span{i, i})
		}
	}
	return spans
}

// utterances is what a detector makes of the sound.
func utterances(d *Detector, s []int16) (spans []span, onset []int) {
	for i := range len(s) / pcm.HearSize {
		switch d.Feed(s[i*pcm.HearSize:][:pcm.HearSize]) {
		case Started:
			spans = append(spans, span{start: i})
			onset = append(onset, len(slices.Collect(d.Onset())))
		case Ended:
			spans[len(spans)-1].end = i
		}
	}
	return spans, onset
}

func TestUtterancesAreFoundInQuietAndInNoise(t *testing.T) {
	clean := speech(t)
	want := truth(clean)
	if len(want) != 2 {
		t.Fatalf("the recording has %d utterances, want 2", len(want))
	}
	for _, c := range []struct {
		name  string
		sound []int16
		delay int // frames
	}{
		{"clean", clean, 4},
		{"20 dB over noise", noisy(clean, 20), 5},
		{"10 dB over noise", noisy(clean, 10), 8},
	} {
		got, onset := utterances(New(Options{}), c.sound)
		if len(got) != len(want) {
			t.Errorf("%s: utterances %v, want %v", c.name, got, want)
			continue
		}
		for i := range want {
			if late := got[i].start - want[i].start; late < 0 || late > c.delay {
				t.Errorf("%s: utterance %d noticed after %d frames", c.name, i, late)
			}
			if from := got[i].start - onset[i] + 1; from > want[i].start {
				t.Errorf("%s: utterance %d is kept from frame %d on, it began at %d", c.name, i, from, want[i].start)
			}
			if late := got[i].end - want[i].end; late < 10 || late > 28 {
				t.Errorf("%s: end of utterance %d after %d frames, want about 20", c.name, i, late)
			}
		}
	}
}

func TestTheOnsetIsTheSoundThatWasFed(t *testing.T) {
	s := speech(t)
	d := New(Options{})
	for i := range len(s) / pcm.HearSize {
		if d.Feed(s[i*pcm.HearSize:][:pcm.HearSize]) != Started {
			continue
		}
		kept := slices.Concat(slices.Collect(d.Onset())...)
		want := s[(i+1)*pcm.HearSize-len(kept) : (i+1)*pcm.HearSize]
		if !slices.Equal(kept, want) {
			t.Errorf("frame %d: what is kept is not what was just fed", i)
		}
	}
}

func TestALongerEndJoinsUtterances(t *testing.T) {
	s := speech(t)
	if got, _ := utterances(New(Options{End: 1500 * time.Millisecond}), s); len(got) != 1 {
		t.Errorf("with an end of 1.5 s: %v, want one utterance", got)
	}
	// Even the shortest end leaves the closure of a "t" or "p" alone.
	if got, _ := utterances(New(Options{End: time.Nanosecond}), s); len(got) > 6 {
		t.Errorf("with the shortest end: %d utterances", len(got))
	}
}

func TestNoiseAloneIsSilence(t *testing.T) {
	const seconds = 20
	rng := rand.New(rand.NewPCG(5, 6))
	for name, sample := range map[string]func(i int) float64{
		"nothing":       func(int) float64 { return 0 },
		"mains hum":     func(i int) float64 { return 3000 * math.Sin(2*math.Pi*50*float64(i)/16000) },
		"offset":        func(int) float64 { return 8000 },
		"soft hiss":     func(int) float64 { return 30 * rng.NormFloat64() },
		"loud hiss":     func(int) float64 { return 2000 * rng.NormFloat64() },
		"a steady tone": func(i int) float64 { return 5000 * math.Sin(2*math.Pi*1000*float64(i)/16000) },
	} {
		s := make([]int16, seconds*pcm.HearRate)
		for i := range s {
			s[i] = int16(max(-32768, min(32767, sample(i))))
		}
		if got, _ := utterances(New(Options{}), s); len(got) > 0 {
			t.Errorf("%s: utterances at %v", name, got)
		}
	}
}

func TestTypingHardlyEverStartsAnUtterance(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	s := noisy(make([]int16, 60*pcm.HearRate), 45)
	for range 240 { // four key presses a second
		at := rng.IntN(len(s) - 400)
		for i := range 160 { // 10 ms
			s[at+i] += int16(6000 * math.Exp(-float64(i)/40) * rng.NormFloat64())
		}
	}
	d := New(Options{})
	starts, barges := 0, 0
	for i := range len(s) / pcm.HearSize {
		e := d.Feed(s[i*pcm.HearSize:][:pcm.HearSize])
		if e == Started {
			starts++
		}
		if e == Ended && d.Voiced() >= 200*time.Millisecond {
			barges++
		}
	}
	if starts > 5 || barges > 1 {
		t.Errorf("a minute of typing: %d starts, %d of 200 ms", starts, barges)
	}
}

func TestEventsComeInOrderWhateverIsFed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := New(Options{End: time.Duration(rapid.IntRange(-1, 1000).Draw(t, "end")) * time.Millisecond})
		speaking := false
		for range rapid.IntRange(1, 60).Draw(t, "frames") {
			amp := rapid.SampledFrom([]int{0, 1, 100, 5000, 32767}).Draw(t, "loudness")
			frame := make([]int16, rapid.SampledFrom([]int{pcm.HearSize, pcm.HearSize, pcm.HearSize, 0, 7, 5000}).Draw(t, "size"))
			rng := rand.New(rand.NewPCG(uint64(amp), rapid.Uint64().Draw(t, "seed")))
			for i := range frame {
				frame[i] = int16(rng.IntN(2*amp+1) - amp)
			}
			switch e := d.Feed(frame); {
			case speaking && (e == Silence || e == Started), !speaking && (e == Speaking || e == Ended):
				t.Fatalf("%v while speaking is %v", e, speaking)
			default:
				speaking = e == Started || e == Speaking
			}
			if speaking && rapid.IntRange(0, 20).Draw(t, "cut") == 0 {
				if !d.End() || d.End() {
					t.Fatal("End ends an utterance once")
				}
				speaking = false
			}
		}
	})
}

func TestFeedDoesNotAllocate(t *testing.T) {
	s := speech(t)
	d := New(Options{})
	i := 0
	if n := testing.AllocsPerRun(300, func() {
		d.Feed(s[i%400*pcm.HearSize:][:pcm.HearSize])
		i++
	}); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

func ExampleDetector() {
	d := New(Options{})
	for _, frame := range [][]int16{make([]int16, pcm.HearSize)} {
		switch d.Feed(frame) {
		case Started: // give the recogniser d.Onset()
		case Speaking: // give it frame
		case Ended: // ask it for the text
		default:
			fmt.Println("nobody speaks")
		}
	}
	// Output: nobody speaks
}

func BenchmarkFeed(b *testing.B) {
	s := speech(b)
	d := New(Options{})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		d.Feed(s[i%400*pcm.HearSize:][:pcm.HearSize])
	}
}
