package engine

import (
	"errors"
	"strings"
	"time"
)

// ending finds the ends of one speaker's turns. It is a state machine without a
// clock: step is told what happened at which time of the sound, and says what to do.
//
// What somebody says is heard in pieces, from one stop to the next, and each piece
// is recognised by itself as soon as it has ended. A turn is one or more pieces. It
// is over when the pause behind it has lasted as long as this speaker, the kind of
// stop and the words ask for; until then a new piece goes on with it, and nothing
// that was said is lost.
type ending struct {
	language string
	pauses   *Pauses
	turns    []*talk // not yet given away, in order; only the last may go on
	before   pause   // behind the last turn that was given away
	last     bool    // no more sound will come
}

// talk is a turn while it is heard.
type talk struct {
	id      string
	pieces  []*piece
	pausing bool          // no piece is being spoken
	told    bool          // that it may be over
	over    bool          // what comes next is another turn
	hold    time.Duration // until then it is not over: there is sound again
}

// piece is what was said from one stop to the next.
type piece struct {
	id           string
	began, ended time.Duration
	how          stop
	interim      string
	text         Transcript
	err          error
	done         bool // recognised, or failed
	sound        []int16
}

// pause is what was behind a turn, to learn from.
type pause struct {
	known bool
	since time.Duration
	how   stop
	sense sense
	wait  time.Duration
}

const (
	// maxPieces of one turn, and maxTurn of speech in it: then what was said is
	// answered, and listening goes on.
	maxPieces = 24
	maxTurn   = time.Minute
	// tellsSpeech is how long it takes to tell speech from other sound.
	tellsSpeech = 200 * time.Millisecond
)

// What may happen to a speaker's turn. Times count from the beginning of listening.
type (
	pieceBegan struct {
		id string
		at time.Duration
	}
	pieceEnded struct {
		at  time.Duration // of the end of speech
		how stop
		// sound is the piece's, if it is kept.
		sound []int16
	}
	senderStopped struct{} // behind the end of speech
	// soundBack is sound behind the sender's stop: speech, or a cough.
	soundBack  struct{ at time.Duration }
	pieceHeard struct{ id, text string }
	pieceDone  struct {
		id   string
		text Transcript
		err  error
		at   time.Duration
	}
	timePassed struct{ at time.Duration }
	soundEnded struct{}
)

// What is to be done.
type (
	turnBegan   struct{ id string }
	turnSoFar   struct{ id, text string }
	turnMayEnd  struct{ turnTaken } // all of it is recognised, and may be all
	turnGoesOn  struct{ id string } // after turnMayEnd
	turnIsTaken struct{ turnTaken }
)

// turnTaken is a turn as it was understood.
type turnTaken struct {
	id           string
	text         string
	confidence   float64
	began, ended time.Duration
	sound        []int16
	err          error
}

func (e *ending) step(ev any) []any {
	var out []any
	switch ev := ev.(type) {
	case pieceBegan:
		out = e.begin(ev)
	case pieceEnded:
		if t := e.current(); t != nil && !t.pausing {
			p := t.pieces[len(t.pieces)-1]
			p.ended, p.how, p.sound, t.pausing = ev.at, ev.how, ev.sound, true
			t.over = e.last || len(t.pieces) >= maxPieces || t.spoken() >= maxTurn
		}
	case senderStopped:
		// The sender's own word is worth more than silence was.
		if t := e.current(); t != nil && t.pausing {
			t.pieces[len(t.pieces)-1].how = ended
		}
	case soundBack:
		if t := e.current(); t != nil {
			t.hold = ev.at + tellsSpeech
		}
	case pieceHeard:
		if t, p := e.find(ev.id); p != nil && !p.done {
			p.interim = ev.text
			out = append(out, turnSoFar{t.id, t.text()})
		}
	case pieceDone:
		if _, p := e.find(ev.id); p != nil {
			p.text, p.err, p.done = ev.text, ev.err, true
		}
		return e.settle(nil, ev.at)
	case timePassed:
		return e.settle(nil, ev.at)
	case soundEnded:
		e.last = true
		if t := e.current(); t != nil {
			t.over = t.pausing
		}
	}
	return e.settle(out, -1)
}

