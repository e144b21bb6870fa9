package enginetest

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"
)

// Voices is the speech sockets of ElevenLabs, Cartesia and Deepgram. Words sound as
// in [Tones]. Each refuses what its vendor refuses.
type Voices struct {
	Faults

	// Key is the key that connections have to show.
	Key string
	// Asked is told the text of each utterance and the parameters it came with.
	Asked func(vendor, text string, parameters map[string]any)
}

// ServeHTTP tells the vendors apart by their paths.
func (v *Voices) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fault := v.take()
	if refuse(w, r, fault) {
		return
	}
	q := r.URL.Query()
	var key, voice string
	switch path := r.URL.Path; {
	case strings.HasPrefix(path, "/v1/text-to-speech/") && strings.HasSuffix(path, "/stream-input"):
		key, voice = r.Header.Get("xi-api-key"), strings.Split(path, "/")[3]
	case path == "/tts/websocket" && r.Header.Get("Cartesia-Version") != "":
		key = r.Header.Get("X-API-Key")
	case path == "/v1/speak":
		key = strings.TrimPrefix(r.Header.Get("Authorization"), "Token ")
	default:
		http.Error(w, "Not Found", http.StatusNotFound)
		return
	}
	if key != v.Key {
		http.Error(w, `{"detail":{"status":"invalid_api_key","message":"Invalid API key"}}`, http.StatusUnauthorized)
		return
	}
	c, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer c.CloseNow()
	s := &speaking{v: v, c: c, ctx: context.WithoutCancel(r.Context()), q: q, voice: voice, fault: fault}
	switch {
	case voice != "":
		s.elevenLabs()
	case r.URL.Path == "/v1/speak":
		s.deepgram()
	default:
		s.cartesia()
	}
}

// speaking is one connection.
type speaking struct {
	v     *Voices
	c     *websocket.Conn
	ctx   context.Context
	q     url.Values
	voice string
	fault Fault
}

// read reads a JSON object of known fields into m.
func (s *speaking) read(m any, strict bool) bool {
	_, b, err := s.c.Read(s.ctx)
	if err != nil {
		return false
	}
	d := json.NewDecoder(strings.NewReader(string(b)))
	if strict {
		d.DisallowUnknownFields()
	}
	if err := d.Decode(m); err != nil {
		_ = s.c.Close(websocket.StatusPolicyViolation, "invalid message: "+err.Error())
		return false
	}
	return true
}

func (s *speaking) send(m map[string]any) {
	b, _ := json.Marshal(m) // maps of plain values always encode
	// A client that has gone is noticed by the next read.
	_ = s.c.Write(s.ctx, websocket.MessageText, b)
}

// wordTime and wordBytes are the sound of one word of Tones.
const (
	wordTime  = 60 * time.Millisecond
	wordBytes = 2 * 24000 * 60 / 1000
)

// sound is the text's sound in pieces of whole words, or of odd sizes.
func (s *speaking) sound(text string) [][]byte {
	var b []byte
	for _, x := range Tones(SpeechRequest{Input: text}).Samples {
		b = binary.LittleEndian.AppendUint16(b, uint16(x))
	}
	size := wordBytes
	if s.fault == OddPieces {
		size = 777
	}
	if s.fault == NoSound {
		return nil
	}
	return slices.Collect(slices.Chunk(b, size))
}

// broken does what a fault does at a piece of the sound.
func (s *speaking) broken(piece int) bool {
	if piece != 2 {
		return false
	}
	switch s.fault {
	case HangUp:
		_ = s.c.Close(websocket.StatusInternalError, "internal error")
	case StallSound:
		_, _, _ = s.c.Read(s.ctx) // until the client goes
	default:
		return false
	}
	return true
}

func (s *speaking) elevenLabs() {
	refuse := func(code, message string) {
		s.send(map[string]any{"message": message, "error": code, "code": 1008})
		_ = s.c.Close(websocket.StatusPolicyViolation, message)
	}
	for k := range s.q {
		if !slices.Contains([]string{"model_id", "output_format", "auto_mode", "sync_alignment", "language_code"}, k) {
			refuse("invalid_parameter", "unknown parameter "+k)
			return
		}
	}
	if s.q.Get("output_format") != "pcm_24000" || len(s.voice) < 5 {
		refuse("voice_not_found", "A voice with voice_id "+s.voice+" does not exist.")
		return
	}
	text := ""
	settings := map[string]any{"voice": s.voice, "language": s.q.Get("language_code")}
	for n := 0; ; n++ {
		var m struct {
			Text     string             `json:"text"`
			Settings map[string]float64 `json:"voice_settings"`
			Flush    bool               `json:"flush"`
		}
		if !s.read(&m, true) {
			return
		}
		if speed, ok := m.Settings["speed"]; ok {
			if speed < 0.7 || speed > 1.2 {
				refuse("invalid_voice_settings", "speed must be between 0.7 and 1.2")
				return
			}
			settings["speed"] = speed
		}
		if n == 0 && m.Text != " " {
			refuse("invalid_message", "The first message must be a single space.")
			return
		}
		if m.Text == "" {
			break
		}
		text += m.Text
	}
	text = strings.TrimSpace(text)
	s.asked("elevenlabs", text, settings)
	if s.fault == ErrorEnd {
		refuse("quota_exceeded", "You have used all of your credits")
		return
	}
	words := strings.Fields(text)
	for i, piece := range s.sound(text) {
		if s.broken(i) {
			return
		}
		late := 0
		switch s.fault {
		case TimesBeyond:
			late = 5000
		case SlowSound:
			time.Sleep(wordTime * 6 / 5)
		}
		m := map[string]any{"audio": piece, "alignment": nil, "normalizedAlignment": nil}
		if i < len(words) && s.fault != OddPieces && s.fault != NoTimes {
			var chars []string
			var starts, lengths []int
			for k, r := range []rune(words[i] + " ") {
				chars, starts, lengths = append(chars, string(r)), append(starts, k+late), append(lengths, 1)
			}
			m["alignment"] = map[string]any{"chars": chars, "charStartTimesMs": starts, "charsDurationsMs": lengths}
		}
		s.send(m)
	}
	s.send(map[string]any{"audio": nil, "isFinal": true})
	_ = s.c.Close(websocket.StatusNormalClosure, "")
}

