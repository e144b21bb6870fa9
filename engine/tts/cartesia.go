package tts

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
)

// Cartesia speaks with Cartesia, and reports when each word begins.
type Cartesia struct{ o VendorOptions }

// NewCartesia makes a synthesiser; nothing is sent before the first sentence.
func NewCartesia(o VendorOptions) (*Cartesia, error) {
	o, err := o.complete("cartesia", "CARTESIA_API_KEY", "wss://api.cartesia.ai", "sonic-3")
	return &Cartesia{o}, err
}

// Name is "cartesia".
func (c *Cartesia) Name() string { return "cartesia" }

// Speak yields sound as it is made.
func (c *Cartesia) Speak(ctx context.Context, v engine.Voice, text string) iter.Seq2[engine.Speech, error] {
	return func(yield func(engine.Speech, error) bool) {
		overSocket(ctx, c.Name(), text, yield, func(text string) (*utterance, error) {
			voice, err := c.o.voice(v)
			if err != nil {
				return nil, err
			}
			q := map[string]any{
				"context_id": "sentence", "model_id": c.o.Model, "transcript": text, "voice": map[string]any{"id": voice},
				"output_format":  map[string]any{"container": "raw", "encoding": "pcm_s16le", "sample_rate": socketRate},
				"add_timestamps": true, "continue": false,
				// Whole sentences come, and the vendor's default is to wait three
				// seconds for more.
				"max_buffer_delay_ms": 0,
			}
			if language, _, _ := strings.Cut(v.Language, "-"); language != "" {
				q["language"] = language
			}
			if rate := usual(v.Rate); rate != 1 {
				q["generation_config"] = map[string]any{"speed": max(0.6, min(1.5, rate))}
			}
			return &utterance{
				client: c.o.Client, url: c.o.URL + "/tts/websocket", gain: v.Gain,
				header:   http.Header{"X-Api-Key": {c.o.Key.Reveal()}, "Cartesia-Version": {"2026-03-01"}},
				messages: []any{q}, read: readCartesia,
			}, nil
		})
	}
}

func readCartesia(_ bool, message []byte) (said, error) {
	var m struct {
		Type    string `json:"type"`
		Data    []byte `json:"data"`
		Done    bool   `json:"done"`
		Title   string `json:"title"`
		Message string `json:"message"`
		Words   struct {
			Words []string  `json:"words"`
			Start []float64 `json:"start"`
		} `json:"word_timestamps"`
	}
	if err := json.Unmarshal(message, &m); err != nil {
		return said{}, fmt.Errorf("message: %w", err)
	}
	switch m.Type {
	case "error":
		return said{}, fmt.Errorf("the vendor failed: %s: %s", m.Title, m.Message)
	case "chunk":
		return said{sound: m.Data}, nil
	case "done":
		return said{last: true}, nil
	case "timestamps":
		var s said
		for i, w := range m.Words.Words[:min(len(m.Words.Words), len(m.Words.Start))] {
			s.words = append(s.words, engine.WordTime{Text: w, Start: time.Duration(m.Words.Start[i] * float64(time.Second))})
		}
		return s, nil
	}
	return said{}, nil
}
