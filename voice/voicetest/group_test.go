package voicetest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/voice/dave"
	"github.com/glyphoxa/glyphoxa/voice/dave/mls"
)

// A gathering is a group and its members' real sessions, without a network.
type gathering struct {
	t       *testing.T
	group   *Group
	members map[uint64]*dave.Session
	// commits are what members have sent (opcode 28) and nobody judged yet.
	commits []sentBy
}

type sentBy struct {
	user uint64
	b    []byte
}

// gather lets users come, one after the other, up to the commit that takes the
// last one in.
func gather(t *testing.T, users ...uint64) *gathering {
	t.Helper()
	g, err := NewGroup(42)
	if err != nil {
		t.Fatal(err)
	}
	room := &gathering{t: t, group: g, members: map[uint64]*dave.Session{}}
	for i, user := range users {
		if i > 1 {
			room.settle()
		}
		s, err := dave.NewSession(dave.Config{User: user, Channel: 42})
		if err != nil {
			t.Fatal(err)
		}
		room.members[user] = s
		for _, m := range room.members {
			if err := m.Joined(users...); err != nil {
				t.Fatal(err)
			}
		}
		room.deliver(g.Connect(user))
		out, err := s.Begin(dave.Version)
		if err != nil {
			t.Fatal(err)
		}
		room.send(user, out)
	}
	return room
}

// settle lets the group take the first commit there is.
func (r *gathering) settle() {
	r.t.Helper()
	first := r.commits[0]
	r.commits = nil
	out, id, err := r.group.Commit(first.user, first.b)
	if err != nil {
		r.t.Fatal(err)
	}
	r.deliver(out)
	if id != 0 {
		r.deliver(r.group.Execute(id))
	}
}

func (r *gathering) deliver(list []Delivery) {
	r.t.Helper()
	for _, d := range list {
		s := r.members[d.To]
		if d.Binary == nil {
			s.ExecuteTransition(d.Transition)
			continue
		}
		out, err := s.Receive(d.Op, d.Binary, time.Now())
		if err != nil {
			r.t.Fatalf("user %d, opcode %d: %v", d.To, d.Op, err)
		}
		r.send(d.To, out)
	}
}

func (r *gathering) send(user uint64, out []dave.Message) {
	r.t.Helper()
	for _, m := range out {
		switch m.Op {
		case dave.OpKeyPackage:
			list, err := r.group.KeyPackage(user, m.Binary)
			if err != nil {
				r.t.Fatal(err)
			}
			r.deliver(list)
		case dave.OpCommitWelcome:
			r.commits = append(r.commits, sentBy{user, m.Binary})
		}
	}
}

func (r *gathering) of(user uint64) []byte {
	r.t.Helper()
	i := slices.IndexFunc(r.commits, func(c sentBy) bool { return c.user == user })
	if i < 0 {
		r.t.Fatalf("user %d has not committed", user)
	}
	return r.commits[i].b
}

func TestFirstCommitWinsAndTheOthersAreDropped(t *testing.T) {
	r := gather(t, 1, 2, 3)
	if len(r.commits) != 2 {
		t.Fatalf("%d commits, want one of each member", len(r.commits))
	}
	loser := r.of(2)
	r.commits = []sentBy{{1, r.of(1)}}
	r.settle()
	if got := slices.Sorted(slices.Values(r.group.Members())); !slices.Equal(got, []uint64{1, 2, 3}) {
		t.Errorf("members %v", got)
	}
	if _, _, err := r.group.Commit(2, loser); !errors.Is(err, ErrRefused) {
		t.Errorf("a commit of the last epoch: %v, want %v", err, ErrRefused)
	}
}

// TestCommitsThatDiscordWouldRefuse alters a good commit in each way that the
// server can see.
func TestCommitsThatDiscordWouldRefuse(t *testing.T) {
	for name, commit := range map[string]func(r *gathering) (user uint64, b []byte){
		"of somebody else":           func(r *gathering) (uint64, []byte) { return 2, r.of(1) },
		"of the newcomer":            func(r *gathering) (uint64, []byte) { return 3, r.of(1) },
		"empty":                      func(*gathering) (uint64, []byte) { return 1, nil },
		"cut off":                    func(r *gathering) (uint64, []byte) { return 1, r.of(1)[:40] },
		"without its welcome":        func(r *gathering) (uint64, []byte) { return 1, r.of(1)[:commitSize(r)] },
		"with a welcome cut off":     func(r *gathering) (uint64, []byte) { return 1, r.of(1)[:len(r.of(1))-9] },
		"with a stranger's welcome":  func(r *gathering) (uint64, []byte) { return 1, swapWelcome(r) },
		"of another group":           func(r *gathering) (uint64, []byte) { return 1, gather(r.t, 1, 2, 3).of(1) },
		"that leaves a proposal out": func(r *gathering) (uint64, []byte) { b := r.of(1); r.group.Invalid(2); return 1, b },
		"of a proposal taken back":   func(r *gathering) (uint64, []byte) { b := r.of(1); r.group.Leave(3); return 1, b },
		"a proposal instead":         func(r *gathering) (uint64, []byte) { return 1, appended(r.group.proposals...)[1:] },
	} {
		t.Run(name, func(t *testing.T) {
			r := gather(t, 1, 2, 3)
			user, b := commit(r)
			epoch := r.group.Epoch()
			if _, _, err := r.group.Commit(user, b); !errors.Is(err, ErrRefused) {
				t.Errorf("%v, want %v", err, ErrRefused)
			}
			if r.group.Epoch() != epoch {
				t.Error("the group has moved on")
			}
		})
	}
}

// commitSize is how long the commit in front of user 1's welcome is.
func commitSize(r *gathering) int {
	r.t.Helper()
	_, welcome, err := mls.ParsePublicMessage(r.of(1))
	if err != nil {
		r.t.Fatal(err)
	}
	return len(r.of(1)) - len(welcome)
}

func swapWelcome(r *gathering) []byte {
	other := gather(r.t, 1, 2, 3)
	return slices.Concat(r.of(1)[:commitSize(r)], other.of(1)[commitSize(other):])
}

func TestKeyPackagesThatDiscordWouldRefuse(t *testing.T) {
	r := gather(t, 1, 2)
	s, err := dave.NewSession(dave.Config{User: 7, Channel: 42})
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Begin(dave.Version)
	if err != nil {
		t.Fatal(err)
	}
	good := out[0].Binary
	altered := slices.Clone(good)
	altered[len(altered)/2] ^= 1
	for name, c := range map[string]struct {
		user uint64
		b    []byte
	}{
		"of somebody else": {8, good}, "empty": {7, nil}, "cut off": {7, good[:len(good)-1]}, "altered": {7, altered},
		"with more behind it": {7, append(slices.Clone(good), 0)},
	} {
		if _, err := r.group.KeyPackage(c.user, c.b); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v, want %v", name, err, ErrRefused)
		}
	}
	if _, err := r.group.KeyPackage(7, good); err != nil {
		t.Errorf("a good one: %v", err)
	}
}
