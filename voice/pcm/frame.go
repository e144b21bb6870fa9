package pcm

// A Framer takes chunks of any rate and length and gives frames of one rate and
// length. A synthesiser's chunks become packets with it, a browser's microphone
// becomes what a recogniser hears. It is for one stream and one goroutine.
type Framer struct {
	rate, size int
	from       int
	resample   *Resampler
	// held[start:] has not been given out yet.
	held  []int16
	start int
}

// NewFramer makes a framer for frames of size samples at rate; [Rate] and
// [FrameSize], or [HearRate] and [HearSize].
func NewFramer(rate, size int) *Framer {
	return &Framer{rate: rate, size: size}
}

// Add takes a chunk. It copies the samples. A chunk of another rate than the one
// before ends the sound that went before it and starts a new one.
func (f *Framer) Add(c Chunk) error {
	if len(c.Samples) == 0 {
		return nil
	}
	if c.Rate != f.from {
		r, err := NewResampler(c.Rate, f.rate)
		if err != nil {
			return err
		}
		if f.resample != nil {
			f.held = f.resample.Flush(f.held)
		}
		f.from, f.resample = c.Rate, r
	}
	if f.start > 0 {
		f.held = f.held[:copy(f.held, f.held[f.start:])]
		f.start = 0
	}
	f.held = f.resample.Append(f.held, c.Samples)
	return nil
}

// Next copies the next whole frame to frame, or reports that there is none yet.
// frame must have room for a frame.
func (f *Framer) Next(frame []int16) bool {
	if len(f.held)-f.start < f.size {
		return false
	}
	f.start += copy(frame[:f.size], f.held[f.start:])
	return true
}

// End is called when no more chunks come: what the resampler held back is added
// and the last frame is filled up with silence, for [Framer.Next] to give out.
// The framer can be used for another sound afterwards.
func (f *Framer) End() {
	if f.resample != nil {
		f.held = f.resample.Flush(f.held)
	}
	for (len(f.held)-f.start)%f.size != 0 {
		f.held = append(f.held, 0)
	}
}
