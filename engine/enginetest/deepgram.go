package enginetest

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// Faults of a socket.
const (
	HangUp      Fault = "the socket closes with code 1011 in the middle"
	SlowSocket  Fault = "no message comes, though the connection stands"
	NoLastWord  Fault = "no answer to Finalize or ForceEndTurn"
	EmptyLast   Fault = "an empty answer to Finalize"
	TurnResumed Fault = "EagerEndOfTurn, TurnResumed, and another text in the end"
	EarlyEnd    Fault = "the vendor ends a turn by itself, in the middle"
	ErrorEnd    Fault = "an error message and then the socket closes"
)

// Deepgram is Deepgram's listen API, versions 1 and 2. It refuses what
// api.deepgram.com refuses.
type Deepgram struct {
	Faults

	// Key is the key that connections have to show.
	Key string
	// Transcribe tells the words that were said. A word is reported for each 300 ms
	// of sound.
	Transcribe func(query url.Values) []string
	// Configured is told the names that a client sends while somebody speaks.
	Configured func(terms []string)
	// Heard is told all the sound of a connection when its end is asked for.
	Heard func(pcm.Chunk)
}

// ServeHTTP answers /v1/listen and /v2/listen.
func (g *Deepgram) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fault := g.take()
	if refuse(w, r, fault) {
		return
	}
	q := r.URL.Query()
	if status, message := g.check(r, q); status != 0 {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]string{"err_code": http.StatusText(status), "err_msg": message, "request_id": "r1"})
		return
	}
	c, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer c.CloseNow()
	ctx := context.WithoutCancel(r.Context())
	s := &listening{c: c, fault: fault, words: []string{}, flux: r.URL.Path == "/v2/listen", configured: g.Configured}
	if g.Transcribe != nil {
		s.words = g.Transcribe(q)
	}
	s.serve(ctx)
	if g.Heard != nil {
		g.Heard(pcm.Chunk{Rate: 16000, Samples: s.sound})
	}
}

func (g *Deepgram) check(r *http.Request, q url.Values) (int, string) {
	allowed := []string{"model", "encoding", "sample_rate", "keyterm"}
	models := []string{"flux-general-en", "flux-general-multi"}
	switch r.URL.Path {
	case "/v1/listen":
		allowed = append(allowed, "language", "interim_results", "punctuate", "endpointing", "smart_format", "numerals")
		models = []string{"nova-3"}
	case "/v2/listen":
	default:
		return http.StatusNotFound, "Not Found"
	}
	// The scheme's case does not matter: the vendor's own Go client writes "token".
	if scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " "); !strings.EqualFold(scheme, "Token") || key != g.Key {
		return http.StatusUnauthorized, "Invalid credentials."
	}
	for k := range q {
		if !slices.Contains(allowed, k) {
			return http.StatusBadRequest, fmt.Sprintf("Unexpected query parameter: %s", k)
		}
	}
	switch {
	case !slices.Contains(models, q.Get("model")):
		return http.StatusBadRequest, "No such model/language/tier combination found."
	case q.Get("encoding") != "linear16" || q.Get("sample_rate") != "16000":
		return http.StatusBadRequest, "this server listens to linear16 at 16000 only"
	case len(q["keyterm"]) > 100:
		return http.StatusBadRequest, "Keyterm limit exceeded."
	}
	return 0, ""
}

// listening is one connection.
type listening struct {
	c     *websocket.Conn
	fault Fault
	flux  bool
	words []string
	sound []int16
	told  int // words that were reported
	from  int // the first word of the current turn or segment
	seq   int
	// configured is the server's.
	configured func([]string)
}

func (s *listening) send(ctx context.Context, m map[string]any) {
	m["sequence_id"] = s.seq
	s.seq++
	b, _ := json.Marshal(m) // maps of plain values always encode
	// A client that has gone is noticed by the next read.
	_ = s.c.Write(ctx, websocket.MessageText, b)
}

