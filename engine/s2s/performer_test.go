package s2s

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/enginetest"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/secret"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// ear is a room that hears everything, in real time.
type ear struct {
	mu    sync.Mutex // guards what follows
	sound []int16
	first time.Time
	// after is called once so many frames have been heard.
	at    int
	after func()
	due   time.Time
}

func (e *ear) Play(ctx context.Context, frame []int16) error {
	now := time.Now()
	if e.due.Before(now) {
		e.due = now
	}
	select {
	case <-time.After(e.due.Sub(now)):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	e.due = e.due.Add(pcm.FrameTime)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.first.IsZero() {
		e.first = now
	}
	e.sound = append(e.sound, frame...)
	if e.after != nil && len(e.sound) == e.at*pcm.FrameSize {
		e.after()
	}
	return nil
}

func (e *ear) Flush() int { return 0 }

// words are the tones that were heard for two frames or more, by number, as
// [enginetest.Talk] makes them.
func (e *ear) words() (out []int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	before := -1
	for at := 0; at+pcm.FrameSize <= len(e.sound); at += pcm.FrameSize {
		n := toneOf(e.sound[at : at+pcm.FrameSize])
		if n >= 0 && n == before && !slices.Contains(out, n) {
			out = append(out, n)
		}
		before = n
	}
	return out
}

// toneOf finds the tone in a frame by where it rises through zero; -1 for none.
func toneOf(frame []int16) int {
	if pcm.Level(frame) < -30 {
		return -1
	}
	var first, last float64
	n := -1
	for i := 1; i < len(frame); i++ {
		a, b := float64(frame[i-1]), float64(frame[i])
		if a >= 0 || b < 0 {
			continue
		}
		last = float64(i-1) + a/(a-b)
		if n++; n == 0 {
			first = last
		}
	}
	place := (pcm.Rate*float64(n)/(last-first) - 300) / 25
	if n < 2 || last-first < 0.7*float64(len(frame)) || place > 60 || math.Abs(place-math.Round(place)) > 0.2 {
		return -1 // the edge of a word
	}
	return int(math.Round(place))
}

// stock is the model and synthesiser that stand in.
type stock struct{ asked int }

func (*stock) Name() string { return "stock" }

func (s *stock) Stream(_ context.Context, r engine.Request) iter.Seq2[engine.Delta, error] {
	return func(yield func(engine.Delta, error) bool) {
		s.asked++
		text := "The cascade speaks."
		if strings.Contains(r.System, "sum up") {
			text = "They met and agreed."
		}
		_ = yield(engine.Delta{Text: text}, nil) && yield(engine.Delta{Done: true, Usage: engine.Usage{Out: 1}}, nil)
	}
}

func (s *stock) Speak(_ context.Context, _ engine.Voice, text string) iter.Seq2[engine.Speech, error] {
	return func(yield func(engine.Speech, error) bool) {
		yield(engine.Speech{Chunk: pcm.Chunk{Rate: pcm.Rate, Samples: make([]int16, 5*pcm.FrameSize)}}, nil)
	}
}

// scene is a performer with everything around it.
type scene struct {
	*Performer
	stock *stock
	host  *mcp.Host
	fell  []string
	notes []any
	mu    sync.Mutex // guards notes
}

func host(t testing.TB, slow time.Duration) *mcp.Host {
	t.Helper()
	h, err := mcp.NewHost(mcp.HostOptions{})
	if err != nil {
		t.Fatal(err)
	}
	tool := func(name string, took time.Duration, text string) mcp.Builtin {
		return mcp.Builtin{
			Tool: mcp.Tool{Name: name, Description: "Does " + name + ".", Estimated: max(1, took), ReadOnly: true, Schema: json.RawMessage(`{"type":"object","properties":{"dice":{"type":"string"}}}`)},
			Call: func(ctx context.Context, _ mcp.Caller, _ json.RawMessage) (string, error) {
				select {
				case <-time.After(slow):
					return text, nil
				case <-ctx.Done():
					return "", context.Cause(ctx)
				}
			},
		}
	}
	if err := h.Add(tool("roll", 0, "17"), tool("look", 0, "a cat"), tool("search", time.Second, "found")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

func openAI(t testing.TB, server *enginetest.Realtime) *scene {
	t.Helper()
	server.Key = "hunter2"
	s := &scene{stock: &stock{}, host: host(t, 0)}
	p, err := NewOpenAI(Options{
		URL: "http://vendor", Key: secret.New("hunter2"), Client: enginetest.Client(server), NPC: "bram",
		Fell: func(name string, err error) { s.fell = append(s.fell, name+": "+err.Error()) },
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Performer = p
	t.Cleanup(p.Close)
	return s
}

// said is a second of somebody's voice.
func said() []int16 { return make([]int16, pcm.HearRate) }

// plan is a turn in the form in which the table makes it.
func (s *scene) plan(e *ear, talk ...string) engine.Plan {
	r := engine.Request{System: "You play Bram."}
	for i, l := range talk {
		m := engine.Message{Role: engine.User, Name: "Mira", Text: l}
		if own, ok := strings.CutPrefix(l, "Bram: "); ok {
			m = engine.Message{Role: engine.Assistant, Text: own}
		}
		if i == len(talk)-1 {
			m.Text = "[Scene: an inn.]\n" + m.Text
		}
		r.Messages = append(r.Messages, m)
	}
	return engine.Plan{
		Model: s.stock, Synth: s.stock, Mouth: e, Request: r, Belt: s.belt(mcp.Fast),
		Watch: func(n any) { s.mu.Lock(); s.notes = append(s.notes, n); s.mu.Unlock() },
	}
}

func (s *scene) belt(t mcp.Tier) *mcp.Belt {
	return s.host.Belt(mcp.Grant{Allow: []string{"roll", "look", "search"}, Tier: t})
}

func says(text string) func(enginetest.Turn) enginetest.Answer {
	return func(enginetest.Turn) enginetest.Answer { return enginetest.Answer{Text: text} }
}

// turned answers one thing until it is turned, and then another; a server's own
// goroutines may still be asking when a test goes on.
type turned struct {
	before, after func(enginetest.Turn) enginetest.Answer
	now           atomic.Bool
}

func (a *turned) give(q enginetest.Turn) enginetest.Answer {
	if a.now.Load() {
		return a.after(q)
	}
	return a.before(q)
}

const two = "Two left, dear. One has a view of the harbour."

func TestAnNPCSpeaksWithTheModelsOwnVoiceAndRemembersItsWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got enginetest.Turn
		server := &enginetest.Realtime{Answer: func(q enginetest.Turn) enginetest.Answer {
			got = q
			return enginetest.Answer{Text: two}
		}}
		s, e := openAI(t, server), &ear{}
		out := s.Perform(t.Context(), s.plan(e, `Odo: "Quiet here."`, `Mira: "Any rooms?"`), said())
		if out.Heard != two || out.Cut || out.Err != nil {
			t.Errorf("heard %q, cut %v, %v", out.Heard, out.Cut, out.Err)
		}
		if d := cmp.Diff([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, e.words()); d != "" {
			t.Errorf("the room heard other words: %s", d)
		}
		if d := cmp.Diff([]string{`user: Odo: "Quiet here."`, "system: [Scene: an inn.]\n[What you hear now is said by Mira.]", "user: <1000 ms>"}, got.Talk); d != "" {
			t.Error(d)
		}
		if got.System != "You play Bram." || len(got.Sound.Samples) != 24000 || strings.Join(got.Tools, " ") != "look roll" {
			t.Errorf("the model was asked %q with %d samples and the tools %v", got.System, len(got.Sound.Samples), got.Tools)
		}
		if out.Usage.AudioOut != 15 || out.Usage.CachedIn != 2 {
			t.Errorf("usage %+v", out.Usage)
		}
		if c := server.Complaints(); len(c) > 0 || s.stock.asked > 0 {
			t.Errorf("complaints %q, the cascade was asked %d times", c, s.stock.asked)
		}
	})
}

func TestTheNextTurnTellsTheSessionOnlyWhatItMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &enginetest.Realtime{Answer: says("Aye.")}
		s := openAI(t, server)
		s.Perform(t.Context(), s.plan(&ear{}, `Mira: "Any rooms?"`), said())
		s.Perform(t.Context(), s.plan(&ear{}, `Mira: "Any rooms?"`, "Bram: Aye.", `Odo: "I sneeze."`, `Mira: "How much?"`), nil)
		want := []string{
			"user: <1000 ms>", "assistant: Aye.", `user: Odo: "I sneeze."`, "system: [Scene: an inn.]",
			`user: Mira: "How much?"`, "assistant: Aye.",
		}
		if d := cmp.Diff(want, server.Conversation(0)); d != "" || server.Sessions() != 1 {
			t.Errorf("%d sessions; %s", server.Sessions(), d)
		}
	})
}

