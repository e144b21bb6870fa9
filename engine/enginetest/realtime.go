package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// Faults of a speech-to-speech answer, for [Realtime.Answers] and [Live.Answers].
const (
	Lingering     Fault = "sound goes on for 300 ms after a cancellation"
	Deaf          Fault = "the connection stands, and nothing is read or sent any more"
	HangUpMidTool Fault = "the socket closes with code 1011 while a tool runs"
	Expired       Fault = "the session expires in the middle of an answer"
	NoTranscript  Fault = "sound without words"
	LateWords     Fault = "the words come after all of the sound"
	Fragmented    Fault = "messages of over 32 KiB, in fragments"
	OddSound      Fault = "sound in pieces of an odd number of bytes"
	Slower        Fault = "sound at 1.2 times the time it takes to play"
	Refused       Fault = "the answer fails: rate limit"
	Stuck         Fault = "the sound stops coming in the middle of an answer"
	Takeback      Fault = "the tool calls are cancelled while they run"
	GoAway        Fault = "goAway, and 2 s later the connection closes"
	Dim           Fault = "no answer begins"
)

// Realtime is OpenAI's Realtime API as it is generally available. It keeps a
// session's state as the vendor does and refuses what the vendor refuses: what it is
// sent is checked against the vendor's published types, too.
type Realtime struct {
	// Faults are of connections.
	Faults
	// Answers are the faults of answers, one each.
	Answers Faults

	// Key is the key that connections have to show.
	Key string
	// Answer decides what is said; it must not ask the server anything. Nil says
	// "I hear you."
	Answer func(Turn) Answer
	// Limit is how long a session lasts. Zero means an hour.
	Limit time.Duration
	// Transcribe makes the session report what was said to it: after the answer, as
	// the vendor may.
	Transcribe string
	// Wire is told every message, in order. Nil is fine.
	Wire func(fromClient bool, message []byte)

	mu       sync.Mutex // guards what follows
	sessions []*rtSession
}

// A Turn is what an answer is wanted to.
type Turn struct {
	// System is the session's instructions.
	System string
	// Voice is the session's voice.
	Voice string
	// Tools are the functions that may be called; none if calls are not allowed.
	Tools []string
	// Talk is the session's conversation: "role: text".
	Talk []string
	// Sound is what was said last, if it was sound.
	Sound pcm.Chunk
	// Results are what functions returned since the last answer.
	Results []string
}

// Sessions is how many sessions there were.
func (o *Realtime) Sessions() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.sessions)
}

// Conversation is what the given session holds, in the form of [Turn.Talk]; it begins
// with 0. Words that were cut off are not in it.
func (o *Realtime) Conversation(session int) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sessions[session].conversation()
}

// Updates is how often the given session's tools were changed, from 0.
func (o *Realtime) Updates(session int) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sessions[session].updates
}

// Complaints are all the errors that clients were sent.
func (o *Realtime) Complaints() (out []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.sessions {
		out = append(out, s.complaints...)
	}
	return out
}

// ServeHTTP answers /v1/realtime.
func (o *Realtime) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if refuse(w, r, o.take()) {
		return
	}
	switch {
	case r.URL.Path != "/v1/realtime":
		fail(w, http.StatusNotFound, "unknown_url", "Invalid URL ("+r.Method+" "+r.URL.Path+")")
		return
	case r.Header.Get("Authorization") != "Bearer "+o.Key:
		fail(w, http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided")
		return
	case r.Header.Get("OpenAI-Beta") != "":
		fail(w, http.StatusBadRequest, "beta_api_shape_disabled", "The Realtime Beta API is no longer supported. Please use /v1/realtime for the GA API.")
		return
	case r.URL.Query().Get("model") == "":
		fail(w, http.StatusBadRequest, "missing_required_parameter", "You must provide a model parameter.")
		return
	}
	pipe := &pipe{ResponseWriter: w}
	c, err := websocket.Accept(pipe, r, nil)
	if err != nil {
		return
	}
	c.SetReadLimit(20 << 20)
	defer c.CloseNow()
	s := &rtSession{o: o, c: c, pipe: pipe, ctx: context.WithoutCancel(r.Context()), model: r.URL.Query().Get("model"), voice: "marin", choice: "auto"}
	o.mu.Lock()
	o.sessions = append(o.sessions, s)
	o.mu.Unlock()
	s.serve()
}

// rtSession is one session. One goroutine owns it; its state is read under the
// server's lock.
type rtSession struct {
	o    *Realtime
	c    *websocket.Conn
	pipe *pipe
	ctx  context.Context

	model, system, voice, choice string
	tools                        []json.RawMessage
	items                        []*rtItem
	buffer                       []int16
	spoken                       bool // the voice cannot change any more
	active                       *rtAnswer
	events, updates              int
	complaints                   []string
}

// rtItem is a piece of the conversation.
type rtItem struct {
	ID, Type, Role   string
	text             string
	sound            []int16
	words            []heardWord // of an assistant's sound
	callID, name     string
	args, output     string
	answered, remote bool
}

func (s *rtSession) conversation() (out []string) {
	for _, i := range s.items {
		switch i.Type {
		case "message":
			text := i.text
			if i.sound != nil && text == "" {
				text = fmt.Sprintf("<%d ms>", len(i.sound)*1000/talkRate)
			}
			out = append(out, i.Role+": "+text)
		case "function_call":
			out = append(out, "call: "+i.name+" "+i.args)
		case "function_call_output":
			out = append(out, "result: "+i.output)
		}
	}
	return out
}

