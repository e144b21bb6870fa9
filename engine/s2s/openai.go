package s2s

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
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

// rtMessage is any message of the vendor's.
type rtMessage struct {
	Type       string      `json:"type"`
	ResponseID string      `json:"response_id"`
	ItemID     string      `json:"item_id"`
	Delta      string      `json:"delta"`
	CallID     string      `json:"call_id"`
	Name       string      `json:"name"`
	Arguments  string      `json:"arguments"`
	Error      *rtError    `json:"error"`
	Response   *rtResponse `json:"response"`
}

type rtResponse struct {
	ID      string `json:"id"`
	Status  string `json:"status"`
	Details struct {
		Reason string   `json:"reason"`
		Error  *rtError `json:"error"`
	} `json:"status_details"`
	Usage *rtUsage `json:"usage"`
}

type rtError struct {
	Type    string `json:"type"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Param   string `json:"param"`
}

func (e *rtError) err() error {
	return fmt.Errorf("%s (%s)", cmp.Or(e.Message, "no reason given"), cmp.Or(e.Code, e.Type))
}

type rtUsage struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
	In     struct {
		Cached int `json:"cached_tokens"`
		Audio  int `json:"audio_tokens"`
		Which  struct {
			Audio int `json:"audio_tokens"`
		} `json:"cached_tokens_details"`
	} `json:"input_token_details"`
	Out struct {
		Audio int `json:"audio_tokens"`
	} `json:"output_token_details"`
}

func (u *rtUsage) usage() engine.Usage {
	return engine.Usage{
		In: u.Input, CachedIn: u.In.Cached, Out: u.Output,
		AudioIn: u.In.Audio, CachedAudioIn: u.In.Which.Audio, AudioOut: u.Out.Audio,
	}
}

func (d *realtime) read(message []byte) (events []any, answer [][]byte) {
	var m rtMessage
	if err := json.Unmarshal(message, &m); err != nil {
		return []any{evTrouble{fmt.Errorf("message: %w", err), false}}, nil
	}
	if m.ResponseID != "" && m.ResponseID != d.response {
		return nil, nil // of a response that was cancelled
	}
	switch m.Type {
	case "session.updated":
		return []any{evReady{}}, nil
	case "response.created":
		if m.Response == nil {
			return nil, nil
		}
		return nil, d.created(m.Response.ID)
	case "response.output_audio.delta":
		return d.sound(m)
	case "response.output_audio_transcript.delta":
		return []any{evWords{m.Delta}}, nil
	case "response.function_call_arguments.done":
		d.calls++
		return []any{evCall{engine.Call{ID: m.CallID, Name: m.Name, Args: arguments(m.Arguments)}}}, nil
	case "response.done":
		return d.done(m)
	case "error":
		return d.trouble(m.Error)
	}
	return nil, nil // transcripts of what we sent, limits, and what is still to be invented
}

// created is a response that begins. One that was cancelled before is not ours.
func (d *realtime) created(id string) [][]byte {
	d.asked = false
	if i := slices.Index(d.dead, ""); i >= 0 {
		d.dead[i] = id
		return encode(rtEvent{Type: "response.cancel", ResponseID: id})
	}
	d.response, d.again, d.calls = id, nil, 0
	return nil
}

func (d *realtime) sound(m rtMessage) ([]any, [][]byte) {
	b, err := base64.StdEncoding.DecodeString(m.Delta)
	if err != nil {
		return []any{evTrouble{fmt.Errorf("sound: %w", err), false}}, nil
	}
	if n := len(d.items); n == 0 || d.items[n-1].id != m.ItemID {
		d.items = append(d.items, heardItem{id: m.ItemID, from: d.samples})
		d.odd = nil
	}
	samples := d.odd.samples(b)
	d.samples += len(samples)
	d.items[len(d.items)-1].to = d.samples
	return []any{evSound{m.ItemID, samples}}, nil
}

func (d *realtime) done(m rtMessage) ([]any, [][]byte) {
	r := m.Response
	if r == nil {
		return nil, nil
	}
	var events []any
	if r.Usage != nil {
		events = append(events, evUsage{r.Usage.usage()}) // cancelled ones are paid for too
	}
	var answer [][]byte
	if d.refused { // the request came while this one was still under way
		d.refused = false
		answer = [][]byte{d.again}
	}
	if r.ID != d.response || r.ID == "" {
		return events, answer
	}
	d.response = ""
	switch {
	case r.Status == "failed" && r.Details.Error != nil:
		return append(events, evDone{r.Details.Error.err()}), nil
	case r.Status == "failed":
		return append(events, evDone{errors.New("the response failed without a reason")}), nil
	case r.Status == "incomplete" && r.Details.Reason == "content_filter":
		return append(events, evDone{errors.New("the vendor's content filter stopped the answer")}), nil
	case r.Status == "cancelled":
		return append(events, evDone{fmt.Errorf("the vendor cancelled the answer (%s)", r.Details.Reason)}), nil
	}
	if d.calls > 0 {
		return append(events, evPart{}), nil
	}
	return append(events, evDone{}), nil
}

// trouble decides what an error means: most leave the session as it was.
func (d *realtime) trouble(e *rtError) ([]any, [][]byte) {
	if e == nil {
		return nil, nil
	}
	switch e.Code {
	case "response_cancel_not_active":
		if i := slices.Index(d.dead, ""); i >= 0 { // it was never to begin
			d.dead = slices.Delete(d.dead, i, i+1)
		}
		return nil, nil
	case "input_audio_buffer_commit_empty":
		return nil, nil
	case "conversation_already_has_active_response":
		d.refused = d.again != nil // asked for again when that one is done
		return nil, nil
	case "session_expired":
		return []any{evTrouble{e.err(), true}}, nil
	case "rate_limit_exceeded", "insufficient_quota":
		return []any{evDone{e.err()}}, nil
	}
	if strings.HasPrefix(e.Param, "response") || e.Type == "server_error" {
		return []any{evDone{e.err()}}, nil
	}
	return []any{evTrouble{e.err(), false}}, nil
}

// arguments are a call's arguments as valid JSON; what is broken is a string, which
// no tool's schema takes, so that the model is told.
func arguments(s string) json.RawMessage {
	if s = strings.TrimSpace(s); s == "" {
		return json.RawMessage("{}")
	}
	if json.Valid([]byte(s)) {
		return json.RawMessage(s)
	}
	quoted, err := json.Marshal(s)
	if err != nil {
		return json.RawMessage("{}")
	}
	return quoted
}

// resampled is what somebody said, at a vendor's rate, and long enough to be taken.
func resampled(sound []int16, rate int) []int16 {
	out := sound
	if rate != pcm.HearRate {
		r, err := pcm.NewResampler(pcm.HearRate, rate)
		if err == nil { // both rates are constants that it takes
			out = r.Flush(r.Append(nil, sound))
			out = out[:min(len(out), len(sound)*rate/pcm.HearRate)] // the filter rings on for a moment
		}
	}
	least := int(shortest * time.Duration(rate) / time.Second)
	if len(out) < least {
		out = append(slices.Clone(out), make([]int16, least-len(out))...)
	}
	return out
}

// carry keeps the half sample that a piece of sound may end with.
type carry []byte

// samples is the next piece of sound, with what was left of the one before.
func (c *carry) samples(b []byte) []int16 {
	if len(*c) > 0 {
		b = append(slices.Clip(*c), b...)
	}
	*c = nil
	if n := len(b); n%2 == 1 {
		*c = carry{b[n-1]}
	}
	return pcm.Samples(b)
}

// bytesOf is sound as it goes on the wire.
func bytesOf(samples []int16) []byte {
	b := make([]byte, 0, 2*len(samples))
	for _, s := range samples {
		b = binary.LittleEndian.AppendUint16(b, uint16(s))
	}
	return b
}
