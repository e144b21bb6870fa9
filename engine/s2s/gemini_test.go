package s2s

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/enginetest"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/secret"
)

func gemini(t testing.TB, server *enginetest.Live) *scene {
	t.Helper()
	server.Key = "hunter2"
	s := &scene{stock: &stock{}, host: host(t, 0)}
	p, err := NewGemini(Options{
		URL: "http://vendor", Key: secret.New("hunter2"), Model: server.Model, Client: enginetest.Client(server), NPC: "bram",
		Fell: func(name string, err error) { s.fell = append(s.fell, name+": "+err.Error()) },
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Performer = p
	t.Cleanup(p.Close)
	return s
}

// generations are a model that takes changes in mid-session, and one that closes the
// connection when it is sent any.
var generations = []string{"gemini-3.8-live", "gemini-3.1-flash-live"}

func TestGeminiSpeaksWithItsOwnVoiceAndIsToldOnlyWhatItMissed(t *testing.T) {
	for _, model := range generations {
		t.Run(model, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got enginetest.Turn
				server := &enginetest.Live{Model: model, Answer: func(q enginetest.Turn) enginetest.Answer {
					got = q
					return enginetest.Answer{Text: two}
				}}
				s, e := gemini(t, server), &ear{}
				out := s.Perform(t.Context(), s.plan(e, `Odo: "Quiet here."`, `Mira: "Any rooms?"`), said())
				if out.Heard != two || out.Cut || out.Err != nil || len(e.words()) != 10 {
					t.Errorf("heard %q as %d words, cut %v, %v", out.Heard, len(e.words()), out.Cut, out.Err)
				}
				if got.System != "You play Bram." || len(got.Sound.Samples) != 16000 || strings.Join(got.Tools, " ") != "look roll" {
					t.Errorf("the model was asked %q with %d samples and the tools %v", got.System, len(got.Sound.Samples), got.Tools)
				}
				out = s.Perform(t.Context(), s.plan(&ear{}, `Odo: "Quiet here."`, `Mira: "Any rooms?"`, "Bram: "+two, `Odo: "I sneeze."`, `Mira: "How much?"`), nil)
				talk := strings.Join(got.Talk, "\n")
				if out.Heard != two || strings.Count(talk, "sneeze") != 1 || strings.Count(talk, "Quiet") != 1 || strings.Count(talk, "harbour") != 1 {
					t.Errorf("heard %q; the session holds\n%s", out.Heard, talk)
				}
				if out.Usage.AudioOut == 0 || len(server.Closings()) > 0 || s.stock.asked > 0 {
					t.Errorf("usage %+v, closed for %q, the cascade was asked %d times", out.Usage, server.Closings(), s.stock.asked)
				}
			})
		})
	}
}

func TestGeminiIsToldWhatWasHeardOfAnInterruptedAnswer(t *testing.T) {
	for _, model := range generations {
		for frames := 5; frames < 100; frames += 19 {
			synctest.Test(t, func(t *testing.T) {
				answer := turned{before: says(two), after: says("Aye.")}
				server := &enginetest.Live{Model: model, Answer: answer.give}
				s := gemini(t, server)
				ctx, cut := context.WithCancelCause(t.Context())
				e := &ear{at: frames, after: func() { cut(engine.ErrInterrupted) }}
				out := s.Perform(ctx, s.plan(e, `Mira: "Any rooms?"`), said())
				answer.now.Store(true)
				next := &ear{}
				after := s.Perform(t.Context(), s.plan(next, `Mira: "Any rooms?"`, "Bram: "+out.Heard+" —", `Mira: "Wait."`), said())
				if off(len(strings.Fields(out.Heard)), len(e.words())) > 1 || !out.Cut {
					t.Errorf("after %d frames %d words sounded, and %q is remembered", frames, len(e.words()), out.Heard)
				}
				if after.Heard != "Aye." || len(next.words()) != 1 {
					t.Errorf("the next answer is %q as %d words (%v)", after.Heard, len(next.words()), after.Err)
				}
				if talk := strings.Join(server.Conversation(), "\n"); out.Heard != "" && !strings.Contains(talk, "All that was heard") || len(server.Closings()) > 0 {
					t.Errorf("the session holds\n%s\nclosed for %q", talk, server.Closings())
				}
			})
		}
	}
}

