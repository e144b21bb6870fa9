package enginetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Anthropic is a server with Anthropic's Messages API. It refuses what
// api.anthropic.com refuses.
type Anthropic struct {
	Faults

	// Key is the key that requests have to show.
	Key string
	// Chat answers a request. Nil repeats the last message.
	Chat func(AnthropicRequest) Answer
}

// An AnthropicRequest is what was asked of /v1/messages.
type AnthropicRequest struct {
	Model       string             `json:"model"`
	MaxTokens   int                `json:"max_tokens"`
	System      []AnthropicBlock   `json:"system,omitempty"`
	Messages    []AnthropicMessage `json:"messages"`
	Tools       []AnthropicTool    `json:"tools,omitempty"`
	Temperature *float64           `json:"temperature,omitempty"`
	Stream      bool               `json:"stream,omitempty"`
}

// An AnthropicMessage is one message of a request.
type AnthropicMessage struct {
	Role    string           `json:"role"`
	Content []AnthropicBlock `json:"content"`
}

// An AnthropicBlock is a piece of content.
type AnthropicBlock struct {
	Type         string            `json:"type"`
	Text         string            `json:"text,omitempty"`
	ID           string            `json:"id,omitempty"`
	Name         string            `json:"name,omitempty"`
	Input        map[string]any    `json:"input,omitempty"`
	ToolUseID    string            `json:"tool_use_id,omitempty"`
	Content      string            `json:"content,omitempty"`
	CacheControl map[string]string `json:"cache_control,omitempty"`
}

// An AnthropicTool is a tool the model may call.
type AnthropicTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
}

func (a *Anthropic) fail(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"type": "error", "error": map[string]string{"type": kind, "message": message}, "request_id": "req_1"})
}

