package mls

import (
	"io"
	"slices"
)

// A PendingCommit is a commit of ours that nobody has accepted yet. Next is the
// group it leads to, to be used once the server announces this very commit.
type PendingCommit struct {
	// Message is the commit as MLSMessage.
	Message []byte
	// Welcome is a bare Welcome for those who were added, nil if none were.
	Welcome []byte
	Next    *Group
}

// Commit makes a commit of all remembered proposals, in their order. The group
// itself does not change. RFC 9420, "Creating a Commit".
func (g *Group) Commit(random io.Reader) (*PendingCommit, error) {
	var list []proposal
	c := &commit{}
	for _, p := range g.proposals {
		if p.add == nil && p.remove == g.self {
			return nil, refuse(ErrProposal, "we cannot commit our own removal")
		}
		list = append(list, p.proposal)
		c.refs = append(c.refs, p.ref)
	}
	n, added, err := g.next(list)
	if err != nil {
		return nil, err
	}
	path := &newPath{commitSecret: noSecret}
	if needsPath(list) {
		if path, err = n.renewPath(added, random); err != nil {
			return nil, err
		}
		c.path = path.wire
	}

	m := &PublicMessage{groupID: g.context.groupID, epoch: g.context.epoch, sender: g.self, commit: c}
	m.encode()
	context := g.context.append(nil)
	m.sign(g.signature, context)
	n.advance(g, m, path.commitSecret)
	m.confirmationTag = n.secrets.confirm(n.context.transcriptHash)
	n.interim = interimTranscript(n.context.transcriptHash, m.confirmationTag)
	m.membershipTag = m.tag(g.secrets.membership, context)

	out := &PendingCommit{Message: m.Append(nil), Next: n}
	if len(added) > 0 {
		w, err := n.welcome(list, added, path, m.confirmationTag)
		if err != nil {
			return nil, err
		}
		out.Welcome = w.Append(nil)
	}
	n.secrets.forgetJoiner()
	for _, secret := range path.secrets {
		clear(secret)
	}
	return out, nil
}

// Process applies another member's commit and returns the group it leads to.
// g stays as it is. RFC 9420, "Processing a Commit".
func (g *Group) Process(message []byte) (*Group, error) {
	m, rest, err := ParsePublicMessage(message)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		return nil, refuse(ErrFormat, "%d bytes after the commit", len(rest))
	}
	if err := g.authentic(m); err != nil {
		return nil, err
	}
	list, err := g.committed(m)
	if err != nil {
		return nil, err
	}
	return g.apply(m, list)
}

// authentic checks that m is a commit of another member for this epoch.
func (g *Group) authentic(m *PublicMessage) error {
	if err := g.current(m); err != nil {
		return err
	}
	switch {
	case m.commit == nil:
		return refuse(ErrFormat, "a proposal where a commit was expected")
	case m.external:
		return refuse(ErrSender, "a commit from outside the group")
	case m.sender == g.self:
		return refuse(ErrSender, "a commit in our name that we did not make, or no longer hold")
	}
	sender := g.tree.leaf(m.sender)
	if sender == nil {
		return refuse(ErrSender, "a commit from leaf %d, which is blank", m.sender)
	}
	context := g.context.append(nil)
	if err := m.verifyTag(g.secrets.membership, context); err != nil {
		return err
	}
	return m.verify(sender.signatureKey, context)
}

// committed looks up the proposals that m refers to.
func (g *Group) committed(m *PublicMessage) ([]proposal, error) {
	var list []proposal
	for _, ref := range m.commit.refs {
		i := g.find(ref)
		if i < 0 {
			return nil, refuse(ErrProposal, "a commit of proposal %x, which is not known", ref)
		}
		p := g.proposals[i].proposal
		if p.add == nil && p.remove == m.sender {
			return nil, refuse(ErrProposal, "a committer who removes itself")
		}
		list = append(list, p)
	}
	removesUs := func(p proposal) bool { return p.add == nil && p.remove == g.self }
	if slices.ContainsFunc(list, removesUs) {
		return nil, ErrRemoved
	}
	return list, nil
}

// apply brings the group to its next epoch by the commit m of list.
func (g *Group) apply(m *PublicMessage, list []proposal) (*Group, error) {
	n, added, err := g.next(list)
	if err != nil {
		return nil, err
	}
	commitSecret := noSecret
	switch {
	case m.commit.path != nil:
		if commitSecret, err = n.followPath(m.sender, m.commit.path, added); err != nil {
			return nil, err
		}
	case needsPath(list):
		return nil, refuse(ErrTree, "a commit that removes somebody and has no path")
	}
	n.advance(g, m, commitSecret)
	n.secrets.forgetJoiner()
	if err := n.secrets.confirmed(n.context.transcriptHash, m.confirmationTag); err != nil {
		return nil, err
	}
	n.interim = interimTranscript(n.context.transcriptHash, m.confirmationTag)
	return n, nil
}

// forgetJoiner drops what is only needed to let somebody in: with it, one who
// was not in this epoch could read it.
func (s *secrets) forgetJoiner() {
	clear(s.joiner)
	clear(s.welcome)
	s.joiner, s.welcome = nil, nil
}
