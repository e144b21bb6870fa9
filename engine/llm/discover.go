package llm

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/secret"
)

// probeTime is how long the start of a table may wait for servers on this machine.
const probeTime = 300 * time.Millisecond

// Found is a model that can be used without having been configured.
type Found struct {
	Options OpenAIOptions
	// Sentence tells a person what was found, and what it will be used for.
	Sentence string
}

// local are the servers that are looked for, the one most meant for this first.
var local = []struct{ name, url string }{
	{"Ollama", "http://127.0.0.1:11434/v1"},
	{"llama.cpp", "http://127.0.0.1:8080/v1"},
	{"LM Studio", "http://127.0.0.1:1234/v1"},
}

// Discover looks for a model: OPENAI_API_KEY in the environment (with
// OPENAI_BASE_URL and OPENAI_MODEL if they are set), else a server on this machine
// at the usual port of Ollama, llama.cpp or LM Studio. It takes at most 300 ms and
// sends nothing but a question for the list of models. getenv is [os.Getenv]; a nil
// client is one of its own.
func Discover(ctx context.Context, getenv func(string) string, client *http.Client) (Found, bool) {
	if key := getenv("OPENAI_API_KEY"); key != "" {
		o := OpenAIOptions{
			URL: cmp.Or(getenv("OPENAI_BASE_URL"), openAIURL), Key: secret.New(key),
			Model: cmp.Or(getenv("OPENAI_MODEL"), "gpt-4.1-mini"), Client: client,
		}
		return Found{o, fmt.Sprintf("OPENAI_API_KEY is set: NPCs think with %s at %s. What players say is sent there.", o.Model, host(o.URL))}, true
	}
	probe := client
	if probe == nil {
		probe = &http.Client{}
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	var tasks sync.WaitGroup
	models := make([][]string, len(local))
	for i, server := range local {
		tasks.Go(func() {
			// Nobody there, or somebody else: either is no model.
			models[i], _ = engine.ListModels(ctx, probe, server.url, secret.Text{})
		})
	}
	tasks.Wait()
	for i, server := range local {
		model := choose(models[i])
		if model == "" {
			continue
		}
		more := ""
		if n := len(models[i]) - 1; n > 0 {
			more = fmt.Sprintf(" (one of %d models there)", n+1)
		}
		return Found{OpenAIOptions{URL: server.url, Model: model, Client: client},
			fmt.Sprintf("%s answers at %s: NPCs think with %s%s, on this machine.", server.name, host(server.url), model, more)}, true
	}
	return Found{}, false
}

func host(base string) string {
	if u, err := url.Parse(base); err == nil {
		return u.Host
	}
	return base
}

// choose picks a model to talk with: one of a family known to call tools well, else
// the first that talks at all.
func choose(models []string) string {
	talks := slices.DeleteFunc(slices.Clone(models), func(m string) bool {
		m = strings.ToLower(m)
		return slices.ContainsFunc([]string{"embed", "bge-", "rerank", "whisper", "phonon", "tts", "ocr", "llava", "moondream", "guard", "minilm", "-base"},
			func(other string) bool { return strings.Contains(m, other) })
	})
	for _, family := range []string{"qwen3", "gpt-oss", "mistral-small", "gemma4", "llama3.3", "llama3.1", "llama-3", "qwen2.5", "mistral"} {
		if i := slices.IndexFunc(talks, func(m string) bool { return strings.Contains(strings.ToLower(m), family) }); i >= 0 {
			return talks[i]
		}
	}
	if len(talks) > 0 {
		return talks[0]
	}
	return ""
}
