package voicetest

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/glyphoxa/glyphoxa/voice/dave"
	"github.com/glyphoxa/glyphoxa/voice/dave/mls"
)

// A Group is the voice server's part in the encryption of a call: it proposes
// whom to add and remove, chooses one of the commits it gets, and passes it on.
// It never holds a key. Like [dave.Session] it is told what happened and answers
// what to send; it has no socket and no clock. DAVE, "Protocol Overview".
type Group struct {
	external    *mls.ExternalKey
	channel     []byte
	epoch       uint64
	established bool
	connected   []uint64          // in the order they came
	leaves      []uint64          // user at each leaf, 0 for a blank one
	keys        map[uint64][]byte // signature key in each user's last key package
	proposals   []proposal        // not yet committed
	transition  uint16            // id of the next transition
}

// A proposal adds user, if it has a key package, or removes a leaf.
type proposal struct {
	message    *mls.PublicMessage
	ref        []byte
	user       uint64
	keyPackage []byte // its reference
	leaf       int
}

// A Delivery is one message for one user: binary, or JSON with the other fields.
type Delivery struct {
	To         uint64
	Op         uint8
	Binary     []byte
	Transition uint16
	Version    int
	Epoch      uint64
}

// ErrRefused is wrapped by every error of a [Group]: a message that the server
// drops.
var ErrRefused = errors.New("voicetest: refused")

func refused(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrRefused, fmt.Sprintf(format, args...))
}

// NewGroup is the group of a channel before anybody came.
func NewGroup(channel uint64) (*Group, error) {
	k, err := mls.NewExternalKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	return &Group{
		external: k, channel: binary.BigEndian.AppendUint64(nil, channel), transition: 1,
		keys: map[uint64][]byte{},
	}, nil
}

// Connect takes a user in, who is told of the external sender.
func (g *Group) Connect(user uint64) []Delivery {
	if !slices.Contains(g.connected, user) {
		g.connected = append(g.connected, user)
	}
	return []Delivery{{To: user, Op: dave.OpExternalSender, Binary: g.external.Sender.Append(nil)}}
}

// Members are the users in the group, in leaf order.
func (g *Group) Members() []uint64 {
	return slices.DeleteFunc(slices.Clone(g.leaves), func(u uint64) bool { return u == 0 })
}

// Epoch is the group's epoch, 0 until it is established.
func (g *Group) Epoch() uint64 { return g.epoch }

// KeyPackage proposes to add a user by opcode 26.
func (g *Group) KeyPackage(user uint64, b []byte) ([]Delivery, error) {
	k, err := mls.ParseKeyPackage(b)
	if err != nil {
		return nil, refused("%v", err)
	}
	if err := k.Verify(); err != nil {
		return nil, refused("%v", err)
	}
	if claimed, err := k.User(); err != nil || claimed != user {
		return nil, refused("key package of user %d sent by %d (%v)", claimed, user, err)
	}
	if !k.Endless() {
		return nil, refused("key package with a lifetime")
	}
	g.keys[user] = k.SignatureKey()
	out := g.revokeAdd(user)
	if !g.established && len(g.proposals) > 0 {
		out = append(out, Delivery{To: user, Op: dave.OpProposals, Binary: appended(g.proposals...)})
	}
	var list []proposal
	if p, ok := g.removal(user); ok {
		list = append(list, p)
	}
	m := g.external.ProposeAdd(g.channel, g.epoch, k)
	list = append(list, proposal{message: m, ref: m.Ref(), user: user, keyPackage: k.Ref()})
	return append(out, g.propose(list, user)...), nil
}

// removal proposes to remove a member, unless that is proposed already.
func (g *Group) removal(user uint64) (proposal, bool) {
	leaf := slices.Index(g.leaves, user)
	if leaf < 0 || slices.ContainsFunc(g.proposals, func(p proposal) bool { return p.keyPackage == nil && p.leaf == leaf }) {
		return proposal{}, false
	}
	m := g.external.ProposeRemove(g.channel, g.epoch, uint32(leaf))
	return proposal{message: m, ref: m.Ref(), leaf: leaf}, true
}

// propose sends proposals to all who may commit them.
func (g *Group) propose(list []proposal, except uint64) []Delivery {
	g.proposals = append(g.proposals, list...)
	return g.toCommitters(appended(list...), except)
}

func (g *Group) toCommitters(payload []byte, except uint64) (out []Delivery) {
	to := g.connected
	if g.established {
		to = g.Members()
	}
	for _, u := range to {
		if u != except && slices.Contains(g.connected, u) {
			out = append(out, Delivery{To: u, Op: dave.OpProposals, Binary: payload})
		}
	}
	return out
}

func appended(list ...proposal) []byte {
	var messages []*mls.PublicMessage
	for _, p := range list {
		messages = append(messages, p.message)
	}
	return mls.AppendProposals([]byte{0}, messages...)
}

// revokeAdd takes back a proposal to add a user.
func (g *Group) revokeAdd(user uint64) []Delivery {
	i := slices.IndexFunc(g.proposals, func(p proposal) bool { return p.keyPackage != nil && p.user == user })
	if i < 0 {
		return nil
	}
	payload := mls.AppendRefs([]byte{1}, g.proposals[i].ref)
	g.proposals = slices.Delete(g.proposals, i, i+1)
	return g.toCommitters(payload, user)
}

