package judges

import (
	"encoding/base64"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/websocket"
	"github.com/openai/openai-go/v3/realtime"

	"github.com/glyphoxa/glyphoxa/engine/enginetest"
)

// OpenAI's own client holds a conversation with our server: it decodes every event
// into its own type, and our server takes all that it sends.
func TestOpenAIsClientTalksToOurRealtime(t *testing.T) {
	var mu sync.Mutex
	var wrong []string
	fake := &enginetest.Realtime{
		Key: "hunter2",
		Answer: func(q enginetest.Turn) enginetest.Answer {
			if len(q.Tools) > 0 && len(q.Results) == 0 {
				return enginetest.Answer{Calls: []enginetest.ToolCall{{Name: "roll", Args: `{"dice":"1d20"}`}}}
			}
			return enginetest.Answer{Text: "It shows " + strings.Join(q.Results, "") + ". Anything else? I have all night, and it is long."}
		},
		Wire: func(fromClient bool, b []byte) {
			mu.Lock()
			defer mu.Unlock()
			if err := enginetest.OpenAIRealtimeServer.Check(b); !fromClient && !strings.Contains(string(b), "mystery") && err != nil {
				wrong = append(wrong, string(b[:min(len(b), 300)])+": "+err.Error())
			}
		},
	}
	server := httptest.NewServer(fake)
	defer server.Close()
	client := openai.NewClient(option.WithAPIKey("hunter2"), option.WithBaseURL(server.URL+"/v1/"))
	conn, err := client.Realtime.Connect(t.Context(), websocket.Options{}, option.WithQuery("model", "gpt-realtime"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Abort()
	send := func(e string) {
		t.Helper()
		var event realtime.RealtimeClientEventUnionParam
		if err := json.Unmarshal([]byte(e), &event); err != nil {
			t.Fatal(err)
		}
		if err := conn.Send(t.Context(), event); err != nil {
			t.Fatal(err)
		}
	}
	until := func(kind string) (realtime.RealtimeServerEventUnion, map[string]int) {
		t.Helper()
		seen := map[string]int{}
		for {
			e, err := conn.Recv(t.Context())
			if err != nil {
				t.Fatalf("after %v: %v", seen, err)
			}
			if seen[e.Type]++; e.AsAny() == nil && !strings.HasPrefix(e.Type, "mystery") {
				t.Errorf("the client does not know the event %s", e.RawJSON())
			}
			if e.Type == "error" {
				t.Fatalf("refused: %s", e.RawJSON())
			}
			if e.Type == kind {
				return e, seen
			}
		}
	}
	until("session.created")
	send(`{"type":"session.update","session":{"type":"realtime","instructions":"Play.","output_modalities":["audio"],
		"audio":{"input":{"format":{"type":"audio/pcm","rate":24000},"turn_detection":null},"output":{"voice":"marin"}},
		"tools":[{"type":"function","name":"roll","description":"Rolls.","parameters":{"type":"object","properties":{}}}]}}`)
	if e, _ := until("session.updated"); e.AsSessionUpdatedEvent().Session.AsRealtimeSessionCreateRequest().Instructions != "Play." {
		t.Errorf("the session is %s", e.RawJSON())
	}
	send(`{"type":"input_audio_buffer.append","audio":"` + base64.StdEncoding.EncodeToString(make([]byte, 48000)) + `"}`)
	send(`{"type":"input_audio_buffer.commit"}`)
	until("conversation.item.done")
	send(`{"type":"response.create"}`)
	call, _ := until("response.function_call_arguments.done")
	if args := call.AsResponseFunctionCallArgumentsDoneEvent(); args.Arguments != `{"dice":"1d20"}` {
		t.Errorf("the call is %s", call.RawJSON())
	}
	until("response.done")
	send(`{"type":"conversation.item.create","item":{"type":"function_call_output","call_id":"` + call.AsResponseFunctionCallArgumentsDoneEvent().CallID + `","output":"17"}}`)
	send(`{"type":"response.create","response":{"tool_choice":"none"}}`)
	delta, _ := until("response.output_audio.delta")
	send(`{"type":"response.cancel"}`)
	done, seen := until("response.done")
	r := done.AsResponseDoneEvent().Response
	if r.Status != realtime.RealtimeResponseStatusCancelled && r.Status != realtime.RealtimeResponseStatusCompleted {
		t.Errorf("the response is %s after %v", r.Status, seen)
	}
	if r.Usage.OutputTokenDetails.AudioTokens != 15 {
		t.Errorf("the usage is %s", done.RawJSON())
	}
	send(`{"type":"conversation.item.truncate","item_id":"` + delta.AsResponseAudioDeltaEvent().ItemID + `","content_index":0,"audio_end_ms":100}`)
	until("conversation.item.truncated")
	mu.Lock()
	defer mu.Unlock()
	for _, w := range wrong {
		t.Errorf("not an event by OpenAI's published types: %s", w)
	}
	if c := fake.Complaints(); len(c) > 0 {
		t.Errorf("OpenAI's client was refused: %q", c)
	}
}