// current is the turn that may still go on, or nil.
func (e *ending) current() *talk {
	if n := len(e.turns); n > 0 && !e.turns[n-1].over {
		return e.turns[n-1]
	}
	return nil
}

// begin takes in that speech begins: with it a turn does, or one goes on.
func (e *ending) begin(ev pieceBegan) []any {
	p := &piece{id: ev.id, began: ev.at}
	if t := e.current(); t != nil {
		last := t.pieces[len(t.pieces)-1]
		if gap := ev.at - last.ended; gap < e.pauses.longest() {
			s := soundsLike(t.text(), e.language)
			e.pauses.learned(last.how, s, 0, e.pauses.wait(last.how, s))
			t.pieces, t.pausing = append(t.pieces, p), false
			if t.told {
				t.told = false
				return []any{turnGoesOn{t.id}}
			}
			return nil
		}
		t.over = true
	}
	if b := e.before; b.known {
		// Somebody who goes on within goesOn had not finished: we were too quick.
		after := ev.at - b.since
		if after > goesOn {
			after = 0
		}
		e.pauses.learned(b.how, b.sense, after, b.wait)
		e.before.known = false
	}
	e.turns = append(e.turns, &talk{id: ev.id, pieces: []*piece{p}})
	return []any{turnBegan{ev.id}}
}

// settle gives away what is over and recognised, oldest first. at is the time, or
// negative if that is no news.
func (e *ending) settle(out []any, at time.Duration) []any {
	if due, ok := e.due(); ok && at >= due {
		e.current().over = true
	}
	for len(e.turns) > 0 {
		t := e.turns[0]
		if !t.pausing || !t.recognised() {
			return out
		}
		if !t.over {
			if !t.told {
				t.told = true
				out = append(out, turnMayEnd{t.taken()})
			}
			return out
		}
		last := t.pieces[len(t.pieces)-1]
		s := soundsLike(t.text(), e.language)
		e.before = pause{true, last.ended, last.how, s, e.pauses.wait(last.how, s)}
		out = append(out, turnIsTaken{t.taken()})
		e.turns = e.turns[1:]
	}
	return out
}

// ends is when the pause behind t will have been long enough, if that is known.
func (e *ending) ends(t *talk) (due time.Duration, ok bool) {
	if t.over || !t.pausing {
		return 0, false
	}
	last, pause := t.pieces[len(t.pieces)-1], e.pauses.longest()
	if t.recognised() {
		pause = e.pauses.wait(last.how, soundsLike(t.text(), e.language))
	}
	return max(last.ended+pause, t.hold), true
}

// due is when step wants to be told that time has passed.
func (e *ending) due() (time.Duration, bool) {
	if t := e.current(); t != nil {
		return e.ends(t)
	}
	return 0, false
}

// finished reports that everything has been given away and no more will come.
func (e *ending) finished() bool { return e.last && len(e.turns) == 0 }

func (e *ending) find(id string) (*talk, *piece) {
	for _, t := range e.turns {
		for _, p := range t.pieces {
			if p.id == id {
				return t, p
			}
		}
	}
	return nil, nil
}

func (t *talk) recognised() bool {
	for _, p := range t.pieces {
		if !p.done {
			return false
		}
	}
	return true
}

func (t *talk) spoken() (d time.Duration) {
	for _, p := range t.pieces {
		d += p.ended - p.began
	}
	return d
}

// text is what has been heard of the turn so far.
func (t *talk) text() string {
	var parts []string
	for _, p := range t.pieces {
		text := p.interim
		if p.done {
			text = p.text.Text
		}
		if text = strings.TrimSpace(text); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, " ")
}

// taken is the turn as a whole. Its error is of the pieces that were not recognised.
func (t *talk) taken() turnTaken {
	u := turnTaken{id: t.id, text: t.text(), began: t.pieces[0].began, ended: t.pieces[len(t.pieces)-1].ended}
	var errs []error
	for _, p := range t.pieces {
		errs = append(errs, p.err)
		u.sound = append(u.sound, p.sound...)
		if p.text.Confidence > 0 && (u.confidence == 0 || p.text.Confidence < u.confidence) {
			u.confidence = p.text.Confidence
		}
	}
	u.err = errors.Join(errs...)
	return u
}
