package tts

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/secret"
)

// VendorOptions say how to reach a vendor of voices.
type VendorOptions struct {
	// URL is the API's base. Empty means the vendor's own.
	URL string
	// Key is the API key.
	Key secret.Text
	// Model is the vendor's model. Empty means its quickest.
	Model string
	// Voice is spoken where an NPC has none of its own.
	Voice string
	// Client is the HTTP client that opens sockets. Nil means one of its own.
	Client *http.Client
}

// vendorVoice is what may stand in a voice's ID: it becomes part of an address.
var vendorVoice = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,80}$`)

// complete fills in the defaults, or says what is missing.
func (o VendorOptions) complete(vendor, variable, url, model string) (VendorOptions, error) {
	if o.Key.IsZero() {
		return o, fmt.Errorf("%s: no key: set key: ${%s}", vendor, variable)
	}
	o.URL = strings.TrimRight(cmp.Or(o.URL, url), "/")
	o.Model = cmp.Or(o.Model, model)
	if o.Client == nil {
		o.Client = &http.Client{}
	}
	return o, nil
}

// voice is the voice to speak with.
func (o VendorOptions) voice(v engine.Voice) (string, error) {
	id := cmp.Or(v.ID, o.Voice)
	if id == "" {
		return "", errors.New("no voice: set the NPC's voice id, or voice: for all")
	}
	if !vendorVoice.MatchString(id) {
		return "", fmt.Errorf("voice %q: want the vendor's id of a voice", id)
	}
	return id, nil
}

// ElevenLabs speaks with ElevenLabs, and reports when each word begins.
type ElevenLabs struct{ o VendorOptions }

// NewElevenLabs makes a synthesiser; nothing is sent before the first sentence.
func NewElevenLabs(o VendorOptions) (*ElevenLabs, error) {
	o, err := o.complete("elevenlabs", "ELEVENLABS_API_KEY", "wss://api.elevenlabs.io", "eleven_flash_v2_5")
	return &ElevenLabs{o}, err
}

// Name is "elevenlabs".
func (e *ElevenLabs) Name() string { return "elevenlabs" }

// Speak yields sound as it is made.
func (e *ElevenLabs) Speak(ctx context.Context, v engine.Voice, text string) iter.Seq2[engine.Speech, error] {
	return func(yield func(engine.Speech, error) bool) {
		overSocket(ctx, e.Name(), text, yield, func(text string) (*utterance, error) {
			voice, err := e.o.voice(v)
			if err != nil {
				return nil, err
			}
			// auto_mode: whole sentences come, so nothing is to be gathered there.
			q := url.Values{"model_id": {e.o.Model}, "output_format": {"pcm_24000"}, "auto_mode": {"true"}, "sync_alignment": {"true"}}
			if language, _, _ := strings.Cut(v.Language, "-"); language != "" && strings.HasSuffix(e.o.Model, "_v2_5") {
				q.Set("language_code", language)
			}
			begin := map[string]any{"text": " "}
			if rate := usual(v.Rate); rate != 1 {
				begin["voice_settings"] = map[string]any{"stability": 0.5, "similarity_boost": 0.8, "speed": max(0.7, min(1.2, rate))}
			}
			var a alignment
			return &utterance{
				client: e.o.Client, header: http.Header{"Xi-Api-Key": {e.o.Key.Reveal()}}, gain: v.Gain,
				url:      e.o.URL + "/v1/text-to-speech/" + voice + "/stream-input?" + q.Encode(),
				messages: []any{begin, map[string]any{"text": text + " "}, map[string]any{"text": ""}},
				read:     a.read,
			}, nil
		})
	}
}

// alignment makes words of the times of letters.
type alignment struct {
	word    []rune
	began   time.Duration
	elapsed time.Duration // the sound of the messages before
}

func (a *alignment) read(_ bool, message []byte) (said, error) {
	var m struct {
		Audio     []byte `json:"audio"`
		IsFinal   bool   `json:"isFinal"`
		Alignment struct {
			Chars  []string  `json:"chars"`
			Starts []float64 `json:"charStartTimesMs"`
		} `json:"alignment"`
		Error   string `json:"error"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal(message, &m); err != nil {
		return said{}, fmt.Errorf("message: %w", err)
	}
	if m.Error != "" {
		return said{}, fmt.Errorf("the vendor failed: %s (%s)", m.Message, m.Error)
	}
	s := said{sound: m.Audio, last: m.IsFinal}
	for i, c := range m.Alignment.Chars[:min(len(m.Alignment.Chars), len(m.Alignment.Starts))] {
		for _, r := range c {
			switch {
			case unicode.IsSpace(r):
				s.words = a.end(s.words)
			default:
				if len(a.word) == 0 {
					// Times count from the beginning of this message's sound.
					a.began = a.elapsed + time.Duration(m.Alignment.Starts[i]*float64(time.Millisecond))
				}
				a.word = append(a.word, r)
			}
		}
	}
	a.elapsed += time.Duration(len(m.Audio)/2) * time.Second / socketRate
	if m.IsFinal {
		s.words = a.end(s.words)
	}
	return s, nil
}

// end adds the word that is under way, if there is one.
func (a *alignment) end(words []engine.WordTime) []engine.WordTime {
	if len(a.word) == 0 {
		return words
	}
	words = append(words, engine.WordTime{Text: string(a.word), Start: a.began})
	a.word = a.word[:0]
	return words
}
