package mls

import (
	"bytes"
	"encoding/binary"
	"math"
)

// Where a leaf node comes from. RFC 9420, "Leaf Node Contents".
const (
	fromKeyPackage = 1
	fromUpdate     = 2
	fromCommit     = 3
)

const credentialBasic = 1

// A credential says who a member is: basic credentials only, whose identity is
// free bytes to MLS and an 8-byte user id to DAVE.
type credential struct{ identity []byte }

func userCredential(user uint64) credential {
	return credential{binary.BigEndian.AppendUint64(nil, user)}
}

func (c credential) user() (uint64, error) {
	if len(c.identity) != 8 {
		return 0, refuse(ErrUnsupported, "identity of %d bytes, a user id has 8", len(c.identity))
	}
	return binary.BigEndian.Uint64(c.identity), nil
}

func (c credential) append(b []byte) []byte {
	return appendVec(appendUint16(b, credentialBasic), c.identity)
}

func (r *reader) credential() credential {
	r.expect("credential type", credentialBasic)
	return credential{r.vec()}
}

// capabilities are what every member of a DAVE group says it can do: this
// version, this suite, basic credentials and nothing besides.
// DAVE, "Leaf Node Capabilities".
var capabilities = []byte{
	2, 0, versionMLS10,
	2, 0, cipherSuite,
	0, // extensions
	0, // proposals
	2, 0, credentialBasic,
}

// A leafNode is a member in the ratchet tree.
type leafNode struct {
	encryptionKey []byte
	signatureKey  []byte
	credential    credential
	capabilities  []byte // as they came: hashes depend on every byte
	source        uint8
	notBefore     uint64 // key package only
	notAfter      uint64 // key package only
	parentHash    []byte // commit only
	extensions    []extension
	signature     []byte
}

// newLeaf makes the leaf of a key package. The gateway insists on a lifetime
// without end. DAVE, "Leaf Node Lifetime".
func newLeaf(user uint64, encryptionKey []byte, k *SignatureKey) *leafNode {
	l := &leafNode{
		encryptionKey: encryptionKey,
		signatureKey:  k.public,
		credential:    userCredential(user),
		capabilities:  capabilities,
		source:        fromKeyPackage,
		notAfter:      math.MaxUint64,
	}
	l.sign(k, nil, 0)
	return l
}

func (l *leafNode) appendUnsigned(b []byte) []byte {
	b = appendVec(b, l.encryptionKey)
	b = appendVec(b, l.signatureKey)
	b = l.credential.append(b)
	b = append(b, l.capabilities...)
	b = append(b, l.source)
	switch l.source {
	case fromKeyPackage:
		b = appendUint64(appendUint64(b, l.notBefore), l.notAfter)
	case fromCommit:
		b = appendVec(b, l.parentHash)
	}
	return appendExtensions(b, l.extensions)
}

func (l *leafNode) append(b []byte) []byte {
	return appendVec(l.appendUnsigned(b), l.signature)
}

// toBeSigned is LeafNodeTBS: a leaf that is made inside a group is bound to its
// place in it.
func (l *leafNode) toBeSigned(groupID []byte, index uint32) []byte {
	b := l.appendUnsigned(nil)
	if l.source != fromKeyPackage {
		b = appendUint32(appendVec(b, groupID), index)
	}
	return b
}

func (l *leafNode) sign(k *SignatureKey, groupID []byte, index uint32) {
	l.signature = k.sign("LeafNodeTBS", l.toBeSigned(groupID, index))
}

func (l *leafNode) verify(groupID []byte, index uint32) error {
	return verify(l.signatureKey, "LeafNodeTBS", l.toBeSigned(groupID, index), l.signature)
}

func (l *leafNode) equal(other *leafNode) bool {
	return bytes.Equal(l.append(nil), other.append(nil))
}

func (r *reader) leaf() *leafNode {
	l := &leafNode{encryptionKey: r.vec(), signatureKey: r.vec(), credential: r.credential()}
	start := r.b
	for range 5 { // versions, cipher suites, extensions, proposals, credentials
		r.vec()
	}
	l.capabilities = r.since(start)
	l.source = r.uint8()
	switch l.source {
	case fromKeyPackage:
		l.notBefore, l.notAfter = r.uint64(), r.uint64()
	case fromUpdate:
	case fromCommit:
		l.parentHash = r.vec()
	default:
		r.fail(refuse(ErrFormat, "leaf node source %d", l.source))
	}
	l.extensions = r.extensions()
	l.signature = r.vec()
	return l
}

// An extension is a numbered piece of data. RFC 9420, "Extensions".
type extension struct {
	kind uint16
	data []byte
}

const (
	extensionRatchetTree     = 2
	extensionExternalSenders = 5
)

func appendExtensions(b []byte, list []extension) []byte {
	return appendVecOf(b, func(b []byte) []byte {
		for _, e := range list {
			b = appendVec(appendUint16(b, e.kind), e.data)
		}
		return b
	})
}

func (r *reader) extensions() (list []extension) {
	r.inside(func(r *reader) {
		list = append(list, extension{r.uint16(), r.vec()})
	})
	return list
}
