package tts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/secret"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

const (
	// maxInput is the longest text that OpenAI's speech API takes, in characters.
	maxInput = 4096
	// maxSound bounds what a server may send for one text: ten minutes.
	maxSound = 10 * time.Minute
	// firstSound is how long a server may take to begin, and silentFor how long it
	// may fall silent once it has.
	firstSound = 10 * time.Second
	silentFor  = 2 * time.Second
	// maxErrorBody is how much of an answer that is no sound is read.
	maxErrorBody = 4 << 10
	// openAIRate is what OpenAI calls pcm; other servers keep to it.
	openAIRate = 24000
)

// OpenAIOptions say where a server with OpenAI's speech API is.
type OpenAIOptions struct {
	// URL is the API's base, such as "http://localhost:8880/v1". Empty means
	// OpenAI's own.
	URL string
	// Key is sent as a bearer token unless it is empty.
	Key secret.Text
	// Model is the server's model. Empty means "gpt-4o-mini-tts".
	Model string
	// Voice is spoken where an NPC has none of its own. Empty chooses by the NPC.
	Voice string
	// Format is "pcm" (24 kHz, the default) or "wav", for servers whose pcm has
	// another rate.
	Format string
	// Name is the engine's name in voices. Empty means "openai".
	Name string
	// Client is the HTTP client. Nil means [http.DefaultClient]'s transport.
	Client *http.Client
}

// OpenAI speaks with a server that has OpenAI's speech API: OpenAI itself, Ollama,
// speaches, Kokoro-FastAPI, Chatterbox, LocalAI and others.
type OpenAI struct {
	o OpenAIOptions
}

// NewOpenAI makes a synthesiser; nothing is sent before the first sentence.
func NewOpenAI(o OpenAIOptions) (*OpenAI, error) {
	if o.URL == "" {
		o.URL = "https://api.openai.com/v1"
	}
	o.URL = strings.TrimRight(o.URL, "/")
	if o.Model == "" {
		o.Model = "gpt-4o-mini-tts"
	}
	if o.Name == "" {
		o.Name = "openai"
	}
	if o.Client == nil {
		o.Client = &http.Client{}
	}
	switch o.Format {
	case "":
		o.Format = "pcm"
	case "pcm", "wav":
	default:
		return nil, fmt.Errorf("speech format %q: want pcm or wav", o.Format)
	}
	return &OpenAI{o}, nil
}

// Name is the configured name of the engine.
func (a *OpenAI) Name() string { return a.o.Name }

// Speak yields sound as the server sends it.
func (a *OpenAI) Speak(ctx context.Context, v engine.Voice, text string) iter.Seq2[engine.Speech, error] {
	return func(yield func(engine.Speech, error) bool) {
		text, err := speakable(text)
		if err == nil && text == "" {
			return
		}
		if err == nil && len([]rune(text)) > maxInput {
			err = fmt.Errorf("a text of over %d characters: split it into sentences", maxInput)
		}
		if err != nil {
			yield(engine.Speech{}, fmt.Errorf("%s: %w", a.o.Name, err))
			return
		}
		// One timer for all the waiting: it is set again whenever sound arrives.
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		quiet := time.AfterFunc(firstSound, func() { cancel(errQuiet) })
		defer quiet.Stop()

		resp, err := a.post(ctx, v, text)
		if err == nil {
			defer resp.Body.Close()
			err = a.stream(ctx, resp, quiet, v.Gain, yield)
		}
		if err != nil && !errors.Is(err, errStopped) {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			yield(engine.Speech{}, fmt.Errorf("%s: %w", a.o.Name, err))
		}
	}
}

var (
	// errStopped says that whoever listened has heard enough.
	errStopped = errors.New("stopped")
	errQuiet   = errors.New("the server stopped sending sound")
)

// post asks for the speech and returns an answer with status 200.
func (a *OpenAI) post(ctx context.Context, v engine.Voice, text string) (*http.Response, error) {
	id := v.ID
	if id == "" {
		id = a.o.Voice
	}
	if id == "" {
		id = stock["openai"][0].id
	}
	body, err := json.Marshal(struct {
		Model  string  `json:"model"`
		Input  string  `json:"input"`
		Voice  string  `json:"voice"`
		Format string  `json:"response_format"`
		Speed  float64 `json:"speed,omitempty"`
	}{a.o.Model, text, id, a.o.Format, speed(v.Rate)})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.o.URL+"/audio/speech", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if !a.o.Key.IsZero() {
		req.Header.Set("Authorization", "Bearer "+a.o.Key.Reveal())
	}
	resp, err := a.o.Client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, engine.ReadHTTPError(resp)
	}
	return resp, nil
}

// speed is the API's factor; 1 is left out, since not every server knows it.
func speed(rate float64) float64 {
	if rate = usual(rate); rate == 1 {
		return 0
	}
	return max(0.25, min(4, rate))
}

// stream yields the body's sound.
func (a *OpenAI) stream(ctx context.Context, resp *http.Response, quiet *time.Timer, gain float64, yield func(engine.Speech, error) bool) error {
	rate := openAIRate
	kind, params, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case err != nil:
	case strings.HasPrefix(kind, "text/") || kind == "application/json":
		b, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
		return fmt.Errorf("the server sent %s instead of sound: %.200q", kind, b)
	case kind == "audio/mpeg" || kind == "audio/ogg" || kind == "audio/opus" || kind == "audio/aac" || kind == "audio/flac":
		return fmt.Errorf("the server sent %s, asked for %s: it cannot make plain sound", kind, a.o.Format)
	case params["rate"] != "": // audio/L16; rate=24000
		if rate, err = strconv.Atoi(params["rate"]); err != nil || rate < pcm.MinRate || rate > pcm.MaxRate {
			return fmt.Errorf("the server sent %q", resp.Header.Get("Content-Type"))
		}
	}
	body := &awake{r: resp.Body, timer: quiet}
	var sound interface{ ReadSome([]int16) (int, error) }
	// Some servers send WAV whatever was asked for.
	head := make([]byte, 4)
	n, err := io.ReadFull(body, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	joined := io.MultiReader(bytes.NewReader(head[:n]), body)
	if string(head[:n]) == "RIFF" {
		wav, err := pcm.NewWAVReader(joined)
		if err != nil {
			return err
		}
		sound, rate = wav, wav.Rate()
	} else {
		sound = pcm.NewReader(joined)
	}
	left := int(maxSound.Seconds() * float64(rate))
	for {
		samples := make([]int16, chunkSize)
		n, err := sound.ReadSome(samples)
		if n > 0 {
			if left -= n; left < 0 {
				return fmt.Errorf("over %v of sound for one text", maxSound)
			}
			amplify(samples[:n], gain)
			if !yield(engine.Speech{Chunk: pcm.Chunk{Rate: rate, Samples: samples[:n]}}, nil) {
				return errStopped
			}
		}
		if errors.Is(err, io.EOF) {
			if left == int(maxSound.Seconds()*float64(rate)) {
				return errors.New("the server sent no sound")
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// awake sets the timer again whenever something is read.
type awake struct {
	r     io.Reader
	timer *time.Timer
}

func (a *awake) Read(b []byte) (int, error) {
	n, err := a.r.Read(b)
	a.timer.Reset(silentFor)
	return n, err
}
