package pcm

import (
	"fmt"
	"math"
	"sync"
)

// MinRate and MaxRate bound the sample rates that are accepted anywhere. Below 4 kHz
// speech cannot be understood; above 192 kHz no hardware records.
const (
	MinRate = 4000
	// MaxRate is the other end.
	MaxRate = 192000
)

const (
	// zeroCrossings each side of the filter's middle: 32 with 96 dB of stop band
	// put images below -100 dB for 1.4 ms of delay at 24 kHz.
	zeroCrossings = 32
	stopBand      = 96.0
	// rollOff is where the pass band ends, as a share of the lower Nyquist rate.
	rollOff = 0.94
	// maxCoefs bounds one filter: rates without a sensible common divisor, such
	// as 47,999 and 48,000, would need a table of megabytes.
	maxCoefs = 1 << 18
	// block is how much input is filtered at a time, so that a large chunk does
	// not leave a large buffer behind.
	block = 4096
)

// A Resampler turns a stream of one sample rate into another, with a windowed-
// sinc polyphase filter. It adds 32 samples of the lower rate as delay, 2 ms at
// 16 kHz; a chunk of 20 ms in gives 20 ms out at once. It is for one stream and
// one goroutine.
type Resampler struct {
	filter *filter // nil where the rates are equal
	// hist is input that is still needed, the oldest first.
	hist  []float32
	phase int
}

// filter is the part of a resampler that all streams of one ratio share.
type filter struct {
	up, down int
	taps     int       // per phase
	coefs    []float32 // up*taps, phase after phase, in the order of the input
}

// NewResampler makes a resampler from one rate to another. It refuses rates
// outside [MinRate] and [MaxRate], and pairs whose filter would be huge.
func NewResampler(from, to int) (*Resampler, error) {
	for _, rate := range [...]int{from, to} {
		if rate < MinRate || rate > MaxRate {
			return nil, fmt.Errorf("sample rate %d Hz: want %d to %d", rate, MinRate, MaxRate)
		}
	}
	if from == to {
		return &Resampler{}, nil
	}
	f, err := filterFor(from, to)
	if err != nil {
		return nil, err
	}
	r := &Resampler{filter: f, hist: make([]float32, f.taps-1, f.taps-1+block)}
	return r, nil
}

// Append resamples in and appends the result to out. With enough capacity in out
// nothing is allocated.
func (r *Resampler) Append(out, in []int16) []int16 {
	if r.filter == nil {
		return append(out, in...)
	}
	for len(in) > 0 {
		n := min(len(in), block)
		for _, s := range in[:n] {
			r.hist = append(r.hist, float32(s))
		}
		out = r.drain(out)
		in = in[n:]
	}
	return out
}

// Flush appends the end of the sound, which the filter still holds back, and
// makes r ready for another stream of the same rates.
func (r *Resampler) Flush(out []int16) []int16 {
	if r.filter == nil {
		return out
	}
	for range r.filter.taps / 2 {
		r.hist = append(r.hist, 0)
	}
	out = r.drain(out)
	r.hist = r.hist[:r.filter.taps-1]
	clear(r.hist)
	r.phase = 0
	return out
}

// drain filters all of hist that it can and drops what is no longer needed.
func (r *Resampler) drain(out []int16) []int16 {
	f, hist := r.filter, r.hist
	pos, phase := 0, r.phase
	for pos+f.taps <= len(hist) {
		x := hist[pos : pos+f.taps]
		c := f.coefs[phase*f.taps:][:len(x)]
		// Four sums, so that the processor need not wait for each addition; taps
		// is a multiple of four.
		var s0, s1, s2, s3 float32
		for i := 0; i+4 <= len(x); i += 4 {
			s0 += x[i] * c[i]
			s1 += x[i+1] * c[i+1]
			s2 += x[i+2] * c[i+2]
			s3 += x[i+3] * c[i+3]
		}
		out = append(out, round((s0+s1)+(s2+s3)))
		phase += f.down
		for phase >= f.up {
			phase -= f.up
			pos++
		}
	}
	r.hist = hist[:copy(hist, hist[pos:])]
	r.phase = phase
	return out
}

// round is the nearest sample, clipped: a filter may overshoot full scale.
func round(v float32) int16 {
	switch {
	case v >= math.MaxInt16:
		return math.MaxInt16
	case v <= math.MinInt16:
		return math.MinInt16
	case v < 0:
		return int16(v - 0.5)
	default:
		return int16(v + 0.5)
	}
}

// maxHeldCoefs bounds the tables that are kept for later streams: 16 MB, a hundred
// usual pairs of rates. What strangers' files ask for beyond it is made each time.
const maxHeldCoefs = 4 << 20

var (
	filtersMu sync.Mutex // guards the two below
	filters   = map[[2]int]*filter{}
	heldCoefs int
)

// filterFor returns the filter of a pair of rates, making it at its first use.
func filterFor(from, to int) (*filter, error) {
	filtersMu.Lock()
	defer filtersMu.Unlock()
	if f := filters[[2]int{from, to}]; f != nil {
		return f, nil
	}
	f, err := newFilter(from, to)
	if err == nil && heldCoefs+len(f.coefs) <= maxHeldCoefs {
		filters[[2]int{from, to}] = f
		heldCoefs += len(f.coefs)
	}
	return f, err
}

// newFilter computes a Kaiser-windowed sinc, split into phases.
func newFilter(from, to int) (*filter, error) {
	d := gcd(from, to)
	up, down := to/d, from/d
	low, virtual := float64(min(from, to)), float64(from)*float64(up)
	half := zeroCrossings * virtual / low
	taps := int(math.Ceil(2 * half / float64(up)))
	taps += (4 - taps%4) % 4
	n := taps * up
	if n > maxCoefs {
		return nil, fmt.Errorf("cannot resample %d Hz to %d Hz: the rates have almost no common divisor", from, to)
	}
	cut := rollOff * low / 2 / virtual
	beta := 0.1102 * (stopBand - 8.7) // Kaiser's rule for more than 50 dB
	middle := float64(n-1) / 2
	h := make([]float64, n)
	for i := range h {
		x := float64(i) - middle
		v := 2 * cut
		if x != 0 {
			v = math.Sin(2*math.Pi*cut*x) / (math.Pi * x)
		}
		edge := x / (middle + 0.5)
		h[i] = v * bessel(beta*math.Sqrt(max(0, 1-edge*edge)))
	}
	f := &filter{up: up, down: down, taps: taps, coefs: make([]float32, n)}
	for p := range up {
		// Each phase is scaled to pass silence's neighbour, direct current, as it
		// is: else the phases would beat against each other as a faint whine.
		sum := 0.0
		for k := range taps {
			sum += h[p+k*up]
		}
		for k := range taps {
			f.coefs[p*taps+taps-1-k] = float32(h[p+k*up] / sum)
		}
	}
	return f, nil
}

// bessel is the modified Bessel function of the first kind, order zero.
func bessel(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1; k < 60; k++ {
		term *= x / 2 / float64(k)
		sum += term * term
	}
	return sum
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
