package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/secret"
)

// maxSignatures is how many calls' thought signatures are kept: those of the turns
// that are under way at some fifty tables. Each has some 1 KB.
const maxSignatures = 512

// GeminiOptions say which of Google's models answers.
type GeminiOptions struct {
	// URL is the API's base. Empty means Google's own.
	URL string
	// Key is the API key.
	Key secret.Text
	// Model is the model's name. Empty means "gemini-3.5-flash".
	Model string
	// Thinking is the thinking level, such as "low". Empty leaves it to the model.
	Thinking string
	// Client is the HTTP client. Nil means one of its own.
	Client *http.Client
}

// Gemini is a model behind Google's own API. Its compatible API loses the thought
// signatures without which newer models refuse a tool's result.
type Gemini struct {
	o     GeminiOptions
	host  string
	calls atomic.Uint64

	mu sync.Mutex // guards what follows
	// signatures belong to the calls that were asked for, by the call's id, and have
	// to come back with them.
	signatures map[string]string
	order      []string // the oldest first
}

// NewGemini makes a model; nothing is sent before its first answer.
func NewGemini(o GeminiOptions) (*Gemini, error) {
	if o.Key.IsZero() {
		return nil, errors.New("gemini: no key: set key: ${GEMINI_API_KEY}")
	}
	o.URL = strings.TrimRight(cmp.Or(o.URL, "https://generativelanguage.googleapis.com"), "/")
	base, err := url.Parse(o.URL)
	if err != nil || base.Host == "" {
		return nil, fmt.Errorf("gemini: URL %q: want one like https://generativelanguage.googleapis.com", o.URL)
	}
	o.Model = strings.TrimPrefix(cmp.Or(o.Model, "gemini-3.5-flash"), "models/")
	if o.Client == nil {
		o.Client = &http.Client{}
	}
	return &Gemini{o: o, host: base.Host, signatures: map[string]string{}}, nil
}

// Name is the model's name and the server's.
func (m *Gemini) Name() string { return m.o.Model + " at " + m.host }

// Stream asks the model. Faults before its first word are tried again where that
// may help.
func (m *Gemini) Stream(ctx context.Context, r engine.Request) iter.Seq2[engine.Delta, error] {
	return stream(ctx, m.Name(), func(ctx context.Context, beat func(), yield func(engine.Delta) bool) error {
		return m.ask(ctx, r, beat, yield)
	})
}

// part is a piece of content, in requests and in answers.
type part struct {
	Text             string            `json:"text,omitempty"`
	Thought          bool              `json:"thought,omitempty"`
	FunctionCall     *functionCall     `json:"functionCall,omitempty"`
	FunctionResponse *functionResponse `json:"functionResponse,omitempty"`
	ThoughtSignature string            `json:"thoughtSignature,omitempty"`
}

type functionCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

type functionResponse struct {
	ID       string            `json:"id,omitempty"`
	Name     string            `json:"name"`
	Response map[string]string `json:"response"`
}

type content struct {
	Role  string `json:"role,omitempty"`
	Parts []part `json:"parts"`
}

type geminiTools struct {
	Functions []geminiFunction `json:"functionDeclarations"`
}

type geminiFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

type geminiRequest struct {
	System   *content      `json:"systemInstruction,omitempty"`
	Contents []content     `json:"contents"`
	Tools    []geminiTools `json:"tools,omitempty"`
	Config   geminiConfig  `json:"generationConfig"`
}

type geminiConfig struct {
	MaxTokens   int             `json:"maxOutputTokens"`
	Temperature *float64        `json:"temperature,omitempty"`
	MIMEType    string          `json:"responseMimeType,omitempty"`
	Thinking    *geminiThinking `json:"thinkingConfig,omitempty"`
}

type geminiThinking struct {
	Level string `json:"thinkingLevel"`
}

