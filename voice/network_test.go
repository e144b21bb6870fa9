package voice_test

import (
	"context"
	"math"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/voice"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
	"github.com/glyphoxa/glyphoxa/voice/voicetest"
)

// speech is a recorded voice, repeated until it is long enough, at 48 kHz as it is
// played and at 16 kHz as it should be heard.
func speech(t *testing.T, length time.Duration) (played, expected []int16) {
	t.Helper()
	for rate, out := range map[int]*[]int16{pcm.Rate: &played, pcm.HearRate: &expected} {
		f, err := os.Open("vad/testdata/speech.wav")
		if err != nil {
			t.Fatal(err)
		}
		once, err := pcm.ReadWAV(f, rate, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		once = once[rate : len(once)-len(once)%(rate/50)] // it begins with silence
		for len(*out) < int(length.Seconds())*rate {
			*out = append(*out, once...)
		}
		*out = (*out)[:int(length.Seconds())*rate]
	}
	return played, expected
}

// overheard is a call in which one speaks and another hears, over a network with
// faults, and what was heard.
func overheard(t *testing.T, f voicetest.Faults, played []int16) (heard []int16, stats voice.Stats) {
	t.Helper()
	s := newServer(t, nil)
	a, b := two(t, s)
	s.SetFaults(f)
	var mu sync.Mutex
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var listener sync.WaitGroup
	listener.Go(func() {
		for frame := range b.Hear(ctx) {
			if frame.User == 1 {
				mu.Lock()
				heard = append(heard, frame.Samples...)
				mu.Unlock()
			}
		}
	})
	v := a.Voice(0)
	for i := 0; i < len(played); i += pcm.FrameSize {
		if err := v.Play(t.Context(), played[i:i+pcm.FrameSize]); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(2 * time.Second) // virtual: until everything has come
	v.Close()
	cancel()
	listener.Wait()
	return heard, b.Stats()
}

// likeness is the correlation of two stretches of sound: 1 for the same.
func likeness(a, b []int16) float64 {
	var ab, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		ab += x * y
		aa += x * x
		bb += y * y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}

// lag is by how many samples what was heard behind a place lags behind what should
// have been, at most limit in both directions, by the best likeness of 0.2 s.
func lag(heard, expected []int16, at, limit int) (best int) {
	const length = pcm.HearRate / 5
	most := -2.0
	for lag := -limit; lag <= limit; lag++ {
		if from := at + lag; from >= 0 && from+length <= len(heard) {
			if l := likeness(expected[at:at+length], heard[from:from+length]); l > most {
				most, best = l, lag
			}
		}
	}
	return best
}

// sounding is the first place from here on where somebody speaks.
func sounding(expected []int16, from int) int {
	for pcm.Level(expected[from:from+pcm.HearRate/5]) < -30 {
		from += pcm.HearSize
	}
	return from
}

// recognisable is the share of the sounding frames that came through as they
// were said, shifted by a lag.
func recognisable(heard, expected []int16, lag int) float64 {
	same, sounding := 0, 0
	for at := 0; at+pcm.HearSize <= len(expected); at += pcm.HearSize {
		e := expected[at : at+pcm.HearSize]
		if pcm.Level(e) < -40 {
			continue
		}
		sounding++
		if from := at + lag; from >= 0 && from+pcm.HearSize <= len(heard) && likeness(e, heard[from:from+pcm.HearSize]) > 0.7 {
			same++
		}
	}
	return float64(same) / float64(sounding)
}

// R12 and R13: what the network does to packets. A speaker's time may be wrong by
// 20 ms after a minute, speech has to stay recognisable, nothing is heard twice.
func TestR12R13SpeechSurvivesTheNetworkAndKeepsItsTime(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		faults voicetest.Faults
		length time.Duration
		want   float64 // share of frames that must come through
	}{
		"nothing":                  {voicetest.Faults{}, 15 * time.Second, 0.99},
		"loss of 1 %":              {voicetest.Faults{Loss: 0.01}, 15 * time.Second, 0.98},
		"loss of 5 %":              {voicetest.Faults{Loss: 0.05}, 15 * time.Second, 0.97},
		"loss of 10 %":             {voicetest.Faults{Loss: 0.10}, 15 * time.Second, 0.95},
		"loss of 20 %":             {voicetest.Faults{Loss: 0.20}, time.Minute, 0.90},
		"losses of 200 ms":         {voicetest.Faults{Loss: 0.05, Burst: 200 * ms}, 15 * time.Second, 0.90},
		"duplicates":               {voicetest.Faults{Duplicate: 0.10, Jitter: 40 * ms}, 15 * time.Second, 0.98},
		"jitter of 60 ms":          {voicetest.Faults{Jitter: 60 * ms}, 15 * time.Second, 0.98},
		"jitter of 200 ms":         {voicetest.Faults{Jitter: 200 * ms}, 15 * time.Second, 0.95},
		"holding back for 200 ms":  {voicetest.Faults{Jitter: 200 * ms, Hold: 0.02}, 15 * time.Second, 0.99},
		"all of it":                {voicetest.Faults{Loss: 0.05, Duplicate: 0.10, Jitter: 100 * ms, Dress: true}, time.Minute, 0.90},
		"all of it, and in bursts": {voicetest.Faults{Loss: 0.05, Burst: 100 * ms, Duplicate: 0.05, Jitter: 150 * ms, Hold: 0.02, Dress: true}, 15 * time.Second, 0.88},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				c.faults.Seed = 3
				played, expected := speech(t, c.length)
				heard, st := overheard(t, c.faults, played)
				// The first packets may be overtaken by the one that begins it all.
				const overtaken = pcm.HearRate / 5
				start := lag(heard, expected, sounding(expected, pcm.HearRate), overtaken)
				end := lag(heard, expected, sounding(expected, len(expected)-6*pcm.HearRate), overtaken)
				drift := time.Duration(end-start) * time.Second / pcm.HearRate
				share := recognisable(heard, expected, end)
				t.Logf("%.1f %% of the sound came through, %v off after %v; %+v", 100*share, drift, c.length, st)
				if drift.Abs() > 20*ms {
					t.Errorf("the time is wrong by %v after %v", drift, c.length)
				}
				if share < c.want {
					t.Errorf("%.1f %% of the frames are recognisable, want %.0f %%", 100*share, 100*c.want)
				}
				if n := len(heard) / pcm.HearSize; n > len(expected)/pcm.HearSize+5 {
					t.Errorf("%d frames heard of %d: something was heard twice", n, len(expected)/pcm.HearSize)
				}
			})
		})
	}
}
