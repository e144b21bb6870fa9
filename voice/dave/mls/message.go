package mls

import "crypto/hmac"

// RFC 9420, "Message Framing".
const (
	wirePublicMessage = 1

	senderMember   = 1
	senderExternal = 2

	contentProposal = 2
	contentCommit   = 3
)

// A PublicMessage is a proposal or a commit as it travels: signed, and readable
// by the server.
type PublicMessage struct {
	groupID  []byte
	epoch    uint64
	external bool   // sent by an external sender, not a member
	sender   uint32 // leaf of the member, or index of the external sender
	data     []byte // authenticated_data, empty in DAVE

	proposal *proposal // exactly one of the two is set
	commit   *commit

	content         []byte // FramedContent as it came or was made
	signature       []byte
	confirmationTag []byte // of a commit
	membershipTag   []byte // of a member's message
}

// ParsePublicMessage reads one MLSMessage that holds a PublicMessage and
// returns it with the bytes that follow. Opcode 28 has a welcome there.
func ParsePublicMessage(b []byte) (m *PublicMessage, rest []byte, err error) {
	r := newReader(b)
	m = r.publicMessage()
	if r.err != nil {
		return nil, nil, r.err
	}
	return m, r.b, nil
}

// ParseProposals reads a vector of proposals, as opcode 27 carries them after
// the operation byte.
func ParseProposals(b []byte) (list []*PublicMessage, err error) {
	r := newReader(b)
	r.inside(func(r *reader) {
		if len(list) == MaxProposals {
			r.fail(refuse(ErrTooBig, "over %d proposals in a message", MaxProposals))
			return
		}
		m := r.publicMessage()
		if r.err == nil && m.proposal == nil {
			r.fail(refuse(ErrFormat, "a commit among proposals"))
		}
		list = append(list, m)
	})
	if err := r.end(); err != nil {
		return nil, err
	}
	return list, nil
}

// ParseRefs reads a vector of proposal references, the other form of opcode 27.
func ParseRefs(b []byte) (refs [][]byte, err error) {
	r := newReader(b)
	r.inside(func(r *reader) {
		ref := r.vec()
		switch {
		case r.err == nil && len(ref) != secretSize:
			r.fail(refuse(ErrFormat, "proposal reference of %d bytes", len(ref)))
		case len(refs) == MaxProposals:
			r.fail(refuse(ErrTooBig, "over %d references in a message", MaxProposals))
		}
		refs = append(refs, ref)
	})
	if err := r.end(); err != nil {
		return nil, err
	}
	return refs, nil
}

func (r *reader) publicMessage() *PublicMessage {
	r.expect("protocol version", versionMLS10)
	r.expect("wire format", wirePublicMessage)
	m := &PublicMessage{}
	start := r.b
	m.groupID = r.vec()
	m.epoch = r.uint64()
	switch sender := r.uint8(); sender {
	case senderMember, senderExternal:
		m.external = sender == senderExternal
		m.sender = r.uint32()
	default:
		r.fail(refuse(ErrUnsupported, "sender of type %d", sender))
	}
	m.data = r.vec()
	switch content := r.uint8(); content {
	case contentProposal:
		p := r.proposal()
		m.proposal = &p
	case contentCommit:
		m.commit = r.commit()
	default:
		r.fail(refuse(ErrUnsupported, "content of type %d", content))
	}
	m.content = r.since(start)
	m.signature = r.vec()
	if m.commit != nil {
		m.confirmationTag = r.vec()
	}
	if !m.external {
		m.membershipTag = r.vec()
	}
	return m
}

// Append appends the bytes of m to b.
func (m *PublicMessage) Append(b []byte) []byte {
	b = appendUint16(appendUint16(b, versionMLS10), wirePublicMessage)
	b = m.appendAuthenticated(b)
	if !m.external {
		b = appendVec(b, m.membershipTag)
	}
	return b
}

// appendAuthenticated appends FramedContent || FramedContentAuthData.
func (m *PublicMessage) appendAuthenticated(b []byte) []byte {
	b = append(b, m.content...)
	b = appendVec(b, m.signature)
	if m.commit != nil {
		b = appendVec(b, m.confirmationTag)
	}
	return b
}

// encode fills in content from the other fields.
func (m *PublicMessage) encode() {
	sender, content := byte(senderMember), byte(contentProposal)
	if m.external {
		sender = senderExternal
	}
	if m.commit != nil {
		content = contentCommit
	}
	b := appendUint64(appendVec(nil, m.groupID), m.epoch)
	b = appendUint32(append(b, sender), m.sender)
	b = append(appendVec(b, m.data), content)
	if m.commit != nil {
		m.content = m.commit.append(b)
	} else {
		m.content = m.proposal.append(b)
	}
}

// toBeSigned is FramedContentTBS: a member signs for the group it is in.
func (m *PublicMessage) toBeSigned(context []byte) []byte {
	b := appendUint16(appendUint16(nil, versionMLS10), wirePublicMessage)
	b = append(b, m.content...)
	if !m.external {
		b = append(b, context...)
	}
	return b
}

func (m *PublicMessage) sign(k *SignatureKey, context []byte) {
	m.signature = k.sign("FramedContentTBS", m.toBeSigned(context))
}

func (m *PublicMessage) verify(signatureKey, context []byte) error {
	return verify(signatureKey, "FramedContentTBS", m.toBeSigned(context), m.signature)
}

// tag computes the membership tag. RFC 9420, "Encoding and Decoding a Public Message".
func (m *PublicMessage) tag(membershipKey, context []byte) []byte {
	b := m.toBeSigned(context)
	return mac(membershipKey, append(b, m.appendAuthenticated(nil)[len(m.content):]...))
}

func (m *PublicMessage) verifyTag(membershipKey, context []byte) error {
	if !hmac.Equal(m.tag(membershipKey, context), m.membershipTag) {
		return refuse(ErrAuth, "membership tag")
	}
	return nil
}

// Ref is the ProposalRef by which commits and revocations name a proposal.
func (m *PublicMessage) Ref() []byte {
	b := appendUint16(nil, wirePublicMessage)
	return refHash("MLS 1.0 Proposal Reference", m.appendAuthenticated(b))
}

// Added is the key package that m proposes to add, nil if it does not.
func (m *PublicMessage) Added() *KeyPackage {
	if m.proposal == nil {
		return nil
	}
	return m.proposal.add
}