// Commit handles opcode 28. The first good commit of an epoch is passed on, with
// a transition that [Group.Execute] is to be called for later if its id is not 0.
func (g *Group) Commit(user uint64, b []byte) (out []Delivery, id uint16, err error) {
	m, rest, err := mls.ParsePublicMessage(b)
	if err != nil {
		return nil, 0, refused("%v", err)
	}
	c, ok := m.Commit()
	switch {
	case !ok || !bytes.Equal(c.GroupID, g.channel):
		return nil, 0, refused("not a member's commit for this group")
	case c.Epoch != g.epoch:
		return nil, 0, refused("commit for epoch %d, it is %d", c.Epoch, g.epoch)
	case g.established && (int(c.Sender) >= len(g.leaves) || g.leaves[c.Sender] != user):
		return nil, 0, refused("commit from leaf %d by user %d, who does not sit there", c.Sender, user)
	case !g.established && c.Sender != 0:
		return nil, 0, refused("first commit from leaf %d", c.Sender)
	case c.SignatureKey != nil && !bytes.Equal(c.SignatureKey, g.keys[user]):
		return nil, 0, refused("commit that changes the signature key")
	}
	list, err := g.committed(user, c.Refs)
	if err != nil {
		return nil, 0, err
	}
	welcome, err := checkWelcome(list, rest)
	if err != nil {
		return nil, 0, err
	}
	return g.accept(user, list, m, welcome)
}

// committed looks up the proposals of a commit, which must be all there are: but
// for the committer's own addition to a group that starts.
func (g *Group) committed(user uint64, refs [][]byte) (list []proposal, err error) {
	for _, ref := range refs {
		i := slices.IndexFunc(g.proposals, func(p proposal) bool { return bytes.Equal(p.ref, ref) })
		if i < 0 {
			return nil, refused("commit of a proposal that is not open")
		}
		list = append(list, g.proposals[i])
	}
	for _, p := range g.proposals {
		own := !g.established && p.keyPackage != nil && p.user == user
		if !own && !slices.ContainsFunc(list, func(q proposal) bool { return bytes.Equal(p.ref, q.ref) }) {
			return nil, refused("commit that leaves a proposal out")
		}
	}
	return list, nil
}

// checkWelcome checks that a welcome is for all who are added and nobody else.
func checkWelcome(list []proposal, b []byte) (*mls.Welcome, error) {
	added := 0
	w := &mls.Welcome{}
	if len(b) > 0 {
		var err error
		if w, err = mls.ParseWelcome(b); err != nil {
			return nil, refused("%v", err)
		}
	}
	for _, p := range list {
		if p.keyPackage != nil {
			added++
			if w.For(p.keyPackage) == nil {
				return nil, refused("welcome without user %d", p.user)
			}
		}
	}
	if w.Len() != added {
		return nil, refused("welcome for %d, %d are added", w.Len(), added)
	}
	return w, nil
}

// accept moves the group on. RFC 9420, "Applying a Proposal List", says where
// the new members sit.
func (g *Group) accept(user uint64, list []proposal, m *mls.PublicMessage, w *mls.Welcome) (out []Delivery, id uint16, err error) {
	if !g.established {
		g.leaves = []uint64{user}
	} else {
		id = g.transition
		g.transition++
	}
	for _, p := range list {
		if p.keyPackage == nil {
			g.leaves[p.leaf] = 0
		}
	}
	announcement := m.Append(binary.BigEndian.AppendUint16(nil, id))
	for _, u := range g.Members() {
		out = append(out, Delivery{To: u, Op: dave.OpAnnounceCommit, Binary: announcement})
	}
	for _, p := range list {
		if p.keyPackage == nil {
			continue
		}
		leaf := slices.Index(g.leaves, 0)
		if leaf < 0 {
			leaf = len(g.leaves)
			g.leaves = append(g.leaves, 0)
		}
		g.leaves[leaf] = p.user
		payload := w.For(p.keyPackage).Append(binary.BigEndian.AppendUint16(nil, id))
		out = append(out, Delivery{To: p.user, Op: dave.OpWelcome, Binary: payload})
	}
	g.established, g.proposals = true, nil
	g.epoch++
	return out, id, nil
}

// Execute tells all members to use the keys of a transition.
func (g *Group) Execute(id uint16) (out []Delivery) {
	for _, u := range g.Members() {
		out = append(out, Delivery{To: u, Op: dave.OpExecuteTransition, Transition: id})
	}
	return out
}

// Invalid handles opcode 31: the member is removed, and its next key package
// adds it again.
func (g *Group) Invalid(user uint64) []Delivery {
	p, ok := g.removal(user)
	if !ok {
		return nil
	}
	return g.propose([]proposal{p}, user)
}

// Leave handles the end of a user's connection. When one user stays behind, the
// group ends. DAVE, "Sole Member Reset".
func (g *Group) Leave(user uint64) []Delivery {
	g.connected = slices.DeleteFunc(g.connected, func(u uint64) bool { return u == user })
	delete(g.keys, user)
	out := g.revokeAdd(user)
	leaf := slices.Index(g.leaves, user)
	if leaf < 0 {
		return out
	}
	staying := 0
	for _, u := range g.connected {
		if slices.Contains(g.leaves, u) {
			staying++
		}
	}
	if staying > 1 {
		if p, ok := g.removal(user); ok {
			out = append(out, g.propose([]proposal{p}, user)...)
		}
		return out
	}
	g.epoch, g.established, g.leaves, g.proposals = 0, false, nil, nil
	for _, u := range g.connected {
		out = append(out,
			Delivery{To: u, Op: dave.OpPrepareEpoch, Version: dave.Version, Epoch: 1},
			Delivery{To: u, Op: dave.OpPrepareTransition, Version: dave.Version})
	}
	return out
}
