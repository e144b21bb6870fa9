package enginetest

import (
	"fmt"
	"strings"

	"github.com/coder/websocket"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

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
