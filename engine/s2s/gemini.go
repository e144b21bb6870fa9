package s2s

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// liveLasts is how long a connection is used if no goAway comes before: they last
// about ten minutes.
const liveLasts = 9 * time.Minute

// livePath is the method that a session calls.
const livePath = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"

// liveVoices are the vendor's voices: four that sound like men, four like women.
var liveVoices = []string{"Charon", "Fenrir", "Orus", "Puck", "Aoede", "Kore", "Leda", "Zephyr"}

// live is Google's Gemini Live API.
type live struct {
	o Options

	// stale counts answers that were broken off and whose end has not come yet.
	stale   int
	pending bool // an answer whose end has not come
	began   bool // anything has been said in this session
	odd     carry
}

// modern reports whether the model takes changes and text in mid-session; older ones
// close the connection.
func (d *live) modern() bool {
	m := strings.TrimPrefix(d.o.Model, "models/")
	for _, old := range []string{"gemini-2", "gemini-3.0", "gemini-3.1"} {
		if strings.HasPrefix(m, old) {
			return false
		}
	}
	return true
}

func (d *live) address() (string, http.Header) {
	return d.o.URL + livePath, http.Header{"X-Goog-Api-Key": {d.o.Key.Reveal()}}
}

func (d *live) lasts() time.Duration { return liveLasts }

// lvMessage is what a client sends: exactly one field is set.
type lvMessage struct {
	Setup         *lvSetup        `json:"setup,omitempty"`
	ClientContent *lvContent      `json:"clientContent,omitempty"`
	RealtimeInput *lvInput        `json:"realtimeInput,omitempty"`
	ToolResponse  *lvToolResponse `json:"toolResponse,omitempty"`
	ContextUpdate *lvUpdate       `json:"contextUpdate,omitempty"`
}

type lvSetup struct {
	Model             string       `json:"model"`
	GenerationConfig  lvGeneration `json:"generationConfig"`
	SystemInstruction *lvTurn      `json:"systemInstruction,omitempty"`
	Tools             []lvTools    `json:"tools,omitempty"`
	RealtimeInput     struct {
		Detection struct {
			Disabled bool `json:"disabled"`
		} `json:"automaticActivityDetection"`
		Handling string `json:"activityHandling"`
	} `json:"realtimeInputConfig"`
	Resumption struct {
		Handle string `json:"handle,omitempty"`
	} `json:"sessionResumption"`
	Compression struct {
		SlidingWindow struct{} `json:"slidingWindow"`
	} `json:"contextWindowCompression"`
	Transcription struct{}   `json:"outputAudioTranscription"`
	History       *lvHistory `json:"historyConfig,omitempty"`
}

type lvHistory struct {
	Initial bool `json:"initialHistoryInClientContent"`
}

type lvGeneration struct {
	Modalities []string `json:"responseModalities"`
	MaxTokens  int      `json:"maxOutputTokens"`
	Speech     struct {
		Voice struct {
			Prebuilt struct {
				Name string `json:"voiceName"`
			} `json:"prebuiltVoiceConfig"`
		} `json:"voiceConfig"`
		Language string `json:"languageCode,omitempty"`
	} `json:"speechConfig"`
}

type lvTurn struct {
	Role  string   `json:"role,omitempty"`
	Parts []lvPart `json:"parts"`
}

type lvPart struct {
	Text string `json:"text"`
}

type lvTools struct {
	Functions []lvFunction `json:"functionDeclarations"`
}

type lvFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parametersJsonSchema,omitempty"`
	// Behavior is BLOCKING: an answer that goes on while its facts are looked up
	// makes them up.
	Behavior string `json:"behavior"`
}

type lvContent struct {
	Turns    []lvTurn `json:"turns,omitempty"`
	Complete bool     `json:"turnComplete"`
}

type lvInput struct {
	Audio *lvBlob   `json:"audio,omitempty"`
	Text  string    `json:"text,omitempty"`
	Start *struct{} `json:"activityStart,omitempty"`
	End   *struct{} `json:"activityEnd,omitempty"`
}

type lvBlob struct {
	Data []byte `json:"data"`
	MIME string `json:"mimeType"`
}

type lvToolResponse struct {
	Responses []lvFunctionResponse `json:"functionResponses"`
}

type lvFunctionResponse struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Response struct {
		Output string `json:"output"`
	} `json:"response"`
	Scheduling string `json:"scheduling,omitempty"`
}

type lvUpdate struct {
	Tools *struct {
		Tools []lvTools `json:"tools"`
	} `json:"tools,omitempty"`
}

func lvToolsOf(tools []mcp.Tool) []lvTools {
	out := []lvTools{}
	if len(tools) == 0 {
		return out
	}
	var f []lvFunction
	for _, t := range tools {
		f = append(f, lvFunction{t.Name, t.Description, t.Schema, "BLOCKING"})
	}
	return append(out, lvTools{f})
}

