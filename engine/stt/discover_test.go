package stt

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glyphoxa/glyphoxa/engine/enginetest"
)

// machine is this machine with servers at some ports.
type machine map[string]http.Handler

func (m machine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := m[r.URL.Port()]; h != nil && r.URL.Hostname() == "127.0.0.1" {
		h.ServeHTTP(w, r)
		return
	}
	panic(http.ErrAbortHandler) // connection refused
}

func TestAServerThatTranscribesIsFound(t *testing.T) {
	speaches := &enginetest.OpenAI{Models: []string{"speaches-ai/Kokoro-82M", "Systran/faster-whisper-small"}}
	ollama := &enginetest.OpenAI{Models: []string{"qwen3:8b"}}
	silent := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	for _, c := range []struct {
		name, key, base, want string
		m                     machine
	}{
		{"one here", "", "", "A speech server answers at 127.0.0.1:8000: speech is recognised with Systran/faster-whisper-small, on this machine.", machine{"8000": speaches, "11434": ollama}},
		{"here before there", "hunter2", "", "A speech server answers at 127.0.0.1:8000", machine{"8000": speaches}},
		{"a key", "hunter2", "", "OPENAI_API_KEY is set: speech is recognised at api.openai.com.", machine{"11434": ollama, "8000": silent}},
		{"a key for another place", "hunter2", "https://openrouter.ai/api/v1", "", machine{}},
		{"a model that only thinks", "", "", "", machine{"11434": ollama}},
		{"nothing", "", "", "", machine{}},
	} {
		synctest.Test(t, func(t *testing.T) {
			env := map[string]string{"OPENAI_API_KEY": c.key, "OPENAI_BASE_URL": c.base}
			start := time.Now()
			found, ok := Discover(t.Context(), func(k string) string { return env[k] }, enginetest.Client(c.m))
			if ok != (c.want != "") || !strings.HasPrefix(found.Sentence, c.want) || strings.Contains(found.Sentence, "hunter2") {
				t.Errorf("%s: found %v, %q", c.name, ok, found.Sentence)
			}
			if took := time.Since(start); took > 300*time.Millisecond {
				t.Errorf("%s: it took %v", c.name, took)
			}
		})
	}
}
