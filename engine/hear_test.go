package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// counter is a recogniser that says how much it was given.
type counter struct{ fail error }

func (counter) Name() string { return "counter" }
func (counter) Basic() bool  { return false }

func (c counter) Hear(_ context.Context, _ Hearing, frames iter.Seq[[]int16]) iter.Seq2[Transcript, error] {
	return func(yield func(Transcript, error) bool) {
		n := 0
		for f := range frames {
			if len(f) != pcm.HearSize {
				yield(Transcript{}, fmt.Errorf("a frame of %d samples", len(f)))
				return
			}
			if n++; n == 10 && !yield(Transcript{Text: "so far"}, nil) {
				return
			}
		}
		if c.fail != nil {
			yield(Transcript{}, c.fail)
			return
		}
		yield(Transcript{Text: fmt.Sprint(n), Final: true}, nil)
	}
}

// twice is a recording of two utterances: the same sentence twice with a pause.
func twice(t *testing.T) [][]int16 {
	t.Helper()
	f, err := os.Open("../voice/vad/testdata/speech.wav")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	samples, err := pcm.ReadWAV(f, pcm.HearRate, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	samples = slices.Concat(make([]int16, 16000), samples, make([]int16, 32000), samples, make([]int16, 16000))
	return slices.Collect(slices.Chunk(samples[:len(samples)/pcm.HearSize*pcm.HearSize], pcm.HearSize))
}

func TestUtterancesComeInOrderWithTheirSound(t *testing.T) {
	var began []string
	talking, interim := 0, 0
	ear := NewEar(counter{}, "u", EarOptions{
		Began: func(id string) { began = append(began, id) },
		Talking: func(voiced time.Duration) {
			if voiced < 2*talkStep {
				talking++
			}
		},
		Interim: func(string, string) { interim++ },
	})
	var ids []string
	for u, err := range ear.Listen(t.Context(), slices.Values(twice(t))) {
		if err != nil {
			t.Fatal(err)
		}
		var frames int
		if _, err := fmt.Sscan(u.Text, &frames); err != nil || frames < 25 {
			t.Errorf("utterance %s has %s frames, want at least half a second", u.ID, u.Text)
		}
		ids = append(ids, u.ID)
	}
	if len(ids) < 2 || !slices.Equal(ids, began) {
		t.Errorf("utterances %v ended and %v began, want the same, at least two", ids, began)
	}
	if talking != len(ids) {
		t.Errorf("%d utterances were long enough to interrupt, want all %d", talking, len(ids))
	}
}

func TestFailedRecognitionDoesNotEndListening(t *testing.T) {
	boom := errors.New("boom")
	n := 0
	for _, err := range NewEar(counter{fail: boom}, "u", EarOptions{}).Listen(t.Context(), slices.Values(twice(t))) {
		if n++; !errors.Is(err, boom) {
			t.Errorf("utterance %d: error %v, want %v", n, err, boom)
		}
	}
	if n < 2 {
		t.Errorf("listening ended after %d utterances", n)
	}
}

func TestListeningEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	endless := func(yield func([]int16) bool) {
		for _, f := range twice(t) {
			if !yield(f) {
				return
			}
		}
		cancel()
		for yield(make([]int16, pcm.HearSize)) {
		}
	}
	for _, err := range NewEar(counter{}, "u", EarOptions{}).Listen(ctx, endless) {
		if err != nil && ctx.Err() == nil {
			t.Fatal(err)
		}
	}
}

func TestSenderWhoStopsEndsTheUtteranceAtOnce(t *testing.T) {
	all := twice(t)
	// Cut in the middle of the first sentence: two seconds in.
	frames := append(slices.Clone(all[:100]), nil)
	n := 0
	src := func(yield func([]int16) bool) {
		for _, f := range frames {
			if !yield(f) {
				return
			}
		}
		for range 10 { // 200 ms: far less than a pause would need
			if !yield(make([]int16, pcm.HearSize)) {
				return
			}
		}
	}
	for _, err := range NewEar(counter{}, "u", EarOptions{}).Listen(t.Context(), src) {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	if n != 1 {
		t.Errorf("got %d utterances, want the one that was stopped", n)
	}
}

// sayings is a recogniser that understands one text after the other, and says them
// when the sound of each has ended.
type sayings struct {
	mu    sync.Mutex
	texts []string
}

func (*sayings) Name() string { return "sayings" }
func (*sayings) Basic() bool  { return false }

func (s *sayings) Hear(_ context.Context, _ Hearing, frames iter.Seq[[]int16]) iter.Seq2[Transcript, error] {
	return func(yield func(Transcript, error) bool) {
		s.mu.Lock()
		text := s.texts[0]
		s.texts = s.texts[1:]
		s.mu.Unlock()
		for range frames {
		}
		yield(Transcript{Text: text, Final: true}, nil)
	}
}

// discordTalk is speech as it comes from a call: each stretch in real time, then
// the sender's word that it has stopped, then nothing for as long as the pause lasts.
func discordTalk(t *testing.T, pauses ...time.Duration) iter.Seq[[]int16] {
	speech := twice(t)[88:138] // a second of the recording
	return func(yield func([]int16) bool) {
		for _, pause := range pauses {
			for _, f := range speech {
				time.Sleep(pcm.FrameTime)
				if !yield(f) {
					return
				}
			}
			if !yield(nil) {
				return
			}
			time.Sleep(pause)
		}
	}
}

func TestPauseWithinASentenceCostsNothingButASpeculation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var notes []string
		ear := NewEar(&sayings{texts: []string{"We came because", "the bridge is gone.", "Who did that?"}}, "u", EarOptions{
			Began:  func(id string) { notes = append(notes, "began "+id) },
			MayEnd: func(u Utterance) { notes = append(notes, "may end: "+u.Text) },
			GoesOn: func(id string) { notes = append(notes, "goes on "+id) },
		})
		for u, err := range ear.Listen(t.Context(), discordTalk(t, 900*time.Millisecond, 4*time.Second, time.Second)) {
			if err != nil {
				t.Fatal(err)
			}
			notes = append(notes, "said: "+u.Text)
		}
		want := []string{
			"began u1", "may end: We came because", "goes on u1", "may end: We came because the bridge is gone.",
			"said: We came because the bridge is gone.", "began u3", "said: Who did that?",
		}
		if diff := cmp.Diff(want, notes); diff != "" {
			t.Errorf("what was heard (-want +got):\n%s", diff)
		}
	})
}

