package pcm

import "time"

// The table's own format: 48 kHz mono, 20 ms a frame.
const (
	Rate      = 48000
	FrameTime = 20 * time.Millisecond
	FrameSize = 960 // samples
	// HearRate and HearSize are the format that recognisers are given.
	HearRate = 16000
	HearSize = 320
)

// A Chunk is mono sound, 16 bit, at Rate samples a second.
type Chunk struct {
	Rate    int
	Samples []int16
}

// Duration is how long the chunk sounds.
func (c Chunk) Duration() time.Duration {
	if c.Rate <= 0 {
		return 0
	}
	return time.Duration(len(c.Samples)) * time.Second / time.Duration(c.Rate)
}
