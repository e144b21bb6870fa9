package stt

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/secret"
)

// ScribeOptions say how to reach ElevenLabs' recogniser.
type ScribeOptions struct {
	// URL is the API's base. Empty means ElevenLabs' own.
	URL string
	// Key is the API key.
	Key secret.Text
	// Model is the model's name. Empty means "scribe_v2_realtime".
	Model string
	// Client is the HTTP client that opens sockets. Nil means one of its own.
	Client *http.Client
}

// Scribe recognises with ElevenLabs' Scribe while somebody speaks, over a socket for
// each utterance, opened with its first frame.
type Scribe struct {
	o ScribeOptions
}

// NewScribe makes a recogniser; nothing is sent before the first utterance.
func NewScribe(o ScribeOptions) (*Scribe, error) {
	if o.Key.IsZero() {
		return nil, errors.New("elevenlabs: no key: set key: ${ELEVENLABS_API_KEY}")
	}
	o.URL = strings.TrimRight(cmp.Or(o.URL, "wss://api.elevenlabs.io"), "/")
	o.Model = cmp.Or(o.Model, "scribe_v2_realtime")
	if o.Client == nil {
		o.Client = &http.Client{}
	}
	return &Scribe{o}, nil
}

// Name is the vendor's and the model's name.
func (s *Scribe) Name() string { return "elevenlabs " + s.o.Model }

// Basic is false.
func (s *Scribe) Basic() bool { return false }

// Hear sends the sound as it comes and yields text as it improves.
func (s *Scribe) Hear(ctx context.Context, h engine.Hearing, frames iter.Seq[[]int16]) iter.Seq2[engine.Transcript, error] {
	return func(yield func(engine.Transcript, error) bool) {
		q := url.Values{"model_id": {s.o.Model}, "audio_format": {"pcm_16000"}, "commit_strategy": {"manual"}}
		if language, _, _ := strings.Cut(h.Language, "-"); language != "" {
			q.Set("language_code", language)
		}
		for _, t := range keyTerms(h.Now(), 20) {
			q.Add("keyterms", t)
		}
		d := &dialog{
			client: s.o.Client, header: http.Header{"Xi-Api-Key": {s.o.Key.Reveal()}}, url: s.o.URL + "/v1/speech-to-text/realtime?" + q.Encode(),
			frames: ofFrames(100 * time.Millisecond), wrap: scribeChunk, patience: 2 * time.Second,
		}
		d.scribe()
		d.hold(ctx, frames, func(t engine.Transcript, err error) bool {
			if err != nil {
				err = fmt.Errorf("%s: %w", s.Name(), err)
			}
			return yield(t, err)
		})
	}
}

// scribeChunk is sound as the API has it; the last piece asks for the final text.
func scribeChunk(sound []byte, last bool) []byte {
	b := append(make([]byte, 0, 128+len(sound)*4/3), `{"message_type":"input_audio_chunk","sample_rate":16000,"commit":`...)
	if last {
		b = append(b, "true"...)
	} else {
		b = append(b, "false"...)
	}
	b = append(b, `,"audio_base_64":"`...)
	b = base64.StdEncoding.AppendEncode(b, sound)
	return append(b, `"}`...)
}

// scribe reads the API's messages: partial texts replace each other, the committed
// one is the last.
func (d *dialog) scribe() {
	var text string
	d.text = func() engine.Transcript { return engine.Transcript{Text: strings.TrimSpace(text)} }
	d.read = func(message []byte) (bool, error) {
		var m struct {
			Type  string `json:"message_type"`
			Text  string `json:"text"`
			Error string `json:"error"`
		}
		err := json.Unmarshal(message, &m)
		switch {
		case err != nil && strings.HasSuffix(m.Type, "_transcript"):
			return false, fmt.Errorf("%s: %w", m.Type, err)
		case m.Type == "partial_transcript":
			d.alive = true
			text = m.Text
		case m.Type == "committed_transcript":
			text = m.Text
			return true, nil
		case m.Type == "commit_throttled" || m.Type == "insufficient_audio_activity":
			return true, nil // too short to be told: there is nothing more to come
		case m.Error != "":
			return false, fmt.Errorf("the vendor failed: %s (%s)", m.Error, m.Type)
		}
		return false, nil
	}
}
