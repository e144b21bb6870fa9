package vad

import (
	"math"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

const (
	// window is the FFT's length: a frame and 12 ms before it, 31 Hz a bin.
	window = 512
	nBands = 13
	// learnFrames is how long the first noise estimate takes: 160 ms.
	learnFrames = 8
	// floor is the energy of a band in which there is nothing: without it the
	// silence of a muted line would be a noise to rise from.
	floor = 2e4
	// most is the highest ratio that one band may add, so that a whistle in one
	// band is not speech.
	most = 12.0
)

// edges of the bands in bins, 94 Hz to 5.5 kHz, wider with the pitch as hearing is.
var edges = [nBands + 1]int{3, 6, 10, 14, 19, 25, 32, 41, 52, 66, 84, 106, 134, 176}

// bands follows the noise in each band and tells how much likelier a frame is
// speech in that noise than the noise itself: Sohn, Kim and Sung, "A statistical
// model-based voice activity detection" (1999), with energies per band.
type bands struct {
	past   [window]float64
	re, im [window]float64
	noise  [nBands]float64
	frames int
	smooth float64
}

// hann is the window function; cosine and minus (sine) are the FFT's twiddle factors.
var (
	hann          [window]float64
	cosine, minus [window / 2]float64
)

func init() {
	for i := range hann {
		hann[i] = 0.5 - 0.5*math.Cos(2*math.Pi*(float64(i)+0.5)/window)
	}
	for i := range cosine {
		minus[i], cosine[i] = math.Sincos(-2 * math.Pi * float64(i) / window)
	}
}

// ratio takes the next frame and returns the smoothed mean log-likelihood ratio.
func (b *bands) ratio(frame []int16) float64 {
	copy(b.past[:], b.past[pcm.HearSize:])
	for i, s := range frame {
		b.past[window-pcm.HearSize+i] = float64(s)
	}
	for i, x := range b.past {
		b.re[i], b.im[i] = x*hann[i], 0
	}
	b.transform()

	sum := 0.0
	for band := range nBands {
		from, to := edges[band], edges[band+1]
		energy := 0.0
		for k := from; k < to; k++ {
			energy += b.re[k]*b.re[k] + b.im[k]*b.im[k]
		}
		energy = energy/float64(to-from) + floor
		noise := b.noise[band]
		switch {
		case b.frames == 0:
			noise = energy
		case b.frames < learnFrames && energy < noise:
			noise = 0.5 * (noise + energy)
		case b.frames < learnFrames:
			noise += 0.2 * (energy - noise)
		}
		snr := energy / noise
		if snr > 1 {
			sum += min(snr-1-math.Log(snr), most)
		}
		// Down at once, up slowly: a pause shows the noise, speech hides it.
		switch {
		case energy < noise:
			noise += 0.15 * (energy - noise)
		case snr < 3 && b.smooth < threshold:
			noise += 0.03 * (energy - noise)
		default:
			noise *= 1.0015
		}
		b.noise[band] = noise
	}
	b.frames++
	b.smooth = 0.4*b.smooth + 0.6*sum/nBands
	return b.smooth
}

// transform is an in-place radix-2 FFT of re and im.
func (b *bands) transform() {
	re, im := &b.re, &b.im
	for i, j := 1, 0; i < window; i++ {
		bit := window >> 1
		for ; j&bit != 0; bit >>= 1 {
			j ^= bit
		}
		if j |= bit; i < j {
			re[i], re[j] = re[j], re[i]
			im[i], im[j] = im[j], im[i]
		}
	}
	for size := 2; size <= window; size <<= 1 {
		half, stride := size/2, window/size
		for start := 0; start < window; start += size {
			for k := range half {
				cos, sin := cosine[k*stride], minus[k*stride]
				x, y := start+k, start+k+half
				tr := re[y]*cos - im[y]*sin
				ti := re[y]*sin + im[y]*cos
				re[y], im[y] = re[x]-tr, im[x]-ti
				re[x], im[x] = re[x]+tr, im[x]+ti
			}
		}
	}
}
