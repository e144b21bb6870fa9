package dave

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/glyphoxa/glyphoxa/voice/dave/mls"
)

// Version is the protocol version spoken here, and the highest that the voice
// gateway is told of when we identify.
const Version = 1

// Opcodes of the voice gateway that are about encryption. Discord, "Voice
// Opcodes". Those marked binary are not JSON.
const (
	OpPrepareTransition = 21
	OpExecuteTransition = 22
	OpTransitionReady   = 23
	OpPrepareEpoch      = 24
	OpExternalSender    = 25 // binary
	OpKeyPackage        = 26 // binary
	OpProposals         = 27 // binary
	OpCommitWelcome     = 28 // binary
	OpAnnounceCommit    = 29 // binary
	OpWelcome           = 30 // binary
	OpInvalidCommit     = 31
)

// A Message is something to send to the voice gateway: Binary if it is not nil,
// else JSON with the id of a transition.
type Message struct {
	Op         uint8
	Binary     []byte
	Transition uint16
}

// What ends a call: going on would mean to talk in the clear, or for ever in
// vain. All other errors of a [Session] are for the log.
var (
	// ErrUnencrypted: the gateway wants the call to be unencrypted.
	ErrUnencrypted = errors.New("dave: the call is not end-to-end encrypted, and plain calls are not allowed")
	// ErrHopeless: the group was joined anew too often.
	ErrHopeless = errors.New("dave: encryption failed five times within a minute")
)

const (
	// maxRecoveries within recoveryTime end the call.
	maxRecoveries = 5
	recoveryTime  = time.Minute
	// deafTime is the least time between two recoveries because of frames that
	// do not open, which may be somebody else's fault.
	deafTime = 30 * time.Second
)

// Config says whose session it is. Its zero fields are useful.
type Config struct {
	User    uint64
	Channel uint64
	// Random is where keys come from. Nil means crypto/rand.
	Random io.Reader
	// AllowPlain permits a call that is not encrypted. Leave it off.
	AllowPlain bool
}

// A Session is one member's part in the encryption of one voice connection. Its
// methods are told what the gateway sent and return what to send back, which is
// to be sent even if there is an error. It is not safe for concurrent use; its
// [Sealer] and [Opener] are.
type Session struct {
	config    Config
	signature *mls.SignatureKey
	sealer    Sealer
	opener    Opener

	version  int
	external *mls.ExternalSender
	own      *mls.Invitation
	// pending is the group we would start, with us alone in it; group is the
	// one we are in. At most one is not nil.
	pending *mls.Group
	group   *mls.Group
	// commit is ours for the current epoch, until one is announced.
	commit *mls.PendingCommit
	// recognized are the users that the gateway said are in the call.
	recognized  map[uint64]bool
	transitions []transition
	last        uint16 // id of the last transition
	recoveries  []time.Time
}

// NewSession starts a session, for one voice connection.
func NewSession(c Config) (*Session, error) {
	if c.Random == nil {
		c.Random = rand.Reader
	}
	k, err := mls.NewSignatureKey(c.Random)
	if err != nil {
		return nil, err
	}
	return &Session{config: c, signature: k, recognized: map[uint64]bool{}}, nil
}

// Sealer encrypts our frames.
func (s *Session) Sealer() *Sealer { return &s.sealer }

// Opener decrypts those of others.
func (s *Session) Opener() *Opener { return &s.opener }

// Begin starts the encryption of a call: the session description (opcode 4) says
// of which version.
func (s *Session) Begin(version int) ([]Message, error) {
	s.version = version
	switch {
	case version == Version:
		return s.initialize()
	case version != 0:
		return nil, fmt.Errorf("dave: protocol version %d, want %d", version, Version)
	case !s.config.AllowPlain:
		return nil, ErrUnencrypted
	}
	s.sealer.usePlain()
	s.opener.usePlain()
	return nil, nil
}

// initialize asks to be let into the group, or to start it. What we send and
// hear goes on with the old keys until there are new ones.
func (s *Session) initialize() ([]Message, error) {
	own, err := mls.NewInvitation(s.config.User, s.signature, s.config.Random)
	if err != nil {
		return nil, err
	}
	s.own, s.group, s.pending, s.commit = own, nil, nil, nil
	return []Message{{Op: OpKeyPackage, Binary: own.Package.Append(nil)}}, s.createPending()
}