// serve reads until the client goes.
func (s *listening) serve(ctx context.Context) {
	if s.flux {
		s.send(ctx, map[string]any{"type": "Connected", "request_id": "r1"})
	} else {
		s.send(ctx, map[string]any{"type": "SpeechStarted", "channel": []int{0}, "timestamp": 0.1})
	}
	s.send(ctx, map[string]any{"type": "Mystery", "channel": 7})
	for {
		kind, m, err := s.c.Read(ctx)
		if err != nil || s.fault == SlowSocket && kind == websocket.MessageText {
			return
		}
		if kind == websocket.MessageBinary {
			for ; len(m) >= 2; m = m[2:] {
				s.sound = append(s.sound, int16(binary.LittleEndian.Uint16(m)))
			}
			if s.fault != SlowSocket && s.progress(ctx) {
				return
			}
			continue
		}
		var control struct {
			Type  string   `json:"type"`
			Terms []string `json:"keyterms"`
		}
		_ = json.Unmarshal(m, &control) // what is no JSON has no type
		switch {
		case control.Type == "Finalize" && !s.flux, control.Type == "ForceEndTurn" && s.flux:
			s.finish(ctx)
		case control.Type == "Configure" && s.flux && len(control.Terms) <= 100:
			if s.configured != nil {
				s.configured(control.Terms)
			}
			s.send(ctx, map[string]any{"type": "ConfigureSuccess", "request_id": "r1", "keyterms": control.Terms})
		case control.Type == "CloseStream", control.Type == "KeepAlive" && !s.flux:
		default:
			_ = s.c.Close(websocket.StatusPolicyViolation, "DATA-0000: unparsable message")
			return
		}
	}
}

// progress reports the words that the sound so far has time for. It reports whether
// a fault ended the connection.
func (s *listening) progress(ctx context.Context) bool {
	const word = 300 * time.Millisecond
	spoken := min(len(s.words), int(pcm.Chunk{Rate: 16000, Samples: s.sound}.Duration()/word))
	if spoken == s.told {
		return false
	}
	s.told = spoken
	if spoken == 2 {
		switch s.fault {
		case HangUp:
			_ = s.c.Close(websocket.StatusInternalError, "NET-0001: no audio")
			return true
		case ErrorEnd:
			s.send(ctx, map[string]any{"type": "Error", "code": "INTERNAL_SERVER_ERROR", "description": "it burns"})
			return true
		case EarlyEnd:
			s.result(ctx, "EndOfTurn", "model", false)
			s.from = spoken
			return false
		case TurnResumed:
			s.result(ctx, "EagerEndOfTurn", "", false)
			s.result(ctx, "TurnResumed", "", false)
		}
	}
	s.result(ctx, "Update", "", false)
	return false
}

// finish answers the request for the end.
func (s *listening) finish(ctx context.Context) {
	switch s.fault {
	case NoLastWord:
		s.told = len(s.words)
		s.result(ctx, "Update", "", false)
		return
	case EmptyLast:
		// The segment ends by itself, and Finalize finds nothing more.
		s.told = len(s.words)
		s.result(ctx, "EndOfTurn", "model", false)
		s.from = len(s.words)
	default:
		s.told = len(s.words)
	}
	s.result(ctx, "EndOfTurn", "manual", true)
	s.from = s.told
}

// result reports the current segment or turn.
func (s *listening) result(ctx context.Context, event, trigger string, last bool) {
	text := strings.Join(s.words[s.from:max(s.from, s.told)], " ")
	if s.flux {
		m := map[string]any{"type": "TurnInfo", "request_id": "r1", "event": event, "turn_index": 0, "transcript": text,
			"words": []any{}, "end_of_turn_confidence": 0.5}
		if trigger != "" {
			m["trigger"] = trigger
		}
		s.send(ctx, m)
		return
	}
	s.send(ctx, map[string]any{"type": "Results", "channel_index": []int{0, 1}, "is_final": event == "EndOfTurn", "speech_final": false,
		"from_finalize": last, "channel": map[string]any{"alternatives": []any{map[string]any{"transcript": text, "confidence": 0.9, "words": []any{}}}}})
}
