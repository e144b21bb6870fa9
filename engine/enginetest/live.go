package enginetest

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// Live is Google's Gemini Live API with manual activity detection. It keeps a
// session's state as the vendor does, resumes sessions by their handles, and closes
// the connection where the vendor closes it: 1007 for what it does not take, 1008 for
// answers to calls that were cancelled. Messages are checked against the vendor's
// published types.
type Live struct {
	// Faults are of connections.
	Faults
	// Answers are the faults of answers, one each.
	Answers Faults

	// Key is the key that connections have to show.
	Key string
	// Model is the only model there is. Empty means "gemini-3.8-live". Those before
	// 3.8 take no text and no changes in mid-session.
	Model string
	// Answer decides what is said; it must not ask the server anything. Nil says
	// "I hear you."
	Answer func(Turn) Answer
	// Limit is how long a connection lasts; goAway comes a minute before its end. Zero
	// means ten minutes.
	Limit time.Duration
	// Wire is told every message, in order. Nil is fine.
	Wire func(fromClient bool, message []byte)

	mu       sync.Mutex // guards what follows
	opened   int
	resumed  int
	closings []string
	kept     map[string]*lvMemory // by handle
	last     *lvMemory
}

// lvMemory is what the vendor remembers of a session.
type lvMemory struct {
	talk    []string
	handles int
}

// Sessions is how many connections were set up, and how many of them resumed.
func (o *Live) Sessions() (opened, resumed int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.opened, o.resumed
}

// Conversation is what the last session holds, in the form of [Turn.Talk].
func (o *Live) Conversation() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.last == nil {
		return nil
	}
	return slices.Clone(o.last.talk)
}

// Closings are the reasons for which connections were closed.
func (o *Live) Closings() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.closings)
}

// ServeHTTP answers the method BidiGenerateContent.
func (o *Live) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if refuse(w, r, o.take()) {
		return
	}
	key := r.URL.Query().Get("key")
	if key == "" {
		key = r.Header.Get("X-Goog-Api-Key")
	}
	switch {
	case !strings.HasSuffix(r.URL.Path, "GenerativeService.BidiGenerateContent"):
		fail(w, http.StatusNotFound, "NOT_FOUND", "Method not found.")
		return
	case key != o.Key:
		fail(w, http.StatusUnauthorized, "UNAUTHENTICATED", "API key not valid. Please pass a valid API key.")
		return
	}
	half := &pipe{ResponseWriter: w}
	c, err := websocket.Accept(half, r, nil)
	if err != nil {
		return
	}
	c.SetReadLimit(20 << 20)
	defer c.CloseNow()
	s := &lvSession{o: o, c: c, pipe: half, ctx: context.WithoutCancel(r.Context()), calls: map[string]string{}, cancelled: map[string]bool{}}
	s.serve()
}

// lvSession is one connection. One goroutine owns it; it works under the server's
// lock.
type lvSession struct {
	o    *Live
	c    *websocket.Conn
	pipe *pipe
	ctx  context.Context

	set       bool
	system    string
	voice     string
	tools     []string
	history   bool // the first content is the session's past
	began     bool
	memory    *lvMemory
	active    bool // between activityStart and activityEnd
	sound     []int16
	text      string
	results   []string
	calls     map[string]string // open, name by id
	cancelled map[string]bool
	answer    *lvAnswer
	closed    bool
	number    int
}

// lvAnswer is an answer under way, up to the end of its playback.
type lvAnswer struct {
	fault     Fault
	timer     *time.Timer
	steps     []rtStep
	said      []string // words that were sent
	generated bool
	waiting   bool // for results
}

func (o *Live) modern() bool { return o.model() >= "gemini-3.8" }

func (o *Live) model() string {
	if o.Model == "" {
		return "gemini-3.8-live"
	}
	return o.Model
}

