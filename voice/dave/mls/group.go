package mls

import (
	"bytes"
	"crypto/hpke"
	"io"
	"slices"
)

// A Group is one member's view of one epoch: the members, the secrets they share
// and the proposals to change them. Only the proposals ever change.
type Group struct {
	context   groupContext
	tree      tree
	interim   []byte // interim_transcript_hash
	secrets   secrets
	self      uint32
	signature *SignatureKey
	// private holds our leaf's key and those of the nodes above that we were
	// told of, by node. It holds none for a node that was since replaced.
	private   map[uint32]hpke.PrivateKey
	external  ExternalSender
	proposals []remembered
}

type remembered struct {
	ref []byte
	proposal
}

// NewGroup starts a group at epoch 0 with us as its one member.
// RFC 9420, "Group Creation".
func NewGroup(groupID []byte, own *Invitation, external ExternalSender, random io.Reader) (*Group, error) {
	epoch, err := randomSecret(random)
	if err != nil {
		return nil, err
	}
	g := &Group{
		tree:      tree{{leaf: own.Package.leaf}},
		secrets:   fromEpochSecret(epoch),
		signature: own.signature,
		private:   map[uint32]hpke.PrivateKey{0: own.encryption},
		external:  external,
	}
	g.context = groupContext{
		groupID:    groupID,
		treeHash:   g.tree.treeHash(),
		extensions: []extension{external.extension()},
	}
	g.interim = interimTranscript(nil, g.secrets.confirm(nil))
	return g, nil
}

// Epoch counts the commits in the life of the group.
func (g *Group) Epoch() uint64 { return g.context.epoch }

// Authenticator is the epoch_authenticator: equal for all who are in this epoch
// of this group, and for nobody else.
func (g *Group) Authenticator() []byte { return bytes.Clone(g.secrets.authenticator) }

// Export derives a secret of length bytes for label and context, the same for
// all members. RFC 9420, "Exporters".
func (g *Group) Export(label string, context []byte, length int) []byte {
	return g.secrets.export(label, context, length)
}

// Users are the user ids of all members, ourselves included, in leaf order.
func (g *Group) Users() ([]uint64, error) {
	var users []uint64
	for _, l := range g.tree.members {
		u, err := l.credential.user()
		if err != nil {
			return nil, err
		}
		users = append(users, u)
	}
	return users, nil
}

// Propose checks a proposal of the external sender and remembers it for the next
// commit. RFC 9420, "External Proposals"; DAVE, "Proposal Validation".
func (g *Group) Propose(m *PublicMessage) error {
	if err := g.current(m); err != nil {
		return err
	}
	switch {
	case m.proposal == nil:
		return refuse(ErrFormat, "a commit where a proposal was expected")
	case !m.external || m.sender != 0:
		return refuse(ErrSender, "a proposal that is not from the external sender")
	case len(g.proposals) == MaxProposals:
		return refuse(ErrTooBig, "over %d proposals in an epoch", MaxProposals)
	}
	if err := m.verify(g.external.signatureKey, nil); err != nil {
		return err
	}
	p := *m.proposal
	if p.add != nil {
		if err := p.add.Verify(); err != nil {
			return err
		}
	} else if g.tree.leaf(p.remove) == nil {
		return refuse(ErrProposal, "remove of leaf %d, which is blank", p.remove)
	}
	ref := m.Ref()
	if g.find(ref) >= 0 {
		return nil // sent again, after a resume for instance
	}
	g.proposals = append(g.proposals, remembered{ref, p})
	return nil
}

// Revoke forgets a proposal.
func (g *Group) Revoke(ref []byte) error {
	i := g.find(ref)
	if i < 0 {
		return refuse(ErrProposal, "revocation of proposal %x, which is not known", ref)
	}
	g.proposals = slices.Delete(g.proposals, i, i+1)
	return nil
}

// Proposals is the number of proposals remembered.
func (g *Group) Proposals() int { return len(g.proposals) }

func (g *Group) find(ref []byte) int {
	return slices.IndexFunc(g.proposals, func(p remembered) bool { return bytes.Equal(p.ref, ref) })
}

// current checks that m is for this group and epoch.
func (g *Group) current(m *PublicMessage) error {
	if !bytes.Equal(m.groupID, g.context.groupID) {
		return refuse(ErrEpoch, "group %x, ours is %x", m.groupID, g.context.groupID)
	}
	if m.epoch != g.context.epoch {
		return refuse(ErrEpoch, "epoch %d, ours is %d", m.epoch, g.context.epoch)
	}
	return nil
}

// next returns the group with the proposals applied, all but its path, hashes
// and secrets, and the leaves that were added. RFC 9420, "Applying a Proposal
// List": removes first, then adds in order.
func (g *Group) next(list []proposal) (n *Group, added []uint32, err error) {
	n = &Group{
		tree:      slices.Clone(g.tree),
		self:      g.self,
		signature: g.signature,
		external:  g.external,
		context:   g.context,
	}
	n.context.epoch++
	for _, p := range list {
		if p.add == nil {
			if err := n.tree.remove(p.remove); err != nil {
				return nil, nil, err
			}
		}
	}
	for _, p := range list {
		if p.add != nil {
			leaf, err := n.tree.add(p.add.leaf)
			if err != nil {
				return nil, nil, err
			}
			added = append(added, leaf)
		}
	}
	if err := n.tree.validateMembers(); err != nil {
		return nil, nil, err
	}
	n.private = map[uint32]hpke.PrivateKey{}
	for x, k := range g.private {
		if x < uint32(len(n.tree)) && !n.tree[x].blank() {
			n.private[x] = k
		}
	}
	return n, added, nil
}

// needsPath says whether a commit of list must come with a path: whoever was
// removed knows secrets that only a new path replaces. RFC 9420, "Commit".
func needsPath(list []proposal) bool {
	return len(list) == 0 || slices.ContainsFunc(list, func(p proposal) bool { return p.add == nil })
}

// advance closes g's tree and derives its secrets, as of the commit m in before.
func (g *Group) advance(before *Group, m *PublicMessage, commitSecret []byte) {
	g.context.treeHash = g.tree.treeHash()
	g.context.transcriptHash = confirmedTranscript(before.interim, m)
	g.secrets = nextEpoch(before.secrets.init, commitSecret, noSecret, g.context.append(nil))
}
