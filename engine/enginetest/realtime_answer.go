package enginetest

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

const (
	// chunk is how much sound one message has, and chunkEvery how often one comes:
	// five times as fast as it is played.
	chunk      = talkRate / 10
	chunkEvery = 20 * time.Millisecond
	// thinking is how long an answer takes to begin.
	thinking = 60 * time.Millisecond
	// linger is how long cancelled sound goes on for [Lingering].
	linger = 300 * time.Millisecond
)

// rtAnswer is a response under way: what is still to be sent, and when.
type rtAnswer struct {
	id     string
	fault  Fault
	timer  *time.Timer
	steps  []rtStep
	item   *rtItem // the message that is being spoken
	output []any
	usage  m
	ending time.Time // of a cancelled one that goes on
}

type rtStep struct {
	after time.Duration
	do    func()
}

func (s *rtSession) respond(b []byte) {
	if s.active != nil {
		s.complain("conversation_already_has_active_response", "", fmt.Sprintf("Conversation already has an active response in progress: %s. Wait until the response is finished before creating a new one.", s.active.id))
		return
	}
	var q struct {
		Response struct {
			ToolChoice string `json:"tool_choice"`
		} `json:"response"`
	}
	_ = json.Unmarshal(b, &q) // checked before; a tool choice that is an object is not read
	turn := s.turn(q.Response.ToolChoice == "none")
	var answer Answer
	if s.o.Answer != nil {
		answer = s.o.Answer(turn)
	} else {
		answer = Answer{Text: "I hear you."}
	}
	s.events++
	a := &rtAnswer{id: fmt.Sprintf("resp_%d", s.events), fault: s.o.Answers.take(), timer: time.NewTimer(thinking)}
	if a.fault == Dim {
		a.timer.Stop()
		return
	}
	s.active = a
	s.script(a, answer, turn)
}

// turn is what the answer is wanted to.
func (s *rtSession) turn(mute bool) Turn {
	t := Turn{System: s.system, Voice: s.voice, Talk: s.conversation()}
	for _, raw := range s.tools {
		var tool struct {
			Name string `json:"name"`
		}
		_ = json.Unmarshal(raw, &tool) // checked before
		if !mute {
			t.Tools = append(t.Tools, tool.Name)
		}
	}
	for _, i := range slices.Backward(s.items) {
		if i.Type == "function_call_output" {
			t.Results = append(t.Results, i.output)
			continue
		}
		if i.Type == "message" && i.Role == "user" {
			if i.sound != nil {
				t.Sound = pcm.Chunk{Rate: talkRate, Samples: i.sound}
			}
			break
		}
	}
	slices.Reverse(t.Results)
	return t
}

// script plans all events of an answer.
func (s *rtSession) script(a *rtAnswer, answer Answer, turn Turn) {
	at := func(after time.Duration, f func()) { a.steps = append(a.steps, rtStep{after, f}) }
	at(0, func() {
		s.send("response.created", m{"response": s.response(a, "in_progress", nil)})
		s.send("rate_limits.updated", m{"rate_limits": []any{m{"name": "tokens", "limit": 100000, "remaining": 99000, "reset_seconds": 0.1}}})
	})
	if a.fault == Refused {
		at(0, func() {
			s.finish(a, "failed", m{"type": "failed", "error": m{"type": "rate_limit_exceeded", "code": "rate_limit_exceeded"}})
		})
		return
	}
	if answer.Text != "" {
		s.speak(a, answer.Text, at)
	}
	for n, c := range answer.Calls {
		s.callOut(a, c, fmt.Sprintf("call_%d_%d", s.events, n), at)
	}
	a.usage = m{
		"total_tokens": 30 + len(turn.Talk), "input_tokens": 10 + len(turn.Talk), "output_tokens": 20,
		"input_token_details":  m{"text_tokens": 4 + len(turn.Talk), "audio_tokens": 6, "cached_tokens": 2, "cached_tokens_details": m{"text_tokens": 1, "audio_tokens": 1}},
		"output_token_details": m{"text_tokens": 5, "audio_tokens": 15},
	}
	at(0, func() { s.finish(a, "completed", nil) })
}

