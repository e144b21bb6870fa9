// Package embedding asks OpenAI-compatible servers (Ollama, llama.cpp, vLLM, LM
// Studio, and clouds) for embeddings: POST {base}/embeddings.
package embedding

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/memory"
)

const (
	// maxAnswer is above 64 vectors of 8,192 numbers written out in JSON.
	maxAnswer = 16 << 20
	within    = 30 * time.Second
)

// Client is an embedder behind a URL.
type Client struct {
	// Base is the server's base URL, with /v1 where it has one.
	Base string
	// Key is sent as a bearer token; "" sends none.
	Key string
	// Name is the model's name.
	Name string
}

var _ memory.Embedder = Client{}

// Model names the model.
func (c Client) Model() string { return c.Name }

// Embed asks the server for the vectors of some texts.
func (c Client) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(map[string]any{"model": c.Name, "input": texts, "encoding_format": "float"})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("the embedding server took over %v", within))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(c.Base, "/")+"/embeddings", bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("embedding: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	if c.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.Key)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("embedding: %w", err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("embedding: reading the answer: %w", err)
	case res.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("embedding: the server answers %s: %.200s", res.Status, answer)
	case len(answer) > maxAnswer:
		return nil, fmt.Errorf("embedding: the answer is longer than %d bytes", maxAnswer)
	}
	var parsed struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(answer, &parsed); err != nil {
		return nil, fmt.Errorf("embedding: the answer is not what OpenAI's would be: %w", err)
	}
	out := make([][]float32, len(texts))
	for _, d := range parsed.Data {
		if d.Index < 0 || d.Index >= len(out) || out[d.Index] != nil || len(d.Embedding) == 0 {
			return nil, fmt.Errorf("embedding: the answer has a vector for text %d of %d that cannot be", d.Index, len(texts))
		}
		out[d.Index] = d.Embedding
	}
	for i, v := range out {
		if v == nil || len(v) != len(out[0]) {
			return nil, fmt.Errorf("embedding: the answer has no vector of the right length for text %d", i)
		}
	}
	return out, nil
}