func TestAfterAnInterruptionTheSessionHoldsWhatWasPlayed(t *testing.T) {
	for frames := 5; frames < 120; frames += 11 {
		synctest.Test(t, func(t *testing.T) {
			server := &enginetest.Realtime{Answer: says(two)}
			s := openAI(t, server)
			ctx, cut := context.WithCancelCause(t.Context())
			e := &ear{at: frames, after: func() { cut(engine.ErrInterrupted) }}
			out := s.Perform(ctx, s.plan(e, `Mira: "Any rooms?"`), said())
			synctest.Wait()
			talk := server.Conversation(0)
			kept := strings.TrimPrefix(talk[len(talk)-1], "assistant: ")
			heard, known := len(strings.Fields(out.Heard)), len(strings.Fields(kept))
			sounded := len(e.words())
			if !out.Cut || !strings.HasPrefix(two, out.Heard) || off(heard, sounded) > 1 || off(known, sounded) > 1 {
				t.Errorf("after %d frames %d words sounded; remembered %q, the session holds %q", frames, sounded, out.Heard, kept)
			}
			if c := server.Complaints(); len(c) > 0 {
				t.Errorf("complaints %q", c)
			}
		})
	}
}

func off(a, b int) int { return max(a-b, b-a) }

func TestToolsRunThroughTheBeltAndTheirResultsAreSpokenOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &enginetest.Realtime{Answer: func(q enginetest.Turn) enginetest.Answer {
			if len(q.Results) == 0 {
				return enginetest.Answer{Text: "Let me see.", Calls: []enginetest.ToolCall{{Name: "roll", Args: `{"dice":"1d20"}`}, {Name: "look", Args: "{}"}}}
			}
			return enginetest.Answer{Text: "It shows " + strings.Join(q.Results, " and ") + "."}
		}}
		s, e := openAI(t, server), &ear{}
		var results []string
		plan := s.plan(e, `Mira: "Roll!"`)
		var mu sync.Mutex
		plan.Result = func(c engine.Call, r mcp.Result) {
			mu.Lock()
			results = append(results, c.Name+" "+r.Text)
			mu.Unlock()
		}
		out := s.Perform(t.Context(), plan, said())
		slices.Sort(results)
		if out.Heard != "Let me see. It shows 17 and a cat." && out.Heard != "Let me see. It shows a cat and 17." {
			t.Errorf("heard %q (%v)", out.Heard, out.Err)
		}
		if d := cmp.Diff([]string{"look a cat", "roll 17"}, results); d != "" {
			t.Error(d)
		}
		started, ended := 0, 0
		for _, n := range s.notes {
			switch n.(type) {
			case engine.ToolStarted:
				started++
			case engine.ToolEnded:
				ended++
			}
		}
		if started != 2 || ended != 2 || len(server.Complaints()) > 0 {
			t.Errorf("%d and %d notes of tools; complaints %q", started, ended, server.Complaints())
		}
	})
}

