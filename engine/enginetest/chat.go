package enginetest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Faults of a streamed chat answer.
const (
	NoEnd          Fault = "the stream ends without finish_reason and [DONE]"
	NoDone         Fault = "the stream ends without [DONE], but with finish_reason"
	CutStream      Fault = "the connection closes in the middle of the stream"
	StallStream    Fault = "the stream stops in the middle"
	ErrorInStream  Fault = `data: {"error": …} in the middle of the stream`
	ErrorEvent     Fault = "event: error in the middle of the stream"
	FinishError    Fault = "finish_reason error"
	KeepAlives     Fault = "400 comment lines before the first token"
	BOMAndCRLF     Fault = "a byte order mark and lines that end with CRLF"
	NoLastNewline  Fault = "no line end after [DONE]"
	NoUsage        Fault = "no usage, though it was asked for"
	TwiceUsage     Fault = "usage twice"
	NoIndex        Fault = "tool calls without index"
	WholeCalls     Fault = "each tool call in one piece, and finish_reason stop"
	EmptyArguments Fault = "arguments that are an empty string"
	BrokenJSON     Fault = "arguments that are cut"
	HugeArguments  Fault = "arguments of 2 MB"
	HugeLine       Fault = "one line of 8 MB"
	Endless        Fault = "text without end"
	Unknown        Fault = "fields and events nobody knows"
	BrokenChunk    Fault = "a chunk that is no JSON"
	ThinkAloud     Fault = "<think> in the text, split between pieces"
)

// A ChatRequest is what was asked of /v1/chat/completions.
type ChatRequest struct {
	Model               string          `json:"model"`
	Messages            []ChatMessage   `json:"messages"`
	Tools               []ChatTool      `json:"tools,omitempty"`
	ToolChoice          json.RawMessage `json:"tool_choice,omitempty"`
	ParallelToolCalls   *bool           `json:"parallel_tool_calls,omitempty"`
	MaxTokens           int             `json:"max_tokens,omitempty"`
	MaxCompletionTokens int             `json:"max_completion_tokens,omitempty"`
	Temperature         *float64        `json:"temperature,omitempty"`
	Stream              bool            `json:"stream,omitempty"`
	StreamOptions       *struct {
		IncludeUsage bool `json:"include_usage,omitempty"`
	} `json:"stream_options,omitempty"`
	ResponseFormat *struct {
		Type       string          `json:"type"`
		JSONSchema json.RawMessage `json:"json_schema,omitempty"`
	} `json:"response_format,omitempty"`
	ReasoningEffort string   `json:"reasoning_effort,omitempty"`
	Stop            []string `json:"stop,omitempty"`
	Seed            *int     `json:"seed,omitempty"`

	// What only some servers take; see [OpenAI.Server].
	ChatTemplateKwargs map[string]any `json:"chat_template_kwargs,omitempty"`
	CachePrompt        bool           `json:"cache_prompt,omitempty"`
	Usage              map[string]any `json:"usage,omitempty"`
	Reasoning          map[string]any `json:"reasoning,omitempty"`
	ReasoningFormat    string         `json:"reasoning_format,omitempty"`
}

// peculiar says what the server that is played refuses, and others do not.
func (q *ChatRequest) peculiar(server string) string {
	only := func(servers string, set bool, field string) string {
		if set && !strings.Contains(servers, server) || set && server == "" {
			return "Unrecognized request argument supplied: " + field
		}
		return ""
	}
	for _, wrong := range []string{
		only("llama.cpp vllm", q.ChatTemplateKwargs != nil, "chat_template_kwargs"), only("llama.cpp", q.CachePrompt, "cache_prompt"),
		only("openrouter", q.Usage != nil, "usage"), only("openrouter", q.Reasoning != nil, "reasoning"),
		only("groq", q.ReasoningFormat != "", "reasoning_format"),
	} {
		if wrong != "" {
			return wrong
		}
	}
	mode := ""
	if q.ResponseFormat != nil {
		mode = q.ResponseFormat.Type
	}
	switch {
	case server == "lmstudio" && mode == "json_object":
		return "'response_format.type' must be 'json_schema' or 'text'"
	case server == "groq" && mode != "" && len(q.Tools) > 0:
		return "json mode cannot be combined with tool/function calling"
	case server == "ollama" && q.ToolChoice != nil:
		return "tool_choice is not supported"
	}
	return ""
}

// A ChatMessage is one message of a request.
type ChatMessage struct {
	Role       string     `json:"role"`
	Name       string     `json:"name,omitempty"`
	Content    *string    `json:"content"`
	ToolCalls  []ChatCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

// A ChatCall is a tool call in a message.
type ChatCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// A ChatTool is a tool the model may call.
type ChatTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters,omitempty"`
		Strict      bool            `json:"strict,omitempty"`
	} `json:"function"`
}

