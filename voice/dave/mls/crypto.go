package mls

import (
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/hpke"
	"crypto/sha256"
	"fmt"
	"io"
)

// The protocol version and the one ciphersuite,
// MLS_128_DHKEMP256_AES128GCM_SHA256_P256. RFC 9420, "MLS Ciphersuites".
const (
	versionMLS10 = 1
	cipherSuite  = 2

	secretSize  = 32 // KDF.Nh: every secret and every hash
	keySize     = 16 // AEAD.Nk
	nonceSize   = 12 // AEAD.Nn
	encapsulate = 65 // KEM.Nenc: an uncompressed point
)

func kem() hpke.KEM { return hpke.DHKEM(ecdh.P256()) }

// Of the functions below those that can fail only by a mistake of this package's
// own (a length of ours, a key we made) panic.

func must[T any](v T, err error) T {
	if err != nil {
		panic("mls: " + err.Error())
	}
	return v
}

func extract(salt, ikm []byte) []byte {
	return must(hkdf.Extract(sha256.New, ikm, salt))
}

// labeled is the structure that labels are given in, for signing, for HPKE and,
// without prefix, for references: opaque label<V> || opaque content<V>.
func labeled(label string, content []byte) []byte {
	return appendVec(appendVec(nil, []byte(label)), content)
}

// expandWithLabel is RFC 9420, "Key Schedule": ExpandWithLabel.
func expandWithLabel(secret []byte, label string, context []byte, length int) []byte {
	info := appendUint16(nil, uint16(length))
	info = append(info, labeled("MLS 1.0 "+label, context)...)
	return must(hkdf.Expand(sha256.New, secret, string(info), length))
}

func deriveSecret(secret []byte, label string) []byte {
	return expandWithLabel(secret, label, nil, secretSize)
}

// refHash is RFC 9420, "Hash-Based Identifiers".
func refHash(label string, value []byte) []byte {
	return hash(labeled(label, value))
}

func hash(data []byte) []byte {
	h := sha256.Sum256(data)
	return h[:]
}

func mac(key, data []byte) []byte {
	m := hmac.New(sha256.New, key)
	m.Write(data)
	return m.Sum(nil)
}

// randomSecret takes one secret from random.
func randomSecret(random io.Reader) ([]byte, error) {
	b := make([]byte, secretSize)
	if _, err := io.ReadFull(random, b); err != nil {
		return nil, fmt.Errorf("mls: random bytes: %w", err)
	}
	return b, nil
}

// A SignatureKey is what a member signs with: ECDSA on P-256.
type SignatureKey struct {
	private *ecdsa.PrivateKey
	public  []byte
}

// NewSignatureKey draws a key from random.
func NewSignatureKey(random io.Reader) (*SignatureKey, error) {
	for {
		b, err := randomSecret(random)
		if err != nil {
			return nil, err
		}
		// Of 2^32 draws one is not below the order of the curve: draw again.
		if k, err := parseSignatureKey(b); err == nil {
			return k, nil
		}
	}
}

func parseSignatureKey(b []byte) (*SignatureKey, error) {
	k, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), b)
	if err != nil {
		return nil, err
	}
	return &SignatureKey{private: k, public: must(k.PublicKey.Bytes())}, nil
}

// sign is RFC 9420, "Signing": SignWithLabel.
func (k *SignatureKey) sign(label string, content []byte) []byte {
	// No random source: the deterministic signature of RFC 6979.
	return must(k.private.Sign(nil, hash(labeled("MLS 1.0 "+label, content)), crypto.SHA256))
}

// verify is RFC 9420, "Signing": VerifyWithLabel.
func verify(public []byte, label string, content, signature []byte) error {
	k, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), public)
	if err != nil {
		return refuse(ErrFormat, "signature key: %v", err)
	}
	if !ecdsa.VerifyASN1(k, hash(labeled("MLS 1.0 "+label, content)), signature) {
		return refuse(ErrAuth, "signature of %s", label)
	}
	return nil
}

func checkSignatureKey(public []byte) error {
	if _, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), public); err != nil {
		return refuse(ErrFormat, "signature key: %v", err)
	}
	return nil
}

// newKEMKey draws an HPKE key pair from random.
func newKEMKey(random io.Reader) (hpke.PrivateKey, error) {
	b, err := randomSecret(random)
	if err != nil {
		return nil, err
	}
	return kem().DeriveKeyPair(b)
}

func checkKEMKey(what string, public []byte) error {
	if _, err := kem().NewPublicKey(public); err != nil {
		return refuse(ErrFormat, "%s: %v", what, err)
	}
	return nil
}

// A sealed is an HPKECiphertext.
type sealed struct{ encapsulated, ciphertext []byte }

func (s sealed) append(b []byte) []byte {
	return appendVec(appendVec(b, s.encapsulated), s.ciphertext)
}

func (r *reader) sealed() sealed { return sealed{r.vec(), r.vec()} }

// encrypt is RFC 9420, "Public Key Encryption": EncryptWithLabel.
func encrypt(public []byte, label string, context, plaintext []byte) (sealed, error) {
	k, err := kem().NewPublicKey(public)
	if err != nil {
		return sealed{}, refuse(ErrFormat, "key to encrypt %s to: %v", label, err)
	}
	out, err := hpke.Seal(k, hpke.HKDFSHA256(), hpke.AES128GCM(), labeled("MLS 1.0 "+label, context), plaintext)
	if err != nil {
		return sealed{}, err
	}
	return sealed{out[:encapsulate:encapsulate], out[encapsulate:]}, nil
}

// decrypt is RFC 9420, "Public Key Encryption": DecryptWithLabel.
func decrypt(k hpke.PrivateKey, label string, context []byte, s sealed) ([]byte, error) {
	if len(s.encapsulated) != encapsulate {
		return nil, refuse(ErrFormat, "kem_output of %d bytes", len(s.encapsulated))
	}
	in := append(s.encapsulated[:encapsulate:encapsulate], s.ciphertext...)
	out, err := hpke.Open(k, hpke.HKDFSHA256(), hpke.AES128GCM(), labeled("MLS 1.0 "+label, context), in)
	if err != nil {
		return nil, refuse(ErrAuth, "%s does not decrypt", label)
	}
	return out, nil
}

// groupInfoAEAD is what the GroupInfo in a Welcome is encrypted with. Its key is
// used once, so the nonce may be derived like the key.
// RFC 9420, "Joining via Welcome Message".
func groupInfoAEAD(welcomeSecret []byte) (aead cipher.AEAD, nonce []byte) {
	block := must(aes.NewCipher(expandWithLabel(welcomeSecret, "key", nil, keySize)))
	return must(cipher.NewGCM(block)), expandWithLabel(welcomeSecret, "nonce", nil, nonceSize)
}
