package mls

import (
	"bytes"
	"crypto/hpke"
	"io"
	"math"
)

// A KeyPackage is what somebody hands out so that others can add them to a
// group. RFC 9420, "Key Packages".
type KeyPackage struct {
	initKey    []byte
	leaf       *leafNode
	extensions []extension
	signature  []byte
}

// ParseKeyPackage reads a bare KeyPackage (no MLSMessage around it), as voice
// gateway opcode 26 carries it. It checks no signature: see [KeyPackage.Verify].
func ParseKeyPackage(b []byte) (*KeyPackage, error) {
	r := newReader(b)
	k := r.keyPackage()
	if err := r.end(); err != nil {
		return nil, err
	}
	return k, nil
}

func (r *reader) keyPackage() *KeyPackage {
	r.expect("protocol version", versionMLS10)
	r.expect("cipher suite", cipherSuite)
	return &KeyPackage{initKey: r.vec(), leaf: r.leaf(), extensions: r.extensions(), signature: r.vec()}
}

func (k *KeyPackage) appendUnsigned(b []byte) []byte {
	b = appendUint16(appendUint16(b, versionMLS10), cipherSuite)
	b = appendVec(b, k.initKey)
	b = k.leaf.append(b)
	return appendExtensions(b, k.extensions)
}

// Append appends the bytes of k to b.
func (k *KeyPackage) Append(b []byte) []byte {
	return appendVec(k.appendUnsigned(b), k.signature)
}

// Ref is the KeyPackageRef, by which a [Welcome] says whom it is for.
func (k *KeyPackage) Ref() []byte {
	return refHash("MLS 1.0 KeyPackage Reference", k.Append(nil))
}

// User is the Discord user that k claims to be of.
func (k *KeyPackage) User() (uint64, error) { return k.leaf.credential.user() }

// Endless says whether k has the lifetime that DAVE asks for, from 0 to the end
// of time. Members do not look at it; the voice gateway does.
func (k *KeyPackage) Endless() bool {
	return k.leaf.notBefore == 0 && k.leaf.notAfter == math.MaxUint64
}

// Verify checks that the owner of the signature key in k made k, and that its
// keys are keys. RFC 9420, "KeyPackage Validation". It does not check that the
// signature key belongs to the user: nobody but another channel can.
func (k *KeyPackage) Verify() error {
	if k.leaf.source != fromKeyPackage {
		return refuse(ErrFormat, "key package with a leaf of source %d", k.leaf.source)
	}
	if bytes.Equal(k.initKey, k.leaf.encryptionKey) {
		return refuse(ErrFormat, "key package uses one key twice")
	}
	if err := checkKEMKey("init_key", k.initKey); err != nil {
		return err
	}
	if err := checkKEMKey("encryption_key", k.leaf.encryptionKey); err != nil {
		return err
	}
	if err := verify(k.leaf.signatureKey, "KeyPackageTBS", k.appendUnsigned(nil), k.signature); err != nil {
		return err
	}
	return k.leaf.verify(nil, 0)
}

// An Invitation is a key package of our own with its private keys. It lets us
// start a group or join one, once.
type Invitation struct {
	Package    *KeyPackage
	initKey    hpke.PrivateKey
	encryption hpke.PrivateKey
	signature  *SignatureKey
}

// NewInvitation makes a key package for user, signed with k.
func NewInvitation(user uint64, k *SignatureKey, random io.Reader) (*Invitation, error) {
	encryption, err := newKEMKey(random)
	if err != nil {
		return nil, err
	}
	initKey, err := newKEMKey(random)
	if err != nil {
		return nil, err
	}
	p := &KeyPackage{
		initKey: initKey.PublicKey().Bytes(),
		leaf:    newLeaf(user, encryption.PublicKey().Bytes(), k),
	}
	p.signature = k.sign("KeyPackageTBS", p.appendUnsigned(nil))
	return &Invitation{Package: p, initKey: initKey, encryption: encryption, signature: k}, nil
}
