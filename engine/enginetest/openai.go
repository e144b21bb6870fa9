package enginetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// OpenAI is a server with OpenAI's API for chat, speech and transcription. It
// refuses what api.openai.com refuses. Set its fields before the first request.
type OpenAI struct {
	Faults

	// Key is the key that requests have to show. Empty asks for none, as local
	// servers do.
	Key string
	// Server is whose ways the server has besides OpenAI's: "ollama", "llama.cpp",
	// "vllm", "lmstudio", "openrouter" or "groq". Empty is OpenAI itself, which refuses
	// what only they know.
	Server string
	// Models are what /v1/models lists. Empty means one called "fake".
	Models []string
	// Chat answers a chat request. Nil repeats the last message.
	Chat func(ChatRequest) Answer
	// Speech makes the sound for a text, at any rate. Nil makes a tone of 60 ms for
	// each word.
	Speech func(SpeechRequest) pcm.Chunk
	// Transcribe tells what was said. Nil hears nothing.
	Transcribe func(TranscriptionRequest) string
}

// ServeHTTP answers requests below /v1.
func (o *OpenAI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fault := o.take()
	if refuse(w, r, fault) {
		return
	}
	if o.Key != "" && r.Header.Get("Authorization") != "Bearer "+o.Key {
		fail(w, http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided")
		return
	}
	switch r.Method + " " + r.URL.Path {
	case "GET /v1/models":
		o.models(w)
	case "POST /v1/chat/completions":
		o.chat(w, r, fault)
	case "POST /v1/audio/speech":
		o.speech(w, r, fault)
	case "POST /v1/audio/transcriptions":
		o.transcription(w, r)
	default:
		fail(w, http.StatusNotFound, "unknown_url", fmt.Sprintf("Invalid URL (%s %s)", r.Method, r.URL.Path))
	}
}

func (o *OpenAI) models(w http.ResponseWriter) {
	type model struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int    `json:"created"`
		OwnedBy string `json:"owned_by"`
	}
	list := []model{}
	for _, id := range o.known() {
		list = append(list, model{id, "model", 1700000000, "system"})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": list})
}

func (o *OpenAI) known() []string {
	if len(o.Models) == 0 {
		return []string{"fake"}
	}
	return o.Models
}

// hasModel refuses a request for a model that is not there.
func (o *OpenAI) hasModel(w http.ResponseWriter, model string) bool {
	if slices.Contains(o.known(), model) {
		return true
	}
	fail(w, http.StatusNotFound, "model_not_found",
		fmt.Sprintf("The model `%s` does not exist or you do not have access to it.", model))
	return false
}

// decode reads a JSON body as strictly as OpenAI does: unknown fields are errors.
func decode(w http.ResponseWriter, r *http.Request, into any) bool {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, 10<<20))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		message := err.Error()
		if field, ok := strings.CutPrefix(message, "json: unknown field "); ok {
			message = "Unrecognized request argument supplied: " + strings.Trim(field, `"`)
		}
		fail(w, http.StatusBadRequest, "invalid_request_error", message)
		return false
	}
	return true
}
