package mls

import "crypto/hmac"

// A groupContext is what all members of an epoch agree on.
// RFC 9420, "Group Context".
type groupContext struct {
	groupID        []byte
	epoch          uint64
	treeHash       []byte
	transcriptHash []byte // confirmed_transcript_hash
	extensions     []extension
}

func (c *groupContext) append(b []byte) []byte {
	b = appendUint16(appendUint16(b, versionMLS10), cipherSuite)
	b = appendUint64(appendVec(b, c.groupID), c.epoch)
	b = appendVec(appendVec(b, c.treeHash), c.transcriptHash)
	return appendExtensions(b, c.extensions)
}

func (r *reader) groupContext() groupContext {
	r.expect("protocol version", versionMLS10)
	r.expect("cipher suite", cipherSuite)
	return groupContext{r.vec(), r.uint64(), r.vec(), r.vec(), r.extensions()}
}

// secrets are what an epoch's secret is good for, but for those that only
// private messages and pre-shared keys need. RFC 9420, "Key Schedule".
type secrets struct {
	joiner        []byte // only of use while the commit is made
	welcome       []byte // the same
	init          []byte
	exporter      []byte
	authenticator []byte
	confirmation  []byte
	membership    []byte
}

// noSecret stands where a pre-shared key or a path secret would.
var noSecret = make([]byte, secretSize)

// nextEpoch derives the secrets of an epoch from those of the one before.
func nextEpoch(init, commitSecret, psk, context []byte) secrets {
	joiner := expandWithLabel(extract(init, commitSecret), "joiner", context, secretSize)
	return joinedEpoch(joiner, psk, context)
}

// joinedEpoch derives them from the joiner secret that a welcome holds.
func joinedEpoch(joiner, psk, context []byte) secrets {
	member := extract(joiner, psk)
	s := fromEpochSecret(expandWithLabel(member, "epoch", context, secretSize))
	s.joiner, s.welcome = joiner, deriveSecret(member, "welcome")
	return s
}

func fromEpochSecret(epoch []byte) secrets {
	return secrets{
		init:          deriveSecret(epoch, "init"),
		exporter:      deriveSecret(epoch, "exporter"),
		authenticator: deriveSecret(epoch, "authentication"),
		confirmation:  deriveSecret(epoch, "confirm"),
		membership:    deriveSecret(epoch, "membership"),
	}
}

// export is RFC 9420, "Exporters": MLS-Exporter.
func (s *secrets) export(label string, context []byte, length int) []byte {
	return expandWithLabel(deriveSecret(s.exporter, label), "exported", hash(context), length)
}

// confirm is the confirmation tag: proof that the committer arrived at the same
// secrets.
func (s *secrets) confirm(transcriptHash []byte) []byte {
	return mac(s.confirmation, transcriptHash)
}

func (s *secrets) confirmed(transcriptHash, tag []byte) error {
	if !hmac.Equal(s.confirm(transcriptHash), tag) {
		return refuse(ErrAuth, "confirmation tag")
	}
	return nil
}

// confirmedTranscript and interimTranscript chain all commits of a group's life.
// RFC 9420, "Transcript Hashes".
func confirmedTranscript(interim []byte, m *PublicMessage) []byte {
	b := appendUint16(append([]byte(nil), interim...), wirePublicMessage)
	return hash(appendVec(append(b, m.content...), m.signature))
}

func interimTranscript(confirmed, tag []byte) []byte {
	return hash(appendVec(append([]byte(nil), confirmed...), tag))
}