func (s *rtSession) find(id string) (int, *rtItem) {
	for n, i := range s.items {
		if i.ID == id {
			return n, i
		}
	}
	return -1, nil
}

type m = map[string]any

// send writes an event.
func (s *rtSession) send(kind string, body m) {
	s.events++
	body["type"], body["event_id"] = kind, fmt.Sprintf("event_%d", s.events)
	b, _ := json.Marshal(body) // maps of plain values always encode
	s.o.wire(false, b)
	_ = s.c.Write(s.ctx, websocket.MessageText, b)
}

func (o *Realtime) wire(fromClient bool, b []byte) {
	if o.Wire != nil {
		o.Wire(fromClient, b)
	}
}

// complain answers with an error that leaves the session as it was. Like all that
// changes the session's state it is called under the server's lock.
func (s *rtSession) complain(code, param, message string) {
	s.complaints = append(s.complaints, code+": "+message)
	e := m{"type": "invalid_request_error", "code": code, "message": message, "param": nil, "event_id": nil}
	if param != "" {
		e["param"] = param
	}
	s.send("error", m{"error": e})
}

// serve is the session's one goroutine; another only reads.
func (s *rtSession) serve() {
	messages, gone := make(chan []byte), make(chan struct{})
	ended := make(chan struct{})
	defer func() { s.c.CloseNow(); <-ended }()
	defer close(gone)
	go func() {
		defer close(ended)
		defer close(messages)
		for {
			_, b, err := s.c.Read(s.ctx)
			if err != nil {
				return
			}
			select {
			case messages <- b:
			case <-gone:
				return
			}
		}
	}()
	limit := s.o.Limit
	if limit == 0 {
		limit = time.Hour
	}
	end := time.NewTimer(limit)
	defer end.Stop()
	s.send("session.created", m{"session": s.describe()})
	s.send("mystery.of_tomorrow", m{"channel": 7})
	for {
		var tick <-chan time.Time
		if s.active != nil {
			tick = s.active.timer.C
		}
		select {
		case b, ok := <-messages:
			if !ok {
				return
			}
			s.take(b)
		case <-tick:
			s.advance()
		case <-end.C:
			s.expire()
			return
		}
	}
}

func (s *rtSession) expire() {
	s.send("error", m{"error": m{"type": "invalid_request_error", "code": "session_expired", "message": "Your session hit the maximum duration of 60 minutes.", "param": nil, "event_id": nil}})
	_ = s.c.Close(websocket.StatusGoingAway, "session expired")
}

func (s *rtSession) describe() m {
	format := m{"type": "audio/pcm", "rate": talkRate}
	tools := []any{}
	for _, t := range s.tools {
		tools = append(tools, t)
	}
	return m{
		"type": "realtime", "model": s.model, "instructions": s.system,
		"output_modalities": []string{"audio"}, "tools": tools, "tool_choice": s.choice,
		"audio": m{"input": m{"format": format, "turn_detection": nil}, "output": m{"format": format, "voice": s.voice}},
	}
}

// take handles a message of the client's.
func (s *rtSession) take(b []byte) {
	s.o.mu.Lock()
	defer s.o.mu.Unlock()
	s.o.wire(true, b)
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		s.complain("invalid_json", "", "We could not parse the JSON body of your message.")
		return
	}
	if err := OpenAIRealtimeClient.Check(b); err != nil {
		s.complain("invalid_value", head.Type, "not a client event by the published types: "+err.Error())
		return
	}
	switch head.Type {
	case "session.update":
		s.update(b)
	case "input_audio_buffer.append":
		s.append(b)
	case "input_audio_buffer.commit":
		s.commit()
	case "input_audio_buffer.clear":
		s.buffer = nil
		s.send("input_audio_buffer.cleared", m{})
	case "conversation.item.create":
		s.create(b)
	case "conversation.item.truncate":
		s.truncate(b)
	case "conversation.item.delete":
		s.delete(b)
	case "response.create":
		s.respond(b)
	case "response.cancel":
		s.stop(b)
	default:
		s.complain("invalid_value", "type", fmt.Sprintf("Invalid value: '%s'.", head.Type))
	}
}

func (s *rtSession) update(b []byte) {
	var q struct {
		Session struct {
			Type         string             `json:"type"`
			Model        string             `json:"model"`
			Instructions *string            `json:"instructions"`
			Tools        *[]json.RawMessage `json:"tools"`
			ToolChoice   json.RawMessage    `json:"tool_choice"`
			Audio        struct {
				Input struct {
					TurnDetection json.RawMessage `json:"turn_detection"`
				} `json:"input"`
				Output struct {
					Voice string `json:"voice"`
				} `json:"output"`
			} `json:"audio"`
		} `json:"session"`
	}
	_ = json.Unmarshal(b, &q) // checked before
	u := q.Session
	switch {
	case u.Type != "realtime":
		s.complain("invalid_value", "session.type", "Passing a transcription session to a realtime session is not allowed.")
		return
	case u.Model != "" && u.Model != s.model:
		s.complain("model_cannot_be_changed", "session.model", "The model of a session cannot be changed.")
		return
	case u.Audio.Output.Voice != "" && u.Audio.Output.Voice != s.voice && s.spoken:
		s.complain("cannot_update_voice", "session.audio.output.voice", "Cannot update a conversation's voice if assistant audio is present.")
		return
	}
	if u.Instructions != nil {
		s.system = *u.Instructions
	}
	if u.Tools != nil {
		s.tools = *u.Tools
		s.updates++
	}
	if u.Audio.Output.Voice != "" {
		s.voice = u.Audio.Output.Voice
	}
	s.send("session.updated", m{"session": s.describe()})
}