func TestAModelThatWantsToolsForEverIsMadeToAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &enginetest.Realtime{Answer: func(q enginetest.Turn) enginetest.Answer {
			if len(q.Tools) == 0 {
				return enginetest.Answer{Text: "Enough."}
			}
			return enginetest.Answer{Calls: []enginetest.ToolCall{{Name: "roll", Args: "{}"}}}
		}}
		s := openAI(t, server)
		if out := s.Perform(t.Context(), s.plan(&ear{}, `Mira: "Roll!"`), said()); out.Heard != "Enough." {
			t.Errorf("heard %q (%v)", out.Heard, out.Err)
		}
	})
}

func TestATierThatChangesTellsTheSessionOnlyIfTheToolsDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tools []string
		server := &enginetest.Realtime{Answer: func(q enginetest.Turn) enginetest.Answer {
			tools = append(tools, strings.Join(q.Tools, " "))
			return enginetest.Answer{Text: "Aye."}
		}}
		s := openAI(t, server)
		for _, tier := range []mcp.Tier{mcp.Fast, mcp.Fast, mcp.Standard, mcp.Standard, mcp.Fast} {
			p := s.plan(&ear{}, `Mira: "Well?"`)
			p.Belt = s.belt(tier)
			s.Perform(t.Context(), p, said())
		}
		want := []string{"look roll", "look roll", "look roll search", "look roll search", "look roll"}
		if d := cmp.Diff(want, tools); d != "" {
			t.Error(d)
		}
		if server.Updates(0) != 3 || server.Sessions() != 1 {
			t.Errorf("tools were declared %d times in %d sessions, want 3 in 1", server.Updates(0), server.Sessions())
		}
	})
}

