package s2s

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/mcp"
)

const (
	// realtimeRate is the only rate of OpenAI's sound, in and out.
	realtimeRate = 24000
	// shortest is the least sound that OpenAI takes for a turn, and a little more.
	shortest = 120 * time.Millisecond
	// realtimeLasts is how long a session is used of the 60 minutes it may last.
	realtimeLasts = 55 * time.Minute
	// maxAnswer bounds an answer in tokens: about a minute of speech.
	maxAnswer = 1500
	// maxDead is how many cancelled responses are remembered, whose sound may still
	// come.
	maxDead = 16
)

// realtimeVoices are the vendor's voices; the last two are the best.
var realtimeVoices = []string{"alloy", "ash", "ballad", "coral", "echo", "sage", "shimmer", "verse", "marin", "cedar"}

// realtime is OpenAI's Realtime API in the shape that is generally available.
type realtime struct {
	o Options

	turn     int
	noted    string // id of the item with what held for the last turn
	response string // under way; "" if none
	asked    bool   // for a response that has not begun
	again    []byte // the last request for a response, until it begins
	refused  bool   // because another one was still under way
	calls    int    // of the response under way
	dead     []string
	items    []heardItem
	samples  int // of the turn
	odd      carry
}

// heardItem is a piece of the assistant's sound in the session.
type heardItem struct {
	id       string
	from, to int // samples of the turn
}

func (d *realtime) address() (string, http.Header) {
	q := url.Values{"model": {d.o.Model}}
	return d.o.URL + "/v1/realtime?" + q.Encode(), http.Header{"Authorization": {"Bearer " + d.o.Key.Reveal()}}
}

func (d *realtime) lasts() time.Duration { return realtimeLasts }

type rtEvent struct {
	Type         string     `json:"type"`
	Session      *rtSession `json:"session,omitempty"`
	Audio        string     `json:"audio,omitempty"`
	Item         *rtItem    `json:"item,omitempty"`
	ItemID       string     `json:"item_id,omitempty"`
	ContentIndex *int       `json:"content_index,omitempty"`
	AudioEndMS   *int64     `json:"audio_end_ms,omitempty"`
	Response     *rtAsk     `json:"response,omitempty"`
	ResponseID   string     `json:"response_id,omitempty"`
}

type rtSession struct {
	Type             string    `json:"type"`
	Instructions     *string   `json:"instructions,omitempty"`
	OutputModalities []string  `json:"output_modalities,omitempty"`
	Audio            *rtAudio  `json:"audio,omitempty"`
	Tools            *[]rtTool `json:"tools,omitempty"`
	ToolChoice       string    `json:"tool_choice,omitempty"`
	MaxOutputTokens  int       `json:"max_output_tokens,omitempty"`
}

type rtAudio struct {
	Input  rtInput  `json:"input"`
	Output rtOutput `json:"output"`
}

type rtFormat struct {
	Type string `json:"type"`
	Rate int    `json:"rate"`
}

type rtInput struct {
	Format rtFormat `json:"format"`
	// TurnDetection is null: the table hears when somebody has finished.
	TurnDetection *struct{} `json:"turn_detection"`
}

type rtOutput struct {
	Format rtFormat `json:"format"`
	Voice  string   `json:"voice"`
}

type rtTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

type rtItem struct {
	ID      string   `json:"id,omitempty"`
	Type    string   `json:"type"`
	Role    string   `json:"role,omitempty"`
	Content []rtPart `json:"content,omitempty"`
	CallID  string   `json:"call_id,omitempty"`
	Output  *string  `json:"output,omitempty"`
}

type rtPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type rtAsk struct {
	ToolChoice string `json:"tool_choice,omitempty"`
}

// encode writes messages; what is made of these types always encodes.
func encode(messages ...any) [][]byte {
	out := make([][]byte, 0, len(messages))
	for _, m := range messages {
		if b, err := json.Marshal(m); err == nil {
			out = append(out, b)
		}
	}
	return out
}

func (d *realtime) begin(s setup) [][]byte {
	format := rtFormat{"audio/pcm", realtimeRate}
	tools := rtTools(s.tools)
	return encode(rtEvent{Type: "session.update", Session: &rtSession{
		Type: "realtime", Instructions: &s.system, OutputModalities: []string{"audio"},
		Audio: &rtAudio{Input: rtInput{Format: format}, Output: rtOutput{format, s.voice}},
		Tools: &tools, ToolChoice: "auto", MaxOutputTokens: maxAnswer,
	}})
}