// send writes a message as the vendor does: binary.
func (s *lvSession) send(body m) {
	b, _ := json.Marshal(body) // maps of plain values always encode
	if s.o.Wire != nil {
		s.o.Wire(false, b)
	}
	_ = s.c.Write(s.ctx, websocket.MessageBinary, b)
}

func (s *lvSession) hangUp(code websocket.StatusCode, reason string) {
	s.o.closings = append(s.o.closings, fmt.Sprintf("%d %s", code, reason))
	s.closed = true
	s.stop()
	_ = s.c.Close(code, reason[:min(len(reason), 120)])
}

func (s *lvSession) serve() {
	messages, gone, ended := make(chan []byte), make(chan struct{}), make(chan struct{})
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
		limit = 10 * time.Minute
	}
	warn, end := time.NewTimer(limit-min(limit/2, time.Minute)), time.NewTimer(limit)
	defer warn.Stop()
	defer end.Stop()
	for !s.closed {
		var tick <-chan time.Time
		if s.answer != nil {
			tick = s.answer.timer.C
		}
		select {
		case b, ok := <-messages:
			if !ok {
				return
			}
			s.o.mu.Lock()
			s.take(b)
			s.o.mu.Unlock()
		case <-tick:
			s.o.mu.Lock()
			s.advance()
			s.o.mu.Unlock()
		case <-warn.C:
			s.send(m{"goAway": m{"timeLeft": min(limit/2, time.Minute).String()}})
		case <-end.C:
			s.o.mu.Lock()
			s.hangUp(websocket.StatusInternalError, "Deadline expired before operation could complete.")
			s.o.mu.Unlock()
		}
	}
}

// lvClient is any message of a client's.
type lvClient struct {
	Setup         *lvClientSetup `json:"setup"`
	ClientContent *struct {
		Turns []struct {
			Role  string `json:"role"`
			Parts []struct {
				Text string `json:"text"`
			} `json:"parts"`
		} `json:"turns"`
		Complete bool `json:"turnComplete"`
	} `json:"clientContent"`
	RealtimeInput *struct {
		Audio *struct {
			Data []byte `json:"data"`
			MIME string `json:"mimeType"`
		} `json:"audio"`
		Text  string    `json:"text"`
		Start *struct{} `json:"activityStart"`
		End   *struct{} `json:"activityEnd"`
	} `json:"realtimeInput"`
	ToolResponse *struct {
		Responses []struct {
			ID       string         `json:"id"`
			Name     string         `json:"name"`
			Response map[string]any `json:"response"`
		} `json:"functionResponses"`
	} `json:"toolResponse"`
	ContextUpdate *struct {
		Tools *struct {
			Tools []lvTool `json:"tools"`
		} `json:"tools"`
	} `json:"contextUpdate"`
}

type lvClientSetup struct {
	Model  string `json:"model"`
	System *struct {
		Parts []struct {
			Text string `json:"text"`
		} `json:"parts"`
	} `json:"systemInstruction"`
	Tools      []lvTool `json:"tools"`
	Generation struct {
		Speech struct {
			Voice struct {
				Prebuilt struct {
					Name string `json:"voiceName"`
				} `json:"prebuiltVoiceConfig"`
			} `json:"voiceConfig"`
		} `json:"speechConfig"`
	} `json:"generationConfig"`
	Input struct {
		Detection struct {
			Disabled bool `json:"disabled"`
		} `json:"automaticActivityDetection"`
	} `json:"realtimeInputConfig"`
	Resumption *struct {
		Handle string `json:"handle"`
	} `json:"sessionResumption"`
	Transcription *struct{} `json:"outputAudioTranscription"`
	History       *struct {
		Initial bool `json:"initialHistoryInClientContent"`
	} `json:"historyConfig"`
}

type lvTool struct {
	Functions []struct {
		Name string `json:"name"`
	} `json:"functionDeclarations"`
}