// request is r as the API has it.
func (m *Gemini) request(r engine.Request) geminiRequest {
	// Thoughts count, and cannot be switched off everywhere.
	q := geminiRequest{Config: geminiConfig{MaxTokens: cmp.Or(max(0, r.MaxTokens), defaultTokens) + thinkingTokens, Temperature: r.Temperature}}
	if r.System != "" {
		q.System = &content{Parts: []part{{Text: r.System}}}
	}
	if r.JSON {
		q.Config.MIMEType = "application/json"
	}
	if m.o.Thinking != "" {
		q.Config.Thinking = &geminiThinking{m.o.Thinking}
	}
	var functions []geminiFunction
	for _, t := range r.Tools {
		functions = append(functions, geminiFunction{t.Name, t.Description, t.Schema})
	}
	if functions != nil {
		q.Tools = []geminiTools{{functions}}
	}
	add := func(role string, p part) {
		if n := len(q.Contents); n > 0 && q.Contents[n-1].Role == role && (p.FunctionResponse != nil) == (q.Contents[n-1].Parts[0].FunctionResponse != nil) {
			q.Contents[n-1].Parts = append(q.Contents[n-1].Parts, p)
			return
		}
		q.Contents = append(q.Contents, content{role, []part{p}})
	}
	for _, t := range tidy(r.Messages) {
		switch t.Role {
		case engine.ToolRole:
			add("user", part{FunctionResponse: &functionResponse{t.CallID, t.Name, map[string]string{"output": t.Text}}})
		case engine.Assistant:
			if len(q.Contents) == 0 { // the talk has to begin with a user
				add("user", part{Text: "(The scene is set.)"})
			}
			if t.Text != "" {
				add("model", part{Text: t.Text})
			}
			for _, c := range t.Calls {
				add("model", part{FunctionCall: &functionCall{c.ID, c.Name, input(c.Args)}, ThoughtSignature: m.signature(c.ID)})
			}
		default:
			add("user", part{Text: t.Text})
		}
	}
	return q
}

// noSignature is what Google documents for calls that its model did not make, or
// whose signature is gone.
const noSignature = "skip_thought_signature_validator"

// signature is the signature that came with a call. Only the first of parallel calls
// has one; the others are sent back without, as they came.
func (m *Gemini) signature(id string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.signatures[id]
	if !ok {
		return noSignature
	}
	return s
}

// sign keeps a call's signature, also that it has none.
func (m *Gemini) sign(id, signature string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.order) == maxSignatures {
		delete(m.signatures, m.order[0])
		m.order = append(m.order[:0], m.order[1:]...)
	}
	m.signatures[id] = signature
	m.order = append(m.order, id)
}

// geminiChunk is any chunk of a stream.
type geminiChunk struct {
	Candidates []struct {
		Content      content `json:"content"`
		FinishReason string  `json:"finishReason"`
	} `json:"candidates"`
	Feedback struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage struct {
		Prompt   int `json:"promptTokenCount"`
		Cached   int `json:"cachedContentTokenCount"`
		Answer   int `json:"candidatesTokenCount"`
		Thoughts int `json:"thoughtsTokenCount"`
	} `json:"usageMetadata"`
}

// ask sends one request and yields its answer.
func (m *Gemini) ask(ctx context.Context, r engine.Request, beat func(), yield func(engine.Delta) bool) error {
	// The key goes into a header: in the URL it would be part of every error.
	resp, err := postJSON(ctx, m.o.Client, m.o.URL+"/v1beta/models/"+url.PathEscape(m.o.Model)+":streamGenerateContent?alt=sse",
		m.request(r), map[string]string{"x-goog-api-key": m.o.Key.Reveal()})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var a answer
	for e, err := range events(alive{resp.Body, beat}) {
		if err != nil {
			return err
		}
		if err := inStream(e); err != nil {
			return err
		}
		var c geminiChunk
		if err := json.Unmarshal(e.data, &c); err != nil {
			return fmt.Errorf("chunk: %w", err)
		}
		if c.Feedback.BlockReason != "" {
			return fmt.Errorf("the vendor refused the prompt: %s", c.Feedback.BlockReason)
		}
		if c.Usage.Prompt > 0 {
			a.usage = engine.Usage{In: c.Usage.Prompt, CachedIn: c.Usage.Cached, Out: c.Usage.Answer + c.Usage.Thoughts}
		}
		if len(c.Candidates) == 0 {
			continue
		}
		for _, p := range c.Candidates[0].Content.Parts {
			if err := m.part(&a, p, yield); err != nil {
				return err
			}
		}
		switch why := c.Candidates[0].FinishReason; why {
		case "", "FINISH_REASON_UNSPECIFIED":
		case "STOP", "MAX_TOKENS":
			a.finished = why
		case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL":
			return fmt.Errorf("the model made a call that cannot be read (%s)", why)
		default: // SAFETY, RECITATION, PROHIBITED_CONTENT, ...
			return fmt.Errorf("the vendor stopped the answer: %s", why)
		}
	}
	return a.finish(yield)
}

// part is one part of an answer.
func (m *Gemini) part(a *answer, p part, yield func(engine.Delta) bool) error {
	switch {
	case p.FunctionCall != nil:
		// Ids are optional here, and the same in each answer where there are any.
		id := fmt.Sprintf("call_%d", m.calls.Add(1))
		m.sign(id, p.ThoughtSignature)
		index := len(a.calls)
		return a.call(&index, id, p.FunctionCall.Name, string(p.FunctionCall.Args))
	case p.Thought:
		return nil
	default:
		return a.say(p.Text, yield)
	}
}
