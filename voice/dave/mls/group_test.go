package mls

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestAllMembersShareTheSecretsAfterAnyChange(t *testing.T) {
	for seed := range byte(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := newRoom(t, seed)
			choose := rand.New(rand.NewPCG(uint64(seed), 1))
			for range 40 {
				var present []int
				for i, g := range r.members {
					if g != nil {
						present = append(present, i)
					}
				}
				choose.Shuffle(len(present), func(i, j int) { present[i], present[j] = present[j], present[i] })
				leave := 0
				if len(present) > 2 {
					leave = choose.IntN(min(4, len(present)-1))
				}
				join := choose.IntN(4)
				if len(present) > 20 {
					join = 0
				}
				r.change(present[0], join, present[1:1+leave]...)
			}
		})
	}
}

func TestExportsDifferByLabelContextAndEpoch(t *testing.T) {
	r := newFullRoom(t, 1, 3)
	before := r.members[0]
	r.change(0, 1)
	after := r.members[0]
	seen := map[string]string{}
	for name, secret := range map[string][]byte{
		"a x":       before.Export("a", []byte("x"), 16),
		"b x":       before.Export("b", []byte("x"), 16),
		"a y":       before.Export("a", []byte("y"), 16),
		"a x later": after.Export("a", []byte("x"), 16),
	} {
		if other, dup := seen[string(secret)]; dup {
			t.Errorf("%q and %q export the same", name, other)
		}
		seen[string(secret)] = name
	}
	if got := r.members[3].Export("a", []byte("x"), 16); !bytes.Equal(got, after.Export("a", []byte("x"), 16)) {
		t.Error("the newcomer exports something else")
	}
}

func TestRemovedMemberCannotFollow(t *testing.T) {
	r := newFullRoom(t, 2, 4)
	gone := r.members[2]
	r.change(0, 0, 2)
	if bytes.Equal(gone.Authenticator(), r.members[0].Authenticator()) {
		t.Fatal("the epoch did not change")
	}
	// Even told about it all, the one who left has no key to the new path.
	r.propose(r.remove(3))
	c := r.commit(0)
	if _, err := gone.Process(c.Message); !errors.Is(err, ErrEpoch) {
		t.Errorf("a commit of the epoch after: %v, want %v", err, ErrEpoch)
	}
}

func TestCommitThatLosesLeavesNoTrace(t *testing.T) {
	r := newFullRoom(t, 3, 3)
	own := r.invitation()
	r.propose(r.add(own), r.remove(2))
	winner, loser := r.commit(1), r.commit(0)
	if bytes.Equal(winner.Message, loser.Message) {
		t.Fatal("two members made one commit")
	}
	next, err := r.members[0].Process(winner.Message)
	if err != nil {
		t.Fatal(err)
	}
	r.members[0], r.members[1], r.members[2] = next, winner.Next, nil
	r.welcome(winner, own)
	r.agree()
}

func TestRevokedProposalIsNotCommitted(t *testing.T) {
	r := newFullRoom(t, 4, 3)
	p := r.remove(2)
	r.propose(p, r.add(r.invitation()))
	for _, g := range r.members {
		refs, err := ParseRefs(AppendRefs(nil, p.Ref()))
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Revoke(refs[0]); err != nil {
			t.Fatal(err)
		}
		if err := g.Revoke(refs[0]); !errors.Is(err, ErrProposal) {
			t.Errorf("second revocation: %v, want %v", err, ErrProposal)
		}
	}
	users, err := r.commit(0).Next.Users()
	if err != nil {
		t.Fatal(err)
	}
	if want := []uint64{1000, 1001, 1002, 1003}; !slices.Equal(users, want) {
		t.Errorf("members %v, want %v", users, want)
	}
}

func TestProposalSentTwiceCountsOnce(t *testing.T) {
	r := newFullRoom(t, 5, 2)
	p := r.remove(1)
	r.propose(p, p)
	if got := r.members[0].Proposals(); got != 1 {
		t.Errorf("%d proposals, want 1", got)
	}
}

// A rejoin is what every client does that could not follow: its leaf goes and it
// is added anew, in one commit.
func TestUserIsRemovedAndAddedInOneCommit(t *testing.T) {
	r := newFullRoom(t, 6, 4)
	old := r.members[2]
	r.next = 1002
	again := r.invitation()
	r.propose(r.add(again), r.remove(2))
	c := r.commit(3)
	for _, i := range []int{0, 1} {
		next, err := r.members[i].Process(c.Message)
		if err != nil {
			t.Fatal(err)
		}
		r.members[i] = next
	}
	r.members[3] = c.Next
	r.welcome(c, again)
	r.agree()
	if r.members[2] == old {
		t.Error("the user kept the old state")
	}
}

func TestInvitationIsGoodForOneGroup(t *testing.T) {
	r := newFullRoom(t, 7, 2)
	own := r.invitation()
	r.propose(r.add(own))
	c := r.commit(0)
	if _, err := Join(c.Welcome, own, r.external.Sender); err != nil {
		t.Fatal(err)
	}
	if _, err := Join(c.Welcome, own, r.external.Sender); !errors.Is(err, ErrNotForUs) {
		t.Errorf("second join: %v, want %v", err, ErrNotForUs)
	}
}

func TestTreeHasALimit(t *testing.T) {
	var tr tree
	l := newFullRoom(t, 8, 1).members[0].tree[0].leaf
	for range MaxMembers {
		if _, err := tr.add(l); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tr.add(l); !errors.Is(err, ErrTooBig) {
		t.Errorf("one too many: %v, want %v", err, ErrTooBig)
	}
	blanks := appendVec(nil, make([]byte, 2*MaxMembers))
	if _, err := parseTree(blanks); !errors.Is(err, ErrTooBig) {
		t.Errorf("tree of blanks: %v, want %v", err, ErrTooBig)
	}
}

func TestEpochHasALimitOfProposals(t *testing.T) {
	r := newRoom(t, 9)
	g := r.members[0]
	g.proposals = make([]remembered, MaxProposals)
	if err := g.Propose(r.add(r.invitation())); !errors.Is(err, ErrTooBig) {
		t.Errorf("one too many: %v, want %v", err, ErrTooBig)
	}
}

func TestMessageHasALimit(t *testing.T) {
	if _, err := ParseWelcome(make([]byte, MaxMessage+1)); !errors.Is(err, ErrTooBig) {
		t.Errorf("%v, want %v", err, ErrTooBig)
	}
}

// TestNoRandomNoKeys: a broken source of randomness must never yield a key.
func TestNoRandomNoKeys(t *testing.T) {
	empty := bytes.NewReader(nil)
	if _, err := NewSignatureKey(empty); err == nil {
		t.Error("signature key from nothing")
	}
	r := newFullRoom(t, 10, 3)
	own := r.invitation()
	if _, err := NewInvitation(1, own.signature, empty); err == nil {
		t.Error("invitation from nothing")
	}
	if _, err := NewGroup(roomID, own, r.external.Sender, empty); err == nil {
		t.Error("group from nothing")
	}
	r.propose(r.remove(2))
	if _, err := r.members[0].Commit(empty); err == nil {
		t.Error("path from nothing")
	}
}
