package dave_test

import (
	"bytes"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/voice/dave"
	"github.com/glyphoxa/glyphoxa/voice/voicetest"
)

// A call is sessions around the server's own state machine, without any network:
// deliveries are made in order, and a test may look at or spoil each.
type call struct {
	t        *testing.T
	server   *voicetest.Group
	sessions map[uint64]*dave.Session
	now      time.Time
	queue    []voicetest.Delivery
	// spoil, if set, may change or drop a delivery.
	spoil func(d *voicetest.Delivery) bool
	// held are transitions that all members were asked to make ready.
	ready  map[uint16]int
	errs   []error
	commit int // commits the server took
}

const (
	channel      = 42
	opDisconnect = 13 // in the queue with the user where the epoch would be
)

func newCall(t *testing.T) *call {
	t.Helper()
	g, err := voicetest.NewGroup(channel)
	if err != nil {
		t.Fatal(err)
	}
	return &call{
		t: t, server: g, now: time.Unix(1_000_000, 0),
		sessions: map[uint64]*dave.Session{}, ready: map[uint16]int{},
	}
}

func (c *call) join(users ...uint64) {
	c.t.Helper()
	for _, u := range users {
		c.connect(u)
		c.run()
	}
}

func (c *call) connect(u uint64) {
	c.t.Helper()
	s, err := dave.NewSession(dave.Config{User: u, Channel: channel})
	if err != nil {
		c.t.Fatal(err)
	}
	for other, o := range c.sessions {
		if err := errors.Join(s.Joined(other), o.Joined(u)); err != nil {
			c.t.Fatal(err)
		}
	}
	c.sessions[u] = s
	c.queue = append(c.queue, c.server.Connect(u)...)
	out, err := s.Begin(dave.Version)
	if err != nil {
		c.t.Fatal(err)
	}
	c.receive(u, out)
}

func (c *call) leave(u uint64) {
	delete(c.sessions, u)
	for other := range c.sessions {
		c.queue = append(c.queue, voicetest.Delivery{To: other, Op: opDisconnect, Epoch: u})
	}
	c.queue = append(c.queue, c.server.Leave(u)...)
}

// run delivers until nobody has anything to say.
func (c *call) run() {
	c.t.Helper()
	for rounds := 0; len(c.queue) > 0; rounds++ {
		if rounds > 10_000 {
			c.t.Fatal("the call does not come to rest")
		}
		d := c.queue[0]
		c.queue = c.queue[1:]
		s := c.sessions[d.To]
		if s == nil || c.spoil != nil && !c.spoil(&d) {
			continue
		}
		out, err := deliver(s, d, c.now)
		if err != nil {
			c.errs = append(c.errs, err)
		}
		c.receive(d.To, out)
	}
}

func deliver(s *dave.Session, d voicetest.Delivery, now time.Time) ([]dave.Message, error) {
	switch d.Op {
	case opDisconnect:
		s.Left(d.Epoch)
		return nil, nil
	case dave.OpPrepareEpoch:
		return s.PrepareEpoch(d.Version, d.Epoch)
	case dave.OpPrepareTransition:
		return s.PrepareTransition(d.Transition, d.Version)
	case dave.OpExecuteTransition:
		s.ExecuteTransition(d.Transition)
		return nil, nil
	default:
		return s.Receive(d.Op, d.Binary, now)
	}
}

// receive is the server's side of the wire.
func (c *call) receive(from uint64, list []dave.Message) {
	c.t.Helper()
	for _, m := range list {
		var out []voicetest.Delivery
		var err error
		switch m.Op {
		case dave.OpKeyPackage:
			out, err = c.server.KeyPackage(from, m.Binary)
		case dave.OpCommitWelcome:
			if out, _, err = c.server.Commit(from, m.Binary); err == nil {
				c.commit++
			}
			if errors.Is(err, voicetest.ErrRefused) {
				err = nil // lost the race
			}
		case dave.OpTransitionReady:
			if c.ready[m.Transition]++; c.ready[m.Transition] == len(c.server.Members()) {
				out = c.server.Execute(m.Transition)
			}
		case dave.OpInvalidCommit:
			out = c.server.Invalid(from)
		}
		if err != nil {
			c.t.Fatal(err)
		}
		c.queue = append(c.queue, out...)
	}
}

