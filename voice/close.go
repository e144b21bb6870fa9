package voice

import (
	"errors"
	"fmt"
)

// A CloseError is the voice server ending a connection, with Discord's code.
type CloseError struct {
	Code   int
	Reason string
}

// Error says what the code means for whoever runs the bot.
func (e *CloseError) Error() string {
	if text := closeText[e.Code]; text != "" {
		return fmt.Sprintf("voice: closed with code %d: %s", e.Code, text)
	}
	return fmt.Sprintf("voice: closed with code %d: %q", e.Code, e.Reason)
}

// closeText is what each code means. Discord, "Voice Close Event Codes".
var closeText = map[int]string{
	4001: "we sent an opcode that the server does not know",
	4002: "we sent a message that the server cannot read",
	4003: "we sent something before we had identified",
	4004: "the voice token is stale",
	4005: "we identified twice",
	4006: "the voice session is not valid any more",
	4009: "the voice session timed out",
	4011: "the voice server does not know the guild",
	4012: "the server does not know our protocol",
	4014: "the bot was disconnected from the channel, or the channel is gone",
	4015: "the voice server crashed",
	4016: "the server knows none of our encryption modes: update the bot",
	4017: "the channel demands end-to-end encryption (DAVE) and did not get it: update the bot",
	4020: "we sent a bad request",
	4021: "too many connections in a short time: wait before joining again",
	4022: "the call was ended",
}

// A decision is what to do after a connection ended.
type decision int

const (
	resume decision = iota // a new socket, the same session
	rejoin                 // ask the main gateway for a new session
	leave                  // the call is over, unless we are moved
	refuse                 // trying again cannot help
)

// after says what to do once the voice socket has closed with err. Discord,
// "Voice Close Event Codes".
func after(err error) decision {
	if errors.Is(err, errRefused) {
		return refuse
	}
	if errors.Is(err, errStuck) {
		return rejoin
	}
	ce, ok := errors.AsType[*CloseError](err)
	if !ok {
		return resume // the network dropped us, not Discord
	}
	switch ce.Code {
	case 4014, 4021, 4022: // kicked or channel gone, rate limited, call over
		return leave
	case 4016, 4017: // no cipher or no end-to-end encryption in common
		return refuse
	case 4004, 4006, 4009, 4011: // stale token, session gone, server unknown
		return rejoin
	case 4001, 4002, 4003, 4005, 4012, 4020: // we spoke wrongly: start afresh
		return rejoin
	default: // 4015 and anything Discord adds later
		return resume
	}
}

// ourMistake says whether a close code tells of a fault of this program.
func ourMistake(err error) bool {
	ce, ok := errors.AsType[*CloseError](err)
	if !ok {
		return false
	}
	switch ce.Code {
	case 4001, 4002, 4003, 4005, 4012, 4020:
		return true
	}
	return false
}

var (
	// errRefused wraps what no reconnection can mend.
	errRefused = errors.New("voice: cannot join")
	// errStuck wraps what only a new session can mend.
	errStuck = errors.New("voice: the session is stuck")
)
