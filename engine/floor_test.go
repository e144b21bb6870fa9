package engine

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// stage is a floor with a clock that the test moves.
type stage struct {
	Floor
	now time.Time
}

func newStage(sounding bool) *stage {
	s := &stage{Floor: Floor{Language: "en"}, now: time.Unix(1000, 0)}
	s.Answers("mira", []string{"Bartok the Barkeep"}, s.now)
	if sounding {
		s.Sounds(s.now)
	}
	return s
}

// at is the verdict after so much time.
func (s *stage) after(d time.Duration) Verdict {
	s.now = s.now.Add(d)
	return s.Passed(s.now)
}

func (s *stage) want(t *testing.T, what string, got, want Verdict) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestListeningNeverInterrupts(t *testing.T) {
	for _, text := range []string{"mm-hm", "yeah", "Okay.", "hahaha", ""} {
		s := newStage(true)
		s.want(t, "a sound", s.Talks("mira", 160*time.Millisecond, s.now), Duck)
		s.want(t, "half a second of it", s.Talks("mira", 480*time.Millisecond, s.now.Add(400*time.Millisecond)), Duck)
		s.Pauses("mira", s.now.Add(500*time.Millisecond))
		s.want(t, text, s.Says("mira", text, true, false, s.now.Add(600*time.Millisecond)), Go)
	}
}

func TestWordsOfTheAnsweredPlayerCutAtOnce(t *testing.T) {
	s := newStage(true)
	s.Talks("mira", 160*time.Millisecond, s.now)
	s.want(t, "two words so far", s.Says("mira", "but who", false, false, s.now), Cut)
}

func TestStopWordsOfAnybodyCutAtOnce(t *testing.T) {
	s := newStage(true)
	s.want(t, "stop", s.Says("odo", "Bartok, wait!", false, false, s.now), Cut)
}

func TestTalkAmongOthersOnlyTurnsTheVoiceDownForASecond(t *testing.T) {
	s := newStage(true)
	s.want(t, "talk", s.Talks("odo", 160*time.Millisecond, s.now), Duck)
	s.Talks("odo", 900*time.Millisecond, s.now.Add(800*time.Millisecond))
	s.want(t, "after a second", s.after(time.Second), Go)
	s.want(t, "its words", s.Says("odo", "pass me the crisps please", true, false, s.now), Go)
}

func TestOthersEndTheLineAtAWordIfTheySpeakToTheNPC(t *testing.T) {
	s := newStage(true)
	s.Talks("odo", 160*time.Millisecond, s.now)
	s.want(t, "to the NPC", s.Says("odo", "Bartok, who is the captain?", true, true, s.now), Leave)
}

func TestVoiceIsSilentWhileUnknownWordsAreSpokenAndGoesOnBehindThem(t *testing.T) {
	s := newStage(true)
	s.Talks("mira", 160*time.Millisecond, s.now)
	s.want(t, "half a second", s.Talks("mira", 500*time.Millisecond, s.now.Add(400*time.Millisecond)), Hold)
	s.Pauses("mira", s.now.Add(700*time.Millisecond))
	s.want(t, "no words came of it", s.after(1800*time.Millisecond), Go)

	s = newStage(true)
	s.Talks("mira", 160*time.Millisecond, s.now)
	for at := 200 * time.Millisecond; at <= unheard; at += 160 * time.Millisecond {
		s.Talks("mira", at, s.now.Add(at))
	}
	s.want(t, "nobody laughs for so long", s.after(unheard), Cut)
}

func TestVoiceWaitsForAGapButNotForEver(t *testing.T) {
	s := newStage(false)
	s.want(t, "somebody talks", s.Talks("odo", 160*time.Millisecond, s.now), Hold)
	s.want(t, "and talks on", s.after(gives), Go)

	s = newStage(false)
	s.Talks("odo", 160*time.Millisecond, s.now)
	s.want(t, "and stops", s.Pauses("odo", s.now.Add(300*time.Millisecond)), Go)
}

func TestWhatTheAskerAddsBelongsToTheQuestion(t *testing.T) {
	s := newStage(false)
	s.want(t, "goes on", s.Talks("mira", 160*time.Millisecond, s.now), Hold)
	s.want(t, "for long", s.after(5*time.Second), Hold)
	s.want(t, "with words", s.Says("mira", "and a room for the night", true, false, s.now), Cut)
}

// TestFloorLeavesEveryStateInTime tells a floor anything in any order: whatever
// holds the voice up, it ends within its limit without any further event, and a turn
// that was ended stays so.
func TestFloorLeavesEveryStateInTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newStage(false)
		person := rapid.SampledFrom([]string{"mira", "odo", "lead"})
		text := rapid.SampledFrom([]string{"", "yeah", "stop", "who are you", "Bartok, come here", "hahahaha"})
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			s.now = s.now.Add(time.Duration(rapid.IntRange(0, 700).Draw(t, "ms")) * time.Millisecond)
			var v Verdict
			switch rapid.IntRange(0, 6).Draw(t, "event") {
			case 0:
				v = s.Talks(person.Draw(t, "who"), time.Duration(rapid.IntRange(160, 3000).Draw(t, "voiced"))*time.Millisecond, s.now)
			case 1:
				v = s.Pauses(person.Draw(t, "who"), s.now)
			case 2:
				v = s.Says(person.Draw(t, "who"), text.Draw(t, "text"), rapid.Bool().Draw(t, "all"), rapid.Bool().Draw(t, "forNPC"), s.now)
			case 3:
				v = s.Sounds(s.now)
			case 4:
				s.Done()
			case 5:
				v = s.Answers(person.Draw(t, "who"), []string{"Bartok"}, s.now)
			case 6:
				v = s.Passed(s.now)
			}
			if v >= Leave {
				if again := s.Passed(s.now); again != Go {
					t.Fatalf("after %v the floor says %v as well", v, again)
				}
				s.Answers("mira", []string{"Bartok"}, s.now)
			}
		}
		limit := s.now.Add(hears + unheard)
		for due := s.Due(); !due.IsZero(); due = s.Due() {
			if due.After(limit) {
				t.Fatalf("the voice may be held up until %v, later than %v", due, limit)
			}
			s.now = later(s.now, due)
			s.Passed(s.now)
			if next := s.Due(); next.Equal(due) {
				t.Fatalf("nothing is decided at %v", due)
			}
		}
		if v := s.Passed(s.now); v != Go {
			t.Fatalf("with nothing left to decide the voice is told to %v", v)
		}
	})
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
