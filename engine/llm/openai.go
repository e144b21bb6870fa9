package llm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/sashabaranov/go-openai"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/secret"
)

const (
	// defaultTokens is some 200 words: more than an NPC should say in one go.
	defaultTokens = 300
	// thinkingTokens are added for models that think before they speak, whose
	// thoughts count.
	thinkingTokens = 1500
)

// OpenAIOptions say which model answers, and where.
type OpenAIOptions struct {
	// URL is the API's base, such as "http://localhost:11434/v1". Empty means
	// OpenAI's own.
	URL string
	// Key is sent as a bearer token unless it is empty.
	Key secret.Text
	// Model is the model's name as the server knows it. There is no default.
	Model string
	// Effort is how much a thinking model thinks: "none", "minimal", "low", ...
	// Empty means "low" for OpenAI's thinking models and nothing for others.
	Effort string
	// Extra is added to the body of each request, for what only one server knows:
	// {"keep_alive": "1h"}.
	Extra map[string]any
	// Server is whose ways the server at URL has. Empty guesses by the address.
	Server Server
	// Client is the HTTP client. Nil means one of its own.
	Client *http.Client
}

// OpenAI is a model behind OpenAI's chat API: OpenAI's own, or one of Ollama,
// llama.cpp, LM Studio, vLLM, OpenRouter, Groq and others.
type OpenAI struct {
	o      OpenAIOptions
	host   string
	client *openai.Client
}

// NewOpenAI makes a model; nothing is sent before its first answer.
func NewOpenAI(o OpenAIOptions) (*OpenAI, error) {
	if o.Model == "" {
		return nil, errors.New("no model: set model to one that the server has; 'curl URL/models' lists them")
	}
	if o.URL == "" {
		o.URL = openAIURL
	}
	base, err := url.Parse(o.URL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("URL %q: want one like http://localhost:11434/v1", o.URL)
	}
	if o.Client == nil {
		o.Client = &http.Client{}
	}
	if o.Server == "" {
		o.Server = serverAt(base)
	}
	c := openai.DefaultConfig(o.Key.Reveal())
	c.BaseURL = strings.TrimRight(o.URL, "/")
	c.HTTPClient = guard{o.Client}
	return &OpenAI{o: o, host: base.Host, client: openai.NewClientWithConfig(c)}, nil
}

// openAIURL is where OpenAI itself is.
const openAIURL = "https://api.openai.com/v1"

// Name is the model's name and the server's.
func (m *OpenAI) Name() string { return m.o.Model + " at " + m.host }

// Stream asks the model. Faults before its first word are tried again where that
// may help.
func (m *OpenAI) Stream(ctx context.Context, r engine.Request) iter.Seq2[engine.Delta, error] {
	return stream(ctx, m.Name(), func(ctx context.Context, beat func(), yield func(engine.Delta) bool) error {
		return m.ask(ctx, r, beat, yield)
	})
}

// ask sends one request and yields its answer.
func (m *OpenAI) ask(ctx context.Context, r engine.Request, beat func(), yield func(engine.Delta) bool) error {
	q, extra := m.request(r)
	s, err := m.client.CreateChatCompletionStream(context.WithValue(ctx, exchangeKey{}, exchange{extra, beat}), q)
	if err != nil {
		if hint := m.o.Server.hint(err.Error()); hint != "" {
			err = fmt.Errorf("%w%s", err, hint)
		}
		return err
	}
	defer func() { _ = s.Close() }() // all that matters has been read
	var a answer
	for {
		c, err := s.Recv()
		switch {
		case errors.Is(err, io.EOF): // after [DONE], which a few servers take for reason enough
			a.finished = cmp.Or(a.finished, "stop")
			return a.finish(yield)
		case errors.Is(err, errNoDone):
			return a.finish(yield)
		case err != nil:
			return err
		}
		if c.Usage != nil {
			a.usage = engine.Usage{In: c.Usage.PromptTokens, Out: c.Usage.CompletionTokens}
			if d := c.Usage.PromptTokensDetails; d != nil {
				a.usage.CachedIn = d.CachedTokens
			}
		}
		if len(c.Choices) == 0 {
			continue
		}
		choice := c.Choices[0] // more were not asked for
		if choice.FinishReason != "" {
			a.finished = string(choice.FinishReason)
		}
		for _, call := range choice.Delta.ToolCalls {
			if err := a.call(call.Index, call.ID, call.Function.Name, call.Function.Arguments); err != nil {
				return err
			}
		}
		if err := a.say(choice.Delta.Content, yield); err != nil {
			return err
		}
	}
}

