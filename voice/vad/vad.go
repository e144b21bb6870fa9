// Package vad tells speech from silence, frame by frame, for one speaker at a time.
//
// A [Detector] is fed 20 ms frames of 16 kHz sound and answers with what each one
// means: silence, the start of an utterance, speech, or the end. What was said
// just before the start was noticed is kept, so that the first syllable is not
// lost.
//
// # What it can do
//
// In a quiet room it notices speech 40 ms after its beginning, at 10 dB above
// steady noise after 60 to 100 ms, without false starts. It costs 5 us a frame and
// allocates nothing. Wild typing starts it about once a minute: what cuts a speaker
// off should ask for [Detector.Voiced] of 200 ms as well. Other people's talk in the
// background is speech to it, as to every detector.
package vad

import (
	"iter"
	"math"
	"time"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// An Event is what a frame means.
type Event uint8

// The events of an utterance, in their order.
const (
	Silence  Event = iota // nobody speaks
	Started               // an utterance began: see [Detector.Onset]
	Speaking              // it goes on, or pauses for less than the end
	Ended                 // it is over; this frame is not part of it
)

const (
	// startVoiced of the last startOf frames begin an utterance: a click is shorter.
	startVoiced = 3
	startOf     = 4
	// onsetFrames is what is kept from before the start was noticed: the 80 ms it
	// takes to be sure and 200 ms of a soft beginning.
	onsetFrames = 14
)

// Options adjust a detector. The zero value is for talk at a table.
type Options struct {
	// End is the silence that ends an utterance. Zero means 400 ms; less than
	// 100 ms is taken as that.
	End time.Duration
}

// A Detector listens to one speaker. It is for one goroutine.
type Detector struct {
	end int // frames of silence that end an utterance

	bands bands
	// loudest follows the speaker's own level in dB of a sample step; what is 24 dB below it is the
	// room, the keyboard or somebody else.
	loudest float64

	speaking bool
	recent   [startOf]bool
	silent   int // frames since the last voiced one
	voiced   int // frames of this utterance
	onset    [onsetFrames][pcm.HearSize]int16
	kept     int // frames fed into onset, ever since the last utterance
	next     int
}

// New makes a detector for a speaker who is silent.
func New(o Options) *Detector {
	end := o.End
	if end == 0 {
		end = 400 * time.Millisecond
	}
	return &Detector{end: int(max(end, 100*time.Millisecond) / pcm.FrameTime), loudest: quietest}
}

const (
	// threshold of the smoothed log-likelihood ratio that is speech, and gate in dB
	// below the speaker's own level; both from measuring on speech in noise.
	threshold = 1.0
	gate      = 24.0
	// quietest is the lowest that loudest falls: -54 dBFS.
	quietest = 36.0
)

// Feed takes the next frame of [pcm.HearSize] samples at [pcm.HearRate]. Frames of
// another length are silence.
func (d *Detector) Feed(frame []int16) Event {
	voice := len(frame) == pcm.HearSize && d.isVoice(frame)
	if d.speaking {
		return d.goOn(voice)
	}
	if len(frame) == pcm.HearSize {
		copy(d.onset[d.next][:], frame)
		d.next = (d.next + 1) % onsetFrames
		d.kept = min(d.kept+1, onsetFrames)
	}
	copy(d.recent[:], d.recent[1:])
	d.recent[startOf-1] = voice
	voiced := 0
	for _, v := range d.recent {
		if v {
			voiced++
		}
	}
	if voiced < startVoiced {
		return Silence
	}
	d.speaking, d.silent, d.voiced = true, 0, voiced
	return Started
}

// goOn is a frame within an utterance.
func (d *Detector) goOn(voice bool) Event {
	if voice {
		d.silent = 0
		d.voiced++
		return Speaking
	}
	if d.silent++; d.silent < d.end {
		return Speaking
	}
	d.speaking, d.kept = false, 0
	d.recent = [startOf]bool{}
	return Ended
}

// End ends an utterance from outside, such as when the sender says that it has
// stopped. It reports whether there was one.
func (d *Detector) End() bool {
	was := d.speaking
	d.speaking, d.kept = false, 0
	d.recent = [startOf]bool{}
	return was
}

// Onset yields the frames with which an utterance begins, up to and with the one
// that [Started] was the answer to. It is called before the next Feed; the frames
// are valid until then.
func (d *Detector) Onset() iter.Seq[[]int16] {
	return func(yield func([]int16) bool) {
		for i := range d.kept {
			at := (d.next - d.kept + i + onsetFrames) % onsetFrames
			if !yield(d.onset[at][:]) {
				return
			}
		}
	}
}

// Voiced is how much voice the utterance has had so far, pauses not counted; after
// its end, how much it had.
func (d *Detector) Voiced() time.Duration { return time.Duration(d.voiced) * pcm.FrameTime }

// A blow lasts a few milliseconds: three quarters of a frame's energy within a
// quarter of it are a key, a die or a cup, not a voice, whose pulses come every
// 3 to 12 ms.
const (
	quarters = 4
	blow     = 0.75
)

// isVoice judges one frame by its spectrum, its level and its shape.
func (d *Detector) isVoice(frame []int16) bool {
	var energy, loudestQuarter float64
	for quarter := range quarters {
		var sum float64
		for _, s := range frame[quarter*pcm.HearSize/quarters:][:pcm.HearSize/quarters] {
			sum += float64(s) * float64(s)
		}
		energy += sum
		loudestQuarter = max(loudestQuarter, sum)
	}
	level := 10 * math.Log10(energy/pcm.HearSize+1)
	voice := d.bands.ratio(frame) > threshold && loudestQuarter <= blow*energy
	if voice && level > d.loudest {
		d.loudest += 0.3 * (level - d.loudest)
	} else {
		d.loudest = max(quietest, d.loudest-0.01) // 0.5 dB a second
	}
	return voice && level > d.loudest-gate
}
