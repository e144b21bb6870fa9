package llm

import (
	"net/url"
	"strings"

	"github.com/sashabaranov/go-openai"
)

// A Server is a program or vendor with OpenAI's API and ways of its own.
type Server string

// The servers whose ways are known.
const (
	Ollama     Server = "ollama"
	LlamaCPP   Server = "llama.cpp"
	VLLM       Server = "vllm"
	LMStudio   Server = "lmstudio"
	OpenRouter Server = "openrouter"
	Groq       Server = "groq"
)

// serverAt guesses the server from its address: vendors by their names, programs on
// this network by their usual ports. "" is one that does as OpenAI does.
func serverAt(base *url.URL) Server {
	switch base.Hostname() {
	case "openrouter.ai":
		return OpenRouter
	case "api.groq.com":
		return Groq
	}
	return map[string]Server{"11434": Ollama, "1234": LMStudio, "8080": LlamaCPP, "8000": VLLM}[base.Port()]
}

// thinkers are families of open models that think aloud before they speak unless they
// are told not to. A table does not have the time.
var thinkers = []string{"qwen3", "deepseek-r1", "deepseek-v3.1", "glm-4.5", "glm-4.6", "magistral", "nemotron"}

func thinksAloud(model string) bool {
	model = strings.ToLower(model)
	for _, t := range thinkers {
		if strings.Contains(model, t) {
			return true
		}
	}
	return false
}

// adapt changes a request into what the server takes.
func (s Server) adapt(q *openai.ChatCompletionRequest, extra map[string]any) {
	thinks, open := thinksAloud(q.Model), strings.Contains(strings.ToLower(q.Model), "gpt-oss")
	quiet := func(field string, value any) {
		if _, set := extra[field]; !set && thinks {
			extra[field] = value
		}
	}
	switch s {
	case Ollama:
		q.ToolChoice = nil // it knows none
		if thinks && q.ReasoningEffort == "" {
			q.ReasoningEffort = "none"
		}
	case LlamaCPP, VLLM:
		quiet("chat_template_kwargs", map[string]any{"enable_thinking": false})
		if s == LlamaCPP {
			extra["cache_prompt"] = true // older ones read the whole brief again each turn
		}
	case LMStudio:
		if q.ResponseFormat != nil { // it refuses json_object and wants a schema
			q.ResponseFormat = &openai.ChatCompletionResponseFormat{
				Type:       openai.ChatCompletionResponseFormatTypeJSONSchema,
				JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: "object", Schema: anyObject{}},
			}
		}
	case OpenRouter:
		extra["usage"] = map[string]any{"include": true} // with the cached tokens
		extra["reasoning"] = map[string]any{"exclude": true}
	case Groq:
		if tokens, ok := extra["max_tokens"]; ok {
			delete(extra, "max_tokens")
			extra["max_completion_tokens"] = tokens
		}
		quiet("reasoning_format", "hidden")
		if len(q.Tools) > 0 {
			q.ResponseFormat = nil // it refuses the two together
		}
	}
	if open && q.ReasoningEffort == "" {
		q.ReasoningEffort = "low" // it always thinks; this is the least
	}
}

// anyObject is the schema of any object.
type anyObject struct{}

// MarshalJSON writes it.
func (anyObject) MarshalJSON() ([]byte, error) { return []byte(`{"type":"object"}`), nil }

// hint says what to do about an error that only one server has.
func (s Server) hint(message string) string {
	switch {
	case s == LlamaCPP && strings.Contains(message, "jinja"):
		return "; start llama-server with --jinja, so that NPCs can use tools"
	case s == VLLM && strings.Contains(message, "tool-call-parser"):
		return "; start vLLM with --enable-auto-tool-choice and --tool-call-parser, so that NPCs can use tools"
	case s == Ollama && strings.Contains(message, "does not support tools"):
		return "; choose a model with tools, such as qwen3, or tool_choice: routed for the NPCs"
	}
	return ""
}