// ServeHTTP answers POST /v1/messages.
func (a *Anthropic) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fault := a.take()
	if refuse(w, r, fault) {
		return
	}
	switch {
	case r.Method != http.MethodPost || r.URL.Path != "/v1/messages":
		a.fail(w, http.StatusNotFound, "not_found_error", "Not Found")
		return
	case r.Header.Get("x-api-key") != a.Key:
		a.fail(w, http.StatusUnauthorized, "authentication_error", "invalid x-api-key")
		return
	case r.Header.Get("anthropic-version") == "":
		a.fail(w, http.StatusBadRequest, "invalid_request_error", "anthropic-version: header is required")
		return
	}
	var q AnthropicRequest
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, 32<<20))
	d.DisallowUnknownFields()
	if err := d.Decode(&q); err != nil {
		a.fail(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	if wrong := q.check(); wrong != "" {
		a.fail(w, http.StatusBadRequest, "invalid_request_error", wrong)
		return
	}
	var said Answer
	if a.Chat != nil {
		said = a.Chat(q)
	} else {
		last := q.Messages[len(q.Messages)-1].Content
		said.Text = last[len(last)-1].Text
	}
	w.Header().Set("Content-Type", "text/event-stream")
	s := &sse{w: w, r: r}
	s.claude(said, fault)
}

// check says what Anthropic would refuse about a request.
func (q *AnthropicRequest) check() string {
	switch {
	case q.Model == "":
		return "model: Field required"
	case q.MaxTokens < 1:
		return "max_tokens: Input should be greater than or equal to 1"
	case q.Temperature != nil && (*q.Temperature < 0 || *q.Temperature > 1):
		return "temperature: range: 0..1"
	case len(q.Messages) == 0:
		return "messages: at least one message is required"
	case q.Messages[0].Role != "user":
		return "messages: first message must use the \"user\" role"
	case q.Messages[len(q.Messages)-1].Role == "assistant":
		return "This model does not support assistant message prefill. The conversation must end with a user message."
	}
	for i, t := range q.Tools {
		if !name.MatchString(t.Name) {
			return fmt.Sprintf("tools.%d.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", i)
		}
		var object struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(t.InputSchema, &object) != nil || object.Type != "object" {
			return fmt.Sprintf("tools.%d.custom.input_schema.type: Field required", i)
		}
	}
	marks := 0
	for _, b := range q.System {
		if b.CacheControl != nil {
			marks++
		}
	}
	var open []string
	for i, m := range q.Messages {
		if len(m.Content) == 0 {
			return fmt.Sprintf("messages.%d: all messages must have non-empty content", i)
		}
		var asked []string
		for j, b := range m.Content {
			if b.CacheControl != nil {
				marks++
			}
			switch b.Type {
			case "text":
				if strings.TrimSpace(b.Text) == "" {
					return "messages: text content blocks must contain non-whitespace text"
				}
			case "tool_use":
				asked = append(asked, b.ID)
			case "tool_result":
				at := slices.Index(open, b.ToolUseID)
				if at < 0 {
					return fmt.Sprintf("messages.%d.content.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s.", i, j, b.ToolUseID)
				}
				open = slices.Delete(open, at, at+1)
			default:
				return fmt.Sprintf("messages.%d.content.%d.type: unknown", i, j)
			}
		}
		if len(open) > 0 {
			return fmt.Sprintf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s.", i-1, strings.Join(open, ", "))
		}
		open = asked
	}
	if marks > 4 {
		return fmt.Sprintf("A maximum of 4 blocks with cache_control may be provided. Found %d.", marks)
	}
	return ""
}

// named writes one event with its name, as Anthropic does.
func (s *sse) named(kind string, fields map[string]any) {
	fields["type"] = kind
	b, _ := json.Marshal(fields) // maps of plain values always encode
	s.line("event: " + kind + "\ndata: " + string(b))
}

// claude streams an answer, with its fault.
func (s *sse) claude(a Answer, fault Fault) {
	s.named("message_start", map[string]any{"message": map[string]any{"id": "msg_1", "type": "message", "role": "assistant", "content": []any{},
		"usage": map[string]any{"input_tokens": 36, "cache_read_input_tokens": 64, "cache_creation_input_tokens": 0, "output_tokens": 1}}})
	s.named("ping", map[string]any{})
	if fault == Unknown {
		s.named("mystery", map[string]any{"index": 9})
	}
	index := 0
	start := func(block map[string]any) {
		s.named("content_block_start", map[string]any{"index": index, "content_block": block})
	}
	delta := func(d map[string]any) {
		s.named("content_block_delta", map[string]any{"index": index, "delta": d})
	}
	stop := func() {
		s.named("content_block_stop", map[string]any{"index": index})
		index++
	}
	if fault == ThinkAloud {
		start(map[string]any{"type": "thinking", "thinking": "", "signature": ""})
		delta(map[string]any{"type": "thinking_delta", "thinking": "I shall lie."})
		delta(map[string]any{"type": "signature_delta", "signature": "EqQB"})
		stop()
	}
	if a.Text != "" {
		start(map[string]any{"type": "text", "text": ""})
		all := pieces(a.Text)
		for i, p := range all {
			if i == len(all)/2 && s.middle(fault) {
				return
			}
			delta(map[string]any{"type": "text_delta", "text": p})
		}
		stop()
	}
	for i, c := range a.Calls {
		id := c.ID
		if id == "" {
			id = fmt.Sprintf("toolu_%d", i+1)
		}
		start(map[string]any{"type": "tool_use", "id": id, "name": c.Name, "input": map[string]any{}})
		delta(map[string]any{"type": "input_json_delta", "partial_json": ""})
		for _, p := range pieces(c.Args) {
			delta(map[string]any{"type": "input_json_delta", "partial_json": p})
		}
		stop()
	}
	if fault == NoEnd {
		return
	}
	reason := "end_turn"
	if len(a.Calls) > 0 {
		reason = "tool_use"
	}
	s.named("message_delta", map[string]any{"delta": map[string]any{"stop_reason": reason, "stop_sequence": nil}, "usage": map[string]any{"output_tokens": 20}})
	s.named("message_stop", map[string]any{})
}
