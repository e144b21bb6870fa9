package enginetest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// Faults of an answer that is sound.
const (
	CutSound    Fault = "the connection closes in the middle of the sound"
	StallSound  Fault = "the sound stops coming in the middle"
	OddPieces   Fault = "the sound comes in pieces of an odd number of bytes"
	NoTimes     Fault = "alignment null throughout"
	TimesBeyond Fault = "letters that begin after the end of the sound"
	SlowSound   Fault = "sound at 1.2 times the time it takes to play"
	NoSound     Fault = "200 with an empty body"
	SendMP3     Fault = "MP3 whatever was asked for"
	SendWAV     Fault = "WAV whatever was asked for"
)

// A SpeechRequest is what was asked of /v1/audio/speech.
type SpeechRequest struct {
	Model          string  `json:"model"`
	Input          string  `json:"input"`
	Voice          string  `json:"voice"`
	Instructions   string  `json:"instructions,omitempty"`
	ResponseFormat string  `json:"response_format,omitempty"`
	Speed          float64 `json:"speed,omitempty"`
	StreamFormat   string  `json:"stream_format,omitempty"`
}

// speechRate is the rate of OpenAI's pcm and wav.
const speechRate = 24000

var speechVoices = []string{"alloy", "ash", "ballad", "coral", "echo", "fable", "nova", "onyx", "sage", "shimmer", "verse", "marin", "cedar"}

func (o *OpenAI) speech(w http.ResponseWriter, r *http.Request, fault Fault) {
	var q SpeechRequest
	if !decode(w, r, &q) || !o.hasModel(w, q.Model) {
		return
	}
	switch {
	case q.Input == "":
		fail(w, http.StatusBadRequest, "missing_required_parameter", "Missing required parameter: 'input'.")
		return
	case utf8.RuneCountInString(q.Input) > 4096:
		fail(w, http.StatusBadRequest, "string_too_long", "Invalid 'input': string too long. Expected a string with maximum length 4096.")
		return
	case !slices.Contains(speechVoices, q.Voice):
		fail(w, http.StatusBadRequest, "invalid_value", fmt.Sprintf("Invalid value: '%s'. Supported values are: '%s'.", q.Voice, strings.Join(speechVoices, "', '")))
		return
	case q.Speed != 0 && (q.Speed < 0.25 || q.Speed > 4):
		fail(w, http.StatusBadRequest, "invalid_value", "Invalid 'speed': expected a value between 0.25 and 4.")
		return
	case q.ResponseFormat != "pcm" && q.ResponseFormat != "wav":
		fail(w, http.StatusBadRequest, "invalid_value", "this server makes pcm and wav only")
		return
	}
	speak := o.Speech
	if speak == nil {
		speak = Tones
	}
	chunk := speak(q)
	resample, err := pcm.NewResampler(chunk.Rate, speechRate)
	if err != nil {
		fail(w, http.StatusInternalServerError, "server_error", err.Error())
		return
	}
	samples := resample.Flush(resample.Append(nil, chunk.Samples))
	body := pcm.EncodeWAV(speechRate, samples)
	w.Header().Set("Content-Type", "audio/pcm")
	switch {
	case fault == SendMP3:
		w.Header().Set("Content-Type", "audio/mpeg")
	case q.ResponseFormat == "wav" || fault == SendWAV:
		w.Header().Set("Content-Type", "audio/wav")
		// A server that streams does not know the length.
		binary.LittleEndian.PutUint32(body[4:], math.MaxUint32)
		binary.LittleEndian.PutUint32(body[40:], math.MaxUint32)
	default:
		body = body[44:]
	}
	if fault == NoSound {
		body = nil
	}
	send(w, r, body, fault)
}

// send writes a body of sound in pieces, or as much of it as the fault lets through.
func send(w http.ResponseWriter, r *http.Request, body []byte, fault Fault) {
	size := 4800
	if fault == OddPieces {
		size = 777
	}
	for i, piece := range slices.Collect(slices.Chunk(body, size)) {
		if i == 2 && fault == CutSound {
			panic(http.ErrAbortHandler)
		}
		if i == 2 && fault == StallSound {
			<-r.Context().Done()
			return
		}
		if _, err := w.Write(piece); err != nil {
			return
		}
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
	}
}

// Tones speaks each word as a tone of 60 ms, its pitch telling its place: word i
// sounds at (300 + 25 i) Hz.
func Tones(q SpeechRequest) pcm.Chunk {
	const rate, word = 24000, 24000 * 60 / 1000
	c := pcm.Chunk{Rate: rate}
	for i := range strings.Fields(q.Input) {
		hz := 300 + 25*float64(i)
		for n := range word {
			c.Samples = append(c.Samples, int16(6000*math.Sin(2*math.Pi*hz*float64(n)/rate)))
		}
	}
	return c
}

// A TranscriptionRequest is what was asked of /v1/audio/transcriptions.
type TranscriptionRequest struct {
	Model, Language, Prompt string
	Sound                   pcm.Chunk
}

func (o *OpenAI) transcription(w http.ResponseWriter, r *http.Request) {
	const most = 25 << 20
	r.Body = http.MaxBytesReader(w, r.Body, most+1<<20)
	if err := r.ParseMultipartForm(most); err != nil {
		fail(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	for field := range r.MultipartForm.Value {
		if !slices.Contains([]string{"model", "language", "prompt", "response_format", "temperature"}, field) {
			fail(w, http.StatusBadRequest, "unknown_parameter", fmt.Sprintf("Unknown parameter: '%s'.", field))
			return
		}
	}
	q := TranscriptionRequest{Model: r.FormValue("model"), Language: r.FormValue("language"), Prompt: r.FormValue("prompt")}
	if !o.hasModel(w, q.Model) {
		return
	}
	file, head, err := r.FormFile("file")
	if err != nil {
		fail(w, http.StatusBadRequest, "missing_required_parameter", "Missing required parameter: 'file'.")
		return
	}
	defer file.Close()
	if filepath.Ext(head.Filename) != ".wav" || head.Size > most {
		fail(w, http.StatusBadRequest, "invalid_value", "Invalid file format. Supported formats: ['flac', 'm4a', 'mp3', 'mp4', 'mpeg', 'mpga', 'oga', 'ogg', 'wav', 'webm']")
		return
	}
	if len(q.Language) != 0 && len(q.Language) != 2 {
		fail(w, http.StatusBadRequest, "invalid_language_format", fmt.Sprintf("Invalid language '%s'. Language parameter must be specified in ISO-639-1 or ISO-639-3 format.", q.Language))
		return
	}
	wav, err := pcm.NewWAVReader(file)
	if err != nil {
		fail(w, http.StatusBadRequest, "invalid_value", "The audio file could not be decoded or its format is not supported.")
		return
	}
	q.Sound.Rate = wav.Rate()
	for buf := make([]int16, 4096); err == nil; {
		var n int
		n, err = wav.Read(buf)
		q.Sound.Samples = append(q.Sound.Samples, buf[:n]...)
	}
	if q.Sound.Duration().Milliseconds() < 100 {
		fail(w, http.StatusBadRequest, "audio_too_short", "Audio file is too short. Minimum audio length is 0.1 seconds.")
		return
	}
	text := ""
	if o.Transcribe != nil {
		text = o.Transcribe(q)
	}
	if r.FormValue("response_format") == "text" {
		_, _ = io.WriteString(w, text+"\n")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"text": text,
		"usage": map[string]any{"type": "duration", "seconds": math.Ceil(q.Sound.Duration().Seconds())}})
}