func TestATierThatChangesReachesGeminiByUpdateOrByResuming(t *testing.T) {
	for _, model := range generations {
		t.Run(model, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var tools []string
				server := &enginetest.Live{Model: model, Answer: func(q enginetest.Turn) enginetest.Answer {
					tools = append(tools, strings.Join(q.Tools, " "))
					return enginetest.Answer{Text: "Aye."}
				}}
				s := gemini(t, server)
				for _, tier := range []mcp.Tier{mcp.Fast, mcp.Standard, mcp.Standard, mcp.Fast} {
					p := s.plan(&ear{}, `Mira: "Well?"`)
					p.Belt = s.belt(tier)
					if out := s.Perform(t.Context(), p, said()); out.Heard != "Aye." {
						t.Errorf("heard %q (%v)", out.Heard, out.Err)
					}
				}
				if d := cmp.Diff([]string{"look roll", "look roll search", "look roll search", "look roll"}, tools); d != "" {
					t.Error(d)
				}
				opened, resumed := server.Sessions()
				want := [2]int{1, 0}
				if model != generations[0] {
					want = [2]int{3, 2}
				}
				if got := [2]int{opened, resumed}; got != want || len(server.Closings()) > 0 {
					t.Errorf("%v sessions and resumptions, want %v; closed for %q", got, want, server.Closings())
				}
			})
		})
	}
}

func TestGeminisToolsRunThroughTheBelt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &enginetest.Live{Answer: func(q enginetest.Turn) enginetest.Answer {
			if len(q.Results) == 0 {
				return enginetest.Answer{Text: "Let me see.", Calls: []enginetest.ToolCall{{Name: "roll", Args: `{"dice":"1d20"}`}}}
			}
			return enginetest.Answer{Text: "It shows " + strings.Join(q.Results, " and ") + "."}
		}}
		s := gemini(t, server)
		if out := s.Perform(t.Context(), s.plan(&ear{}, `Mira: "Roll!"`), said()); out.Heard != "Let me see. It shows 17." {
			t.Errorf("heard %q (%v), closed for %q", out.Heard, out.Err, server.Closings())
		}
	})
}

func TestF9CallsThatAreTakenBackEndAndAreNotAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &enginetest.Live{Answer: func(q enginetest.Turn) enginetest.Answer {
			return enginetest.Answer{Calls: []enginetest.ToolCall{{Name: "roll", Args: `{}`}}}
		}}
		server.Answers.Next(enginetest.Takeback)
		s := gemini(t, server)
		s.host = host(t, 450*time.Millisecond)
		out := s.Perform(t.Context(), s.plan(&ear{}, `Mira: "Roll!"`), said())
		time.Sleep(time.Second)
		if out.Heard != "Never mind." || len(server.Closings()) > 0 {
			t.Errorf("heard %q (%v), closed for %q", out.Heard, out.Err, server.Closings())
		}
	})
}

func TestF6GeminisTenMinutesAreHandedOverBetweenTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &enginetest.Live{Answer: says("Aye.")}
		s := gemini(t, server)
		var talk []string
		for i := range 45 { // three hours
			line := fmt.Sprintf(`Mira: "Question %d."`, i)
			if out := s.Perform(t.Context(), s.plan(&ear{}, append(slices.Clone(talk[max(0, len(talk)-30):]), line)...), nil); out.Heard != "Aye." {
				t.Fatalf("turn %d: %q, %v", i, out.Heard, out.Err)
			}
			talk = append(talk, line, "Bram: Aye.")
			time.Sleep(4 * time.Minute)
		}
		opened, resumed := server.Sessions()
		if opened < 18 || resumed != opened-1 || s.stock.asked > 0 || len(server.Closings()) > 0 {
			t.Errorf("%d sessions, %d resumed; the cascade was asked %d times; closed for %q", opened, resumed, s.stock.asked, server.Closings())
		}
		for i, l := range server.Conversation() {
			if strings.Contains(l, "Question") && slices.Contains(server.Conversation()[i+1:], l) {
				t.Errorf("the session was told twice: %q", l)
			}
		}
	})
}

