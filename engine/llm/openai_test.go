package llm

import (
	"context"
	"encoding/json"
	"errors"
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

// reply is an answer as the engine gets it.
type reply struct {
	Text  string
	Calls []engine.Call
	Usage engine.Usage
	Done  int
}

func collect(ctx context.Context, m engine.Model, r engine.Request) (reply, error) {
	var got reply
	for d, err := range m.Stream(ctx, r) {
		if err != nil {
			return got, err
		}
		got.Text += d.Text
		got.Calls = append(got.Calls, d.Calls...)
		if d.Done {
			got.Done++
			got.Usage = d.Usage
		}
	}
	return got, nil
}

func model(t testing.TB, server *enginetest.OpenAI, o OpenAIOptions) *OpenAI {
	t.Helper()
	o.URL, o.Client = "http://vendor/v1", enginetest.Client(server)
	if o.Model == "" {
		o.Model = "fake"
	}
	m, err := NewOpenAI(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// asked is a request with everything in it.
func asked() engine.Request {
	return engine.Request{
		System: "You are Bartok.",
		Messages: []engine.Message{
			{Role: engine.User, Name: "Mira", Text: "Any rooms?"},
			{Role: engine.Assistant, Text: "Two left."},
			{Role: engine.User, Name: "Mira", Text: "Roll for it."},
			{Role: engine.User, Name: "Jo", Text: "Yes, roll."},
		},
		Tools: []mcp.Tool{{Name: "roll", Description: "Rolls dice.", Schema: json.RawMessage(`{"type":"object","properties":{"dice":{"type":"string"}}}`)}},
	}
}

func two() enginetest.Answer {
	return enginetest.Answer{Text: "Let the dice decide, my friends.", Calls: []enginetest.ToolCall{
		{Name: "roll", Args: `{"dice":"2d6+3"}`}, {Name: "roll", Args: `{"dice":"1d20"}`},
	}}
}

func TestTextAndParallelCallsArriveWhole(t *testing.T) {
	var seen enginetest.ChatRequest
	server := &enginetest.OpenAI{Key: "hunter2", Chat: func(q enginetest.ChatRequest) enginetest.Answer {
		seen = q
		return two()
	}}
	got, err := collect(t.Context(), model(t, server, OpenAIOptions{Key: secret.New("hunter2")}), asked())
	if err != nil {
		t.Fatal(err)
	}
	want := reply{Text: "Let the dice decide, my friends.", Calls: []engine.Call{
		{ID: "call_1", Name: "roll", Args: json.RawMessage(`{"dice":"2d6+3"}`)},
		{ID: "call_2", Name: "roll", Args: json.RawMessage(`{"dice":"1d20"}`)},
	}, Usage: engine.Usage{In: 100, CachedIn: 64, Out: 20}, Done: 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var talk []string
	for _, m := range seen.Messages {
		talk = append(talk, m.Role+"|"+*m.Content)
	}
	if diff := cmp.Diff([]string{"system|You are Bartok.", "user|Mira: Any rooms?", "assistant|Two left.", "user|Mira: Roll for it.\nJo: Yes, roll."}, talk); diff != "" {
		t.Error(diff)
	}
	if seen.MaxTokens != 300 || seen.Temperature != nil || string(seen.Tools[0].Function.Parameters) != string(asked().Tools[0].Schema) {
		t.Errorf("asked for %d tokens, temperature %v, schema %s", seen.MaxTokens, seen.Temperature, seen.Tools[0].Function.Parameters)
	}
}

func TestServersThatDoItTheirWayAreUnderstood(t *testing.T) {
	for _, fault := range []enginetest.Fault{
		enginetest.NoDone, enginetest.KeepAlives, enginetest.BOMAndCRLF, enginetest.NoLastNewline, enginetest.NoUsage,
		enginetest.TwiceUsage, enginetest.NoIndex, enginetest.WholeCalls, enginetest.Unknown, enginetest.ThinkAloud,
		enginetest.RateLimited, enginetest.Overloaded, enginetest.Drop,
	} {
		t.Run(string(fault), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &enginetest.OpenAI{Chat: func(enginetest.ChatRequest) enginetest.Answer { return two() }}
				server.Next(fault)
				got, err := collect(t.Context(), model(t, server, OpenAIOptions{}), asked())
				if err != nil {
					t.Fatal(err)
				}
				if got.Text != two().Text || got.Done != 1 || len(got.Calls) != 2 || string(got.Calls[1].Args) != `{"dice":"1d20"}` || got.Calls[0].ID == got.Calls[1].ID {
					t.Errorf("got %+v", got)
				}
			})
		})
	}
}

func TestWhatGoesWrongIsAnErrorInWords(t *testing.T) {
	for _, c := range []struct {
		fault    enginetest.Fault
		want     string
		requests int
	}{
		{enginetest.BadKey, "check the API key", 1},
		{enginetest.Patience, "HTTP 429", 1},
		{enginetest.WebPage, "text/html instead of a stream", 2},
		{enginetest.NoEnd, "cut off", 1},
		{enginetest.CutStream, "unexpected EOF", 1},
		{enginetest.StallStream, "fell silent", 1},
		{enginetest.Hang, "fell silent", 1},
		{enginetest.ErrorInStream, "upstream provider ran out of memory", 1},
		{enginetest.ErrorEvent, "Overloaded", 1},
		{enginetest.FinishError, "without saying why", 1},
		{enginetest.BrokenChunk, "unexpected end of JSON", 1},
		{enginetest.HugeLine, "a line of over 1024 KB", 1},
		{enginetest.HugeArguments, "a line of over 1024 KB", 1},
		{enginetest.Endless, "an answer of over 16 KB", 1},
	} {
		t.Run(string(c.fault), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &enginetest.OpenAI{Chat: func(enginetest.ChatRequest) enginetest.Answer { return two() }}
				server.Next(c.fault, c.fault, c.fault)
				_, err := collect(t.Context(), model(t, server, OpenAIOptions{}), asked())
				if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "fake at vendor") {
					t.Errorf("got %v, want %q", err, c.want)
				}
				// What has begun to be said is not begun again, except where nothing was.
				if got := server.Requests(); got != c.requests && c.fault != enginetest.HugeLine {
					t.Errorf("%d requests, want %d", got, c.requests)
				}
			})
		})
	}
}