// talk lets everybody say something that all others must hear.
func (c *call) talk() {
	c.t.Helper()
	users := slices.Sorted(maps.Keys(c.sessions))
	code := c.sessions[users[0]].PrivacyCode()
	for _, from := range users {
		if got := c.sessions[from].PrivacyCode(); got != code || code == "" {
			c.t.Errorf("user %d has privacy code %q, user %d has %q", from, got, users[0], code)
		}
		said := bytes.Repeat([]byte{byte(from)}, 60)
		sealed, err := c.sessions[from].Sealer().Seal(nil, said)
		if err != nil {
			c.t.Fatal(err)
		}
		if bytes.Contains(sealed, said[:8]) {
			c.t.Fatal("sent in the clear")
		}
		for _, to := range users {
			if to == from {
				continue
			}
			heard, err := c.sessions[to].Opener().Open(nil, from, sealed, c.now)
			if err != nil || !bytes.Equal(heard, said) {
				c.t.Fatalf("user %d does not hear user %d: %v", to, from, err)
			}
		}
	}
}

func TestEverybodyHearsEverybodyHoweverTheyComeAndGo(t *testing.T) {
	c := newCall(t)
	choose := rand.New(rand.NewPCG(1, 2))
	c.join(1, 2)
	c.talk()
	next := uint64(3)
	for range 60 {
		for range choose.IntN(3) {
			if len(c.sessions) < 12 {
				c.connect(next)
				next++
			}
		}
		for range choose.IntN(3) {
			if len(c.sessions) > 2 {
				users := slices.Sorted(maps.Keys(c.sessions))
				c.leave(users[choose.IntN(len(users))])
			}
		}
		c.run()
		c.talk()
	}
	if len(c.errs) > 0 {
		t.Errorf("complaints in a call without faults: %v", c.errs)
	}
}

func TestNothingIsSentBeforeThereIsAGroup(t *testing.T) {
	c := newCall(t)
	c.join(1)
	s := c.sessions[1].Sealer()
	if s.Ready() {
		t.Error("ready alone")
	}
	if out, err := s.Seal(nil, []byte("hello")); !errors.Is(err, dave.ErrNoKey) || len(out) > 0 {
		t.Errorf("sealed %x, %v; want nothing, %v", out, err, dave.ErrNoKey)
	}
	c.join(2)
	if !s.Ready() {
		t.Error("not ready with two")
	}
	c.talk()
}

func TestLastOneLeftStartsAnewWithTheNext(t *testing.T) {
	c := newCall(t)
	c.join(1, 2, 3)
	c.leave(2)
	c.run()
	c.leave(3)
	c.run()
	if e := c.sessions[1].Epoch(); e != 0 {
		t.Errorf("alone in epoch %d, want none", e)
	}
	c.join(4)
	c.talk()
	if e := c.sessions[1].Epoch(); e != 1 {
		t.Errorf("new group is in epoch %d, want 1", e)
	}
}

func TestNewcomerCannotHearWhatWasSaidBefore(t *testing.T) {
	c := newCall(t)
	c.join(1, 2)
	before, err := c.sessions[1].Sealer().Seal(nil, []byte("a secret"))
	if err != nil {
		t.Fatal(err)
	}
	c.join(3)
	if _, err := c.sessions[3].Opener().Open(nil, 1, before, c.now); !errors.Is(err, dave.ErrKey) {
		t.Errorf("newcomer: %v, want %v", err, dave.ErrKey)
	}
	if _, err := c.sessions[2].Opener().Open(nil, 1, before, c.now); err != nil {
		t.Errorf("member, just after the change: %v", err)
	}
}