// An Answer is what the model says and which tools it calls.
type Answer struct {
	Text  string
	Calls []ToolCall
}

// A ToolCall is a call of an [Answer]. An empty ID is filled in.
type ToolCall struct{ ID, Name, Args string }

// name is what OpenAI allows as the name of a tool or a speaker.
var name = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// check says what OpenAI would refuse about a request.
func (q *ChatRequest) check() string {
	if len(q.Messages) == 0 {
		return "Invalid 'messages': empty array. Expected an array with minimum length 1."
	}
	if q.Temperature != nil && (*q.Temperature < 0 || *q.Temperature > 2) {
		return "Invalid 'temperature': expected a value between 0 and 2."
	}
	if q.MaxTokens > 0 && q.MaxCompletionTokens > 0 {
		return "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
	}
	if q.ToolChoice != nil && len(q.Tools) == 0 {
		return "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."
	}
	if q.StreamOptions != nil && !q.Stream {
		return "The 'stream_options' parameter is only allowed when 'stream' is enabled."
	}
	for i, t := range q.Tools {
		if t.Type != "function" || !name.MatchString(t.Function.Name) {
			return fmt.Sprintf("Invalid 'tools[%d].function.name': string does not match pattern.", i)
		}
		var object struct {
			Type string `json:"type"`
		}
		if t.Function.Parameters != nil && (json.Unmarshal(t.Function.Parameters, &object) != nil || object.Type != "object") {
			return fmt.Sprintf("Invalid schema for function '%s': schema must be a JSON Schema of 'type: \"object\"'.", t.Function.Name)
		}
	}
	return checkMessages(q)
}

// checkMessages checks the order of tool calls and their answers.
func checkMessages(q *ChatRequest) string {
	jsonAsked, jsonSaid := q.ResponseFormat != nil && q.ResponseFormat.Type == "json_object", false
	var open []string
	for i, m := range q.Messages {
		if m.Name != "" && !name.MatchString(m.Name) {
			return fmt.Sprintf("Invalid 'messages[%d].name': string does not match pattern. Expected a string that matches the pattern '^[^\\s<|\\\\/>]+$'.", i)
		}
		if m.Content != nil && strings.Contains(strings.ToLower(*m.Content), "json") {
			jsonSaid = true
		}
		if m.Role == "tool" {
			at := slices.Index(open, m.ToolCallID)
			if at < 0 {
				return "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'."
			}
			open = slices.Delete(open, at, at+1)
			continue
		}
		if len(open) > 0 {
			return "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: " + strings.Join(open, ", ")
		}
		switch m.Role {
		case "system", "developer", "user":
			if m.Content == nil {
				return fmt.Sprintf("Invalid value for 'content': expected a string, got null. (messages[%d])", i)
			}
		case "assistant":
			if m.Content == nil && len(m.ToolCalls) == 0 {
				return "Invalid assistant message: expected 'content' or 'tool_calls'."
			}
			for _, c := range m.ToolCalls {
				if c.ID == "" || c.Type != "function" || !name.MatchString(c.Function.Name) {
					return fmt.Sprintf("Invalid 'messages[%d].tool_calls'.", i)
				}
				open = append(open, c.ID)
			}
		default:
			return fmt.Sprintf("Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.", m.Role)
		}
	}
	if len(open) > 0 {
		return "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
	}
	if jsonAsked && !jsonSaid {
		return "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
	}
	return ""
}

