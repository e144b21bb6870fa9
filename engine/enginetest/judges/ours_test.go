package judges

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/enginetest"
	"github.com/glyphoxa/glyphoxa/engine/s2s"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/secret"
)

// room plays at once, and somebody interrupts after some frames.
type room struct {
	left int
	cut  func()
}

func (r *room) Play(ctx context.Context, _ []int16) error {
	if r.left--; r.left == 0 {
		r.cut()
	}
	return context.Cause(ctx)
}

func (r *room) Flush() int { return 0 }

// mute neither thinks nor speaks: nothing in this talk is the cascade's.
type mute struct{}

func (mute) Name() string { return "mute" }
func (mute) Stream(context.Context, engine.Request) iter.Seq2[engine.Delta, error] {
	return func(yield func(engine.Delta, error) bool) { yield(engine.Delta{Done: true}, nil) }
}
func (mute) Speak(context.Context, engine.Voice, string) iter.Seq2[engine.Speech, error] {
	return func(func(engine.Speech, error) bool) {}
}

// All that our Realtime client and our Realtime server say in a talk with tools,
// changes of tier, typed lines and interruptions is what OpenAI's own agents
// understand.
func TestOpenAIsSchemasUnderstandBothSidesOfOurTalk(t *testing.T) {
	if _, err := os.Stat("node_modules"); err != nil {
		t.Fatal("OpenAI's package is not installed here: run 'npm ci' in this folder, as 'make judges' does")
	}
	var mu sync.Mutex
	var lines bytes.Buffer
	kinds := map[string]int{}
	fake := &enginetest.Realtime{
		Key: "k", Transcribe: "hello",
		Answer: func(q enginetest.Turn) enginetest.Answer {
			if len(q.Tools) > 0 && len(q.Results) == 0 {
				return enginetest.Answer{Text: "Let me see.", Calls: []enginetest.ToolCall{{Name: "roll", Args: `{}`}}}
			}
			return enginetest.Answer{Text: "Seventeen, and not one more. Who else wants to try?"}
		},
		Wire: func(client bool, b []byte) {
			mu.Lock()
			defer mu.Unlock()
			var m struct {
				Type string `json:"type"`
			}
			if json.Unmarshal(b, &m) != nil || strings.HasPrefix(m.Type, "mystery") {
				return
			}
			kinds[m.Type]++
			_ = json.NewEncoder(&lines).Encode(map[string]any{"client": client, "message": json.RawMessage(b)}) // a buffer takes all
		},
	}
	host, err := mcp.NewHost(mcp.HostOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	for _, name := range []string{"roll", "look"} {
		estimate := time.Duration(1)
		if name == "look" {
			estimate = time.Second
		}
		if err := host.Add(mcp.Builtin{Tool: mcp.Tool{Name: name, Estimated: estimate, ReadOnly: true, Schema: json.RawMessage(`{"type":"object"}`)},
			Call: func(context.Context, mcp.Caller, json.RawMessage) (string, error) { return "17", nil }}); err != nil {
			t.Fatal(err)
		}
	}
	p, err := s2s.NewOpenAI(s2s.Options{URL: "http://vendor", Key: secret.New("k"), NPC: "bram", Client: enginetest.Client(fake)})
	if err != nil {
		t.Fatal(err)
	}
	var talk []engine.Message
	for turn := range 6 {
		ctx, cut := context.WithCancelCause(t.Context())
		now := &room{left: -1, cut: func() { cut(engine.ErrInterrupted) }}
		if turn%3 == 2 {
			now.left = 40
		}
		var sound []int16
		if turn%2 == 0 {
			sound = make([]int16, 16000)
		}
		talk = append(talk, engine.Message{Role: engine.User, Name: "Mira", Text: `Mira: "Roll!"`})
		plan := engine.Plan{
			Model: mute{}, Synth: mute{}, Mouth: now,
			Request: engine.Request{System: "You play Bram.", Messages: talk},
			Belt:    host.Belt(mcp.Grant{Allow: []string{"roll", "look"}, Tier: mcp.Tier(turn % 2)}),
		}
		out := p.Perform(ctx, plan, sound)
		talk = append(talk, engine.Message{Role: engine.Assistant, Text: out.Heard})
		cut(nil)
	}
	p.Close()
	for _, kind := range []string{"session.update", "input_audio_buffer.append", "input_audio_buffer.commit", "conversation.item.create",
		"conversation.item.delete", "conversation.item.truncate", "response.create", "response.done", "response.output_audio.delta"} {
		if kinds[kind] == 0 {
			t.Errorf("the talk had no %s: %v", kind, kinds)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	cmd := exec.CommandContext(t.Context(), "node", "zod.mjs")
	cmd.Stdin = &lines
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "\n") != 1 {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("OpenAI's zod schemas read %s", strings.TrimSpace(string(out)))
}
