package dave

import (
	"slices"
	"time"
)

const (
	// maxTransitions bounds how many may be prepared and not executed.
	maxTransitions = 64
	// executeLimit is how long new keys wait for their execution. The gateway
	// gives members 2 s to be ready; one that says nothing for longer has lost
	// its word, and after retention nobody could open what the old key seals.
	executeLimit = 4 * time.Second
)

// A transition is what to send with from its execution on.
type transition struct {
	id   uint16
	base []byte    // nil for unencrypted
	due  time.Time // when to execute it without being told; zero for never
}

// Overdue is when [Session.ExecuteOverdue] will have something to do, if the
// gateway does not execute a transition before; zero if nothing waits.
func (s *Session) Overdue() time.Time {
	for _, t := range s.transitions {
		if !t.due.IsZero() {
			return t.due
		}
	}
	return time.Time{}
}

// ExecuteOverdue sends with the keys of transitions that the gateway has
// announced and never executed, and says whether there were any. A switch to an
// unencrypted call is never made unasked.
func (s *Session) ExecuteOverdue(now time.Time) bool {
	found := false
	for due := s.Overdue(); !due.IsZero() && !now.Before(due); due = s.Overdue() {
		i := slices.IndexFunc(s.transitions, func(t transition) bool { return t.due.Equal(due) })
		s.ExecuteTransition(s.transitions[i].id)
		found = true
	}
	return found
}

// PrepareEpoch handles opcode 24. Epoch 1 means that the group starts anew, as
// it does when everybody else has left.
func (s *Session) PrepareEpoch(version int, epoch uint64) ([]Message, error) {
	if epoch != 1 {
		return nil, nil
	}
	return s.Begin(version)
}

// PrepareTransition handles opcode 21, which announces a change of the version.
func (s *Session) PrepareTransition(id uint16, version int) ([]Message, error) {
	if version == 0 {
		if !s.config.AllowPlain {
			return nil, ErrUnencrypted
		}
		s.opener.usePlain()
		s.prepare(transition{id: id})
	}
	return s.ready(id), nil
}

// prepare remembers a transition for its execution.
func (s *Session) prepare(t transition) {
	s.last = t.id
	if len(s.transitions) == maxTransitions {
		s.transitions = slices.Delete(s.transitions, 0, 1)
	}
	s.transitions = append(s.transitions, t)
}

// ready answers a prepared transition: number 0 is executed at once.
// DAVE, "Transitions".
func (s *Session) ready(id uint16) []Message {
	if id == 0 {
		s.ExecuteTransition(0)
		return nil
	}
	return []Message{{Op: OpTransitionReady, Transition: id}}
}

// ExecuteTransition handles opcode 22: from now on we send with the keys of the
// transition. It does nothing for one that is not known or was executed before.
func (s *Session) ExecuteTransition(id uint16) {
	i := slices.IndexFunc(s.transitions, func(t transition) bool { return t.id == id })
	if i < 0 {
		return
	}
	if base := s.transitions[i].base; base != nil {
		s.sealer.use(base)
	} else {
		s.version = 0
		s.sealer.usePlain()
	}
	// Those before it must not turn the clock back.
	s.transitions = slices.Delete(s.transitions, 0, i+1)
}