// take handles a message of the client's.
func (s *lvSession) take(b []byte) {
	const invalid = websocket.StatusInvalidFramePayloadData
	if s.o.Wire != nil {
		s.o.Wire(true, b)
	}
	if err := GeminiLiveClient.Check(b); err != nil {
		s.hangUp(invalid, "Invalid JSON payload received: "+err.Error())
		return
	}
	var q lvClient
	if err := json.Unmarshal(b, &q); err != nil {
		s.hangUp(invalid, "Invalid JSON payload received: "+err.Error())
		return
	}
	switch {
	case q.Setup != nil && s.set, q.Setup == nil && !s.set:
		s.hangUp(invalid, "setup must be the first message and only the first")
	case q.Setup != nil:
		s.setUp(q.Setup)
	case q.ClientContent != nil:
		if s.began && !s.o.modern() {
			s.hangUp(invalid, "Request contains an invalid argument.")
			return
		}
		s.content(&q)
	case q.ContextUpdate != nil:
		if !s.o.modern() {
			s.hangUp(invalid, "contextUpdate is not supported by this model.")
			return
		}
		if t := q.ContextUpdate.Tools; t != nil {
			s.tools = namesOf(t.Tools)
		}
	case q.RealtimeInput != nil:
		s.input(&q)
	case q.ToolResponse != nil:
		s.respond(&q)
	}
}

func namesOf(tools []lvTool) (names []string) {
	for _, t := range tools {
		for _, f := range t.Functions {
			names = append(names, f.Name)
		}
	}
	return names
}

func (s *lvSession) setUp(q *lvClientSetup) {
	const invalid = websocket.StatusInvalidFramePayloadData
	s.memory = &lvMemory{}
	switch {
	case q.Model != "models/"+s.o.model():
		s.hangUp(websocket.StatusPolicyViolation, q.Model+" is not found for API version v1beta, or is not supported for bidiGenerateContent.")
		return
	case q.Resumption != nil && q.Resumption.Handle != "":
		old := s.o.kept[q.Resumption.Handle]
		if old == nil {
			s.hangUp(websocket.StatusPolicyViolation, "BidiGenerateContent session not found")
			return
		}
		s.memory, s.began = old, true
		s.o.resumed++
	}
	if !q.Input.Detection.Disabled {
		s.hangUp(invalid, "this server has manual activity detection only")
		return
	}
	if q.System != nil && len(q.System.Parts) > 0 {
		s.system = q.System.Parts[0].Text
	}
	s.set, s.tools, s.voice = true, namesOf(q.Tools), q.Generation.Speech.Voice.Prebuilt.Name
	s.history = q.History != nil && q.History.Initial
	s.o.opened++
	s.o.last = s.memory
	s.send(m{"setupComplete": m{"sessionId": fmt.Sprintf("s%d", s.o.opened)}})
	s.send(m{"mystery": m{"of": "tomorrow"}, "serverContent": m{"unheardOf": true}})
	s.remember()
}

// remember hands out a new handle.
func (s *lvSession) remember() {
	if s.o.kept == nil {
		s.o.kept = map[string]*lvMemory{}
	}
	s.memory.handles++
	handle := fmt.Sprintf("h%p-%d", s.memory, s.memory.handles)
	s.o.kept[handle] = s.memory
	s.send(m{"sessionResumptionUpdate": m{"newHandle": handle, "resumable": true}})
}

func (s *lvSession) content(q *lvClient) {
	s.interrupt()
	for _, t := range q.ClientContent.Turns {
		var text strings.Builder
		for _, p := range t.Parts {
			text.WriteString(p.Text)
		}
		s.memory.talk = append(s.memory.talk, t.Role+": "+text.String())
	}
	if q.ClientContent.Complete {
		s.began = true
		s.begin()
	}
}