func (s *Session) createPending() (err error) {
	if s.external == nil || s.own == nil {
		return nil
	}
	s.commit = nil
	id := binary.BigEndian.AppendUint64(nil, s.config.Channel)
	s.pending, err = mls.NewGroup(id, s.own, *s.external, s.config.Random)
	return err
}

// Joined says who is in the call (opcode 11, or the main gateway's voice
// states): only they may be added to the group.
func (s *Session) Joined(users ...uint64) error {
	for _, u := range users {
		if len(s.recognized) >= mls.MaxMembers && !s.recognized[u] {
			return fmt.Errorf("dave: over %d users in a call", mls.MaxMembers)
		}
		s.recognized[u] = true
	}
	return nil
}

// Left says who is not in the call any more (opcode 13).
func (s *Session) Left(user uint64) { delete(s.recognized, user) }

// Receive handles a binary message of the gateway: its opcode and what follows.
func (s *Session) Receive(op uint8, payload []byte, now time.Time) ([]Message, error) {
	switch op {
	case OpExternalSender:
		return nil, s.receiveExternalSender(payload)
	case OpProposals:
		return s.receiveProposals(payload)
	case OpAnnounceCommit, OpWelcome:
		if len(payload) < 2 {
			return nil, fmt.Errorf("dave: opcode %d of %d bytes", op, len(payload))
		}
		id := binary.BigEndian.Uint16(payload)
		if op == OpAnnounceCommit {
			return s.receiveCommit(id, payload[2:], now)
		}
		return s.receiveWelcome(id, payload[2:], now)
	}
	return nil, nil // Discord may add some
}

func (s *Session) receiveExternalSender(b []byte) error {
	e, err := mls.ParseExternalSender(b)
	if err != nil {
		return err
	}
	if s.group != nil {
		return nil // it is fixed for the life of the group
	}
	s.external = &e
	return s.createPending()
}

// receiveProposals brings the proposals up to date and answers with our commit
// of all of them. Every member does; the gateway takes one.
func (s *Session) receiveProposals(b []byte) ([]Message, error) {
	g := s.group
	if g == nil {
		g = s.pending
	}
	if g == nil {
		return nil, errors.New("dave: proposals before there is a group")
	}
	if len(b) == 0 {
		return nil, errors.New("dave: proposals without an operation")
	}
	s.commit = nil
	var err error
	switch b[0] {
	case 0:
		err = s.propose(g, b[1:])
	case 1:
		err = revoke(g, b[1:])
	default:
		err = fmt.Errorf("dave: operation %d on proposals", b[0])
	}
	if err != nil || g.Proposals() == 0 {
		return nil, err
	}
	if s.commit, err = g.Commit(s.config.Random); err != nil {
		return nil, err
	}
	return []Message{s.commitMessage()}, nil
}

func (s *Session) propose(g *mls.Group, b []byte) error {
	list, err := mls.ParseProposals(b)
	if err != nil {
		return err
	}
	for _, m := range list {
		if k := m.Added(); k != nil {
			user, err := k.User()
			if err != nil {
				return err
			}
			// DAVE, "Proposal Validation": the gateway may not let somebody
			// listen who is not in the call.
			if !s.recognized[user] {
				return fmt.Errorf("dave: proposal to add user %d, who is not in the call", user)
			}
		}
		if err := g.Propose(m); err != nil {
			return err
		}
	}
	return nil
}

func revoke(g *mls.Group, b []byte) error {
	refs, err := mls.ParseRefs(b)
	if err != nil {
		return err
	}
	for _, ref := range refs {
		if err := g.Revoke(ref); err != nil {
			return err
		}
	}
	return nil
}

// receiveCommit moves to the epoch that a commit leads to.
func (s *Session) receiveCommit(id uint16, b []byte, now time.Time) ([]Message, error) {
	if s.commit != nil && slices.Equal(s.commit.Message, b) {
		return s.adopt(id, s.commit.Next, now)
	}
	if s.group == nil {
		// One of a group that we wait to be let into, or have just left to be
		// let in anew: a welcome will come.
		return nil, errors.New("dave: commit of a group we are not in")
	}
	next, err := s.group.Process(b)
	if err != nil {
		return s.recover(id, err, now)
	}
	return s.adopt(id, next, now)
}

