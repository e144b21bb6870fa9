package engine

import (
	"errors"
	"fmt"
	"strings"
)

// MaxReply is the longest reply in bytes: five minutes of speech, far beyond
// what anybody wants to hear from an NPC.
const MaxReply = 8 << 10

// maxCalls is how many tools one round may ask for.
const maxCalls = 8

// errReplyTooLong ends a model's stream that does not stop.
var errReplyTooLong = errors.New("the model's reply is over 8 KiB and was ended")

// turn is the state of one turn without its model, tools, sound or clock: step is
// told what happened and says what to do. It never blocks.
type turn struct {
	state  turnState
	rounds int // tool rounds left

	messages []Message // what the model is shown in the next round
	split    splitter
	reply    strings.Builder // this round's text
	size     int             // bytes of all rounds
	calls    []Call          // of this round
	results  []*string       // by call; nil until they come
	open     int             // calls without a result
	silent   bool            // no sentence has been given to the mouth yet
}

type turnState int

const (
	asking   turnState = iota // the model is answering
	calling                   // tools are running
	speaking                  // the model is done, sound is still leaving
	over
)

// What may happen to a turn.
type (
	evBegin  struct{}
	evText   struct{ text string }
	evCalls  struct{ calls []Call }
	evEnd    struct{}
	evFail   struct{ err error }
	evResult struct {
		index int
		text  string
	}
	evSpoken struct{} // all sound has been sent
	evCut    struct{ cause error }
)

// What a turn may want done.
type (
	actAsk struct {
		messages []Message
		tools    bool
	}
	actCall struct {
		index int
		call  Call
	}
	actSay  struct{ sentence string }
	actHush struct{}              // nothing more will be said
	actOver struct{ cause error } // nil when the turn came to its end
)

// step is told what happened and says what to do, in order.
func (t *turn) step(ev any) []any {
	if t.state == over {
		return nil
	}
	switch ev := ev.(type) {
	case evBegin:
		t.silent = true
		return []any{actAsk{t.messages, t.rounds > 0}}
	case evText:
		return t.text(ev.text)
	case evCalls:
		if t.state == asking {
			t.calls = append(t.calls, ev.calls...)
		}
	case evEnd:
		return t.end()
	case evFail:
		return t.fail(ev.err)
	case evResult:
		return t.result(ev)
	case evSpoken:
		if t.state == speaking {
			t.state = over
			return []any{actOver{}}
		}
	case evCut:
		t.state = over
		return []any{actHush{}, actOver(ev)}
	}
	return nil
}

func (t *turn) text(s string) []any {
	if t.state != asking {
		return nil
	}
	if t.size += len(s); t.size > MaxReply {
		return t.fail(errReplyTooLong)
	}
	t.reply.WriteString(s)
	return t.say(t.split.push(s))
}

func (t *turn) say(sentences []string) []any {
	var out []any
	for _, s := range sentences {
		t.silent = false
		out = append(out, actSay{s})
	}
	return out
}

// end handles the end of the model's stream: either it asked for tools, or the
// turn only has to be spoken to its end.
func (t *turn) end() []any {
	if t.state != asking {
		return nil
	}
	out := t.say(t.split.flush())
	if len(t.calls) == 0 || t.rounds == 0 {
		// Calls after the last round are dropped: the model was not offered any.
		t.state = speaking
		return append(out, actHush{})
	}
	t.state = calling
	t.rounds--
	t.calls = t.calls[:min(len(t.calls), maxCalls)]
	t.messages = append(t.messages, Message{Role: Assistant, Text: t.reply.String(), Calls: t.calls})
	t.results, t.open = make([]*string, len(t.calls)), len(t.calls)
	for i, c := range t.calls {
		out = append(out, actCall{i, c})
	}
	return out
}

func (t *turn) result(ev evResult) []any {
	if t.state != calling || ev.index >= len(t.results) || t.results[ev.index] != nil {
		return nil
	}
	t.results[ev.index] = &ev.text
	if t.open--; t.open > 0 {
		return nil
	}
	for i, c := range t.calls {
		t.messages = append(t.messages, Message{Role: ToolRole, Name: c.Name, CallID: c.ID, Text: *t.results[i]})
	}
	t.state, t.calls = asking, nil
	t.reply.Reset()
	return []any{actAsk{t.messages, t.rounds > 0}}
}

// fail ends the turn at once if no sentence was complete, so that another model
// may try; sentences that were are spoken to their end, half ones never begin.
func (t *turn) fail(err error) []any {
	if t.silent {
		t.state = over
		return []any{actHush{}, actOver{fmt.Errorf("think: %w", err)}}
	}
	t.state = speaking
	return []any{actHush{}}
}