func TestATurnThatMayBeSlowIsTheCascadesAsAWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &enginetest.Realtime{Answer: says("Aye.")}
		s := openAI(t, server)
		p := s.plan(&ear{}, `Mira: "Think hard."`)
		p.Belt = s.belt(mcp.Deep)
		if out := s.Perform(t.Context(), p, said()); out.Heard != "The cascade speaks." || server.Sessions() != 0 {
			t.Errorf("heard %q, %d sessions", out.Heard, server.Sessions())
		}
		// What the session missed it is told with the next turn.
		s.Perform(t.Context(), s.plan(&ear{}, `Mira: "Think hard."`, "Bram: The cascade speaks.", `Mira: "And?"`), said())
		if talk := server.Conversation(0); talk[0] != `user: Mira: "Think hard."` || talk[1] != "assistant: The cascade speaks." {
			t.Errorf("the session holds %q", talk)
		}
	})
}

func TestWhatTheFilterStrikesIsNeverHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &enginetest.Realtime{Answer: says("Come in. The key is under the third barrel. Good night.")}
		s, e := openAI(t, server), &ear{}
		p := s.plan(e, `Mira: "Where is the key?"`)
		p.Filter = func(text string) string {
			if strings.Contains(text, "barrel") {
				return "That is not for me to tell."
			}
			return text
		}
		out := s.Perform(t.Context(), p, said())
		if out.Heard != "Come in. That is not for me to tell." {
			t.Errorf("heard %q (%v)", out.Heard, out.Err)
		}
		if words := e.words(); slices.ContainsFunc(words, func(n int) bool { return n >= 2 }) {
			t.Errorf("words %v sounded, want only the first two", words)
		}
		synctest.Wait()
		if talk := server.Conversation(0); strings.Contains(talk[len(talk)-1], "barrel") || len(server.Complaints()) > 0 {
			t.Errorf("the session holds %q; complaints %q", talk, server.Complaints())
		}
	})
}

