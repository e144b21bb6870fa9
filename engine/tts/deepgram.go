package tts

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/glyphoxa/glyphoxa/engine"
)

// Deepgram speaks with Deepgram. Its voices are models: a voice's ID is one such as
// "aura-2-thalia-en".
type Deepgram struct{ o VendorOptions }

// NewDeepgram makes a synthesiser; nothing is sent before the first sentence.
func NewDeepgram(o VendorOptions) (*Deepgram, error) {
	o, err := o.complete("deepgram", "DEEPGRAM_API_KEY", "wss://api.deepgram.com", "aura-2-thalia-en")
	return &Deepgram{o}, err
}

// Name is "deepgram".
func (g *Deepgram) Name() string { return "deepgram" }

// Speak yields sound as it is made.
func (g *Deepgram) Speak(ctx context.Context, v engine.Voice, text string) iter.Seq2[engine.Speech, error] {
	return func(yield func(engine.Speech, error) bool) {
		overSocket(ctx, g.Name(), text, yield, func(text string) (*utterance, error) {
			o := g.o
			if o.Voice == "" {
				o.Voice = o.Model
			}
			voice, err := o.voice(v)
			if err != nil {
				return nil, err
			}
			q := url.Values{"model": {voice}, "encoding": {"linear16"}, "sample_rate": {strconv.Itoa(socketRate)}}
			if rate := usual(v.Rate); rate != 1 {
				q.Set("speed", strconv.FormatFloat(max(0.7, min(1.5, rate)), 'f', 2, 64))
			}
			return &utterance{
				client: o.Client, url: o.URL + "/v1/speak?" + q.Encode(), gain: v.Gain,
				header:   http.Header{"Authorization": {"Token " + o.Key.Reveal()}},
				messages: []any{map[string]string{"type": "Speak", "text": text}, map[string]string{"type": "Flush"}},
				read:     readDeepgram,
			}, nil
		})
	}
}

func readDeepgram(binary bool, message []byte) (said, error) {
	if binary {
		return said{sound: message}, nil
	}
	var m struct {
		Type        string `json:"type"`
		Description string `json:"description"`
	}
	if err := json.Unmarshal(message, &m); err != nil {
		return said{}, fmt.Errorf("message: %w", err)
	}
	if m.Type == "Error" {
		return said{}, fmt.Errorf("the vendor failed: %s", m.Description)
	}
	return said{last: m.Type == "Flushed"}, nil
}
