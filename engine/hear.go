package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
	"github.com/glyphoxa/glyphoxa/voice/vad"
)

const (
	// maxPiece is the longest that somebody is listened to in one breath. Then what
	// was said is recognised, and listening goes on.
	maxPiece = 60 * time.Second
	// pauseEnds is the silence that is one, where the sender does not say when it
	// stops: shorter ones are between words.
	pauseEnds = 300 * time.Millisecond
	// recognise is how long recognition may take after the last frame.
	recognise = 15 * time.Second
	// talkStep is how much speech there is between two words to [EarOptions.Talking]:
	// less than a word, more than a click or a cough.
	talkStep = 160 * time.Millisecond
)

// An Utterance is one turn of one speaker: all that was said until the pause behind
// it was long enough.
type Utterance struct {
	// ID names it from its first word on: see [EarOptions.Interim].
	ID         string
	Text       string
	Confidence float64
	// Ended is when speech did, not when that was believed.
	Began, Ended time.Time
	// Sound is what was said, 16 kHz mono, if [EarOptions.Keep] asks for it.
	Sound []int16
}

// EarOptions say how to listen. The functions may be nil; they are called from
// goroutines that listen and must not block.
type EarOptions struct {
	Hearing Hearing
	// Keep hands the sound on with each utterance, for a model that hears by itself.
	Keep bool
	// Pauses are what is known of how this speaker pauses, and learns more of it.
	// Nil begins with nothing.
	Pauses *Pauses
	// Began is told when an utterance begins; exactly one value of [Ear.Listen]
	// follows for each, unless its context ends.
	Began func(id string)
	// Talking is told how much voice there has been without a stop, every 160 ms
	// of it; Paused that it has stopped, be it for a moment.
	Talking func(voiced time.Duration)
	Paused  func()
	// Interim is told what has been recognised so far.
	Interim func(id, text string)
	// MayEnd is told what was said when it may be all: an answer may be prepared,
	// and not be given. GoesOn takes that back; otherwise Listen yields the same
	// utterance.
	MayEnd func(Utterance)
	GoesOn func(id string)
}

// An Ear listens to one speaker.
type Ear struct {
	recognizer Recognizer
	o          EarOptions
	prefix     string
}

// NewEar makes an ear. Utterance ids begin with prefix.
func NewEar(r Recognizer, prefix string, o EarOptions) *Ear {
	if o.Pauses == nil {
		o.Pauses = new(Pauses)
	}
	return &Ear{r, o, prefix}
}

// listening is one use of an ear.
type listening struct {
	*Ear
	started time.Time
	// heard is how far the sound has come. Sound from a file is ahead of the clock,
	// somebody who has stopped sending is behind it.
	heard  atomic.Int64
	events chan any // to the loop; a full one makes the sound wait
	tasks  sync.WaitGroup
	n      int // pieces so far
}

// now is the time of the sound.
func (l *listening) now() time.Duration {
	return max(time.Duration(l.heard.Load()), time.Since(l.started))
}

func (l *listening) send(ctx context.Context, ev any) {
	select {
	case l.events <- ev:
	case <-ctx.Done():
	}
}