func TestLeaverCannotHearWhatIsSaidAfter(t *testing.T) {
	c := newCall(t)
	c.join(1, 2, 3)
	gone := c.sessions[3]
	c.leave(3)
	c.run()
	after, err := c.sessions[1].Sealer().Seal(nil, []byte("a secret"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gone.Opener().Open(nil, 1, after, c.now); !errors.Is(err, dave.ErrKey) {
		t.Errorf("who left: %v, want %v", err, dave.ErrKey)
	}
}

func TestOldKeysLiveTenSeconds(t *testing.T) {
	for _, who := range []struct {
		name  string
		leave bool
	}{{"of a member", false}, {"of one who left", true}} {
		t.Run(who.name, func(t *testing.T) {
			c := newCall(t)
			c.join(1, 2, 3)
			var old [][]byte
			for range 2 {
				b, err := c.sessions[3].Sealer().Seal(nil, []byte("on its way"))
				if err != nil {
					t.Fatal(err)
				}
				old = append(old, b)
			}
			if who.leave {
				c.leave(3)
				c.run()
			} else {
				c.join(4)
			}
			o := c.sessions[1].Opener()
			if _, err := o.Open(nil, 3, old[0], c.now.Add(10*time.Second-1)); err != nil {
				t.Errorf("just before: %v", err)
			}
			if _, err := o.Open(nil, 3, old[1], c.now.Add(10*time.Second)); !errors.Is(err, dave.ErrKey) {
				t.Errorf("after ten seconds: %v, want %v", err, dave.ErrKey)
			}
		})
	}
}

func TestSenderChangesKeysOnlyWhenAllAreReady(t *testing.T) {
	c := newCall(t)
	c.join(1, 2)
	var executes []voicetest.Delivery
	c.spoil = func(d *voicetest.Delivery) bool {
		if d.Op == dave.OpExecuteTransition {
			executes = append(executes, *d)
			return false
		}
		return true
	}
	c.connect(3)
	c.run()
	frame, err := c.sessions[1].Sealer().Seal(nil, []byte("still the old key"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.sessions[2].Opener().Open(nil, 1, frame, c.now); err != nil {
		t.Errorf("member: %v", err)
	}
	if _, err := c.sessions[3].Opener().Open(nil, 1, frame, c.now); !errors.Is(err, dave.ErrKey) {
		t.Errorf("newcomer: %v, want %v", err, dave.ErrKey)
	}
	if c.sessions[1].Settled() {
		t.Error("settled before the execution")
	}
	c.spoil = nil
	c.queue = executes
	c.run()
	c.talk()
	if !c.sessions[1].Settled() {
		t.Error("not settled after it")
	}
}

func TestOlderTransitionDoesNotTurnTheKeysBack(t *testing.T) {
	c := newCall(t)
	c.join(1, 2)
	var executes []voicetest.Delivery
	c.spoil = func(d *voicetest.Delivery) bool {
		if d.Op == dave.OpExecuteTransition {
			executes = append(executes, *d)
			return false
		}
		return true
	}
	c.connect(3)
	c.run()
	c.connect(4)
	c.run()
	c.spoil = nil
	slices.Reverse(executes)
	c.queue = executes
	c.run()
	c.talk() // with a member who never had the older keys
}

func TestSpoiltCommitOrWelcomeIsRecovered(t *testing.T) {
	for _, op := range []uint8{dave.OpAnnounceCommit, dave.OpWelcome} {
		c := newCall(t)
		c.join(1, 2, 3)
		victim := uint64(2)
		if op == dave.OpWelcome {
			victim = 4
		}
		spoilt := false
		c.spoil = func(d *voicetest.Delivery) bool {
			if d.To == victim && d.Op == op && !spoilt {
				spoilt = true
				d.Binary = bytes.Clone(d.Binary)
				d.Binary[len(d.Binary)-40] ^= 1
			}
			return true
		}
		c.connect(4)
		// The victim must not be the committer, whose own commit comes back.
		for i, d := range c.queue {
			if d.To == victim && d.Op == dave.OpProposals {
				c.queue = append(slices.Delete(c.queue, i, i+1), d)
				break
			}
		}
		c.run()
		if !spoilt {
			t.Fatalf("opcode %d was not spoilt", op)
		}
		c.talk()
		if len(c.errs) == 0 {
			t.Errorf("opcode %d: nobody complained", op)
		}
	}
}

func TestGivesUpAfterFiveRecoveriesInAMinute(t *testing.T) {
	c := newCall(t)
	c.join(1, 2, 3)
	s := c.sessions[3]
	bad := slices.Concat([]byte{0, 9}, []byte("not a welcome"))
	tries := 0
	for range 7 {
		if _, err := s.Begin(dave.Version); err != nil { // so that a welcome is expected
			t.Fatal(err)
		}
		out, err := s.Receive(dave.OpWelcome, bad, c.now)
		if errors.Is(err, dave.ErrHopeless) {
			if len(out) > 0 {
				t.Error("and yet it goes on")
			}
			break
		}
		if len(out) != 2 || out[0].Op != dave.OpInvalidCommit || out[0].Transition != 9 || out[1].Op != dave.OpKeyPackage {
			t.Fatalf("answer %v", out)
		}
		tries++
	}
	if tries != 5 {
		t.Errorf("gave up after %d recoveries, want 5", tries)
	}
	if _, err := s.Receive(dave.OpWelcome, bad, c.now.Add(time.Minute)); errors.Is(err, dave.ErrHopeless) {
		t.Error("never tries again")
	}
}

func TestDeafMemberJoinsAnewOncePerHalfMinute(t *testing.T) {
	c := newCall(t)
	c.join(1, 2, 3)
	s := c.sessions[2]
	out, err := s.Deaf(c.now)
	if err == nil || len(out) != 2 {
		t.Fatalf("answer %v, %v", out, err)
	}
	if again, _ := s.Deaf(c.now); len(again) > 0 {
		t.Error("asked again while the first was under way")
	}
	c.receive(2, out)
	c.run()
	c.talk()
	if again, _ := s.Deaf(c.now.Add(30*time.Second - 1)); len(again) > 0 {
		t.Error("asked again within half a minute")
	}
	if again, _ := s.Deaf(c.now.Add(30 * time.Second)); len(again) == 0 {
		t.Error("did not ask again after half a minute")
	}
}

func TestStrangerCannotBeAdded(t *testing.T) {
	c := newCall(t)
	c.join(1, 2)
	c.connect(3)
	for _, u := range []uint64{1, 2} {
		c.sessions[u].Left(3) // as far as they know
	}
	before := c.commit
	c.run()
	if c.commit != before || c.sessions[1].Epoch() != 1 {
		t.Error("a user whom nobody saw join was let in")
	}
	if len(c.errs) == 0 {
		t.Error("nobody complained")
	}
}

func TestRevokedUserIsNotAdded(t *testing.T) {
	c := newCall(t)
	c.join(1, 2)
	c.spoil = func(d *voicetest.Delivery) bool { return true }
	c.connect(3)
	c.leave(3) // its addition is proposed and revoked before anybody answers
	c.run()
	if e := c.sessions[1].Epoch(); e != 1 {
		t.Errorf("epoch %d, want 1", e)
	}
	c.talk()
}

func TestUnencryptedCallsAreRefused(t *testing.T) {
	s, err := dave.NewSession(dave.Config{User: 1, Channel: channel})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Begin(0); !errors.Is(err, dave.ErrUnencrypted) {
		t.Errorf("at the start: %v", err)
	}
	if s.Sealer().Ready() {
		t.Error("ready to send in the clear")
	}
	c := newCall(t)
	c.join(1, 2)
	for _, id := range []uint16{0, 7} {
		if out, err := c.sessions[1].PrepareTransition(id, 0); !errors.Is(err, dave.ErrUnencrypted) || len(out) > 0 {
			t.Errorf("on the way: %v, %v", out, err)
		}
		c.sessions[1].ExecuteTransition(id)
	}
	if _, err := c.sessions[1].PrepareEpoch(0, 1); !errors.Is(err, dave.ErrUnencrypted) {
		t.Errorf("by a new epoch: %v", err)
	}
	c.talk()
	if _, err := c.sessions[1].Opener().Open(nil, 2, []byte("in the clear"), c.now); !errors.Is(err, dave.ErrPlain) {
		t.Errorf("received: %v, want %v", err, dave.ErrPlain)
	}
}

func TestAllowedPlainCallEndsTenSecondsAfterAnUpgrade(t *testing.T) {
	s, err := dave.NewSession(dave.Config{User: 1, Channel: channel, AllowPlain: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Begin(0); err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_000_000, 0)
	plain := []byte("in the clear")
	if out, err := s.Sealer().Seal(nil, plain); err != nil || !bytes.Equal(out, plain) {
		t.Errorf("sent %x, %v", out, err)
	}
	if out, err := s.Opener().Open(nil, 2, plain, now); err != nil || !bytes.Equal(out, plain) {
		t.Errorf("heard %x, %v", out, err)
	}
	// The call becomes encrypted: an epoch starts, and a second member is there.
	c := newCall(t)
	c.sessions[1] = s
	c.queue = c.server.Connect(1)
	out, err := s.PrepareEpoch(dave.Version, 1)
	if err != nil {
		t.Fatal(err)
	}
	c.receive(1, out)
	c.join(2)
	c.talk()
	if _, err := s.Opener().Open(nil, 2, plain, c.now.Add(10*time.Second-1)); err != nil {
		t.Errorf("on its way: %v", err)
	}
	if _, err := s.Opener().Open(nil, 2, plain, c.now.Add(10*time.Second)); !errors.Is(err, dave.ErrPlain) {
		t.Errorf("later: %v, want %v", err, dave.ErrPlain)
	}
}

func TestAllowedDowngradeHappensWhenItIsExecuted(t *testing.T) {
	c := newCall(t)
	c.join(1, 2)
	s, err := dave.NewSession(dave.Config{User: 3, Channel: channel, AllowPlain: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Joined(1, 2), c.sessions[1].Joined(3), c.sessions[2].Joined(3)); err != nil {
		t.Fatal(err)
	}
	c.sessions[3] = s
	c.queue = c.server.Connect(3)
	out, err := s.Begin(dave.Version)
	if err != nil {
		t.Fatal(err)
	}
	c.receive(3, out)
	c.run()
	c.talk()
	if out, err := s.PrepareTransition(9, 0); err != nil || len(out) != 1 || out[0].Transition != 9 {
		t.Fatalf("%v, %v", out, err)
	}
	plain := []byte("in the clear")
	if b, err := s.Sealer().Seal(nil, plain); err != nil || bytes.Contains(b, plain) {
		t.Errorf("sent in the clear before its time: %x, %v", b, err)
	}
	s.ExecuteTransition(9)
	if b, err := s.Sealer().Seal(nil, plain); err != nil || !bytes.Equal(b, plain) {
		t.Errorf("sent %x, %v", b, err)
	}
}