func (s *lvSession) input(q *lvClient) {
	in := q.RealtimeInput
	const invalid = websocket.StatusInvalidFramePayloadData
	switch {
	case in.Start != nil:
		if s.active {
			s.hangUp(invalid, "activityStart within an activity")
			return
		}
		s.interrupt()
		s.active, s.began, s.sound, s.text = true, true, nil, ""
	case in.End != nil:
		if !s.active {
			s.hangUp(invalid, "activityEnd without activityStart")
			return
		}
		s.active = false
		said := s.text
		if s.sound != nil {
			said = fmt.Sprintf("<%d ms>", len(s.sound)*1000/pcm.HearRate)
		}
		s.memory.talk = append(s.memory.talk, "user: "+said)
		s.begin()
	case in.Audio != nil:
		if in.Audio.MIME != "audio/pcm;rate=16000" {
			s.hangUp(invalid, "this server listens to audio/pcm;rate=16000 only")
			return
		}
		s.sound = append(s.sound, pcm.Samples(in.Audio.Data)...)
	case in.Text != "" && s.active:
		s.text += in.Text
	case in.Text != "":
		s.memory.talk = append(s.memory.talk, "user: "+in.Text)
	}
}

func (s *lvSession) respond(q *lvClient) {
	for _, r := range q.ToolResponse.Responses {
		if s.cancelled[r.ID] || s.calls[r.ID] == "" || s.calls[r.ID] != r.Name {
			s.hangUp(websocket.StatusPolicyViolation, "Request contains a response to a function call that is not open: "+r.ID)
			return
		}
		delete(s.calls, r.ID)
		out := fmt.Sprint(r.Response["output"])
		s.results = append(s.results, out)
		s.memory.talk = append(s.memory.talk, "result: "+out)
	}
	if len(s.calls) == 0 && s.answer != nil && s.answer.waiting {
		s.answer.timer.Stop()
		s.answer = nil
		s.begin()
	}
}

// stop ends the answer without a word.
func (s *lvSession) stop() {
	if s.answer != nil {
		s.answer.timer.Stop()
		s.answer = nil
	}
}

// interrupt ends an answer that is being made or, as the vendor believes, played.
func (s *lvSession) interrupt() {
	a := s.answer
	if a == nil {
		return
	}
	s.stop()
	s.takeBack()
	s.memory.talk = append(s.memory.talk, "model: "+strings.Join(a.said, " "))
	if !a.waiting {
		s.send(m{"serverContent": m{"interrupted": true}})
	}
	s.send(m{"serverContent": m{"turnComplete": true}, "usageMetadata": usage()})
}

// takeBack cancels the calls that are open.
func (s *lvSession) takeBack() {
	var ids []string
	for id := range s.calls {
		ids = append(ids, id)
		s.cancelled[id] = true
	}
	if len(ids) > 0 {
		clear(s.calls)
		s.send(m{"toolCallCancellation": m{"ids": ids}})
	}
}

func usage() m {
	return m{
		"promptTokenCount": 30, "responseTokenCount": 40, "cachedContentTokenCount": 5, "totalTokenCount": 70,
		"promptTokensDetails":   []any{m{"modality": "TEXT", "tokenCount": 10}, m{"modality": "AUDIO", "tokenCount": 20}},
		"responseTokensDetails": []any{m{"modality": "AUDIO", "tokenCount": 40}},
	}
}

