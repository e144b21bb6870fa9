package llm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/secret"
)

// AnthropicOptions say which of Anthropic's models answers.
type AnthropicOptions struct {
	// URL is the API's base. Empty means Anthropic's own.
	URL string
	// Key is the API key.
	Key secret.Text
	// Model is the model's name. Empty means "claude-haiku-4-5", the quickest.
	Model string
	// Client is the HTTP client. Nil means one of its own.
	Client *http.Client
}

// Anthropic is a model behind Anthropic's Messages API. What changes rarely, tools
// and the stable part of the brief, is marked for the vendor's prompt cache.
type Anthropic struct {
	o    AnthropicOptions
	host string
}

// NewAnthropic makes a model; nothing is sent before its first answer.
func NewAnthropic(o AnthropicOptions) (*Anthropic, error) {
	if o.Key.IsZero() {
		return nil, errors.New("anthropic: no key: set key: ${ANTHROPIC_API_KEY}")
	}
	o.URL = strings.TrimRight(cmp.Or(o.URL, "https://api.anthropic.com"), "/")
	base, err := url.Parse(o.URL)
	if err != nil || base.Host == "" {
		return nil, fmt.Errorf("anthropic: URL %q: want one like https://api.anthropic.com", o.URL)
	}
	o.Model = cmp.Or(o.Model, "claude-haiku-4-5")
	if o.Client == nil {
		o.Client = &http.Client{}
	}
	return &Anthropic{o, base.Host}, nil
}

// Name is the model's name and the server's.
func (m *Anthropic) Name() string { return m.o.Model + " at " + m.host }

// Stream asks the model. Faults before its first word are tried again where that
// may help.
func (m *Anthropic) Stream(ctx context.Context, r engine.Request) iter.Seq2[engine.Delta, error] {
	return stream(ctx, m.Name(), func(ctx context.Context, beat func(), yield func(engine.Delta) bool) error {
		return m.ask(ctx, r, beat, yield)
	})
}

// block is a piece of content, in requests and in answers.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   string          `json:"content,omitempty"`
	Cache     *cached         `json:"cache_control,omitempty"`
}

// cached marks the end of what the vendor may keep for five minutes.
type cached struct {
	Type string `json:"type"`
}

var ephemeral = &cached{"ephemeral"}

type claudeMessage struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

type claudeTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type claudeRequest struct {
	Model       string          `json:"model"`
	MaxTokens   int             `json:"max_tokens"`
	System      []block         `json:"system,omitempty"`
	Messages    []claudeMessage `json:"messages"`
	Tools       []claudeTool    `json:"tools,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	Stream      bool            `json:"stream"`
}

// request is r as the API has it.
func (m *Anthropic) request(r engine.Request) claudeRequest {
	q := claudeRequest{Model: m.o.Model, MaxTokens: cmp.Or(max(0, r.MaxTokens), defaultTokens), Stream: true}
	if r.Temperature != nil {
		q.Temperature = new(min(1, *r.Temperature)) // its scale ends at 1
	}
	if r.JSON {
		r.System += "\nAnswer with one JSON object and nothing else."
	}
	if r.System != "" {
		// Tools come before the system prompt in the cached prefix: one mark is
		// enough for both.
		q.System = []block{{Type: "text", Text: r.System, Cache: ephemeral}}
	}
	for _, t := range r.Tools {
		q.Tools = append(q.Tools, claudeTool{t.Name, t.Description, t.Schema})
	}
	add := func(role string, b ...block) {
		if n := len(q.Messages); n > 0 && q.Messages[n-1].Role == role {
			q.Messages[n-1].Content = append(q.Messages[n-1].Content, b...)
			return
		}
		q.Messages = append(q.Messages, claudeMessage{role, b})
	}
	for _, t := range tidy(r.Messages) {
		switch t.Role {
		case engine.ToolRole:
			add("user", block{Type: "tool_result", ToolUseID: t.CallID, Content: t.Text})
		case engine.Assistant:
			if len(q.Messages) == 0 { // the talk has to begin with a user
				add("user", block{Type: "text", Text: "(The scene is set.)"})
			}
			if strings.TrimSpace(t.Text) != "" {
				add("assistant", block{Type: "text", Text: strings.TrimRight(t.Text, " \n")})
			}
			for _, c := range t.Calls {
				add("assistant", block{Type: "tool_use", ID: c.ID, Name: c.Name, Input: input(c.Args)})
			}
		default:
			if strings.TrimSpace(t.Text) != "" {
				add("user", block{Type: "text", Text: t.Text})
			}
		}
	}
	n := len(q.Messages)
	if n > 0 && q.Messages[n-1].Role == "assistant" {
		// Current models refuse to go on with their own words.
		add("user", block{Type: "text", Text: "(Go on.)"})
	}
	if n >= 4 {
		// The last message holds what changes each turn; the talk before it stays.
		before := q.Messages[n-2].Content
		before[len(before)-1].Cache = ephemeral
	}
	return q
}

// input is a call's arguments as the API wants them back: an object.
func input(args json.RawMessage) json.RawMessage {
	if bytes.HasPrefix(bytes.TrimSpace(args), []byte("{")) {
		return args
	}
	return json.RawMessage("{}")
}

// claudeEvent is any event of a stream.
type claudeEvent struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Usage claudeUsage `json:"usage"`
	} `json:"message"`
	Block block `json:"content_block"`
	Delta struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
	Usage claudeUsage `json:"usage"`
}

type claudeUsage struct {
	Input      int `json:"input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	Output     int `json:"output_tokens"`
}

// ask sends one request and yields its answer.
func (m *Anthropic) ask(ctx context.Context, r engine.Request, beat func(), yield func(engine.Delta) bool) error {
	resp, err := postJSON(ctx, m.o.Client, m.o.URL+"/v1/messages", m.request(r), map[string]string{
		"x-api-key": m.o.Key.Reveal(), "anthropic-version": "2023-06-01",
	})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var a answer
	stop := ""
	for e, err := range events(alive{resp.Body, beat}) {
		if err != nil {
			return err
		}
		var ev claudeEvent
		if err := json.Unmarshal(e.data, &ev); err != nil {
			return fmt.Errorf("event %q: %w", e.name, err)
		}
		switch ev.Type {
		case "error":
			return fmt.Errorf("the model failed: %s", engine.VendorMessage(e.data))
		case "message_start":
			u := ev.Message.Usage
			a.usage = engine.Usage{In: u.Input + u.CacheRead + u.CacheWrite, CachedIn: u.CacheRead, Out: u.Output}
		case "content_block_start":
			if ev.Block.Type == "tool_use" {
				err = a.call(&ev.Index, ev.Block.ID, ev.Block.Name, "")
			}
		case "content_block_delta":
			switch ev.Delta.Type { // thinking and its signature are not spoken
			case "text_delta":
				err = a.say(ev.Delta.Text, yield)
			case "input_json_delta":
				err = a.call(&ev.Index, "", "", ev.Delta.PartialJSON)
			}
		case "message_delta":
			stop = cmp.Or(ev.Delta.StopReason, stop)
			a.usage.Out = max(a.usage.Out, ev.Usage.Output)
		case "message_stop":
			a.finished = cmp.Or(stop, "end_turn")
			if a.finished == "refusal" {
				a.finished = "content_filter"
			}
		}
		if err != nil {
			return err
		}
		if a.finished != "" {
			break
		}
	}
	return a.finish(yield)
}

// postJSON sends a request and returns an answer that is a stream.
func postJSON(ctx context.Context, client *http.Client, url string, body any, header map[string]string) (*http.Response, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	for k, v := range header {
		req.Header.Set(k, v)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	if err := streams(resp); err != nil {
		resp.Body.Close()
		return nil, err
	}
	return resp, nil
}