func (d *live) begin(s setup) [][]byte {
	m := &lvSetup{Model: "models/" + strings.TrimPrefix(d.o.Model, "models/"), Tools: lvToolsOf(s.tools)}
	m.GenerationConfig.Modalities, m.GenerationConfig.MaxTokens = []string{"AUDIO"}, maxAnswer
	m.GenerationConfig.Speech.Voice.Prebuilt.Name, m.GenerationConfig.Speech.Language = s.voice, s.language
	m.SystemInstruction = &lvTurn{Parts: []lvPart{{s.system}}}
	m.RealtimeInput.Detection.Disabled, m.RealtimeInput.Handling = true, "START_OF_ACTIVITY_INTERRUPTS"
	m.Resumption.Handle = s.handle
	if s.handle == "" && len(s.talk) > 0 {
		m.History = &lvHistory{true}
	}
	d.began = s.handle != ""
	return encode(lvMessage{Setup: m})
}

func (d *live) ready(s setup) [][]byte {
	if s.handle != "" || len(s.talk) == 0 {
		return nil
	}
	return d.content(s.talk)
}

// content adds talk to the session without asking for an answer.
func (d *live) content(talk []engine.Message) [][]byte {
	return encode(lvMessage{ClientContent: &lvContent{Turns: turnsOf(talk)}})
}

func turnsOf(talk []engine.Message) (turns []lvTurn) {
	for _, m := range talk {
		role := "user"
		if m.Role == engine.Assistant {
			role = "model"
		}
		turns = append(turns, lvTurn{role, []lvPart{{m.Text}}})
	}
	return turns
}

func (d *live) declare(tools []mcp.Tool) ([][]byte, bool) {
	if !d.modern() {
		return nil, false
	}
	u := &lvUpdate{}
	u.Tools = &struct {
		Tools []lvTools `json:"tools"`
	}{lvToolsOf(tools)}
	return encode(lvMessage{ContextUpdate: u}), true
}

func (d *live) ask(q question) [][]byte {
	if d.pending {
		d.stale++ // what is under way is interrupted by what follows
	}
	d.pending, d.odd = true, nil
	var out [][]byte
	told := slices.Clone(q.missed)
	if q.now != "" {
		told = append(told, engine.Message{Role: engine.User, Text: q.now})
	}
	written := d.modern() || !d.began // text is taken as it is
	if written && len(q.sound) == 0 {
		d.began = true
		return encode(lvMessage{ClientContent: &lvContent{turnsOf(append(told, engine.Message{Role: engine.User, Text: q.text})), true}})
	}
	switch {
	case len(told) == 0:
	case written:
		out = d.content(told)
	default: // text is all that older models take in mid-session
		out = encode(lvMessage{RealtimeInput: &lvInput{Text: script(told)}})
	}
	d.began = true
	out = append(out, encode(lvMessage{RealtimeInput: &lvInput{Start: &struct{}{}}})...)
	if len(q.sound) == 0 {
		out = append(out, encode(lvMessage{RealtimeInput: &lvInput{Text: q.text}})...)
	} else {
		for piece := range slices.Chunk(resampled(q.sound, pcm.HearRate), pcm.HearRate/10) {
			out = append(out, encode(lvMessage{RealtimeInput: &lvInput{Audio: &lvBlob{bytesOf(piece), "audio/pcm;rate=16000"}}})...)
		}
	}
	return append(out, encode(lvMessage{RealtimeInput: &lvInput{End: &struct{}{}}})...)
}

// script is talk as one text.
func script(talk []engine.Message) string {
	var b strings.Builder
	for _, m := range talk {
		if m.Role == engine.Assistant {
			b.WriteString("[You said:] ")
		}
		b.WriteString(m.Text + "\n")
	}
	return b.String()
}

func (d *live) result(c engine.Call, text string, absorb bool) [][]byte {
	r := lvFunctionResponse{ID: c.ID, Name: c.Name}
	r.Response.Output = text
	if absorb {
		r.Scheduling = "SILENT"
	}
	return encode(lvMessage{ToolResponse: &lvToolResponse{[]lvFunctionResponse{r}}})
}

// resume has nothing to ask: the model goes on by itself.
func (d *live) resume(bool, bool) ([][]byte, bool) { return nil, true }

// stop interrupts with a note of what was heard: there is no way to cut the
// session's memory back, and it believes that all it sent was played.
func (d *live) stop(_ time.Duration, heard string) [][]byte {
	note := "[You were interrupted before anybody heard you.]"
	if heard != "" {
		note = fmt.Sprintf("[You were interrupted. All that was heard of what you said is: %q]", heard)
	}
	talk := []engine.Message{{Role: engine.User, Text: note}}
	if d.modern() {
		return d.content(talk)
	}
	return encode(lvMessage{RealtimeInput: &lvInput{Text: note}})
}
