package mls

import (
	"bytes"
	"io"
)

// An ExternalSender is who may propose changes without being a member: Discord's
// voice gateway. RFC 9420, "External Senders Extension".
type ExternalSender struct {
	signatureKey []byte
	credential   credential
}

// ParseExternalSender reads one bare ExternalSender, the content of opcode 25.
func ParseExternalSender(b []byte) (ExternalSender, error) {
	r := newReader(b)
	s := ExternalSender{r.vec(), r.credential()}
	if err := r.end(); err != nil {
		return ExternalSender{}, err
	}
	return s, checkSignatureKey(s.signatureKey)
}

// Append appends the bytes of s to b.
func (s ExternalSender) Append(b []byte) []byte {
	return s.credential.append(appendVec(b, s.signatureKey))
}

func (s ExternalSender) extension() extension {
	return extension{extensionExternalSenders, appendVec(nil, s.Append(nil))}
}

// checkExtensions checks that a group has external and nothing else.
// DAVE, "Group Extensions".
func checkExtensions(list []extension, external ExternalSender) error {
	want := external.extension()
	if len(list) != 1 || list[0].kind != want.kind || !bytes.Equal(list[0].data, want.data) {
		return refuse(ErrSender, "a group that other servers may change")
	}
	return nil
}

// An ExternalKey is the external sender's own side: what a voice server signs its
// proposals with.
type ExternalKey struct {
	key *SignatureKey
	// Sender is what members are told of it.
	Sender ExternalSender
}

// NewExternalKey draws an external sender's key from random.
func NewExternalKey(random io.Reader) (*ExternalKey, error) {
	k, err := NewSignatureKey(random)
	if err != nil {
		return nil, err
	}
	// One zero byte is the identity that Discord's own sender has.
	return &ExternalKey{key: k, Sender: ExternalSender{k.public, credential{[]byte{0}}}}, nil
}

// ProposeAdd proposes to add the owner of k.
func (e *ExternalKey) ProposeAdd(groupID []byte, epoch uint64, k *KeyPackage) *PublicMessage {
	return e.propose(groupID, epoch, proposal{add: k})
}

// ProposeRemove proposes to remove a leaf.
func (e *ExternalKey) ProposeRemove(groupID []byte, epoch uint64, leaf uint32) *PublicMessage {
	return e.propose(groupID, epoch, proposal{remove: leaf})
}

func (e *ExternalKey) propose(groupID []byte, epoch uint64, p proposal) *PublicMessage {
	m := &PublicMessage{groupID: groupID, epoch: epoch, external: true, proposal: &p}
	m.encode()
	m.sign(e.key, nil)
	return m
}

// AppendProposals appends a vector of messages, as opcode 27 carries them.
func AppendProposals(b []byte, list ...*PublicMessage) []byte {
	return appendVecOf(b, func(b []byte) []byte {
		for _, m := range list {
			b = m.Append(b)
		}
		return b
	})
}

// AppendRefs appends a vector of proposal references, the revoking form of
// opcode 27.
func AppendRefs(b []byte, refs ...[]byte) []byte {
	return appendVecOf(b, func(b []byte) []byte {
		for _, ref := range refs {
			b = appendVec(b, ref)
		}
		return b
	})
}

// A CommitSummary is what a server that is no member can read of a commit.
type CommitSummary struct {
	GroupID []byte
	Epoch   uint64
	Sender  uint32 // leaf of the committer
	Refs    [][]byte
	// SignatureKey is the committer's, if the commit has a path.
	SignatureKey []byte
}

// Commit summarises m, if it is a member's commit.
func (m *PublicMessage) Commit() (CommitSummary, bool) {
	if m.commit == nil || m.external {
		return CommitSummary{}, false
	}
	s := CommitSummary{GroupID: m.groupID, Epoch: m.epoch, Sender: m.sender, Refs: m.commit.refs}
	if m.commit.path != nil {
		s.SignatureKey = m.commit.path.leaf.signatureKey
	}
	return s, true
}

// SignatureKey is the key that the owner of k signs with, to be compared.
func (k *KeyPackage) SignatureKey() []byte { return bytes.Clone(k.leaf.signatureKey) }