func (s *speaking) asked(vendor, text string, parameters map[string]any) {
	if s.v.Asked != nil {
		s.v.Asked(vendor, text, parameters)
	}
}

func (s *speaking) cartesia() {
	var m struct {
		ContextID    string         `json:"context_id"`
		ModelID      string         `json:"model_id"`
		Transcript   string         `json:"transcript"`
		Voice        map[string]any `json:"voice"`
		OutputFormat struct {
			Container  string `json:"container"`
			Encoding   string `json:"encoding"`
			SampleRate int    `json:"sample_rate"`
		} `json:"output_format"`
		AddTimestamps bool               `json:"add_timestamps"`
		Continue      bool               `json:"continue"`
		Delay         *int               `json:"max_buffer_delay_ms"`
		Language      string             `json:"language"`
		Config        map[string]float64 `json:"generation_config"`
	}
	if !s.read(&m, true) {
		return
	}
	refuse := func(message string) {
		s.send(map[string]any{"type": "error", "title": "Bad request", "message": message, "status_code": 400, "done": true, "context_id": m.ContextID})
	}
	speed, hasSpeed := m.Config["speed"]
	switch {
	case m.ContextID == "" || m.ModelID == "" || m.Transcript == "" || m.Voice["id"] == nil:
		refuse("missing field")
		return
	case m.OutputFormat.Container != "raw" || m.OutputFormat.Encoding != "pcm_s16le" || m.OutputFormat.SampleRate != 24000:
		refuse("this server makes raw pcm_s16le at 24000 only")
		return
	case hasSpeed && (speed < 0.6 || speed > 1.5):
		refuse("speed out of range")
		return
	}
	parameters := map[string]any{"voice": m.Voice["id"], "language": m.Language}
	if m.Delay != nil {
		parameters["delay"] = *m.Delay
	}
	if hasSpeed {
		parameters["speed"] = speed
	}
	s.asked("cartesia", m.Transcript, parameters)
	if s.fault == ErrorEnd {
		refuse("You have used all of your credits")
		return
	}
	words := strings.Fields(m.Transcript)
	for i, piece := range s.sound(m.Transcript) {
		if s.broken(i) {
			return
		}
		if i < len(words) && s.fault != OddPieces {
			start := float64(i) * 0.06
			s.send(map[string]any{"type": "timestamps", "context_id": m.ContextID, "done": false, "status_code": 206,
				"word_timestamps": map[string]any{"words": words[i : i+1], "start": []float64{start}, "end": []float64{start + 0.06}}})
		}
		s.send(map[string]any{"type": "chunk", "context_id": m.ContextID, "data": piece, "done": false, "status_code": 206, "step_time": 1.5})
	}
	s.send(map[string]any{"type": "done", "context_id": m.ContextID, "done": true, "status_code": 200})
	_, _, _ = s.c.Read(s.ctx) // the socket stays open for more
}

func (s *speaking) deepgram() {
	s.send(map[string]any{"type": "Metadata", "request_id": "r1", "model_name": s.q.Get("model")})
	refuse := func(message string) { _ = s.c.Close(websocket.StatusPolicyViolation, message) }
	parameters := map[string]any{"voice": s.q.Get("model")}
	if v := s.q.Get("speed"); v != "" {
		speed, err := strconv.ParseFloat(v, 64)
		if err != nil || speed < 0.7 || speed > 1.5 {
			refuse("DATA-0001: speed out of range")
			return
		}
		parameters["speed"] = speed
	}
	if !strings.HasPrefix(s.q.Get("model"), "aura-") || s.q.Get("encoding") != "linear16" || s.q.Get("sample_rate") != "24000" {
		refuse(fmt.Sprintf("DATA-0002: no such model %s", s.q.Get("model")))
		return
	}
	text := ""
	for {
		var m struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}
		if !s.read(&m, true) {
			return
		}
		switch m.Type {
		case "Speak":
			text += m.Text
		case "Flush":
			s.asked("deepgram", text, parameters)
			if s.fault == ErrorEnd {
				refuse("You have used all of your credits")
				return
			}
			for i, piece := range s.sound(text) {
				if s.broken(i) || s.c.Write(s.ctx, websocket.MessageBinary, piece) != nil {
					return
				}
			}
			s.send(map[string]any{"type": "Flushed", "sequence_id": 0})
			text = ""
		case "Clear", "Close":
		default:
			refuse("DATA-0003: unknown message")
			return
		}
	}
}