// begin plans an answer.
func (s *lvSession) begin() {
	answer := Answer{Text: "I hear you."}
	if s.o.Answer != nil {
		answer = s.o.Answer(Turn{
			System: s.system, Voice: s.voice, Tools: s.tools, Talk: slices.Clone(s.memory.talk),
			Sound: pcm.Chunk{Rate: pcm.HearRate, Samples: s.sound}, Results: s.results,
		})
	}
	s.results = nil
	a := &lvAnswer{fault: s.o.Answers.take(), timer: time.NewTimer(thinking)}
	s.answer = a
	if a.fault == Dim {
		a.timer.Stop()
		return
	}
	at := func(after time.Duration, f func()) { a.steps = append(a.steps, rtStep{after, f}) }
	if answer.Text != "" {
		s.speak(a, answer.Text, at)
	}
	if len(answer.Calls) > 0 {
		at(chunkEvery, func() { s.callOut(a, answer.Calls) })
		return
	}
	played := time.Duration(len(Talk(answer.Text))) * time.Second / talkRate
	at(0, func() { a.generated = true; s.send(m{"serverContent": m{"generationComplete": true}}) })
	at(played, func() {
		s.memory.talk = append(s.memory.talk, "model: "+answer.Text)
		s.answer = nil
		s.send(m{"serverContent": m{"turnComplete": true}, "usageMetadata": usage()})
		s.remember()
	})
}

func (s *lvSession) speak(a *lvAnswer, text string, at func(time.Duration, func())) {
	sound, words := talk(text)
	word := func(n int) func() {
		return func() {
			a.said = append(a.said, words[n].text)
			if a.fault != NoTranscript {
				s.send(m{"serverContent": m{"outputTranscription": m{"text": " " + words[n].text}}})
			}
		}
	}
	raw := make([]byte, 0, 2*len(sound))
	for _, v := range sound {
		raw = binary.LittleEndian.AppendUint16(raw, uint16(v))
	}
	size := 2 * chunk
	switch a.fault {
	case OddSound:
		size = 2*chunk - 333
	case Fragmented:
		size = 40 << 10
	}
	told, sent := 0, 0
	for n, piece := range slices.Collect(slices.Chunk(raw, size)) {
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
		at(pace, func() {
			s.send(m{"serverContent": m{"modelTurn": m{"role": "model", "parts": []any{m{"inlineData": m{"mimeType": "audio/pcm;rate=24000", "data": base64.StdEncoding.EncodeToString(piece)}}}}}})
		})
	}
	for ; told < len(words); told++ {
		at(0, word(told))
	}
}

func (s *lvSession) spoil(a *lvAnswer, at func(time.Duration, func())) {
	switch a.fault {
	case HangUp:
		at(0, func() { s.hangUp(websocket.StatusInternalError, "Internal error encountered.") })
	case Deaf:
		at(0, s.pipe.deafen)
	case Stuck:
		at(time.Hour, func() {})
	}
}

// callOut asks for functions, and waits for their results.
func (s *lvSession) callOut(a *lvAnswer, calls []ToolCall) {
	var list []any
	for _, c := range calls {
		s.number++
		id := fmt.Sprintf("function-call-%d", s.number)
		s.calls[id] = c.Name
		var args map[string]any
		_ = json.Unmarshal([]byte(c.Args), &args) // what is no object has no arguments
		list = append(list, m{"id": id, "name": c.Name, "args": args})
	}
	a.waiting = true
	s.send(m{"toolCall": m{"functionCalls": list}})
	switch a.fault {
	case HangUpMidTool:
		s.hangUp(websocket.StatusInternalError, "Internal error encountered.")
	case Takeback:
		// The model has changed its mind, and answers without.
		a.waiting = false
		a.steps = append(a.steps, rtStep{100 * time.Millisecond, func() { s.takeBack() }})
		s.speak(a, "Never mind.", func(after time.Duration, f func()) { a.steps = append(a.steps, rtStep{after, f}) })
		a.steps = append(a.steps, rtStep{0, func() { s.send(m{"serverContent": m{"generationComplete": true}}) }},
			rtStep{time.Second, func() {
				s.answer = nil
				s.send(m{"serverContent": m{"turnComplete": true}})
			}})
	}
}

// advance does what is due of the answer.
func (s *lvSession) advance() {
	a := s.answer
	if len(a.steps) == 0 {
		return
	}
	step := a.steps[0]
	a.steps = a.steps[1:]
	step.do()
	if s.answer == a && len(a.steps) > 0 {
		a.timer.Reset(a.steps[0].after)
	}
}