func TestArgumentsAreAlwaysJSON(t *testing.T) {
	for fault, want := range map[enginetest.Fault]string{
		enginetest.EmptyArguments: `{}`,
		enginetest.BrokenJSON:     `"{\"dice\""`,
	} {
		server := &enginetest.OpenAI{Chat: func(enginetest.ChatRequest) enginetest.Answer {
			return enginetest.Answer{Calls: []enginetest.ToolCall{{Name: "roll", Args: `{"dice":"2d6+"}`}}}
		}}
		server.Next(fault)
		got, err := collect(t.Context(), model(t, server, OpenAIOptions{}), asked())
		if err != nil || len(got.Calls) != 1 || string(got.Calls[0].Args) != want {
			t.Errorf("%s: %+v, %v; want arguments %s", fault, got.Calls, err, want)
		}
	}
}

func TestEveryCallIsAnsweredOnceWhateverTheTalkLooksLike(t *testing.T) {
	call := func(ids ...string) (calls []engine.Call) {
		for _, id := range ids {
			calls = append(calls, engine.Call{ID: id, Name: "roll", Args: json.RawMessage(`{}`)})
		}
		return calls
	}
	var seen enginetest.ChatRequest
	server := &enginetest.OpenAI{Chat: func(q enginetest.ChatRequest) enginetest.Answer {
		seen = q
		return enginetest.Answer{Text: "Well."}
	}}
	r := engine.Request{Messages: []engine.Message{
		{Role: engine.User, Text: "Roll twice."},
		{Role: engine.Assistant, Calls: call("a", "b")},
		{Role: engine.User, Text: "Wait!"}, // came in between
		{Role: engine.ToolRole, CallID: "b", Text: "9"},
		{Role: engine.ToolRole, CallID: "stray", Text: "?"},
		{Role: engine.Assistant, Name: "Mira", Text: "I saw that."},
		{Role: engine.Assistant},
	}}
	if _, err := collect(t.Context(), model(t, server, OpenAIOptions{}), r); err != nil {
		t.Fatal(err) // the server refuses what is not answered
	}
	var talk []string
	for _, m := range seen.Messages {
		text := ""
		if m.Content != nil {
			text = *m.Content
		}
		talk = append(talk, m.Role+"|"+m.ToolCallID+"|"+text)
	}
	want := []string{"user||Roll twice.", "assistant||", `tool|a|{"status":"cancelled"}`, "tool|b|9", "user||Wait!\nMira: I saw that."}
	if diff := cmp.Diff(want, talk); diff != "" {
		t.Error(diff)
	}
}