// speak plans a message: its words a little before its sound.
func (s *rtSession) speak(a *rtAnswer, text string, at func(time.Duration, func())) {
	i := &rtItem{ID: s.id(), Type: "message", Role: "assistant", remote: true}
	index := len(a.output)
	a.output = append(a.output, nil)
	where := func(more m) m {
		more["response_id"], more["item_id"], more["output_index"], more["content_index"] = a.id, i.ID, index, 0
		return more
	}
	at(0, func() {
		a.item = i
		s.spoken = true
		s.send("response.output_item.added", m{"response_id": a.id, "output_index": index, "item": m{"id": i.ID, "type": "message", "object": "realtime.item", "role": "assistant", "status": "in_progress", "content": []any{}}})
		before := s.lastID()
		s.items = append(s.items, i)
		s.send("conversation.item.added", m{"item": i.wire("in_progress"), "previous_item_id": before})
		s.send("response.content_part.added", where(m{"part": m{"type": "audio", "transcript": ""}}))
	})
	sound, words := talk(text)
	word := func(n int) func() {
		return func() {
			piece := words[n].text
			if n > 0 {
				piece = " " + piece
			}
			i.text += piece
			i.words = append(i.words, words[n])
			if a.fault != NoTranscript {
				s.send("response.output_audio_transcript.delta", where(m{"delta": piece}))
			}
		}
	}
	size := 2 * chunk
	switch a.fault {
	case OddSound:
		size = 2*chunk - 333
	case Fragmented:
		size = 40 << 10
	}
	raw := make([]byte, 0, 2*len(sound))
	for _, v := range sound {
		raw = binary.LittleEndian.AppendUint16(raw, uint16(v))
	}
	told, sent := 0, 0
	for n, piece := range slices.Collect(slices.Chunk(raw, size)) {
		// Words come about half a second of sound before it.
		for ; told < len(words) && words[told].from < sent/2+talkRate/2 && a.fault != LateWords; told++ {
			at(0, word(told))
		}
		sent += len(piece)
		if n == 12 {
			s.spoil(a, at)
		}
		pace := chunkEvery
		if a.fault == Slower {
			pace = 120 * time.Millisecond
		}
		heard := sent / 2
		at(pace, func() {
			i.sound = sound[:heard]
			s.sendSound(a, where(m{"delta": base64.StdEncoding.EncodeToString(piece)}))
		})
	}
	for ; told < len(words); told++ {
		at(0, word(told))
	}
	at(0, func() {
		i.sound = sound
		s.send("response.output_audio.done", where(m{}))
		s.send("response.output_audio_transcript.done", where(m{"transcript": i.text}))
		s.send("response.content_part.done", where(m{"part": m{"type": "audio", "transcript": i.text}}))
		a.output[index] = i.wire("completed")
		s.send("response.output_item.done", m{"response_id": a.id, "output_index": index, "item": i.wire("completed")})
		s.send("conversation.item.done", m{"item": i.wire("completed"), "previous_item_id": nil})
		a.item = nil
	})
}

// spoil plans what goes wrong in the middle of the sound.
func (s *rtSession) spoil(a *rtAnswer, at func(time.Duration, func())) {
	switch a.fault {
	case HangUp:
		at(0, func() {
			_ = s.c.Close(websocket.StatusInternalError, "The server had an error while processing your request")
		})
	case Expired:
		at(0, s.expire)
	case Deaf:
		at(0, s.pipe.deafen)
	case Stuck:
		at(time.Hour, func() {})
	}
}

// sendSound sends a piece of sound, in fragments for [Fragmented].
func (s *rtSession) sendSound(a *rtAnswer, body m) {
	if a.fault != Fragmented {
		s.send("response.output_audio.delta", body)
		return
	}
	s.events++
	body["type"], body["event_id"] = "response.output_audio.delta", fmt.Sprintf("event_%d", s.events)
	b, _ := json.Marshal(body) // maps of plain values always encode
	w, err := s.c.Writer(s.ctx, websocket.MessageText)
	if err != nil {
		return
	}
	for piece := range slices.Chunk(b, 5000) {
		if _, err := w.Write(piece); err != nil {
			return
		}
	}
	_ = w.Close() // the next write notices a client that has gone
}

