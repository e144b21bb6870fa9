package stt

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/secret"
)

// probeTime is how long the start of a table may wait for servers on this machine.
const probeTime = 300 * time.Millisecond

// Found is a recogniser that can be used without having been configured.
type Found struct {
	Options OpenAIOptions
	// Sentence tells a person what was found, and what it will be used for.
	Sentence string
}

// local are the servers that are looked for.
var local = []struct{ name, url string }{
	{"A speech server", "http://127.0.0.1:8000/v1"}, // speaches, faster-whisper-server, vLLM
	{"Ollama", "http://127.0.0.1:11434/v1"},
	{"A speech server", "http://127.0.0.1:8080/v1"}, // LocalAI, llama.cpp
}

// Discover looks for a server that transcribes: OpenAI's if OPENAI_API_KEY is set
// and OPENAI_BASE_URL does not lead elsewhere, else one on this machine that lists a
// model for it. It takes at most 300 ms. getenv is [os.Getenv]; a nil client is one
// of its own.
func Discover(ctx context.Context, getenv func(string) string, client *http.Client) (Found, bool) {
	probe := client
	if probe == nil {
		probe = &http.Client{}
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	var tasks sync.WaitGroup
	models := make([]string, len(local))
	for i, server := range local {
		tasks.Go(func() {
			// Nobody there, or somebody else: either is no recogniser.
			all, _ := engine.ListModels(ctx, probe, server.url, secret.Text{})
			models[i] = choose(all)
		})
	}
	tasks.Wait()
	// A machine's own recogniser goes before OpenAI's: what players say stays here.
	for i, server := range local {
		if models[i] != "" {
			return Found{OpenAIOptions{URL: server.url, Model: models[i], Client: client},
				fmt.Sprintf("%s answers at %s: speech is recognised with %s, on this machine.",
					server.name, strings.TrimSuffix(strings.TrimPrefix(server.url, "http://"), "/v1"), models[i])}, true
		}
	}
	if key := getenv("OPENAI_API_KEY"); key != "" && getenv("OPENAI_BASE_URL") == "" {
		return Found{OpenAIOptions{Key: secret.New(key), Client: client},
			"OPENAI_API_KEY is set: speech is recognised at api.openai.com. What players say is sent there."}, true
	}
	return Found{}, false
}

// choose picks the first model that transcribes, by its name.
func choose(models []string) string {
	i := slices.IndexFunc(models, func(m string) bool {
		m = strings.ToLower(m)
		return slices.ContainsFunc([]string{"whisper", "parakeet", "canary", "transcribe", "voxtral", "moonshine"},
			func(family string) bool { return strings.Contains(m, family) })
	})
	if i < 0 {
		return ""
	}
	return models[i]
}