func TestF19ASetupThatIsRejectedIsPlayedByTheCascade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &enginetest.Live{Answer: says("Aye.")}
		s := gemini(t, server)
		server.Model = "gemini-4-live" // the one that was asked for is gone
		e := &ear{}
		began := time.Now()
		out := s.Perform(t.Context(), s.plan(e, `Mira: "Well?"`), said())
		if out.Heard != "The cascade speaks." || e.first.Sub(began) > 500*time.Millisecond {
			t.Errorf("heard %q after %v", out.Heard, e.first.Sub(began))
		}
	})
}

func TestFaultsOfLive(t *testing.T) {
	const cascade = "The cascade speaks."
	for _, c := range []struct {
		name   string
		conn   enginetest.Fault
		answer enginetest.Fault
		want   string // "" for the beginning of the answer
	}{
		{"F1 unknown fields", "", "", two},
		{"F2 messages over 32 KiB", "", enginetest.Fragmented, two},
		{"F4 half-open connection", "", enginetest.Deaf, ""},
		{"F5 closed with 1011 in the middle of sound", "", enginetest.HangUp, ""},
		{"F5 closed while a tool runs", "", enginetest.HangUpMidTool, cascade},
		{"F13 odd pieces of sound", "", enginetest.OddSound, two},
		{"F15 rate limited", enginetest.RateLimited, "", cascade},
		{"F15 overloaded", enginetest.Overloaded, "", cascade},
		{"F15 401 on upgrade", enginetest.BadKey, "", cascade},
		{"F18 slower than real time", "", enginetest.Slower, two},
		{"R18 accepts and says nothing", "", enginetest.Dim, cascade},
		{"R19 stalls in a sentence", "", enginetest.Stuck, ""},
		{"sound without words", "", enginetest.NoTranscript, cascade},
		{"words after the sound", "", enginetest.LateWords, two},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				answer := turned{after: says("Aye."), before: func(q enginetest.Turn) enginetest.Answer {
					if c.answer == enginetest.HangUpMidTool {
						return enginetest.Answer{Calls: []enginetest.ToolCall{{Name: "roll", Args: `{"dice":"1d20"}`}}}
					}
					return enginetest.Answer{Text: two}
				}}
				server := &enginetest.Live{Answer: answer.give}
				server.Faults.Next(c.conn)
				server.Answers.Next(c.answer)
				s, e := gemini(t, server), &ear{}
				out := s.Perform(t.Context(), s.plan(e, `Mira: "Any rooms?"`), said())
				switch {
				case c.want != "" && (out.Heard != c.want || out.Err != nil):
					t.Errorf("heard %q (%v), want %q", out.Heard, out.Err, c.want)
				case c.want == "" && (out.Heard == "" || !strings.HasPrefix(two, out.Heard) || out.Heard == two || !out.Cut):
					t.Errorf("heard %q, cut %v, want the words that came and no more", out.Heard, out.Cut)
				case c.want == "" && off(len(strings.Fields(out.Heard)), len(e.words())) > 1:
					t.Errorf("remembered %q, and %d words sounded", out.Heard, len(e.words()))
				}
				answer.now.Store(true)
				time.Sleep(30 * time.Second) // one that cost seconds is left alone for a while
				if out := s.Perform(t.Context(), s.plan(&ear{}, `Mira: "Well?"`), said()); out.Heard != "Aye." {
					t.Errorf("the turn after: %q (%v), closed for %q", out.Heard, out.Err, server.Closings())
				}
			})
		})
	}
}