func (s *Session) receiveWelcome(id uint16, b []byte, now time.Time) ([]Message, error) {
	if s.group != nil {
		return nil, errors.New("dave: welcome to a group we are in")
	}
	if s.own == nil || s.external == nil {
		return nil, errors.New("dave: welcome before we asked for one")
	}
	g, err := mls.Join(b, s.own, *s.external)
	if err != nil {
		return s.recover(id, err, now)
	}
	return s.adopt(id, g, now)
}

// adopt makes g the group. Others' new keys are good at once; ours is used when
// all have theirs. DAVE, "Transitions".
func (s *Session) adopt(id uint16, g *mls.Group, now time.Time) ([]Message, error) {
	users, err := g.Users()
	if err != nil {
		return s.recover(id, err, now)
	}
	s.group, s.pending, s.commit = g, nil, nil
	bases := map[uint64][]byte{}
	for _, u := range users {
		// DAVE, "Sender Key Derivation": least significant byte first, unlike
		// everywhere else.
		bases[u] = g.Export("Discord Secure Frames v0", binary.LittleEndian.AppendUint64(nil, u), keySize)
	}
	s.prepare(transition{id: id, base: bases[s.config.User], due: now.Add(executeLimit)})
	delete(bases, s.config.User)
	s.opener.use(bases, now)
	return s.ready(id), nil
}

// recover asks to be let in anew after a commit or a welcome that we cannot
// follow. DAVE, "Recovery from Invalid Commit or Welcome".
func (s *Session) recover(id uint16, why error, now time.Time) ([]Message, error) {
	s.recoveries = slices.DeleteFunc(s.recoveries, func(t time.Time) bool { return now.Sub(t) >= recoveryTime })
	if len(s.recoveries) == maxRecoveries {
		return nil, fmt.Errorf("%w: %w", ErrHopeless, why)
	}
	s.recoveries = append(s.recoveries, now)
	answer, err := s.initialize()
	answer = append([]Message{{Op: OpInvalidCommit, Transition: id}}, answer...)
	return answer, errors.Join(fmt.Errorf("dave: transition %d is not valid, asking to join anew: %w", id, why), err)
}

// Deaf says that frame after frame did not open although everybody should have
// had their keys. It joins the group anew, at most every 30 s.
func (s *Session) Deaf(now time.Time) ([]Message, error) {
	if s.version != Version || len(s.transitions) > 0 || s.group == nil {
		return nil, nil // on the way to new keys already
	}
	if n := len(s.recoveries); n > 0 && now.Sub(s.recoveries[n-1]) < deafTime {
		return nil, nil
	}
	return s.recover(s.last, errors.New("frames do not open"), now)
}

// Unanswered is what we have sent and got no answer to: after a resumption it is
// to be sent again, for the gateway repeats what we missed, and does not say what
// it missed. It drops what it had.
func (s *Session) Unanswered() (out []Message) {
	if s.group == nil && s.own != nil {
		out = append(out, Message{Op: OpKeyPackage, Binary: s.own.Package.Append(nil)})
	}
	if s.commit != nil {
		out = append(out, s.commitMessage())
	}
	return out
}

func (s *Session) commitMessage() Message {
	return Message{Op: OpCommitWelcome, Binary: slices.Concat(s.commit.Message, s.commit.Welcome)}
}

// Epoch is the epoch of the group, 0 without one.
func (s *Session) Epoch() uint64 {
	if s.group == nil {
		return 0
	}
	return s.group.Epoch()
}

// Settled says whether we send with the keys of the current epoch: between a
// change of the group and its execution we do not, and who has just come cannot
// hear us.
func (s *Session) Settled() bool {
	return s.group != nil && len(s.transitions) == 0 && s.sealer.Ready()
}

// PrivacyCode is what all members see if there is nobody between them: 30
// digits, as in the details of a call in Discord. It is empty without a group.
func (s *Session) PrivacyCode() string {
	if s.group == nil {
		return ""
	}
	return privacyCode(s.group.Authenticator())
}
