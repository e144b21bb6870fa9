package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
	"github.com/glyphoxa/glyphoxa/voice/vad"
)

const (
	// maxUtterance is the longest that somebody is listened to in one breath.
	// Then what was said is recognised, and listening goes on.
	maxUtterance = 60 * time.Second
	// barge is how much speech it takes to interrupt an NPC: less than a word,
	// more than a click or a cough.
	barge = 160 * time.Millisecond
	// recognise is how long recognition may take after the last frame.
	recognise = 15 * time.Second
)

// An Utterance is what one speaker said between two pauses.
type Utterance struct {
	// ID names it from its first word on: see [EarOptions.Interim].
	ID           string
	Text         string
	Confidence   float64
	Began, Ended time.Time
	// Sound is what was said, 16 kHz mono, if [EarOptions.Keep] asks for it.
	Sound []int16
}

// EarOptions say how to listen. The functions may be nil; they are called from
// the listening goroutine and must not block.
type EarOptions struct {
	Hearing Hearing
	// Keep hands the sound on with each utterance, for a model that hears by itself.
	Keep bool
	// Began is told when an utterance begins; exactly one value of [Ear.Listen]
	// follows for each, unless its context ends.
	Began func(id string)
	// Talking is told once per utterance when it has lasted long enough to mean
	// to interrupt.
	Talking func()
	// Interim is told what has been recognised so far.
	Interim func(id, text string)
}

// An Ear listens to one speaker.
type Ear struct {
	recognizer Recognizer
	o          EarOptions
	prefix     string
}

// NewEar makes an ear. Utterance ids begin with prefix.
func NewEar(r Recognizer, prefix string, o EarOptions) *Ear { return &Ear{r, o, prefix} }

// hearing is an utterance while it lasts.
type hearing struct {
	u      Utterance
	frames chan []int16
	spoken time.Duration
	told   bool
	result chan outcome
}

type outcome struct {
	text Transcript
	err  error
}

// Listen turns frames (320 samples of 16 kHz mono) into utterances, in the order
// in which they began. A frame without samples says that the sender has stopped,
// which ends an utterance at once. An error belongs to its utterance; listening goes on. It
// ends when frames does and everything has been recognised, or with ctx.
func (e *Ear) Listen(ctx context.Context, frames iter.Seq[[]int16]) iter.Seq2[Utterance, error] {
	return func(yield func(Utterance, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var tasks sync.WaitGroup
		defer tasks.Wait()
		defer cancel()
		// Eight utterances of one speaker are never being recognised at once;
		// if they were, the ninth would wait.
		order := make(chan *hearing, 8)
		tasks.Go(func() {
			defer close(order)
			e.split(ctx, frames, order, &tasks)
		})
		for h := range order {
			select {
			case o := <-h.result:
				h.u.Text, h.u.Confidence = o.text.Text, o.text.Confidence
				if !yield(h.u, o.err) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

// split cuts the stream into utterances and starts recognising each as it begins.
func (e *Ear) split(ctx context.Context, frames iter.Seq[[]int16], order chan<- *hearing, tasks *sync.WaitGroup) {
	gate := vad.New(vad.Options{})
	var now *hearing
	n := 0
	end := func() {
		if now != nil {
			now.u.Ended = time.Now()
			close(now.frames)
			now = nil
		}
	}
	defer end()
	for f := range frames {
		if ctx.Err() != nil {
			return
		}
		if len(f) == 0 { // the sender says that it has stopped
			if gate.End() {
				end()
			}
			continue
		}
		switch gate.Feed(f) {
		case vad.Started:
			n++
			now = e.begin(ctx, fmt.Sprintf("%s%d", e.prefix, n), tasks)
			select {
			case order <- now:
			case <-ctx.Done():
				return
			}
			for early := range gate.Onset() {
				e.add(ctx, now, early)
			}
		case vad.Speaking:
			e.add(ctx, now, f)
			if !now.told && gate.Voiced() >= barge {
				now.told = true
				if e.o.Talking != nil {
					e.o.Talking()
				}
			}
			if now.spoken >= maxUtterance && gate.End() {
				end()
			}
		case vad.Ended:
			end()
		}
	}
}

// begin starts an utterance and its recognition.
func (e *Ear) begin(ctx context.Context, id string, tasks *sync.WaitGroup) *hearing {
	h := &hearing{
		u: Utterance{ID: id, Began: time.Now()},
		// A whole utterance fits, so that a recogniser that connects slowly does
		// not make the speaker's next words wait.
		frames: make(chan []int16, maxUtterance/pcm.FrameTime+64),
		result: make(chan outcome, 1),
	}
	if e.o.Began != nil {
		e.o.Began(id)
	}
	tasks.Go(func() {
		text, err := e.recognise(ctx, h)
		h.result <- outcome{text, err}
	})
	return h
}

func (e *Ear) add(ctx context.Context, h *hearing, frame []int16) {
	select {
	case h.frames <- append([]int16(nil), frame...):
	case <-ctx.Done():
	}
	if e.o.Keep {
		h.u.Sound = append(h.u.Sound, frame...)
	}
	h.spoken += pcm.FrameTime
}

// recognise streams one utterance through the recogniser.
func (e *Ear) recognise(ctx context.Context, h *hearing) (Transcript, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var late *time.Timer
	defer func() {
		if late != nil {
			late.Stop()
		}
	}()
	feed := func(yield func([]int16) bool) {
		for {
			select {
			case f, ok := <-h.frames:
				if !ok {
					late = time.AfterFunc(recognise, func() {
						cancel(fmt.Errorf("%s took over %v", e.recognizer.Name(), recognise))
					})
					return
				}
				if !yield(f) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
	for t, err := range e.recognizer.Hear(ctx, e.o.Hearing, feed) {
		switch {
		case err != nil:
			return Transcript{}, fmt.Errorf("recognise: %w", err)
		case t.Final:
			return t, nil
		case e.o.Interim != nil:
			e.o.Interim(h.u.ID, t.Text)
		}
	}
	if err := context.Cause(ctx); err != nil {
		return Transcript{}, fmt.Errorf("recognise: %w", err)
	}
	return Transcript{}, errors.New("recognise: the recogniser ended without a result")
}
