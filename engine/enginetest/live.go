package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
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