// thinks reports whether it is one of OpenAI's models that think first; they take
// other parameters.
func (m *OpenAI) thinks() bool {
	name := m.o.Model[strings.LastIndexByte(m.o.Model, '/')+1:]
	for _, p := range []string{"o1", "o3", "o4", "gpt-5", "gpt-6"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// request is r as the API has it, with fields that go-openai cannot express.
func (m *OpenAI) request(r engine.Request) (openai.ChatCompletionRequest, map[string]any) {
	extra := map[string]any{}
	maps.Copy(extra, m.o.Extra)
	q := openai.ChatCompletionRequest{
		Model: m.o.Model, Messages: messages(r), Stream: true,
		StreamOptions: &openai.StreamOptions{IncludeUsage: true},
	}
	for _, t := range r.Tools {
		q.Tools = append(q.Tools, openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: t.Schema,
		}})
	}
	if r.JSON {
		q.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
	}
	tokens := r.MaxTokens
	if tokens <= 0 {
		tokens = defaultTokens
	}
	q.ReasoningEffort = m.o.Effort
	switch {
	case m.thinks():
		// They refuse a temperature, and OpenAI's validator in go-openai refuses
		// max_tokens.
		q.MaxCompletionTokens = tokens + thinkingTokens
		if q.ReasoningEffort == "" {
			q.ReasoningEffort = "low"
		}
		return q, extra
	case m.o.URL == openAIURL:
		q.MaxCompletionTokens = tokens
	default: // the older name is known everywhere else
		extra["max_tokens"] = tokens
	}
	if r.Temperature != nil {
		// go-openai leaves out a temperature of 0.
		extra["temperature"] = *r.Temperature
	}
	m.o.Server.adapt(&q, extra)
	return q, extra
}

// messages is the talk as the API has it: roles in turns, since the templates of
// many local models insist on it, and every tool call answered, since the API does.
func messages(r engine.Request) []openai.ChatCompletionMessage {
	var out []openai.ChatCompletionMessage
	if r.System != "" {
		out = append(out, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleSystem, Content: r.System})
	}
	for _, m := range tidy(r.Messages) {
		c := openai.ChatCompletionMessage{Role: string(m.Role), Content: m.Text}
		for _, call := range m.Calls {
			c.ToolCalls = append(c.ToolCalls, openai.ToolCall{ID: call.ID, Type: openai.ToolTypeFunction,
				Function: openai.FunctionCall{Name: call.Name, Arguments: string(call.Args)}})
		}
		if m.Role == engine.ToolRole {
			c.ToolCallID = m.CallID
		}
		out = append(out, c)
	}
	return out
}

// exchange is what the guard needs to know of a request: fields to add to it, and
// whom to tell whenever something comes back. It travels in the request's context,
// since go-openai stands between.
type exchange struct {
	extra map[string]any
	beat  func()
}

type exchangeKey struct{}

// errNoDone is the end of a stream without the mark of its end.
var errNoDone = errors.New("no [DONE]")

// guard is an HTTP client that sends what go-openai cannot and hides what it cannot
// stand: errors in all shapes become errors, and streams become plain.
type guard struct{ client *http.Client }

// Do sends the request. Answers without a stream are errors, with the vendor's
// words.
func (g guard) Do(req *http.Request) (*http.Response, error) {
	x, _ := req.Context().Value(exchangeKey{}).(exchange)
	if len(x.extra) > 0 {
		if err := addFields(req, x.extra); err != nil {
			return nil, err
		}
	}
	resp, err := g.client.Do(req)
	if err != nil {
		return nil, err
	}
	if err := streams(resp); err != nil {
		resp.Body.Close()
		return nil, err
	}
	resp.Body = newPlain(resp.Body, x.beat)
	return resp, nil
}

// addFields adds fields to a JSON object on its way out.
func addFields(req *http.Request, extra map[string]any) error {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return err
	}
	more, err := json.Marshal(extra)
	if err != nil {
		return err
	}
	// go-openai's objects always have a model, so that there is something before
	// the comma.
	body = append(bytes.TrimSuffix(bytes.TrimSpace(body), []byte("}")), ',')
	body = append(body, more[1:]...)
	req.Body = io.NopCloser(bytes.NewReader(body))
	req.ContentLength = int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	return nil
}

// plain is a stream as go-openai reads it best: nothing but data lines. Errors
// inside the stream become read errors.
type plain struct {
	body io.Closer
	next func() (event, error, bool)
	stop func()
	rest []byte
	err  error
}

func newPlain(body io.ReadCloser, beat func()) *plain {
	p := &plain{body: body}
	p.next, p.stop = iter.Pull2(events(alive{body, beat}))
	return p
}

func (p *plain) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		if p.err != nil {
			return 0, p.err
		}
		e, err, ok := p.next()
		switch {
		case !ok:
			p.err = errNoDone
		case err != nil:
			p.err = err
		case e.name == "error" || bytes.Contains(e.data, []byte(`"error"`)):
			p.err = inStream(e)
		}
		if p.err == nil && (e.name == "" || e.name == "message") && len(e.data) > 0 {
			p.rest = append(p.rest[:0], "data: "...)
			// Only JSON comes here, in which line ends are spaces.
			p.rest = append(p.rest, bytes.ReplaceAll(e.data, []byte("\n"), []byte(" "))...)
			p.rest = append(p.rest, "\n\n"...)
		}
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

func (p *plain) Close() error {
	p.stop()
	return p.body.Close()
}

// inStream is the error that an event reports, or nil if it only mentions the word.
func inStream(e event) error {
	var known struct {
		Error json.RawMessage `json:"error"`
	}
	said := json.Unmarshal(e.data, &known) == nil && len(known.Error) > 0 && string(known.Error) != "null"
	if !said && e.name != "error" {
		return nil
	}
	return fmt.Errorf("the model failed: %s", engine.VendorMessage(e.data))
}
