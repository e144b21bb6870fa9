package mcp

import (
	"encoding/json"
	"errors"
	"time"
)

// Why a call did not give a useful answer. [Result.Err] wraps one of these or
// what the tool itself returned.
var (
	// ErrNotGranted means that the NPC has no such tool.
	ErrNotGranted = errors.New("no such tool")
	// ErrHidden means that the tool is not available in this turn.
	ErrHidden = errors.New("not available now")
	// ErrArguments means that the arguments do not match the tool's schema.
	ErrArguments = errors.New("wrong arguments")
	// ErrSteps means that the turn has used up its calls.
	ErrSteps = errors.New("too many tool calls in this turn")
	// ErrLate means that the tool's deadline came first.
	ErrLate = errors.New("took too long")
	// ErrBroken means that the tool or the way to it failed.
	ErrBroken = errors.New("tool failed")
	// ErrRefused means that the tool answered with an error of its own.
	ErrRefused = errors.New("tool refused")
	// ErrApproval means that the call waits for the game master.
	ErrApproval = errors.New("waits for approval")
	// ErrDryRun means that nothing was done because nothing may be.
	ErrDryRun = errors.New("dry run")
)

// A Result is what a call came to.
type Result struct {
	// Text is what a model is told, also when Err is set. Text of servers is
	// marked as theirs.
	Text string
	// Raw is the answer without marks, cleaned and cut; "" when Err is set.
	Raw string
	// Err is nil after a useful answer.
	Err error
	// Took is how long the caller waited.
	Took time.Duration
	// Cached answers were given before; Cut ones are incomplete.
	Cached, Cut bool
	// Approval is set while a call waits for the game master.
	Approval *Approval
}

// A CallRecord is one line of the audit log: a call, or a decision about one.
type CallRecord struct {
	At     time.Time `json:"at"`
	Caller Caller    `json:"caller"`
	Tool   string    `json:"tool"`
	Server string    `json:"server,omitempty"`
	Tier   Tier      `json:"tier"`
	// Args are the arguments, or only their shape, as the host is configured.
	Args json.RawMessage `json:"args,omitempty"`
	// Outcome is one word; see [Outcome].
	Outcome Outcome `json:"outcome"`
	// Error says more where the outcome is not OK.
	Error string `json:"error,omitempty"`
	// Took is in nanoseconds.
	Took   time.Duration `json:"took"`
	Cached bool          `json:"cached,omitempty"`
	// Bytes is the length of the answer before it was cut.
	Bytes int `json:"bytes,omitempty"`
	// By names the person behind a decision: who approved.
	By string `json:"by,omitempty"`
}

// Outcome is how a call or decision ended, in one word.
type Outcome string

// The outcomes a [CallRecord] may have.
const (
	Answered   Outcome = "ok"
	Refused    Outcome = "refused"     // by the tool
	TooLate    Outcome = "late"        // deadline
	Broken     Outcome = "failed"      // transport, crash, garbage
	GivenUp    Outcome = "cancelled"   // by the caller, as when a player talks over the NPC
	NotGranted Outcome = "not granted" // not on the belt
	BadArgs    Outcome = "bad arguments"
	TooMany    Outcome = "too many"
	DryRun     Outcome = "dry run"
	Waiting    Outcome = "waiting" // for approval
	Approved   Outcome = "approved"
	Denied     Outcome = "denied"
	Pinned     Outcome = "pinned"  // a definition was seen for the first time
	Changed    Outcome = "changed" // a definition is no longer what was pinned
)

// outcomeOf turns an error of a call into its outcome. It is the one place where
// that is decided.
func outcomeOf(err error) Outcome {
	switch {
	case err == nil:
		return Answered
	case errors.Is(err, ErrNotGranted), errors.Is(err, ErrHidden):
		return NotGranted
	case errors.Is(err, ErrArguments):
		return BadArgs
	case errors.Is(err, ErrSteps):
		return TooMany
	case errors.Is(err, ErrApproval):
		return Waiting
	case errors.Is(err, ErrDryRun):
		return DryRun
	case errors.Is(err, ErrLate):
		return TooLate
	case errors.Is(err, errGivenUp):
		return GivenUp
	case errors.Is(err, ErrRefused):
		return Refused
	default:
		return Broken
	}
}

// errGivenUp marks a call whose caller went away.
var errGivenUp = errors.New("given up by the caller")