func TestASessionIsReplacedBeforeItsHourIsOverAndForgetsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &enginetest.Realtime{Answer: says("Aye.")}
		s := openAI(t, server)
		var talk []string
		for i := range 60 { // three hours
			line := fmt.Sprintf(`Mira: "Question %d."`, i)
			window := append(slices.Clone(talk[max(0, len(talk)-30):]), line)
			if out := s.Perform(t.Context(), s.plan(&ear{}, window...), nil); out.Heard != "Aye." {
				t.Fatalf("turn %d: %q, %v", i, out.Heard, out.Err)
			}
			talk = append(talk, line, "Bram: Aye.")
			time.Sleep(3 * time.Minute)
		}
		if n := server.Sessions(); n != 4 || s.stock.asked != 3 || len(server.Complaints()) > 0 {
			t.Errorf("%d sessions, %d summaries, complaints %q; want 4, 3 and none", n, s.stock.asked, server.Complaints())
		}
		last := server.Conversation(3)
		if !strings.Contains(last[0], "They met and agreed.") {
			t.Errorf("the last session begins with %q", last[:2])
		}
		for i, l := range last {
			if strings.Contains(l, "Question") && slices.Contains(last[i+1:], l) {
				t.Errorf("the session was told twice: %q", l)
			}
		}
	})
}

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

func TestAVendorThatIsDownIsLeftAloneTheGameMasterToldOnceAndItComesBackByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &enginetest.Realtime{Answer: says("Aye.")}
		s := openAI(t, server)
		for range 3 { // as often as it is tried
			server.Faults.Next(enginetest.Overloaded)
		}
		for range 10 {
			s.Perform(t.Context(), s.plan(&ear{}, `Mira: "Well?"`), said())
		}
		if server.Requests() != 3 || len(s.fell) != 1 {
			t.Errorf("%d connections were tried and %q told, want 3 and one", server.Requests(), s.fell)
		}
		time.Sleep(30 * time.Second)
		if out := s.Perform(t.Context(), s.plan(&ear{}, `Mira: "Well?"`), said()); out.Heard != "Aye." {
			t.Errorf("30 s after it is back: %q", out.Heard)
		}
	})
}

func TestNonsenseIsRefusedAtTheStart(t *testing.T) {
	for _, o := range []Options{{}, {Key: secret.New("k"), URL: "nowhere"}} {
		if _, err := NewOpenAI(o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
	if _, err := NewGemini(Options{}); err == nil {
		t.Error("no key was accepted")
	}
}

func TestEveryNPCHasAVoiceOfTheVendors(t *testing.T) {
	for _, c := range []struct{ asked, pronouns string }{{"slt", "she/her"}, {"Marin", ""}, {"", "he/him"}} {
		got := voiceFor(Options{NPC: "bram", Voice: c.asked, Pronouns: c.pronouns}, realtimeVoices)
		if !slices.Contains(realtimeVoices, got) || c.asked == "Marin" && got != "marin" {
			t.Errorf("%+v speaks with %q", c, got)
		}
	}
}

func TestASessionThatWasOpenedAheadTakesTheFirstTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tools []string
		server := &enginetest.Realtime{Answer: func(q enginetest.Turn) enginetest.Answer {
			tools = q.Tools
			return enginetest.Answer{Text: "Aye."}
		}}
		s := openAI(t, server)
		s.Warm("You play Bram.")
		if server.Sessions() != 1 {
			t.Fatalf("%d sessions before the first turn", server.Sessions())
		}
		s.Warm("You play Bram.")
		if out := s.Perform(t.Context(), s.plan(&ear{}, `Odo: "Quiet."`, `Mira: "Any rooms?"`), said()); out.Heard != "Aye." {
			t.Errorf("heard %q (%v)", out.Heard, out.Err)
		}
		talk := server.Conversation(0)
		if server.Sessions() != 1 || strings.Join(tools, " ") != "look roll" || talk[0] != `user: Odo: "Quiet."` || len(server.Complaints()) > 0 {
			t.Errorf("%d sessions, tools %v, %q, complaints %q", server.Sessions(), tools, talk, server.Complaints())
		}
	})
}

func TestAVendorThatIsAwayWhenTheTableIsSetIsTriedAgainAtTheFirstTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &enginetest.Realtime{Answer: says("Aye.")}
		server.Faults.Next(enginetest.Drop)
		s := openAI(t, server)
		s.Warm("You play Bram.")
		if out := s.Perform(t.Context(), s.plan(&ear{}, `Mira: "Any rooms?"`), said()); out.Heard != "Aye." {
			t.Errorf("heard %q (%v)", out.Heard, out.Err)
		}
	})
}
