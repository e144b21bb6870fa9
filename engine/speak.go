package engine

import (
	"context"
	"fmt"
	"sync"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

const (
	// ahead is how many frames may wait for the mouth: 1.5 s. More would only be
	// money and time wasted when somebody interrupts.
	ahead = 75
	// fade is how many frames an interrupted voice takes to fall silent: a hard
	// edge clicks, 60 ms do not.
	fade = 3
	// tell is how often, in frames, a watcher hears how far the voice has come.
	tell = 5
)

// voicing turns a turn's sentences into sent sound: one goroutine synthesises
// ahead, another plays.
type voicing struct {
	r *runner
	// sentences never fills: a reply has at most MaxReply bytes, and each of its
	// sentences has at least two.
	sentences chan string
	hushed    sync.Once
	frames    chan sound // synthesised and not yet played
	// spare are played frames to be filled again; a full one only costs a new
	// allocation.
	spare  chan []int16
	ledger ledger
	reined reined // of play
}

// sound is one frame of a sentence. A frame without samples marks the end of a
// sentence that has no (more) sound.
type sound struct {
	of      *spoken
	samples []int16
	// broke is why the sentence ends here, in the middle.
	broke error
}

func newVoicing(r *runner) *voicing {
	return &voicing{
		r: r, sentences: make(chan string, MaxReply/2),
		frames: make(chan sound, ahead), spare: make(chan []int16, ahead),
		reined: reined{rein: r.plan.Rein, commit: r.plan.Commit},
	}
}

// hush says that no further sentence will come.
func (v *voicing) hush() { v.hushed.Do(func() { close(v.sentences) }) }

// synthesise speaks the sentences one after the other into frames.
func (v *voicing) synthesise(ctx context.Context) {
	defer close(v.frames)
	v.open(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case text, ok := <-v.sentences:
			if !ok {
				return
			}
			s := v.ledger.open(text)
			if v.r.plan.Mouth == nil || v.r.plan.Synth == nil {
				if !v.r.committed(ctx) {
					return
				}
				v.ledger.close(s, 0)
				v.push(ctx, sound{of: s})
				continue
			}
			if !v.speak(ctx, s) {
				return
			}
		}
	}
}

// open says the plan's opening.
func (v *voicing) open(ctx context.Context) {
	o := v.r.plan.Opening
	if o == nil || v.r.plan.Mouth == nil || !v.r.committed(ctx) {
		return
	}
	v.r.notes <- Opened{o.Text}
	s := v.ledger.open(o.Text)
	for _, f := range o.Frames {
		frame := v.blank()
		clear(frame[copy(frame, f):])
		v.push(ctx, sound{of: s, samples: frame})
	}
	if ctx.Err() == nil {
		v.ledger.close(s, len(o.Frames))
		v.push(ctx, sound{of: s})
	}
}

// speak synthesises one sentence. What cannot be spoken is shown; a sentence that
// breaks off in the middle ends the turn after what there is of it, since it is neither
// said again nor finished. It reports whether others may follow.
func (v *voicing) speak(ctx context.Context, s *spoken) bool {
	framer := pcm.NewFramer(pcm.Rate, pcm.FrameSize)
	n := 0
	emit := func() {
		for {
			frame := v.blank()
			if !framer.Next(frame) {
				v.reuse(frame)
				return
			}
			n++
			v.push(ctx, sound{of: s, samples: frame})
		}
	}
	for piece, err := range v.r.plan.Synth.Speak(ctx, v.r.plan.Voice, s.text) {
		if ctx.Err() != nil {
			return false
		}
		if err == nil {
			err = framer.Add(piece.Chunk)
		}
		if err != nil && n > 0 {
			v.push(ctx, sound{of: s, broke: err})
			return false
		}
		if err != nil {
			v.r.notes <- Unspoken{s.text, err}
			break
		}
		v.ledger.word(s, piece.Words)
		emit()
	}
	if ctx.Err() != nil {
		return false
	}
	framer.End()
	emit()
	if n == 0 && !v.r.committed(ctx) { // what has no sound is heard by being shown
		return false
	}
	v.ledger.close(s, n)
	v.push(ctx, sound{of: s})
	return true
}

// blank is room for a frame: one that has been played, if there is any.
func (v *voicing) blank() []int16 {
	select {
	case f := <-v.spare:
		return f
	default:
		return make([]int16, pcm.FrameSize)
	}
}

func (v *voicing) reuse(frame []int16) {
	select {
	case v.spare <- frame:
	default:
	}
}

func (v *voicing) push(ctx context.Context, s sound) {
	select {
	case v.frames <- s:
	case <-ctx.Done():
	}
}

// play sends the frames at the mouth's pace and keeps the ledger.
func (v *voicing) play(ctx context.Context) {
	first, told := true, ""
	heard := func() {
		if text, _ := v.ledger.heard(); text != told {
			told = text
			v.r.notes <- Heard{text}
		}
	}
	n := 0
	for {
		select {
		case <-ctx.Done():
			v.fadeOut(ctx)
			return
		case f, ok := <-v.frames:
			switch {
			case !ok && ctx.Err() != nil:
				v.fadeOut(ctx)
				return
			case !ok:
				v.r.send(ctx, evSpoken{})
				return
			case f.broke != nil:
				heard()
				v.r.send(ctx, evCut{fmt.Errorf("speak: %w", f.broke)})
				continue
			case f.samples == nil:
				heard()
				continue
			}
			if err := v.reined.before(ctx, func() bool { return v.ledger.wordBegins(f.of) || quiet(f.samples) }); err != nil {
				if ctx.Err() == nil {
					v.r.send(ctx, evCut{err})
				}
				return
			}
			v.reined.level(f.samples)
			if err := v.r.plan.Mouth.Play(ctx, f.samples); err != nil {
				if ctx.Err() == nil {
					v.r.send(ctx, evCut{err})
				}
				v.ledger.unsend(v.r.plan.Mouth.Flush())
				return
			}
			v.ledger.send(f.of)
			v.reuse(f.samples)
			if first {
				first = false
				v.r.notes <- FirstSound{}
			}
			if n++; n%tell == 0 {
				heard()
			}
		}
	}
}

// fadeOut drops what is queued and lets the voice die away within 60 ms.
func (v *voicing) fadeOut(ctx context.Context) {
	if v.r.plan.Mouth == nil || v.reined.silent || !v.reined.begun {
		return
	}
	v.ledger.unsend(v.r.plan.Mouth.Flush())
	ctx = context.WithoutCancel(ctx)
	for i := range fade {
		f, ok := <-v.frames
		if !ok || f.samples == nil {
			return
		}
		v.reined.level(f.samples)
		ramp(f.samples, fade-i, fade-i-1)
		if v.r.plan.Mouth.Play(ctx, f.samples) != nil {
			return
		}
		v.ledger.send(f.of)
	}
}

// ramp scales a frame linearly from from/fade to to/fade of its loudness.
func ramp(frame []int16, from, to int) {
	whole := fade * len(frame)
	for i := range frame {
		part := from*(len(frame)-i) + to*i
		frame[i] = int16(int(frame[i]) * part / whole)
	}
}