func (o *OpenAI) chat(w http.ResponseWriter, r *http.Request, fault Fault) {
	var q ChatRequest
	if !decode(w, r, &q) || !o.hasModel(w, q.Model) {
		return
	}
	if wrong := cmp.Or(q.check(), q.peculiar(o.Server)); wrong != "" {
		fail(w, http.StatusBadRequest, "invalid_request_error", wrong)
		return
	}
	if !q.Stream {
		fail(w, http.StatusBadRequest, "unsupported", "this server streams only")
		return
	}
	var a Answer
	if o.Chat != nil {
		a = o.Chat(q)
	} else if last := q.Messages[len(q.Messages)-1]; last.Content != nil {
		a.Text = *last.Content
	}
	for i := range a.Calls {
		if a.Calls[i].ID == "" {
			a.Calls[i].ID = fmt.Sprintf("call_%d", i+1)
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	s := &sse{w: w, r: r, crlf: fault == BOMAndCRLF}
	s.stream(q, a, fault)
}

// sse writes server-sent events.
type sse struct {
	w    http.ResponseWriter
	r    *http.Request
	crlf bool
}

func (s *sse) line(text string) {
	end := "\n\n"
	if s.crlf {
		end = "\r\n\r\n"
	}
	s.raw(text + end)
}

func (s *sse) raw(text string) {
	if _, err := s.w.Write([]byte(text)); err != nil {
		return
	}
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}

// chunk writes one chunk with a delta.
func (s *sse) chunk(delta map[string]any, finish any) {
	s.data(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
}

func (s *sse) data(fields map[string]any) {
	fields["id"], fields["object"], fields["created"], fields["model"] = "chatcmpl-1", "chat.completion.chunk", 1700000000, "fake"
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(fields) // maps of plain values always encode
	s.line("data: " + strings.TrimSpace(b.String()))
}

// stream writes the answer, with its fault.
func (s *sse) stream(q ChatRequest, a Answer, fault Fault) {
	switch fault {
	case BOMAndCRLF:
		s.raw("\ufeff")
	case KeepAlives:
		for range 400 {
			s.line(": OPENROUTER PROCESSING")
		}
	case Unknown:
		s.line("event: mystery\ndata: {}")
		s.data(map[string]any{"choices": []any{}, "mystery": true})
	case ThinkAloud:
		a.Text = "<think>The user wants </b>something. I shall lie.</think>\n\n" + a.Text
	case HugeLine:
		s.chunk(map[string]any{"content": strings.Repeat("la ", 8<<20/3)}, nil)
	}
	s.chunk(map[string]any{"role": "assistant", "content": ""}, nil)
	pieces := pieces(a.Text)
	for i, piece := range pieces {
		if i == len(pieces)/2 && s.middle(fault) {
			return
		}
		s.chunk(map[string]any{"content": piece}, nil)
	}
	if len(pieces) == 0 && s.middle(fault) {
		return
	}
	for fault == Endless && s.r.Context().Err() == nil {
		s.chunk(map[string]any{"content": "and on "}, nil)
	}
	s.calls(a.Calls, fault)
	if fault == NoEnd {
		return
	}
	finish := "stop"
	if len(a.Calls) > 0 && fault != WholeCalls {
		finish = "tool_calls"
	}
	if fault == FinishError {
		finish = "error"
	}
	s.chunk(map[string]any{}, finish)
	if q.StreamOptions != nil && q.StreamOptions.IncludeUsage && fault != NoUsage {
		times := 1
		if fault == TwiceUsage {
			times = 2
		}
		for range times {
			s.data(map[string]any{"choices": []any{}, "usage": map[string]any{"prompt_tokens": 100, "completion_tokens": 20,
				"total_tokens": 120, "prompt_tokens_details": map[string]any{"cached_tokens": 64}}})
		}
	}
	switch fault {
	case NoDone:
	case NoLastNewline:
		s.raw("data: [DONE]")
	default:
		s.line("data: [DONE]")
	}
}

// middle does what a fault does in the middle of an answer, and reports whether the
// answer ends there.
func (s *sse) middle(fault Fault) bool {
	switch fault {
	case CutStream:
		panic(http.ErrAbortHandler)
	case StallStream:
		<-s.r.Context().Done()
	case ErrorInStream:
		s.line(`data: {"error": {"message": "upstream provider ran out of memory", "code": 502}}`)
	case ErrorEvent:
		s.line("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}")
	case BrokenChunk:
		s.line(`data: {"choices":[{"index":0,"delta":{"cont`)
	default:
		return false
	}
	return true
}

// calls streams tool calls as OpenAI does: name first, then arguments in pieces,
// interleaved between the calls.
func (s *sse) calls(calls []ToolCall, fault Fault) {
	call := func(i int, c map[string]any, function map[string]any) {
		c["function"] = function
		if fault != NoIndex {
			c["index"] = i
		}
		s.chunk(map[string]any{"tool_calls": []any{c}}, nil)
	}
	var rest [][]string
	for i, c := range calls {
		args := c.Args
		switch fault {
		case EmptyArguments:
			args = ""
		case BrokenJSON:
			args = args[:len(args)/2]
		case HugeArguments:
			args = `{"text":"` + strings.Repeat("x", 2<<20) + `"}`
		}
		head := map[string]any{"id": c.ID, "type": "function"}
		// Without an index pieces cannot be told apart: such servers send whole
		// calls.
		if fault == WholeCalls || fault == NoIndex || fault == HugeArguments {
			call(i, head, map[string]any{"name": c.Name, "arguments": args})
			continue
		}
		call(i, head, map[string]any{"name": c.Name, "arguments": ""})
		rest = append(rest, pieces(args))
	}
	for more := true; more; {
		more = false
		for i := range rest {
			if len(rest[i]) > 0 {
				call(i, map[string]any{}, map[string]any{"arguments": rest[i][0]})
				rest[i], more = rest[i][1:], true
			}
		}
	}
}

// pieces cuts a text as a tokenizer might: every four runes.
func pieces(text string) (out []string) {
	for p := range slices.Chunk([]rune(text), 4) {
		out = append(out, string(p))
	}
	return out
}