func (d *realtime) ready(s setup) [][]byte { return d.tell(s.talk) }

func rtTools(tools []mcp.Tool) []rtTool {
	out := []rtTool{}
	for _, t := range tools {
		out = append(out, rtTool{"function", t.Name, t.Description, t.Schema})
	}
	return out
}

func (d *realtime) declare(tools []mcp.Tool) ([][]byte, bool) {
	list := rtTools(tools)
	return encode(rtEvent{Type: "session.update", Session: &rtSession{Type: "realtime", Tools: &list}}), true
}

// tell adds what was said to the session's conversation.
func (d *realtime) tell(talk []engine.Message) [][]byte {
	var out [][]byte
	for _, m := range talk {
		item := rtItem{Type: "message", Role: "user", Content: []rtPart{{"input_text", m.Text}}}
		if m.Role == engine.Assistant {
			item.Role, item.Content[0].Type = "assistant", "output_text"
		}
		out = append(out, encode(rtEvent{Type: "conversation.item.create", Item: &item})...)
	}
	return out
}

func (d *realtime) ask(q question) [][]byte {
	d.turn++
	d.items, d.samples, d.calls = nil, 0, 0
	out := d.tell(q.missed)
	if d.noted != "" {
		out = append(out, encode(rtEvent{Type: "conversation.item.delete", ItemID: d.noted})...)
		d.noted = ""
	}
	if q.now != "" {
		// What holds only now is taken out again before the next turn, so that it
		// neither piles up nor spoils the vendor's cache of what comes before.
		d.noted = fmt.Sprintf("now_%d", d.turn)
		out = append(out, encode(rtEvent{Type: "conversation.item.create", Item: &rtItem{
			ID: d.noted, Type: "message", Role: "system", Content: []rtPart{{"input_text", q.now}},
		}})...)
	}
	if len(q.sound) == 0 {
		out = append(out, d.tell([]engine.Message{{Role: engine.User, Text: q.text}})...)
	} else {
		for piece := range slices.Chunk(resampled(q.sound, realtimeRate), realtimeRate/2) {
			out = append(out, encode(rtEvent{Type: "input_audio_buffer.append", Audio: base64.StdEncoding.EncodeToString(bytesOf(piece))})...)
		}
		out = append(out, encode(rtEvent{Type: "input_audio_buffer.commit"})...)
	}
	return append(out, d.create(nil))
}

// create asks for a response.
func (d *realtime) create(r *rtAsk) []byte {
	d.asked = true
	m := encode(rtEvent{Type: "response.create", Response: r})[0]
	d.again = m
	return m
}

func (d *realtime) result(c engine.Call, text string, _ bool) [][]byte {
	return encode(rtEvent{Type: "conversation.item.create", Item: &rtItem{Type: "function_call_output", CallID: c.ID, Output: &text}})
}

func (d *realtime) resume(parted, tools bool) ([][]byte, bool) {
	switch {
	case !parted:
		return nil, false
	case tools:
		return [][]byte{d.create(nil)}, true
	}
	return [][]byte{d.create(&rtAsk{ToolChoice: "none"})}, true
}

func (d *realtime) stop(played time.Duration, _ string) [][]byte {
	var out [][]byte
	if d.response != "" || d.asked {
		out = encode(rtEvent{Type: "response.cancel", ResponseID: d.response})
		d.kill(d.response)
		d.response, d.again, d.asked, d.refused = "", nil, false, false
	}
	reached := int(played * realtimeRate / time.Second)
	for _, i := range d.items {
		switch {
		case i.to <= reached:
		case i.from >= reached:
			out = append(out, encode(rtEvent{Type: "conversation.item.delete", ItemID: i.id})...)
		default:
			ms := int64(reached-i.from) * 1000 / realtimeRate
			out = append(out, encode(rtEvent{Type: "conversation.item.truncate", ItemID: i.id, ContentIndex: new(int), AudioEndMS: &ms})...)
		}
	}
	return out
}

// kill forgets a response: what still comes of it is nobody's. "" is one that has
// been asked for and has not begun.
func (d *realtime) kill(id string) {
	d.dead = append(d.dead, id)
	if len(d.dead) > maxDead {
		d.dead = slices.Delete(d.dead, 0, 1)
	}
}
