package llm

import (
	"net/url"
	"testing"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/enginetest"
)

func TestEveryServerIsAskedInItsOwnWay(t *testing.T) {
	for _, c := range []struct {
		server Server
		model  string
		want   func(enginetest.ChatRequest) bool
	}{
		{"", "fake", func(q enginetest.ChatRequest) bool { return q.ResponseFormat.Type == "json_object" }},
		{Ollama, "qwen3:8b", func(q enginetest.ChatRequest) bool { return q.ReasoningEffort == "none" }},
		{Ollama, "gpt-oss:20b", func(q enginetest.ChatRequest) bool { return q.ReasoningEffort == "low" }},
		{Ollama, "llama3.3", func(q enginetest.ChatRequest) bool { return q.ReasoningEffort == "" }},
		{LlamaCPP, "Qwen3-8B.gguf", func(q enginetest.ChatRequest) bool {
			return q.CachePrompt && q.ChatTemplateKwargs["enable_thinking"] == false
		}},
		{VLLM, "Qwen/Qwen3-8B", func(q enginetest.ChatRequest) bool { return q.ChatTemplateKwargs["enable_thinking"] == false }},
		{VLLM, "mistral-small", func(q enginetest.ChatRequest) bool { return q.ChatTemplateKwargs == nil }},
		{LMStudio, "qwen2.5", func(q enginetest.ChatRequest) bool {
			return q.ResponseFormat.Type == "json_schema" && len(q.ResponseFormat.JSONSchema) > 0
		}},
		{OpenRouter, "meta/llama", func(q enginetest.ChatRequest) bool {
			return q.Usage["include"] == true && q.Reasoning["exclude"] == true
		}},
		{Groq, "qwen/qwen3-32b", func(q enginetest.ChatRequest) bool {
			return q.ReasoningFormat == "hidden" && q.MaxTokens == 0 && q.MaxCompletionTokens == 50
		}},
	} {
		t.Run(string(c.server)+" "+c.model, func(t *testing.T) {
			var seen enginetest.ChatRequest
			server := &enginetest.OpenAI{Server: string(c.server), Models: []string{c.model}, Chat: func(q enginetest.ChatRequest) enginetest.Answer {
				seen = q
				return enginetest.Answer{Text: "{}"}
			}}
			m := model(t, server, OpenAIOptions{Model: c.model, Server: c.server})
			r := engine.Request{System: "Answer in JSON.", Messages: []engine.Message{{Role: engine.User, Text: "Hm."}}, MaxTokens: 50, JSON: true}
			if _, err := collect(t.Context(), m, r); err != nil {
				t.Fatal(err) // the server refuses what the real one refuses
			}
			if !c.want(seen) {
				t.Errorf("asked %+v", seen)
			}
		})
	}
}

func TestServersAreKnownByTheirAddresses(t *testing.T) {
	for address, want := range map[string]Server{
		"http://localhost:11434/v1": Ollama, "http://192.168.1.5:1234/v1": LMStudio, "http://gpu:8000/v1": VLLM,
		"http://127.0.0.1:8080/v1": LlamaCPP, "https://openrouter.ai/api/v1": OpenRouter, "https://api.groq.com/openai/v1": Groq,
		"https://api.openai.com/v1": "", "https://api.mistral.ai/v1": "",
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := serverAt(u); got != want {
			t.Errorf("%s is %q, want %q", address, got, want)
		}
	}
}

func TestErrorsOfOneServerSayWhatToDo(t *testing.T) {
	for message, s := range map[string]Server{
		"tools param requires --jinja flag":                        LlamaCPP,
		`"auto" tool choice requires --tool-call-parser to be set`: VLLM,
		"registry.ollama.ai/library/gemma does not support tools":  Ollama,
	} {
		if s.hint(message) == "" || Server("").hint(message) != "" {
			t.Errorf("%s: %q has the hint %q", s, message, s.hint(message))
		}
	}
}
