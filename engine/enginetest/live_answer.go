package enginetest

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/coder/websocket"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

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
