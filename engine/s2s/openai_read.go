package s2s

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

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
