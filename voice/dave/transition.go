package dave

import "slices"

// maxTransitions bounds how many may be prepared and not executed.
const maxTransitions = 64

// A transition is what to send with from its execution on.
type transition struct {
	id   uint16
	base []byte // nil for unencrypted
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
