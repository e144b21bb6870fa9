package mls

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"
)

// A room is a group seen from above: the external sender and every member's own
// state, by leaf.
type room struct {
	t        testing.TB
	external *ExternalKey
	random   io.Reader
	members  []*Group // by leaf, nil where nobody sits
	next     uint64   // user id of the next newcomer
}

var roomID = []byte{0, 0, 0, 0, 0, 0, 0, 42}

func newRoom(t testing.TB, seed byte) *room {
	t.Helper()
	r := &room{t: t, random: newSeeded(seed), next: 1000}
	external, err := NewExternalKey(r.random)
	if err != nil {
		t.Fatal(err)
	}
	r.external = external
	g, err := NewGroup(roomID, r.invitation(), external.Sender, r.random)
	if err != nil {
		t.Fatal(err)
	}
	r.members = []*Group{g}
	return r
}

// newFullRoom is a room of n members who came one by one.
func newFullRoom(t testing.TB, seed byte, n int) *room {
	t.Helper()
	r := newRoom(t, seed)
	for range n - 1 {
		r.change(0, 1)
	}
	return r
}

func (r *room) invitation() *Invitation {
	r.t.Helper()
	k, err := NewSignatureKey(r.random)
	if err != nil {
		r.t.Fatal(err)
	}
	own, err := NewInvitation(r.next, k, r.random)
	if err != nil {
		r.t.Fatal(err)
	}
	r.next++
	return own
}

func (r *room) any() *Group {
	return r.members[slices.IndexFunc(r.members, func(g *Group) bool { return g != nil })]
}

func (r *room) add(own *Invitation) *PublicMessage {
	return r.external.ProposeAdd(roomID, r.any().Epoch(), own.Package)
}

func (r *room) remove(leaf int) *PublicMessage {
	return r.external.ProposeRemove(roomID, r.any().Epoch(), uint32(leaf))
}

// propose gives every member the same proposals, over the wire.
func (r *room) propose(list ...*PublicMessage) {
	r.t.Helper()
	for _, g := range r.members {
		if g == nil {
			continue
		}
		got, err := ParseProposals(AppendProposals(nil, list...))
		if err != nil {
			r.t.Fatal(err)
		}
		for _, m := range got {
			if err := g.Propose(m); err != nil {
				r.t.Fatal(err)
			}
		}
	}
}

// commit lets a member commit what was proposed.
func (r *room) commit(by int) *PendingCommit {
	r.t.Helper()
	c, err := r.members[by].Commit(r.random)
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

// change adds newcomers and removes leaves in one commit that everybody follows.
func (r *room) change(by, add int, remove ...int) {
	r.t.Helper()
	var list []*PublicMessage
	var invited []*Invitation
	for _, leaf := range remove {
		list = append(list, r.remove(leaf))
	}
	for range add {
		invited = append(invited, r.invitation())
		list = append(list, r.add(invited[len(invited)-1]))
	}
	r.propose(list...)
	c := r.commit(by)
	for i, g := range r.members {
		if g == nil || i == by {
			continue
		}
		next, err := g.Process(c.Message)
		if slices.Contains(remove, i) {
			if !errors.Is(err, ErrRemoved) {
				r.t.Fatalf("removed member %d: %v, want %v", i, err, ErrRemoved)
			}
			next = nil
		} else if err != nil {
			r.t.Fatalf("member %d: %v", i, err)
		}
		r.members[i] = next
	}
	r.members[by] = c.Next
	for _, own := range invited {
		r.welcome(c, own)
	}
	r.agree()
}

// welcome lets one newcomer in by the part of the welcome that is theirs.
func (r *room) welcome(c *PendingCommit, own *Invitation) {
	r.t.Helper()
	w, err := ParseWelcome(c.Welcome)
	if err != nil {
		r.t.Fatal(err)
	}
	g, err := Join(w.For(own.Package.Ref()).Append(nil), own, r.external.Sender)
	if err != nil {
		r.t.Fatal(err)
	}
	for int(g.self) >= len(r.members) {
		r.members = append(r.members, nil)
	}
	r.members[g.self] = g
}

// agree checks that all members hold the same state and secrets.
func (r *room) agree() {
	r.t.Helper()
	first := r.any()
	for i, g := range r.members {
		if g == nil {
			continue
		}
		if !bytes.Equal(g.Authenticator(), first.Authenticator()) || !bytes.Equal(g.secrets.init, first.secrets.init) {
			r.t.Fatalf("member %d has other secrets", i)
		}
		if !bytes.Equal(g.context.append(nil), first.context.append(nil)) {
			r.t.Fatalf("member %d has another context", i)
		}
		if !bytes.Equal(g.tree.append(nil), first.tree.append(nil)) {
			r.t.Fatalf("member %d has another tree", i)
		}
		if err := g.tree.validate(roomID); err != nil {
			r.t.Fatalf("member %d: %v", i, err)
		}
		for x, k := range g.private {
			if !bytes.Equal(k.PublicKey().Bytes(), g.tree[x].encryptionKey()) {
				r.t.Fatalf("member %d has a stale key for node %d", i, x)
			}
		}
	}
}