// Listen turns frames (320 samples of 16 kHz mono) into utterances, in the order
// in which they began. A frame without samples says that the sender has stopped. An
// error belongs to its utterance, of which there may be text all the same; listening
// goes on. It ends when frames does and everything has been recognised, or with ctx.
func (e *Ear) Listen(ctx context.Context, frames iter.Seq[[]int16]) iter.Seq2[Utterance, error] {
	return func(yield func(Utterance, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		l := &listening{Ear: e, started: time.Now(), events: make(chan any, 64)}
		defer l.tasks.Wait()
		defer cancel()
		l.tasks.Go(func() { l.split(ctx, frames) })
		m := &ending{language: e.o.Hearing.Language, pauses: e.o.Pauses}
		timer := time.NewTimer(time.Hour)
		defer timer.Stop()
		for !m.finished() {
			var wake <-chan time.Time
			if due, ok := m.due(); ok {
				timer.Reset(due - l.now())
				wake = timer.C
			}
			var ev any
			select {
			case ev = <-l.events:
			case <-wake:
				ev = timePassed{l.now()}
			case <-ctx.Done():
				return
			}
			for _, a := range m.step(ev) {
				if !l.do(a, yield) {
					return
				}
			}
		}
	}
}

// do tells whoever wants to know; it reports false when nobody does any more.
func (l *listening) do(action any, yield func(Utterance, error) bool) bool {
	o := &l.o
	switch a := action.(type) {
	case turnBegan:
		if o.Began != nil {
			o.Began(a.id)
		}
	case turnSoFar:
		if o.Interim != nil {
			o.Interim(a.id, a.text)
		}
	case turnMayEnd:
		if o.MayEnd != nil && a.err == nil {
			o.MayEnd(l.utterance(a.turnTaken))
		}
	case turnGoesOn:
		if o.GoesOn != nil {
			o.GoesOn(a.id)
		}
	case turnIsTaken:
		return yield(l.utterance(a.turnTaken), a.err)
	}
	return true
}

func (l *listening) utterance(t turnTaken) Utterance {
	began, ended := l.started.Add(t.began), l.started.Add(t.ended)
	if now := time.Now(); ended.After(now) { // the sound was faster than the clock
		began, ended = now.Add(t.began-t.ended), now
	}
	return Utterance{ID: t.id, Text: t.text, Confidence: t.confidence, Began: began, Ended: ended, Sound: t.sound}
}

// split cuts the sound where somebody stops and has each piece recognised.
func (l *listening) split(ctx context.Context, frames iter.Seq[[]int16]) {
	gate := vad.New(vad.Options{End: pauseEnds})
	var piece chan []int16 // nil while nobody speaks
	var kept []int16       // its sound, for Keep
	var told, length time.Duration
	stopped := false // the sender has said so, and nothing came since
	add := func(frame []int16) {
		select {
		case piece <- append([]int16(nil), frame...):
		case <-ctx.Done():
		}
		if l.o.Keep {
			kept = append(kept, frame...)
		}
	}
	end := func(at time.Duration, how stop) {
		if piece == nil {
			return
		}
		close(piece)
		piece = nil
		l.send(ctx, pieceEnded{at, how, kept})
		if l.o.Paused != nil {
			l.o.Paused()
		}
	}
	for f := range frames {
		if ctx.Err() != nil {
			break
		}
		if len(f) == 0 { // the sender says that it has stopped
			stopped = true
			if gate.End() {
				end(l.now(), ended)
			} else {
				l.send(ctx, senderStopped{})
			}
			continue
		}
		l.heard.Store(int64(max(time.Duration(l.heard.Load())+pcm.FrameTime, time.Since(l.started))))
		if stopped {
			stopped = false
			l.send(ctx, soundBack{l.now()})
		}
		switch gate.Feed(f) {
		case vad.Started:
			piece, kept, told, length = l.begin(ctx), nil, 0, 0
			for early := range gate.Onset() {
				add(early)
			}
		case vad.Speaking:
			add(f)
			length += pcm.FrameTime
			if voiced := gate.Voiced(); voiced >= told+talkStep {
				told = voiced
				if l.o.Talking != nil {
					l.o.Talking(voiced)
				}
			}
			if length >= maxPiece && gate.End() {
				end(l.now(), silence)
			}
		case vad.Ended:
			end(l.now()-pauseEnds, silence)
		}
	}
	gate.End()
	end(l.now(), ended)
	l.send(ctx, soundEnded{})
}

// begin starts a piece and its recognition.
func (l *listening) begin(ctx context.Context) chan []int16 {
	l.n++
	id := fmt.Sprintf("%s%d", l.prefix, l.n)
	// A whole piece fits, so that a recogniser that connects slowly does not make the
	// speaker's next words wait.
	frames := make(chan []int16, maxPiece/pcm.FrameTime+64)
	// Speech began a few frames before it was noticed.
	l.send(ctx, pieceBegan{id, l.now() - 3*pcm.FrameTime})
	l.tasks.Go(func() {
		text, err := l.recognise(ctx, id, frames)
		l.send(ctx, pieceDone{id, text, err, l.now()})
	})
	return frames
}

// recognise streams one piece through the recogniser. The end of its frames is what
// a recogniser ends its stream by: no vendor has to guess it.
func (l *listening) recognise(ctx context.Context, id string, frames <-chan []int16) (Transcript, error) {
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
			case f, ok := <-frames:
				if !ok {
					late = time.AfterFunc(recognise, func() {
						cancel(fmt.Errorf("%s took over %v", l.recognizer.Name(), recognise))
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
	for t, err := range l.recognizer.Hear(ctx, l.o.Hearing, feed) {
		switch {
		case err != nil:
			return Transcript{}, fmt.Errorf("recognise: %w", err)
		case t.Final:
			return t, nil
		}
		l.send(ctx, pieceHeard{id, t.Text})
	}
	if err := context.Cause(ctx); err != nil {
		return Transcript{}, fmt.Errorf("recognise: %w", err)
	}
	return Transcript{}, errors.New("recognise: the recogniser ended without a result")
}
