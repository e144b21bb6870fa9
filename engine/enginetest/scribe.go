package enginetest

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/coder/websocket"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// Scribe is ElevenLabs' realtime recogniser. It refuses what api.elevenlabs.io
// refuses.
type Scribe struct {
	Faults

	// Key is the key that connections have to show.
	Key string
	// Transcribe tells what was said in a sound.
	Transcribe func(query url.Values, sound pcm.Chunk) string
}

// ServeHTTP answers /v1/speech-to-text/realtime.
func (s *Scribe) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fault := s.take()
	if refuse(w, r, fault) {
		return
	}
	q := r.URL.Query()
	detail := ""
	switch {
	case r.URL.Path != "/v1/speech-to-text/realtime":
		detail = "Not Found"
	case r.Header.Get("xi-api-key") != s.Key:
		detail = "Invalid API key"
	case q.Get("model_id") != "scribe_v2_realtime":
		detail = "A model with that ID does not exist."
	case q.Get("audio_format") != "pcm_16000" || q.Get("commit_strategy") != "manual":
		detail = "this server takes pcm_16000 and manual commits only"
	case len(q["keyterms"]) > 50 || slices.ContainsFunc(q["keyterms"], func(t string) bool { return len(t) > 20 }):
		detail = "at most 50 keyterms of 20 characters"
	}
	if detail != "" {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_ = json.NewEncoder(w).Encode(map[string]any{"detail": map[string]string{"status": "refused", "message": detail}})
		return
	}
	c, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer c.CloseNow()
	s.serve(context.WithoutCancel(r.Context()), c, q, fault)
}

func (s *Scribe) serve(ctx context.Context, c *websocket.Conn, q url.Values, fault Fault) {
	send := func(kind string, m map[string]any) {
		m["message_type"] = kind
		b, _ := json.Marshal(m) // maps of plain values always encode
		// A client that has gone is noticed by the next read.
		_ = c.Write(ctx, websocket.MessageText, b)
	}
	send("session_started", map[string]any{"session_id": "s1", "config": map[string]any{}})
	send("mystery", map[string]any{"text": 7})
	sound := pcm.Chunk{Rate: 16000}
	c.SetReadLimit(1 << 20)
	for n := 0; ; n++ {
		_, b, err := c.Read(ctx)
		if err != nil {
			return
		}
		var m struct {
			Type   string `json:"message_type"`
			Audio  []byte `json:"audio_base_64"`
			Commit bool   `json:"commit"`
			Rate   int    `json:"sample_rate"`
		}
		if json.Unmarshal(b, &m) != nil || m.Type != "input_audio_chunk" || m.Rate != 16000 {
			send("input_error", map[string]any{"error": "Invalid message"})
			return
		}
		for a := m.Audio; len(a) >= 2; a = a[2:] {
			sound.Samples = append(sound.Samples, int16(binary.LittleEndian.Uint16(a)))
		}
		text := ""
		if s.Transcribe != nil {
			text = s.Transcribe(q, sound)
		}
		switch {
		case n == 3 && fault == HangUp:
			_ = c.Close(websocket.StatusInternalError, "Internal error")
			return
		case n == 3 && fault == ErrorEnd:
			send("quota_exceeded", map[string]any{"error": "You have used all of your credits"})
			return
		case m.Commit && sound.Duration() < 300*time.Millisecond:
			send("commit_throttled", map[string]any{"error": fmt.Sprintf("Commit request ignored: only %v of uncommitted audio.", sound.Duration())})
		case m.Commit && fault == NoLastWord:
		case m.Commit:
			send("committed_transcript", map[string]any{"text": text})
			sound.Samples = nil
		case n%3 == 2:
			send("partial_transcript", map[string]any{"text": text})
		}
	}
}