func TestSlowSpeakerIsGivenMoreTime(t *testing.T) {
	var p Pauses
	first := p.wait(ended, stated)
	for range 4 {
		p.learned(ended, stated, 700*time.Millisecond, p.wait(ended, stated))
	}
	if slow := p.wait(ended, stated); slow < first+300*time.Millisecond {
		t.Errorf("after four mistakes the wait is %v, from %v", slow, first)
	}
	for range 2000 {
		p.learned(ended, stated, 0, p.wait(ended, stated))
	}
	if quick := p.wait(ended, stated); quick > first {
		t.Errorf("after 2,000 turns without a pause the wait is %v, more than the %v of a stranger", quick, first)
	}
	usual := p.wait(silence, open)
	p.SetPatience(LongPatience)
	if long := p.wait(silence, open); long <= usual || long > longestPause {
		t.Errorf("long patience waits for %v, the usual one for %v", long, usual)
	}
}

// TestEveryTurnIsGivenAwayOnce drives the bare state machine with any order of
// events: each turn that began is taken exactly once, in order, and none stays open
// longer than the longest pause.
func TestEveryTurnIsGivenAwayOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &ending{pauses: new(Pauses)}
		m.pauses.SetPatience(rapid.SampledFrom([]Patience{NormalPatience, QuickPatience, LongPatience}).Draw(t, "patience"))
		var began, taken []string
		look := func(actions []any) {
			for _, a := range actions {
				switch a := a.(type) {
				case turnBegan:
					began = append(began, a.id)
				case turnIsTaken:
					taken = append(taken, a.id)
				}
			}
		}
		var now time.Duration
		speaking, n := false, 0
		var waiting []string
		recognise := func() {
			i := rapid.IntRange(0, len(waiting)-1).Draw(t, "which")
			text := rapid.SampledFrom([]string{"", "And", "Yes.", "We are here", "A rope, two torches"}).Draw(t, "text")
			look(m.step(pieceDone{id: waiting[i], text: Transcript{Text: text}, at: now}))
			waiting = slices.Delete(waiting, i, i+1)
		}
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			now += time.Duration(rapid.IntRange(0, 900).Draw(t, "ms")) * time.Millisecond
			for due, ok := m.due(); ok && due <= now; due, ok = m.due() {
				look(m.step(timePassed{due}))
			}
			switch k := rapid.IntRange(0, 3).Draw(t, "event"); {
			case k == 0 && !speaking:
				n++
				look(m.step(pieceBegan{fmt.Sprint(n), now}))
				waiting = append(waiting, fmt.Sprint(n))
				speaking = true
			case k == 1 && speaking:
				look(m.step(pieceEnded{at: now, how: rapid.SampledFrom([]stop{silence, ended}).Draw(t, "how")}))
				speaking = false
			case k == 2 && len(waiting) > 0:
				recognise()
			case k == 3:
				look(m.step(rapid.SampledFrom([]any{senderStopped{}, soundBack{now}}).Draw(t, "sign")))
			}
			if due, ok := m.due(); ok && due > now+longestPause {
				t.Fatalf("at %v the turn would stay open until %v", now, due)
			}
		}
		if speaking {
			look(m.step(pieceEnded{at: now, how: ended}))
		}
		look(m.step(soundEnded{}))
		for len(waiting) > 0 {
			recognise()
		}
		if !m.finished() || !slices.Equal(began, taken) {
			t.Fatalf("began %v, taken %v, finished %v", began, taken, m.finished())
		}
	})
}
