package s2s

import (
	"context"
	"encoding/json"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
