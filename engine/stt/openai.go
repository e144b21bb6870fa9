package stt

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"mime/multipart"
	"net/http"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/secret"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

const (
	// answerTime is how long a server may take: whisper on a slow machine needs
	// about the utterance's own time.
	answerTime = 30 * time.Second
	// maxAnswer is how much of an answer is read; a minute of talk is 1 KB.
	maxAnswer = 256 << 10
	// shortest and quietest is what is not sent: models of the Whisper family
	// answer silence with "Thank you for watching."
	shortest = 120 * time.Millisecond
	quietest = -60.0 // dBFS
	// maxPrompt is how much of the names is sent, in bytes: the prompt's 224 tokens.
	maxPrompt = 600
)

// OpenAIOptions say where a server with OpenAI's transcription API is.
type OpenAIOptions struct {
	// URL is the API's base, such as "http://localhost:8000/v1". Empty means
	// OpenAI's own.
	URL string
	// Key is sent as a bearer token unless it is empty.
	Key secret.Text
	// Model is the server's model. Empty means "gpt-4o-mini-transcribe".
	Model string
	// Client is the HTTP client. Nil means one of its own.
	Client *http.Client
}

// OpenAI recognises with a server that has OpenAI's transcription API, an utterance
// at a time.
type OpenAI struct {
	o OpenAIOptions
}

// NewOpenAI makes a recogniser; nothing is sent before the first utterance.
func NewOpenAI(o OpenAIOptions) *OpenAI {
	if o.URL == "" {
		o.URL = "https://api.openai.com/v1"
	}
	o.URL = strings.TrimRight(o.URL, "/")
	if o.Model == "" {
		o.Model = "gpt-4o-mini-transcribe"
	}
	if o.Client == nil {
		o.Client = &http.Client{}
	}
	return &OpenAI{o}
}

// Name is the model's name and the server's.
func (a *OpenAI) Name() string { return a.o.Model + " at " + a.o.URL }

// Basic is false.
func (a *OpenAI) Basic() bool { return false }

// Hear collects the utterance and sends it when the frames end. frames has to end
// when ctx does.
func (a *OpenAI) Hear(ctx context.Context, h engine.Hearing, frames iter.Seq[[]int16]) iter.Seq2[engine.Transcript, error] {
	return func(yield func(engine.Transcript, error) bool) {
		var sound []int16
		for f := range limited(frames) {
			sound = append(sound, f...)
		}
		if ctx.Err() != nil {
			yield(engine.Transcript{}, context.Cause(ctx))
			return
		}
		heard := pcm.Chunk{Rate: pcm.HearRate, Samples: sound}
		if heard.Duration() < shortest || pcm.Level(sound) < quietest {
			yield(engine.Transcript{Final: true}, nil)
			return
		}
		ctx, cancel := context.WithTimeoutCause(ctx, answerTime, fmt.Errorf("no answer for %v", answerTime))
		defer cancel()
		body, kind, err := a.form(h, sound)
		for attempt := 1; err == nil; attempt++ {
			var text string
			if text, err = a.post(ctx, body, kind); err == nil {
				yield(engine.Transcript{Text: text, Final: true}, nil)
				return
			}
			if engine.WaitToRetry(ctx, err, attempt) {
				err = nil
			}
		}
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		yield(engine.Transcript{}, fmt.Errorf("%s: %w", a.Name(), err))
	}
}

// form is the request's body and its type.
func (a *OpenAI) form(h engine.Hearing, sound []int16) (body []byte, kind string, err error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	// Servers tell the format by the file's name.
	file, err := w.CreateFormFile("file", "speech.wav")
	if err != nil {
		return nil, "", err
	}
	if _, err := file.Write(pcm.EncodeWAV(pcm.HearRate, sound)); err != nil {
		return nil, "", err
	}
	language, _, _ := strings.Cut(h.Language, "-") // ISO 639-1, not BCP 47
	for _, f := range [][2]string{
		{"model", a.o.Model}, {"response_format", "json"}, {"language", language}, {"prompt", prompt(h.Terms)},
	} {
		if f[1] == "" {
			continue
		}
		if err := w.WriteField(f[0], f[1]); err != nil {
			return nil, "", err
		}
	}
	if err := w.Close(); err != nil {
		return nil, "", err
	}
	return b.Bytes(), w.FormDataContentType(), nil
}

// prompt names what may come up, the likeliest first, as a sentence in the style of
// the transcript: that is what the model takes a prompt for.
func prompt(terms []string) string {
	var b strings.Builder
	for _, t := range terms {
		if b.Len()+len(t)+2 > maxPrompt {
			break
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(t)
	}
	if b.Len() > 0 {
		b.WriteByte('.')
	}
	return b.String()
}

// post sends the form once.
func (a *OpenAI) post(ctx context.Context, body []byte, kind string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.o.URL+"/audio/transcriptions", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", kind)
	if !a.o.Key.IsZero() {
		req.Header.Set("Authorization", "Bearer "+a.o.Key.Reveal())
	}
	resp, err := a.o.Client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", engine.ReadHTTPError(resp)
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return "", err
	}
	if len(answer) > maxAnswer {
		return "", fmt.Errorf("an answer of over %d KB", maxAnswer>>10)
	}
	var t struct {
		Text *string `json:"text"`
	}
	if err := json.Unmarshal(answer, &t); err != nil || t.Text == nil {
		return "", fmt.Errorf("the server sent no transcript: %.200q", answer)
	}
	return strings.TrimSpace(*t.Text), nil
}