func TestParametersGoWhereTheModelTakesThem(t *testing.T) {
	var seen enginetest.ChatRequest
	server := &enginetest.OpenAI{Models: []string{"llama3", "gpt-5-mini", "openai/o4-mini"}, Chat: func(q enginetest.ChatRequest) enginetest.Answer {
		seen = q
		return enginetest.Answer{Text: "{}"}
	}}
	r := engine.Request{System: "Answer in JSON.", Messages: []engine.Message{{Role: engine.User, Text: "Hm."}}, MaxTokens: 50, Temperature: new(0.0), JSON: true}
	if _, err := collect(t.Context(), model(t, server, OpenAIOptions{Model: "llama3", Extra: map[string]any{"seed": 7}}), r); err != nil {
		t.Fatal(err)
	}
	if seen.Temperature == nil || *seen.Temperature != 0 || seen.MaxTokens != 50 || seen.Seed == nil || *seen.Seed != 7 || seen.ResponseFormat.Type != "json_object" {
		t.Errorf("a local model was asked %+v", seen)
	}
	for _, name := range []string{"gpt-5-mini", "openai/o4-mini"} {
		if _, err := collect(t.Context(), model(t, server, OpenAIOptions{Model: name}), r); err != nil {
			t.Fatal(err)
		}
		if seen.Temperature != nil || seen.MaxTokens != 0 || seen.MaxCompletionTokens <= 50 || seen.ReasoningEffort != "low" {
			t.Errorf("%s was asked %+v", name, seen)
		}
	}
}

func TestBreakingOutEndsTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &enginetest.OpenAI{}
		server.Next(enginetest.Endless)
		for _, err := range model(t, server, OpenAIOptions{}).Stream(t.Context(), asked()) {
			if err != nil {
				t.Error(err)
			}
			break
		}
		synctest.Wait() // a handler that still runs would keep the bubble alive and fail the test
	})
}

func TestAnAnswerStopsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &enginetest.OpenAI{}
		server.Next(enginetest.StallStream)
		why := errors.New("a player talks over it")
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		time.AfterFunc(time.Second, func() { cancel(why) })
		start := time.Now()
		if _, err := collect(ctx, model(t, server, OpenAIOptions{}), asked()); !errors.Is(err, why) || time.Since(start) > 1100*time.Millisecond {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}

func TestASlowListenerIsNotASilentModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &enginetest.OpenAI{}
		for _, err := range model(t, server, OpenAIOptions{}).Stream(t.Context(), asked()) {
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(nextToken + time.Second)
		}
	})
}

func TestNonsenseIsRefusedAtTheStart(t *testing.T) {
	for _, o := range []OpenAIOptions{{}, {Model: "m", URL: "localhost:11434"}, {Model: "m", URL: "ftp://x/v1"}} {
		if _, err := NewOpenAI(o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}

func TestThoughtsAreNeverSpokenHoweverTheyAreCut(t *testing.T) {
	for text, want := range map[string]string{
		"<think>no</think>\n\nYes.":              "Yes.",
		"Yes.<think>no</think> And yes.":         "Yes. And yes.",
		"no, no</think>Yes.":                     "no, noYes.", // what was said before it was known cannot be taken back
		"<think>never closed":                    "",
		"a < b and <thin air":                    "a < b and <thin air",
		"<think>a</think><think>b</think>  Yes.": "Yes.",
		"<think><think>a</think>Yes.":            "Yes.",
	} {
		for size := 1; size <= len(text); size++ {
			var th thoughts
			var got strings.Builder
			for piece := range slices.Chunk([]byte(text), size) {
				got.WriteString(th.take(string(piece)))
			}
			got.WriteString(th.end())
			if got.String() != want {
				t.Errorf("%q in pieces of %d: %q, want %q", text, size, got.String(), want)
			}
		}
	}
}

func FuzzEvents(f *testing.F) {
	f.Add("data: {}\n\ndata: [DONE]")
	f.Add("\ufeffevent: error\r\ndata: a\r\ndata: b\r\n\r\n: hm\n\n")
	f.Fuzz(func(t *testing.T, s string) {
		total := 0
		for e, err := range events(strings.NewReader(s)) {
			if err != nil {
				return
			}
			total += len(e.data)
		}
		if total > len(s) {
			t.Errorf("%d bytes of data from %d", total, len(s))
		}
	})
}

func BenchmarkStream(b *testing.B) {
	server := &enginetest.OpenAI{Chat: func(enginetest.ChatRequest) enginetest.Answer { return two() }}
	m := model(b, server, OpenAIOptions{})
	for b.Loop() {
		if _, err := collect(b.Context(), m, asked()); err != nil {
			b.Fatal(err)
		}
	}
}
