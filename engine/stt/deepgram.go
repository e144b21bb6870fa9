package stt

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/secret"
)

// DeepgramOptions say which of Deepgram's models recognises.
type DeepgramOptions struct {
	// URL is the API's base. Empty means Deepgram's own.
	URL string
	// Key is the API key.
	Key secret.Text
	// Model is the model's name. Empty means "nova-3"; names that begin with "flux"
	// use the API for turns.
	Model string
	// Client is the HTTP client that opens sockets. Nil means one of its own.
	Client *http.Client
}

// Deepgram recognises with Deepgram while somebody speaks, over a socket for each
// utterance, opened with its first frame.
type Deepgram struct {
	o DeepgramOptions
}

// NewDeepgram makes a recogniser; nothing is sent before the first utterance.
func NewDeepgram(o DeepgramOptions) (*Deepgram, error) {
	if o.Key.IsZero() {
		return nil, errors.New("deepgram: no key: set key: ${DEEPGRAM_API_KEY}")
	}
	o.URL = strings.TrimRight(cmp.Or(o.URL, "wss://api.deepgram.com"), "/")
	o.Model = cmp.Or(o.Model, "nova-3")
	if o.Client == nil {
		o.Client = &http.Client{}
	}
	return &Deepgram{o}, nil
}

// Name is the vendor's and the model's name.
func (g *Deepgram) Name() string { return "deepgram " + g.o.Model }

// Basic is false.
func (g *Deepgram) Basic() bool { return false }

// Hear sends the sound as it comes and yields text as it improves. The vendor is
// told when the frames end, rather than left to guess it from silence.
func (g *Deepgram) Hear(ctx context.Context, h engine.Hearing, frames iter.Seq[[]int16]) iter.Seq2[engine.Transcript, error] {
	return func(yield func(engine.Transcript, error) bool) {
		d := &dialog{client: g.o.Client, header: http.Header{"Authorization": {"Token " + g.o.Key.Reveal()}}}
		q := url.Values{"model": {g.o.Model}, "encoding": {"linear16"}, "sample_rate": {"16000"}}
		for _, t := range keyTerms(h.Now(), 100) {
			q.Add("keyterm", t)
		}
		if strings.HasPrefix(g.o.Model, "flux") {
			d.flux(g.o.URL, q, h)
		} else {
			d.nova(g.o.URL, q, h.Language)
		}
		d.hold(ctx, frames, func(t engine.Transcript, err error) bool {
			if err != nil {
				err = fmt.Errorf("%s: %w", g.Name(), err)
			}
			return yield(t, err)
		})
	}
}

// nova speaks the API of version 1: finished segments add up, unfinished ones
// replace each other.
func (d *dialog) nova(base string, q url.Values, language string) {
	q.Set("language", cmp.Or(language, "multi"))
	q.Set("interim_results", "true")
	q.Set("punctuate", "true")
	q.Set("endpointing", "false") // the end of a turn is decided here
	d.url = base + "/v1/listen?" + q.Encode()
	d.frames, d.end, d.patience = ofFrames(20*time.Millisecond), `{"type":"Finalize"}`, 500*time.Millisecond
	var finished []string
	var unfinished string
	var sure, weight float64
	d.text = func() engine.Transcript {
		t := engine.Transcript{Text: strings.TrimSpace(strings.Join(finished, " ") + " " + unfinished)}
		if weight > 0 {
			t.Confidence = sure / weight
		}
		return t
	}
	d.read = func(message []byte) (bool, error) {
		var m struct {
			Type         string `json:"type"`
			IsFinal      bool   `json:"is_final"`
			FromFinalize bool   `json:"from_finalize"`
			Channel      struct {
				Alternatives []struct {
					Transcript string  `json:"transcript"`
					Confidence float64 `json:"confidence"`
				} `json:"alternatives"`
			} `json:"channel"`
			Description string `json:"description"`
		}
		// Other messages, such as UtteranceEnd, have a channel of another shape, so
		// that they cannot be read into m beyond their type.
		err := json.Unmarshal(message, &m)
		switch {
		case m.Type == "Error":
			return false, fmt.Errorf("the vendor failed: %s", m.Description)
		case m.Type != "Results":
			return false, nil
		case err != nil:
			return false, fmt.Errorf("results: %w", err)
		}
		d.alive = true
		if len(m.Channel.Alternatives) > 0 {
			a := m.Channel.Alternatives[0]
			unfinished = a.Transcript
			if m.IsFinal {
				unfinished = ""
				if a.Transcript != "" {
					finished = append(finished, a.Transcript)
					n := float64(len(a.Transcript))
					sure, weight = sure+a.Confidence*n, weight+n
				}
			}
		}
		return m.FromFinalize, nil
	}
}

// flux speaks the API for turns: each turn's text replaces what was said of it
// before, and turns add up. Names that change are told while somebody speaks.
func (d *dialog) flux(base string, q url.Values, h engine.Hearing) {
	d.url = base + "/v2/listen?" + q.Encode()
	d.frames, d.end, d.patience = ofFrames(80*time.Millisecond), `{"type":"ForceEndTurn"}`, time.Second
	var configuring atomic.Bool // one change at a time is all the vendor takes
	told := q["keyterm"]
	d.change = func() string {
		terms := keyTerms(h.Now(), 100)
		if slices.Equal(terms, told) || !configuring.CompareAndSwap(false, true) {
			return ""
		}
		told = terms
		b, err := json.Marshal(map[string]any{"type": "Configure", "keyterms": terms})
		if err != nil {
			return "" // texts always encode
		}
		return string(b)
	}
	var turns []string
	var current string
	d.text = func() engine.Transcript {
		return engine.Transcript{Text: strings.TrimSpace(strings.Join(turns, " ") + " " + current)}
	}
	d.read = func(message []byte) (bool, error) {
		var m struct {
			Type        string `json:"type"`
			Event       string `json:"event"`
			Transcript  string `json:"transcript"`
			Trigger     string `json:"trigger"`
			Description string `json:"description"`
		}
		switch err := json.Unmarshal(message, &m); {
		case err != nil:
			return false, fmt.Errorf("message: %w", err)
		case m.Type == "Error":
			return false, fmt.Errorf("the vendor failed: %s", m.Description)
		case m.Type == "ConfigureSuccess", m.Type == "ConfigureFailure":
			configuring.Store(false)
			return false, nil
		case m.Type != "TurnInfo":
			return false, nil
		}
		d.alive = true
		switch {
		case m.Event != "EndOfTurn":
			current = m.Transcript
			return false, nil
		}
		if m.Transcript != "" {
			turns = append(turns, m.Transcript)
		}
		current = ""
		// The vendor may end turns by itself before; ours is the one that was asked for.
		return m.Trigger == "manual", nil
	}
}
