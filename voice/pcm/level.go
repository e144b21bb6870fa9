package pcm

import "math"

// Silence is the level of digital silence, in dBFS: the lowest that [Level]
// returns. One step of a 16-bit sample is -90 dBFS.
const Silence = -96.0

// Level is the loudness of a frame: its root mean square in decibels against a
// full-scale square wave. Talk is around -25, a quiet room below -60.
func Level(frame []int16) float64 {
	if len(frame) == 0 {
		return Silence
	}
	var sum float64
	for _, s := range frame {
		sum += float64(s) * float64(s)
	}
	mean := sum / float64(len(frame)) / (32768 * 32768)
	if mean == 0 {
		return Silence
	}
	return max(Silence, 10*math.Log10(mean))
}

// Factor is what samples are multiplied with for a gain in decibels.
func Factor(decibels float64) float32 {
	return float32(math.Pow(10, decibels/20))
}

// Add adds a frame to a sum of voices, its loudness going evenly from one factor
// to another: equal factors keep it, 1 to 0 fades it out without a click. sum is
// as long as frame.
func Add(sum []float32, frame []int16, from, to float32) {
	if len(frame) == 0 {
		return
	}
	sum = sum[:len(frame)]
	step := (to - from) / float32(len(frame))
	for i, s := range frame {
		sum[i] += float32(s) * from
		from += step
	}
}

// knee is where a sum begins to be bent: 3 dB below full scale.
const knee = 23197

// Clip turns a sum of voices into samples. Up to 3 dB below full scale nothing
// changes; above, loudness is bent smoothly so that it never reaches full scale
// and never wraps around.
func Clip(out []int16, sum []float32) {
	const room = math.MaxInt16 - knee
	out = out[:len(sum)]
	for i, s := range sum {
		switch {
		case s > knee:
			over := (s - knee) / room
			s = knee + room*(over/(1+over))
		case s < -knee:
			over := (-s - knee) / room
			s = -knee - room*(over/(1+over))
		}
		out[i] = round(s)
	}
}

// Amplify changes the loudness of samples in place by a [Factor], bending what
// becomes too loud as [Clip] does.
func Amplify(samples []int16, factor float32) {
	var sum [FrameSize]float32
	for len(samples) > 0 {
		n := min(len(samples), len(sum))
		clear(sum[:n])
		Add(sum[:n], samples[:n], factor, factor)
		Clip(samples[:n], sum[:n])
		samples = samples[n:]
	}
}
