package llm

import (
	"errors"
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

func none(string) string { return "" }

func TestAServerOnThisMachineIsFoundAndItsBestModelChosen(t *testing.T) {
	for _, c := range []struct {
		name, url, model, sentence string
		m                          machine
	}{
		{"Ollama", "http://127.0.0.1:11434/v1", "qwen3:8b", "Ollama answers at 127.0.0.1:11434: NPCs think with qwen3:8b (one of 3 models there), on this machine.",
			machine{"11434": &enginetest.OpenAI{Models: []string{"nomic-embed-text:latest", "gemma:2b", "qwen3:8b"}}, "1234": &enginetest.OpenAI{}}},
		{"LM Studio", "http://127.0.0.1:1234/v1", "my-own-model", "LM Studio answers at 127.0.0.1:1234: NPCs think with my-own-model, on this machine.",
			machine{"1234": &enginetest.OpenAI{Models: []string{"my-own-model"}}}},
		{"llama.cpp beside an Ollama without models", "http://127.0.0.1:8080/v1", "fake", "llama.cpp answers at 127.0.0.1:8080: NPCs think with fake, on this machine.",
			machine{"8080": &enginetest.OpenAI{}, "11434": &enginetest.OpenAI{Models: []string{"bge-m3"}}}},
	} {
		found, ok := Discover(t.Context(), none, enginetest.Client(c.m))
		if !ok || found.Options.URL != c.url || found.Options.Model != c.model || found.Sentence != c.sentence {
			t.Errorf("%s: found %v, %+v", c.name, ok, found)
		}
	}
}

func TestNothingAndStrangersAreNoModel(t *testing.T) {
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if _, err := w.Write([]byte("<html>Whisper.cpp Server</html>")); err != nil && !errors.Is(err, http.ErrAbortHandler) {
			return
		}
	})
	for _, m := range []machine{{}, {"8080": page}, {"8080": http.NotFoundHandler()}, {"11434": &enginetest.OpenAI{Key: "secret"}}} {
		if found, ok := Discover(t.Context(), none, enginetest.Client(m)); ok {
			t.Errorf("found %+v", found)
		}
	}
}

func TestASilentServerHoldsTheStartUpForLessThanAThirdOfASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		start := time.Now()
		found, ok := Discover(t.Context(), none, enginetest.Client(machine{"11434": silent, "1234": &enginetest.OpenAI{}}))
		if took := time.Since(start); !ok || !strings.HasPrefix(found.Sentence, "LM Studio") || took > 300*time.Millisecond {
			t.Errorf("after %v: %v, %+v", took, ok, found)
		}
	})
}

func TestAKeyInTheEnvironmentIsUsedWithoutAsking(t *testing.T) {
	env := map[string]string{"OPENAI_API_KEY": "hunter2", "OPENAI_MODEL": "gpt-5-mini"}
	found, ok := Discover(t.Context(), func(k string) string { return env[k] }, enginetest.Client(machine{}))
	if !ok || found.Options.Key.Reveal() != "hunter2" || found.Options.Model != "gpt-5-mini" || found.Options.URL != "https://api.openai.com/v1" {
		t.Errorf("found %v, %+v", ok, found)
	}
	if strings.Contains(found.Sentence, "hunter2") || !strings.Contains(found.Sentence, "What players say is sent there") {
		t.Errorf("it says %q", found.Sentence)
	}
}
