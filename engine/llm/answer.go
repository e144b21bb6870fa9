package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/glyphoxa/glyphoxa/engine"
)

const (
	// maxText bounds what one answer may say, whatever was asked for: a quarter of
	// an hour of speech.
	maxText = 16 << 10
	// maxCalls and maxArgs bound the tool calls of one answer.
	maxCalls = 32
	maxArgs  = 256 << 10
)

// answer puts a streamed answer together, for any vendor.
type answer struct {
	thoughts thoughts
	said     int
	calls    []engine.Call
	index    []int // the vendor's number of each call
	usage    engine.Usage
	// finished is the vendor's reason for the end; "" while there was none.
	finished string
}

// say passes on what may be spoken of a piece of text.
func (a *answer) say(piece string, yield func(engine.Delta) bool) error {
	return a.yield(a.thoughts.take(piece), yield)
}

func (a *answer) yield(text string, yield func(engine.Delta) bool) error {
	if text == "" {
		return nil
	}
	if a.said += len(text); a.said > maxText {
		return fmt.Errorf("an answer of over %d KB", maxText>>10)
	}
	if !yield(engine.Delta{Text: text}) {
		return errStopped
	}
	return nil
}

// call adds a piece of a tool call. Pieces belong together by index; where a server
// leaves that out, by id; where it sends neither, a piece with a name begins a call.
func (a *answer) call(index *int, id, name, args string) error {
	at := -1
	switch {
	case index != nil:
		at = slices.Index(a.index, *index)
	case id != "":
		at = slices.IndexFunc(a.calls, func(c engine.Call) bool { return c.ID == id })
	case name == "":
		at = len(a.calls) - 1
	}
	if at >= 0 && id != "" && a.calls[at].ID != "" && a.calls[at].ID != id && name != "" {
		at = -1 // Gemini's compatible API numbers every call 0
	}
	if at < 0 {
		if len(a.calls) == maxCalls {
			return fmt.Errorf("over %d tool calls in one answer", maxCalls)
		}
		number := -1
		if index != nil {
			number = *index
		}
		at = len(a.calls)
		a.calls, a.index = append(a.calls, engine.Call{}), append(a.index, number)
	}
	c := &a.calls[at]
	if c.ID == "" {
		c.ID = id
	}
	if c.Name == "" {
		c.Name = name
	}
	if c.Args = append(c.Args, args...); len(c.Args) > maxArgs {
		return fmt.Errorf("tool %q: arguments of over %d KB", c.Name, maxArgs>>10)
	}
	return nil
}

// finish ends the answer: the calls, then the Done delta, or why it is none.
func (a *answer) finish(yield func(engine.Delta) bool) error {
	switch a.finished {
	case "":
		return ErrTruncated
	case "error":
		return fmt.Errorf("the model failed without saying why")
	case "content_filter":
		return fmt.Errorf("the vendor's content filter stopped the answer")
	}
	if err := a.yield(a.thoughts.end(), yield); err != nil {
		return err
	}
	calls := slices.DeleteFunc(a.calls, func(c engine.Call) bool { return c.Name == "" })
	for i := range calls {
		calls[i].Args = object(calls[i].Args)
		if calls[i].ID == "" {
			calls[i].ID = fmt.Sprintf("call_%d", i+1)
		}
	}
	if len(calls) > 0 && !yield(engine.Delta{Calls: calls}) {
		return errStopped
	}
	if !yield(engine.Delta{Done: true, Usage: a.usage}) {
		return errStopped
	}
	return nil
}

// object is a call's arguments as valid JSON: {} for nothing, and what is broken as
// a string, which no tool's schema takes, so that the model is told.
func object(args json.RawMessage) json.RawMessage {
	args = bytes.TrimSpace(args)
	if len(args) == 0 || string(args) == "null" {
		return json.RawMessage("{}")
	}
	if json.Valid(args) {
		return args
	}
	quoted, err := json.Marshal(string(args))
	if err != nil {
		return json.RawMessage("{}")
	}
	return quoted
}

// tidy is the talk in a form that every vendor takes: who speaks is part of the
// text, neighbours of one role are one message, and every tool call has exactly one
// answer, right after it.
func tidy(talk []engine.Message) []engine.Message {
	answers := map[string]engine.Message{}
	for _, m := range talk {
		if m.Role == engine.ToolRole {
			answers[m.CallID] = m
		}
	}
	var out []engine.Message
	for _, m := range talk {
		if m.Role == engine.ToolRole {
			continue
		}
		if m.Name != "" {
			m.Text = m.Name + ": " + m.Text
			if m.Role == engine.Assistant { // another NPC is not this one
				m.Role = engine.User
			}
		}
		if m.Text == "" && len(m.Calls) == 0 {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Role == m.Role && len(out[n-1].Calls) == 0 && m.Role == engine.User {
			out[n-1].Text += "\n" + m.Text
			continue
		}
		out = append(out, m)
		for _, c := range m.Calls {
			a, ok := answers[c.ID]
			if !ok {
				a = engine.Message{Role: engine.ToolRole, CallID: c.ID, Text: `{"status":"cancelled"}`}
			}
			a.Name = c.Name
			if a.Text == "" {
				a.Text = "(nothing)"
			}
			out = append(out, a)
		}
	}
	return out
}
