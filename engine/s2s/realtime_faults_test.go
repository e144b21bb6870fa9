package s2s

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/enginetest"
)

// Every way in which the vendor fails, with what the room hears.
func TestFaultsOfRealtime(t *testing.T) {
	const cascade = "The cascade speaks."
	for _, c := range []struct {
		name   string
		conn   enginetest.Fault
		answer enginetest.Fault
		want   string // "" for the beginning of the answer
		within time.Duration
	}{
		{"F1 unknown events", "", "", two, time.Second},
		{"F2 fragments over 32 KiB", "", enginetest.Fragmented, two, time.Second},
		{"F4 half-open connection", "", enginetest.Deaf, "", time.Second},
		{"F5 closed with 1011 in the middle of sound", "", enginetest.HangUp, "", time.Second},
		{"F5 closed while a tool runs", "", enginetest.HangUpMidTool, cascade, time.Second},
		{"F6 expired in an answer", "", enginetest.Expired, "", time.Second},
		{"F13 odd pieces of sound", "", enginetest.OddSound, two, time.Second},
		{"F15 rate limited", enginetest.RateLimited, "", cascade, 500 * time.Millisecond},
		{"F15 overloaded", enginetest.Overloaded, "", cascade, 500 * time.Millisecond},
		{"F15 401 on upgrade", enginetest.BadKey, "", cascade, 500 * time.Millisecond},
		{"F15 rate limited in the answer", "", enginetest.Refused, cascade, 500 * time.Millisecond},
		{"F17 empty arguments", "", enginetest.EmptyArguments, two, time.Second},
		{"F17 broken arguments", "", enginetest.BrokenJSON, two, time.Second},
		{"F17 huge arguments", "", enginetest.HugeArguments, two, time.Second},
		{"F18 slower than real time", "", enginetest.Slower, two, 2 * time.Second},
		{"F20 no usage", "", enginetest.NoUsage, two, time.Second},
		{"F20 usage twice", "", enginetest.TwiceUsage, two, time.Second},
		{"refused connection", enginetest.Drop, "", cascade, 500 * time.Millisecond},
		{"a page instead of a socket", enginetest.WebPage, "", cascade, 500 * time.Millisecond},
		{"R18 accepts and says nothing", "", enginetest.Dim, cascade, 3 * time.Second},
		{"R18 no session at all", enginetest.Hang, "", cascade, 3 * time.Second},
		{"R19 stalls in a sentence", "", enginetest.Stuck, "", time.Second},
		{"sound without words", "", enginetest.NoTranscript, cascade, 10 * time.Second},
		{"words after the sound", "", enginetest.LateWords, two, 2 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				answer := turned{after: says("Aye."), before: func(q enginetest.Turn) enginetest.Answer {
					if strings.HasPrefix(c.name, "F17") && len(q.Results) == 0 || c.answer == enginetest.HangUpMidTool {
						return enginetest.Answer{Calls: []enginetest.ToolCall{{Name: "roll", Args: `{"dice":"1d20"}`}}}
					}
					return enginetest.Answer{Text: two}
				}}
				server := &enginetest.Realtime{Answer: answer.give}
				server.Faults.Next(c.conn)
				server.Answers.Next(c.answer)
				s, e := openAI(t, server), &ear{}
				began := time.Now()
				out := s.Perform(t.Context(), s.plan(e, `Mira: "Any rooms?"`), said())
				switch {
				case c.want != "" && (out.Heard != c.want || out.Err != nil):
					t.Errorf("heard %q (%v), want %q", out.Heard, out.Err, c.want)
				case c.want == "" && (out.Heard == "" || !strings.HasPrefix(two, out.Heard) || out.Heard == two || !out.Cut):
					t.Errorf("heard %q, cut %v, want the words that came and no more", out.Heard, out.Cut)
				case c.want == "" && off(len(strings.Fields(out.Heard)), len(e.words())) > 1:
					t.Errorf("remembered %q, and %d words sounded", out.Heard, len(e.words()))
				}
				if took := e.first.Sub(began); took > c.within {
					t.Errorf("the first sound came after %v, want %v at most", took, c.within)
				}
				// The next turn finds a working session, whatever happened.
				answer.now.Store(true)
				time.Sleep(30 * time.Second) // one that cost seconds is left alone for a while
				if out := s.Perform(t.Context(), s.plan(&ear{}, `Mira: "Well?"`), said()); out.Heard != "Aye." {
					t.Errorf("the turn after: %q (%v)", out.Heard, out.Err)
				}
				for _, complaint := range server.Complaints() {
					// To cancel what has not begun is not wrong: it may just have.
					if c.answer != enginetest.Dim || !strings.HasPrefix(complaint, "response_cancel_not_active") {
						t.Errorf("the vendor complains: %s", complaint)
					}
				}
			})
		})
	}
}

