package enginetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Gemini is a server with Google's generateContent API, as strict about thought
// signatures as the models of generation 3.
type Gemini struct {
	Faults

	// Key is the key that requests have to show.
	Key string
	// Chat answers a request. Nil repeats the last message.
	Chat func(GeminiRequest) Answer
}

// A GeminiRequest is what was asked of streamGenerateContent.
type GeminiRequest struct {
	SystemInstruction *GeminiContent  `json:"systemInstruction,omitempty"`
	Contents          []GeminiContent `json:"contents"`
	Tools             []struct {
		FunctionDeclarations []struct {
			Name                 string          `json:"name"`
			Description          string          `json:"description,omitempty"`
			ParametersJSONSchema json.RawMessage `json:"parametersJsonSchema,omitempty"`
		} `json:"functionDeclarations"`
	} `json:"tools,omitempty"`
	GenerationConfig struct {
		MaxOutputTokens  int      `json:"maxOutputTokens,omitempty"`
		Temperature      *float64 `json:"temperature,omitempty"`
		ResponseMimeType string   `json:"responseMimeType,omitempty"`
		ThinkingConfig   *struct {
			ThinkingLevel string `json:"thinkingLevel,omitempty"`
		} `json:"thinkingConfig,omitempty"`
	} `json:"generationConfig"`
}

// A GeminiContent is one turn.
type GeminiContent struct {
	Role  string       `json:"role,omitempty"`
	Parts []GeminiPart `json:"parts"`
}

// A GeminiPart is a piece of a turn.
type GeminiPart struct {
	Text         string `json:"text,omitempty"`
	FunctionCall *struct {
		ID   string         `json:"id,omitempty"`
		Name string         `json:"name"`
		Args map[string]any `json:"args,omitempty"`
	} `json:"functionCall,omitempty"`
	FunctionResponse *struct {
		ID       string         `json:"id,omitempty"`
		Name     string         `json:"name"`
		Response map[string]any `json:"response"`
	} `json:"functionResponse,omitempty"`
	ThoughtSignature string `json:"thoughtSignature,omitempty"`
}

func (g *Gemini) fail(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"code": status, "message": message, "status": code}})
}

// ServeHTTP answers POST /v1beta/models/MODEL:streamGenerateContent.
func (g *Gemini) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fault := g.take()
	if refuse(w, r, fault) {
		return
	}
	model, ok := strings.CutPrefix(r.URL.Path, "/v1beta/models/")
	if model, found := strings.CutSuffix(model, ":streamGenerateContent"); !ok || !found || model == "" || r.URL.Query().Get("alt") != "sse" {
		g.fail(w, http.StatusNotFound, "NOT_FOUND", "Requested entity was not found.")
		return
	}
	if r.Header.Get("x-goog-api-key") != g.Key {
		g.fail(w, http.StatusBadRequest, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.")
		return
	}
	var q GeminiRequest
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, 20<<20))
	d.DisallowUnknownFields()
	if err := d.Decode(&q); err != nil {
		g.fail(w, http.StatusBadRequest, "INVALID_ARGUMENT", "Invalid JSON payload received. "+err.Error())
		return
	}
	if wrong := q.check(); wrong != "" {
		g.fail(w, http.StatusBadRequest, "INVALID_ARGUMENT", wrong)
		return
	}
	var said Answer
	if g.Chat != nil {
		said = g.Chat(q)
	} else {
		last := q.Contents[len(q.Contents)-1].Parts
		said.Text = last[len(last)-1].Text
	}
	w.Header().Set("Content-Type", "text/event-stream")
	s := &sse{w: w, r: r, crlf: true} // as Google's servers do
	s.gemini(said, fault)
}

// check says what Google would refuse about a request.
func (q *GeminiRequest) check() string {
	if len(q.Contents) == 0 {
		return "* GenerateContentRequest.contents: contents is not specified"
	}
	if q.Contents[0].Role != "user" {
		return "Please ensure that multiturn requests alternate between user and model, beginning with a user turn."
	}
	for _, t := range q.Tools {
		for i, f := range t.FunctionDeclarations {
			if !name.MatchString(f.Name) {
				return fmt.Sprintf("* GenerateContentRequest.tools[0].function_declarations[%d].name: Invalid function name.", i)
			}
		}
	}
	calls := 0
	for i, c := range q.Contents {
		if !slices.Contains([]string{"user", "model"}, c.Role) {
			return "Please use a valid role: user, model."
		}
		made, answered := 0, 0
		for _, p := range c.Parts {
			switch {
			case p.FunctionCall != nil:
				if made == 0 && p.ThoughtSignature == "" {
					return "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly."
				}
				made++
			case p.FunctionResponse != nil:
				answered++
			case p.Text == "":
				return fmt.Sprintf("* GenerateContentRequest.contents[%d].parts: contents.parts must not be empty.", i)
			}
		}
		if answered != calls {
			return "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."
		}
		calls = made
	}
	if calls > 0 {
		return "Please ensure that function call turn comes immediately before a function response turn."
	}
	return ""
}

// gemini streams an answer, with its fault.
func (s *sse) gemini(a Answer, fault Fault) {
	chunk := func(finish string, parts ...any) {
		candidate := map[string]any{"content": map[string]any{"role": "model", "parts": parts}, "index": 0}
		if finish != "" {
			candidate["finishReason"] = finish
		}
		b, _ := json.Marshal(map[string]any{"candidates": []any{candidate}, "modelVersion": "fake", "responseId": "r1",
			"usageMetadata": map[string]any{"promptTokenCount": 100, "cachedContentTokenCount": 64, "candidatesTokenCount": 15, "thoughtsTokenCount": 5, "totalTokenCount": 120}})
		s.line("data: " + string(b))
	}
	if fault == ThinkAloud {
		chunk("", map[string]any{"text": "I shall lie.", "thought": true})
	}
	if fault == Unknown {
		s.line(`data: {"mystery": true, "usageMetadata": {}}`)
	}
	all := pieces(a.Text)
	for i, p := range all {
		if i == len(all)/2 && s.middle(fault) {
			return
		}
		chunk("", map[string]any{"text": p})
	}
	var calls []any
	for i, c := range a.Calls {
		call := map[string]any{"functionCall": map[string]any{"name": c.Name, "args": json.RawMessage(c.Args)}}
		if i == 0 {
			call["thoughtSignature"] = "c2lnbmVk"
		}
		calls = append(calls, call)
	}
	if calls != nil {
		chunk("", calls...)
	}
	switch fault {
	case NoEnd:
	case FinishError:
		chunk("SAFETY")
	default:
		chunk("STOP", map[string]any{"text": ""})
	}
}
