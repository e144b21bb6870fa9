package pcm

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestLevelIsInDecibelsOfFullScale(t *testing.T) {
	square := make([]int16, FrameSize)
	for i := range square {
		square[i] = math.MaxInt16 - int16(i%2)*math.MaxInt16 - int16(i%2)*math.MaxInt16
	}
	half := tone(Rate, 1000, FrameTime)
	for _, c := range []struct {
		name  string
		frame []int16
		want  float64
	}{
		{"full-scale square", square, 0},
		{"sine of half scale", half, -9.03},
		{"silence", make([]int16, FrameSize), Silence},
		{"nothing", nil, Silence},
	} {
		if got := Level(c.frame); math.Abs(got-c.want) > 0.05 {
			t.Errorf("%s: %.2f dBFS, want %.2f", c.name, got, c.want)
		}
	}
}

func TestSumsOfLoudVoicesBendAndNeverWrap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sum := []float32{rapid.Float32Range(-1e6, 1e6).Draw(t, "a"), rapid.Float32Range(-1e6, 1e6).Draw(t, "b")}
		var out [2]int16
		Clip(out[:], sum)
		for i, s := range sum {
			if s > 1 && out[i] < 0 || s < -1 && out[i] > 0 {
				t.Fatalf("%v became %d", s, out[i])
			}
			if math.Abs(float64(s)) < knee && math.Abs(float64(s)-float64(out[i])) > 0.51 {
				t.Fatalf("%v is below the knee and became %d", s, out[i])
			}
		}
		if sum[0] < sum[1] && out[0] > out[1] {
			t.Fatalf("%v < %v became %d > %d", sum[0], sum[1], out[0], out[1])
		}
	})
}

func TestAmplifyByDecibels(t *testing.T) {
	s := tone(Rate, 1000, 100*time.Millisecond)
	before := Level(s)
	Amplify(s, Factor(-12))
	if got := Level(s) - before; math.Abs(got+12) > 0.1 {
		t.Errorf("-12 dB changed the level by %.2f dB", got)
	}
}

func TestAFadeReachesSilenceWithoutAStep(t *testing.T) {
	frame := make([]int16, FrameSize)
	for i := range frame {
		frame[i] = 20000
	}
	sum := make([]float32, FrameSize)
	Add(sum, frame, 1, 0)
	for i := 1; i < len(sum); i++ {
		if step := sum[i-1] - sum[i]; step <= 0 || step > 25 {
			t.Fatalf("step of %v at sample %d", step, i)
		}
	}
	if last := sum[len(sum)-1]; last > 25 {
		t.Errorf("the last sample is %v", last)
	}
}

func BenchmarkMixTwoVoices(b *testing.B) {
	x, y := tone(Rate, 300, FrameTime), tone(Rate, 500, FrameTime)
	sum, out := make([]float32, FrameSize), make([]int16, FrameSize)
	b.ReportAllocs()
	for b.Loop() {
		clear(sum)
		Add(sum, x, 1, 0.5)
		Add(sum, y, 1, 1)
		Clip(out, sum)
	}
}
