package engine

import "time"

const (
	// decide is how long a voice may be held up by somebody who has not said what
	// they want.
	decide = time.Second
	// means is how much speech of who was being answered counts as meaning to
	// interrupt before any word is known: longer than "mm-hm".
	means = 500 * time.Millisecond
	// unheard is the longest that a voice waits where nothing is recognised before a
	// speaker stops: nobody laughs for longer.
	unheard = 2500 * time.Millisecond
	// gives is the longest that an NPC waits for a gap before it begins. At a table
	// where everybody talks it would never come.
	gives = time.Second
	// hears is the longest that an answer waits while who asked for it goes on
	// talking: they are told something in the end.
	hears = 15 * time.Second
	// maxTalkers is how many people are followed at once; a voice channel holds 99.
	maxTalkers = 128
)

// A Verdict is what an NPC's voice is to do.
type Verdict uint8

// The verdicts, from the mildest to the hardest.
const (
	Go    Verdict = iota // speak
	Duck                 // speak on softly: somebody says something
	Hold                 // stop at the end of the word, or do not begin
	Leave                // end at the end of the word
	Cut                  // end at once
)

var verdictNames = [...]string{"go", "duck", "hold", "leave", "cut"}

// String names the verdict.
func (v Verdict) String() string { return verdictNames[v] }

// A Floor decides between the people at a table and the one NPC that answers: whom
// it gives way to, and when. It is a state machine without a clock, for one
// goroutine: its methods are told what happened and say what the voice is to do
// now, and [Floor.Due] says when to tell it that time has passed.
//
//   - Whoever speaks turns the voice down at once. Within a second it is decided
//     whether they meant to interrupt; then the voice is at its own loudness again or
//     has ended. Where words are only recognised behind a stop, the voice is silent
//     meanwhile if who was answered goes on for half a second.
//   - Who listens does not interrupt: "mm-hm", laughter, coughs.
//   - A word that means stop ends the voice at once, whoever says it; so do words of
//     the player who is being answered. Others end it, at the end of a word, if they
//     speak to the NPC.
//   - A voice that has not begun waits for a gap, but no longer than a second.
type Floor struct {
	// Language is the table's, a BCP 47 tag.
	Language string

	busy     bool // an NPC answers
	sounding bool
	answered string   // the person
	names    []string // of the NPC, in lower case
	talkers  map[string]*talker
	over     bool // the turn is to end, however it takes that
	interims bool // words are recognised while they are spoken
}

// talker is somebody who has begun to speak.
type talker struct {
	began   time.Time
	voiced  time.Duration
	paused  time.Time // zero while they speak
	decided bool      // what they say does not concern the voice
}

// Answers tells that an NPC with these names begins to answer a person.
func (f *Floor) Answers(person string, names []string, now time.Time) Verdict {
	f.busy, f.sounding, f.over, f.answered = true, false, false, person
	f.names = nil
	for _, n := range names {
		f.names = append(f.names, wordsOf(n)...)
	}
	for _, t := range f.talkers {
		t.decided = false
		if t.paused.IsZero() && now.Sub(t.began) > decide {
			t.began = now // they have talked for long; it counts from now
		}
	}
	return f.rule(now)
}

// Sounds tells that the NPC can be heard.
func (f *Floor) Sounds(now time.Time) Verdict {
	f.sounding = true
	return f.rule(now)
}

// Done tells that the NPC's turn has ended.
func (f *Floor) Done() { f.busy, f.sounding = false, false }

// Talks tells how much voice there has been of a person without a stop.
func (f *Floor) Talks(person string, voiced time.Duration, now time.Time) Verdict {
	t := f.talkers[person]
	if t == nil {
		if f.talkers == nil {
			f.talkers = map[string]*talker{}
		}
		if len(f.talkers) >= maxTalkers {
			return f.rule(now)
		}
		t = &talker{began: now}
		f.talkers[person] = t
	}
	if !t.paused.IsZero() { // they go on
		t.paused = time.Time{}
		if t.decided {
			*t = talker{began: now}
		}
	}
	t.voiced = max(t.voiced, voiced)
	return f.rule(now)
}

// Pauses tells that a person has stopped, be it for a moment.
func (f *Floor) Pauses(person string, now time.Time) Verdict {
	if t := f.talkers[person]; t != nil && t.paused.IsZero() {
		t.paused = now
	}
	return f.rule(now)
}

// Says tells what a person has said, so far or in all, and whether it is for the NPC
// that answers.
func (f *Floor) Says(person, text string, all, forNPC bool, now time.Time) Verdict {
	t := f.talkers[person]
	listens := OnlyListens(text, f.Language)
	f.interims = f.interims || !all && text != ""
	switch {
	case !f.busy, f.over:
	case saysStop(text, f.Language, f.names):
		f.over = true
		return Cut
	case listens && all && t != nil:
		t.decided = true
	case listens:
	case person == f.answered && (all || f.sounding && len(wordsOf(text)) >= 2):
		f.over = true
		return Cut
	case all && forNPC && f.sounding:
		f.over = true
		return Leave
	case all && t != nil:
		t.decided = true // table talk
	}
	if all {
		delete(f.talkers, person)
	}
	return f.rule(now)
}

// OnlyStops reports whether a line says nothing but that the NPC should stop, which
// is not to be answered.
func (f *Floor) OnlyStops(text string) bool { return f.busy && isStop(text, f.Language, f.names) }

// Passed tells that time has passed.
func (f *Floor) Passed(now time.Time) Verdict { return f.rule(now) }

// rule is what the voice is to do as things are.
func (f *Floor) rule(now time.Time) Verdict {
	for id, t := range f.talkers { // whose words never came
		if !t.paused.IsZero() && now.Sub(t.paused) > hears {
			delete(f.talkers, id)
		}
	}
	v := Go
	if !f.busy || f.over {
		return v
	}
	for id, t := range f.talkers {
		v = max(v, f.against(id, t, now))
	}
	if v == Cut {
		f.over = true
	}
	return v
}

// against is what one talker does to the voice.
func (f *Floor) against(person string, t *talker, now time.Time) Verdict {
	asker := person == f.answered
	switch {
	case t.decided:
		return Go
	case now.Before(f.until(person, t)):
		if !f.sounding || asker && t.voiced >= means {
			return Hold
		}
		return Duck
	case f.sounding && asker && !f.interims && t.paused.IsZero() && t.voiced >= means:
		return Cut
	}
	t.decided = true
	return Go
}

// until is how long one talker may hold up the voice.
func (f *Floor) until(person string, t *talker) time.Time {
	asker := person == f.answered
	switch {
	case !f.sounding && asker: // what they add is part of what is answered
		return t.began.Add(hears)
	case !f.sounding && !t.paused.IsZero():
		return t.paused
	case !f.sounding:
		return t.began.Add(gives)
	case !asker || f.interims || t.voiced < means:
		return t.began.Add(decide)
	case t.paused.IsZero():
		return t.began.Add(unheard)
	}
	return t.paused.Add(decide)
}

// Due is when [Floor.Passed] should be called, or zero if only something that
// happens can change the verdict.
func (f *Floor) Due() (due time.Time) {
	if !f.busy || f.over {
		return due
	}
	for id, t := range f.talkers {
		if at := f.until(id, t); !t.decided && (due.IsZero() || at.Before(due)) {
			due = at
		}
	}
	return due
}