// callOut plans a function call.
func (s *rtSession) callOut(a *rtAnswer, c ToolCall, id string, at func(time.Duration, func())) {
	args := c.Args
	switch a.fault {
	case EmptyArguments:
		args = ""
	case BrokenJSON:
		args = args[:len(args)/2]
	case HugeArguments:
		args = `{"x":"` + strings.Repeat("y", 200<<10) + `"}`
	}
	i := &rtItem{ID: s.id(), Type: "function_call", callID: id, name: c.Name, args: args}
	index := len(a.output)
	a.output = append(a.output, nil)
	at(chunkEvery, func() {
		s.items = append(s.items, i)
		bare := *i
		bare.args = ""
		s.send("response.output_item.added", m{"response_id": a.id, "output_index": index, "item": bare.wire("in_progress")})
		where := m{"response_id": a.id, "item_id": i.ID, "output_index": index, "call_id": id}
		for piece := range slices.Chunk([]byte(args), max(1, (len(args)+1)/2)) {
			d := m{"delta": string(piece)}
			maps.Copy(d, where)
			s.send("response.function_call_arguments.delta", d)
		}
		where["name"], where["arguments"] = c.Name, args
		s.send("response.function_call_arguments.done", where)
		a.output[index] = i.wire("completed")
		s.send("response.output_item.done", m{"response_id": a.id, "output_index": index, "item": i.wire("completed")})
		s.send("conversation.item.added", m{"item": i.wire("completed"), "previous_item_id": nil})
		s.send("conversation.item.done", m{"item": i.wire("completed"), "previous_item_id": nil})
		if a.fault == HangUpMidTool {
			_ = s.c.Close(websocket.StatusInternalError, "The server had an error while processing your request")
		}
	})
}

func (s *rtSession) response(a *rtAnswer, status string, details any) m {
	output := slices.DeleteFunc(slices.Clone(a.output), func(v any) bool { return v == nil })
	r := m{"id": a.id, "object": "realtime.response", "status": status, "output": output, "conversation_id": "conv_1"}
	if status == "in_progress" {
		r["output"] = []any{}
	}
	if details != nil {
		r["status_details"] = details
	}
	if a.usage != nil && status != "in_progress" && a.fault != NoUsage {
		r["usage"] = a.usage
	}
	return r
}

// advance does what is due of the answer.
func (s *rtSession) advance() {
	s.o.mu.Lock()
	defer s.o.mu.Unlock()
	a := s.active
	if !a.ending.IsZero() && !time.Now().Before(a.ending) {
		s.finish(a, "cancelled", m{"type": "cancelled", "reason": "client_cancelled"})
		return
	}
	step := a.steps[0]
	a.steps = a.steps[1:]
	step.do()
	if s.active == a {
		a.timer.Reset(a.steps[0].after)
	}
}

// finish ends the answer.
func (s *rtSession) finish(a *rtAnswer, status string, details any) {
	a.timer.Stop()
	s.active = nil
	s.send("response.done", m{"response": s.response(a, status, details)})
	if a.fault == TwiceUsage {
		s.send("response.done", m{"response": s.response(a, status, details)})
	}
	if s.o.Transcribe == "" {
		return
	}
	for _, i := range slices.Backward(s.items) {
		if i.Type == "message" && i.sound != nil && i.Role == "user" {
			s.send("conversation.item.input_audio_transcription.completed", m{"item_id": i.ID, "content_index": 0, "transcript": s.o.Transcribe, "usage": m{"type": "duration", "seconds": 1}})
			return
		}
	}
}

func (s *rtSession) stop(b []byte) {
	var q struct {
		ID string `json:"response_id"`
	}
	_ = json.Unmarshal(b, &q) // checked before
	a := s.active
	if a == nil || q.ID != "" && q.ID != a.id || !a.ending.IsZero() {
		s.complain("response_cancel_not_active", "", "Cancellation failed: no active response found")
		return
	}
	if a.fault == Lingering {
		a.ending = time.Now().Add(linger)
		return
	}
	s.finish(a, "cancelled", m{"type": "cancelled", "reason": "client_cancelled"})
}