func TestF3SoundAfterACancellationIsNobodysAndF10TheNextAnswerWaitsForItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := turned{before: says(two), after: says("Aye.")}
		server := &enginetest.Realtime{Answer: answer.give}
		server.Answers.Next(enginetest.Lingering)
		s := openAI(t, server)
		ctx, cut := context.WithCancelCause(t.Context())
		s.Perform(ctx, s.plan(&ear{at: 5, after: func() { cut(engine.ErrInterrupted) }}, `Mira: "Any rooms?"`), said())
		answer.now.Store(true)
		e := &ear{}
		out := s.Perform(t.Context(), s.plan(e, `Mira: "Wait."`), said())
		if out.Heard != "Aye." || len(e.words()) != 1 {
			t.Errorf("heard %q as %d words (%v)", out.Heard, len(e.words()), out.Err)
		}
		if c := server.Complaints(); len(c) != 1 || !strings.HasPrefix(c[0], "conversation_already_has_active_response") {
			t.Errorf("complaints %q, want one: that the old answer was still active", c)
		}
	})
}

func TestF7TheVendorsOwnTranscriptMayComeLateOrNever(t *testing.T) {
	for _, text := range []string{"any rooms", ""} {
		synctest.Test(t, func(t *testing.T) {
			server := &enginetest.Realtime{Answer: says("Aye."), Transcribe: text}
			s := openAI(t, server)
			for range 2 {
				if out := s.Perform(t.Context(), s.plan(&ear{}, `Mira: "Any rooms?"`), said()); out.Heard != "Aye." {
					t.Errorf("heard %q (%v)", out.Heard, out.Err)
				}
			}
		})
	}
}

func TestF8OneToolThatNeverReturnsDoesNotHoldTheAnswerForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &enginetest.Realtime{Answer: func(q enginetest.Turn) enginetest.Answer {
			if len(q.Results) == 0 {
				return enginetest.Answer{Calls: []enginetest.ToolCall{{Name: "roll", Args: `{}`}, {Name: "look", Args: "{}"}}}
			}
			return enginetest.Answer{Text: "So it goes."}
		}}
		s, e := openAI(t, server), &ear{}
		s.host = host(t, time.Hour)
		began := time.Now()
		if out := s.Perform(t.Context(), s.plan(e, `Mira: "Roll!"`), said()); out.Heard != "So it goes." || e.first.Sub(began) > 2*time.Second {
			t.Errorf("heard %q (%v) after %v", out.Heard, out.Err, e.first.Sub(began))
		}
	})
}

func TestAResultThatComesAfterTheTalkMovedOnIsAbsorbed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &enginetest.Realtime{Answer: func(q enginetest.Turn) enginetest.Answer {
			if len(q.Talk) < 4 {
				return enginetest.Answer{Calls: []enginetest.ToolCall{{Name: "roll", Args: `{}`}}}
			}
			return enginetest.Answer{Text: "Aye."}
		}}
		s := openAI(t, server)
		s.host = host(t, 400*time.Millisecond)
		ctx, cut := context.WithCancelCause(t.Context())
		time.AfterFunc(300*time.Millisecond, func() { cut(engine.ErrInterrupted) })
		if out := s.Perform(ctx, s.plan(&ear{}, `Mira: "Roll!"`), said()); out.Heard != "" {
			t.Errorf("heard %q", out.Heard)
		}
		time.Sleep(time.Second)
		if out := s.Perform(t.Context(), s.plan(&ear{}, `Mira: "Never mind."`), said()); out.Heard != "Aye." {
			t.Errorf("heard %q (%v)", out.Heard, out.Err)
		}
		if talk := strings.Join(server.Conversation(0), "\n"); strings.Count(talk, "result: ") != 1 || len(server.Complaints()) > 0 {
			t.Errorf("the session holds\n%s\ncomplaints %q", talk, server.Complaints())
		}
	})
}
