//go:build vectors

package mls

import (
	"bytes"
	"crypto/hpke"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// The MLS working group's test vectors are read from a Go module that carries
// them, pinned in oracle/go.mod: run with -tags vectors.

// applicable says what is done with each file of the collection: a test, or the
// reason why there is none.
var applicable = map[string]struct {
	test func(t *testing.T, file []byte)
	not  string
}{
	"crypto-basics.json":          {test: vectorsCryptoBasics},
	"deserialization.json":        {test: vectorsHeaders},
	"key-schedule.json":           {test: vectorsKeySchedule},
	"message-protection.json":     {test: vectorsPublicMessages},
	"passive-client-welcome.json": {test: vectorsWelcomes},
	"secret-tree.json":            {test: vectorsRatchet},
	"transcript-hashes.json":      {test: vectorsTranscript},
	"tree-math.json":              {test: vectorsTreeMath},
	"tree-operations.json":        {test: vectorsTreeOperations},
	"tree-validation.json":        {test: vectorsTreeValidation},
	"treekem.json":                {test: vectorsTreeKEM},
	"welcome.json":                {test: vectorsWelcome},

	"passive-client-handling-commit.json": {not: "every commit in it brings in a pre-shared key"},
	"psk_secret.json":                     {not: "pre-shared keys are refused"},
}

func TestVectorsOfTheWorkingGroup(t *testing.T) {
	dir := vectorDir(t)
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		a, known := applicable[f.Name()]
		switch {
		case !known:
			t.Errorf("%s: a file without a test or a reason", f.Name())
		case a.test == nil:
			t.Logf("%s does not apply: %s", f.Name(), a.not)
		default:
			t.Run(f.Name(), func(t *testing.T) {
				b, err := os.ReadFile(filepath.Join(dir, f.Name()))
				if err != nil {
					t.Fatal(err)
				}
				a.test(t, b)
			})
		}
	}
	if len(files) != len(applicable) {
		t.Errorf("%d files, want %d", len(files), len(applicable))
	}
}

func vectorDir(t *testing.T) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", "github.com/thomas-vilte/mls-go")
	cmd.Dir = "oracle"
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the module with the vectors: %v", err)
	}
	var m struct{ Dir string }
	if err := json.Unmarshal(out, &m); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(m.Dir, "testdata", "mls-interop-testvectors", "test-vectors")
}

// A blob is hex in JSON; null stays nil.
type blob []byte

func (x *blob) UnmarshalJSON(b []byte) error {
	var s *string
	if err := json.Unmarshal(b, &s); err != nil || s == nil {
		return err
	}
	v, err := hex.DecodeString(*s)
	*x = slices.Concat([]byte{}, v)
	return err
}

type suited interface{ suite() int }

type ofSuite struct {
	Suite int `json:"cipher_suite"`
}

func (s ofSuite) suite() int { return s.Suite }

// vectors decodes a file and keeps what is of our ciphersuite, which must be
// count cases.
func vectors[T suited](t *testing.T, file []byte, count int) []T {
	t.Helper()
	var all []T
	if err := json.Unmarshal(file, &all); err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(v T) bool { return v.suite() != cipherSuite })
	if len(all) != count {
		t.Fatalf("%d cases of ciphersuite %d, want %d", len(all), cipherSuite, count)
	}
	return all
}

func same(t *testing.T, what string, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Fatalf("%s:\n got %x\nwant %x", what, got, want)
	}
}

func kemKey(t *testing.T, b []byte) hpke.PrivateKey {
	t.Helper()
	k, err := kem().NewPrivateKey(b)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func vectorsCryptoBasics(t *testing.T, file []byte) {
	type vector struct {
		ofSuite
		RefHash struct {
			Label      string
			Value, Out blob
		} `json:"ref_hash"`
		Expand struct {
			Secret, Context, Out blob
			Label                string
			Length               int
		} `json:"expand_with_label"`
		Derive struct {
			Secret, Out blob
			Label       string
		} `json:"derive_secret"`
		DeriveTree struct {
			Secret, Out blob
			Label       string
			Generation  uint32
			Length      int
		} `json:"derive_tree_secret"`
		Sign struct {
			Priv, Pub, Content, Signature blob
			Label                         string
		} `json:"sign_with_label"`
		Encrypt struct {
			Priv, Pub, Context, Plaintext, Ciphertext blob
			Encapsulated                              blob `json:"kem_output"`
			Label                                     string
		} `json:"encrypt_with_label"`
	}
	for _, v := range vectors[vector](t, file, 1) {
		same(t, "RefHash", refHash(v.RefHash.Label, v.RefHash.Value), v.RefHash.Out)
		same(t, "ExpandWithLabel", expandWithLabel(v.Expand.Secret, v.Expand.Label, v.Expand.Context, v.Expand.Length), v.Expand.Out)
		same(t, "DeriveSecret", deriveSecret(v.Derive.Secret, v.Derive.Label), v.Derive.Out)
		d := v.DeriveTree
		same(t, "DeriveTreeSecret", deriveTreeSecret(d.Secret, d.Label, d.Generation, d.Length), d.Out)

		s := v.Sign
		k, err := parseSignatureKey(s.Priv)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "signature key", k.public, s.Pub)
		for _, signature := range [][]byte{s.Signature, k.sign(s.Label, s.Content)} {
			if err := verify(s.Pub, s.Label, s.Content, signature); err != nil {
				t.Error(err)
			}
		}

		e := v.Encrypt
		ours, err := encrypt(e.Pub, e.Label, e.Context, e.Plaintext)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []sealed{{e.Encapsulated, e.Ciphertext}, ours} {
			plain, err := decrypt(kemKey(t, e.Priv), e.Label, e.Context, c)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "DecryptWithLabel", plain, e.Plaintext)
		}
	}
}

func vectorsHeaders(t *testing.T, file []byte) {
	var all []struct {
		Header blob `json:"vlbytes_header"`
		Length int
	}
	if err := json.Unmarshal(file, &all); err != nil {
		t.Fatal(err)
	}
	for _, v := range all {
		same(t, "header", appendHeader(nil, v.Length), v.Header)
		r := reader{b: v.Header}
		if got := r.header(); got != v.Length || r.end() != nil {
			t.Errorf("header %x: length %d (%v), want %d", v.Header, got, r.err, v.Length)
		}
	}
}

func vectorsKeySchedule(t *testing.T, file []byte) {
	type vector struct {
		ofSuite
		GroupID blob `json:"group_id"`
		Initial blob `json:"initial_init_secret"`
		Epochs  []struct {
			CommitSecret   blob `json:"commit_secret"`
			PSKSecret      blob `json:"psk_secret"`
			TranscriptHash blob `json:"confirmed_transcript_hash"`
			TreeHash       blob `json:"tree_hash"`
			GroupContext   blob `json:"group_context"`
			Joiner         blob `json:"joiner_secret"`
			Welcome        blob `json:"welcome_secret"`
			Init           blob `json:"init_secret"`
			Confirmation   blob `json:"confirmation_key"`
			Membership     blob `json:"membership_key"`
			Authenticator  blob `json:"epoch_authenticator"`
			ExporterSecret blob `json:"exporter_secret"`
			Exporter       struct {
				Label           string
				Context, Secret blob
				Length          int
			}
		}
	}
	for _, v := range vectors[vector](t, file, 1) {
		init := []byte(v.Initial)
		for i, e := range v.Epochs {
			c := groupContext{groupID: v.GroupID, epoch: uint64(i), treeHash: e.TreeHash, transcriptHash: e.TranscriptHash}
			same(t, "group context", c.append(nil), e.GroupContext)
			s := nextEpoch(init, e.CommitSecret, e.PSKSecret, e.GroupContext)
			same(t, "joiner secret", s.joiner, e.Joiner)
			same(t, "welcome secret", s.welcome, e.Welcome)
			same(t, "init secret", s.init, e.Init)
			same(t, "confirmation key", s.confirmation, e.Confirmation)
			same(t, "membership key", s.membership, e.Membership)
			same(t, "epoch authenticator", s.authenticator, e.Authenticator)
			same(t, "exporter secret", s.exporter, e.ExporterSecret)
			same(t, "exported secret", s.export(e.Exporter.Label, e.Exporter.Context, e.Exporter.Length), e.Exporter.Secret)
			init = s.init
		}
	}
}

// vectorsPublicMessages leaves out the private messages and application data,
// which DAVE has no use for. The vector's commit has its proposal inline, which
// must be refused.
func vectorsPublicMessages(t *testing.T, file []byte) {
	type vector struct {
		ofSuite
		GroupID        blob `json:"group_id"`
		Epoch          uint64
		TreeHash       blob `json:"tree_hash"`
		TranscriptHash blob `json:"confirmed_transcript_hash"`
		Priv           blob `json:"signature_priv"`
		Pub            blob `json:"signature_pub"`
		Membership     blob `json:"membership_key"`
		Proposal       blob
		ProposalPub    blob `json:"proposal_pub"`
		CommitPub      blob `json:"commit_pub"`
	}
	for _, v := range vectors[vector](t, file, 1) {
		c := groupContext{groupID: v.GroupID, epoch: v.Epoch, treeHash: v.TreeHash, transcriptHash: v.TranscriptHash}
		context := c.append(nil)
		m, rest, err := ParsePublicMessage(v.ProposalPub)
		if err != nil || len(rest) > 0 {
			t.Fatal(err, len(rest))
		}
		same(t, "message", m.Append(nil), v.ProposalPub)
		same(t, "proposal", m.proposal.append(nil), v.Proposal)
		if err := errors.Join(m.verify(v.Pub, context), m.verifyTag(v.Membership, context)); err != nil {
			t.Error(err)
		}
		content := m.content
		m.encode()
		same(t, "encoded content", m.content, content)
		k, err := parseSignatureKey(v.Priv)
		if err != nil {
			t.Fatal(err)
		}
		m.sign(k, context)
		if err := m.verify(v.Pub, context); err != nil {
			t.Error(err)
		}
		if _, _, err := ParsePublicMessage(v.CommitPub); !errors.Is(err, ErrUnsupported) {
			t.Errorf("commit with an inline proposal: %v, want %v", err, ErrUnsupported)
		}
	}
}

// vectorsRatchet finds the base secret of each leaf in the secret tree, which
// DAVE replaces by its own, and runs our ratchet on it.
func vectorsRatchet(t *testing.T, file []byte) {
	type vector struct {
		ofSuite
		EncryptionSecret blob `json:"encryption_secret"`
		Leaves           [][]struct {
			Generation     uint32
			HandshakeKey   blob `json:"handshake_key"`
			ApplicationKey blob `json:"application_key"`
		}
	}
	for _, v := range vectors[vector](t, file, 3) {
		for leaf, generations := range v.Leaves {
			secret, width := []byte(v.EncryptionSecret), 1
			for width < len(v.Leaves) {
				width *= 2
			}
			for at := leaf; width > 1; width /= 2 {
				side := "left"
				if at >= width/2 {
					side, at = "right", at-width/2
				}
				secret = expandWithLabel(secret, "tree", []byte(side), secretSize)
			}
			handshake := NewRatchet(expandWithLabel(secret, "handshake", nil, secretSize))
			application := NewRatchet(expandWithLabel(secret, "application", nil, secretSize))
			for _, g := range generations {
				same(t, "handshake key", keyOf(t, handshake, g.Generation), g.HandshakeKey)
				same(t, "application key", keyOf(t, application, g.Generation), g.ApplicationKey)
			}
		}
	}
}

func keyOf(t *testing.T, r *Ratchet, generation uint32) []byte {
	t.Helper()
	for range 1000 {
		if g, key := r.Next(keySize); g == generation {
			return key
		}
	}
	t.Fatalf("no generation %d", generation)
	return nil
}

func vectorsTranscript(t *testing.T, file []byte) {
	type vector struct {
		ofSuite
		ConfirmationKey blob `json:"confirmation_key"`
		Content         blob `json:"authenticated_content"`
		InterimBefore   blob `json:"interim_transcript_hash_before"`
		Confirmed       blob `json:"confirmed_transcript_hash_after"`
		InterimAfter    blob `json:"interim_transcript_hash_after"`
	}
	for _, v := range vectors[vector](t, file, 1) {
		// An AuthenticatedContent lacks what stands before and behind it in a
		// message: the version and the membership tag.
		b := appendVec(slices.Concat([]byte{0, versionMLS10}, v.Content), nil)
		m, _, err := ParsePublicMessage(b)
		if err != nil {
			t.Fatal(err)
		}
		confirmed := confirmedTranscript(v.InterimBefore, m)
		same(t, "confirmed transcript hash", confirmed, v.Confirmed)
		s := secrets{confirmation: v.ConfirmationKey}
		if err := s.confirmed(confirmed, m.confirmationTag); err != nil {
			t.Error(err)
		}
		same(t, "interim transcript hash", interimTranscript(confirmed, m.confirmationTag), v.InterimAfter)
	}
}

func vectorsTreeMath(t *testing.T, file []byte) {
	var all []struct {
		Leaves  int `json:"n_leaves"`
		Nodes   int `json:"n_nodes"`
		Root    uint32
		Left    []*uint32
		Right   []*uint32
		Parent  []*uint32
		Sibling []*uint32
	}
	if err := json.Unmarshal(file, &all); err != nil {
		t.Fatal(err)
	}
	for _, v := range all {
		tr := make(tree, v.Nodes)
		if int(tr.leaves()) != v.Leaves || tr.root() != v.Root {
			t.Errorf("%d nodes: %d leaves, root %d", v.Nodes, tr.leaves(), tr.root())
		}
		for x := range uint32(v.Nodes) {
			for what, c := range map[string]struct {
				f    func(uint32) uint32
				want *uint32
			}{
				"left": {left, v.Left[x]}, "right": {right, v.Right[x]},
				"parent": {parentOf, v.Parent[x]}, "sibling": {siblingOf, v.Sibling[x]},
			} {
				if c.want != nil && c.f(x) != *c.want {
					t.Errorf("%s of %d is %d, want %d", what, x, c.f(x), *c.want)
				}
			}
		}
	}
}

// vectorsTreeOperations are of ciphersuite 1, but nothing in them depends on it
// except the hash, which is the same.
func vectorsTreeOperations(t *testing.T, file []byte) {
	var all []struct {
		Proposal   blob
		Before     blob `json:"tree_before"`
		After      blob `json:"tree_after"`
		HashBefore blob `json:"tree_hash_before"`
		HashAfter  blob `json:"tree_hash_after"`
	}
	if err := json.Unmarshal(file, &all); err != nil {
		t.Fatal(err)
	}
	updates := 0
	for _, v := range all {
		tr, err := parseTree(v.Before)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "tree hash before", tr.treeHash(), v.HashBefore)
		r := reader{b: v.Proposal}
		switch kind := r.uint16(); kind {
		case proposalAdd:
			// Written out: our key packages are of ciphersuite 2 only.
			r.take(4)
			r.vec()
			if _, err := tr.add(r.leaf()); err != nil {
				t.Fatal(err)
			}
		case proposalRemove:
			if err := tr.remove(r.uint32()); err != nil {
				t.Fatal(err)
			}
		default: // an update, which DAVE has not
			updates++
			continue
		}
		same(t, "tree hash after", tr.treeHash(), v.HashAfter)
		same(t, "tree after", tr.append(nil), v.After)
	}
	if updates != 1 || len(all) != 5 {
		t.Errorf("%d operations, %d of them updates; want 5 and 1", len(all), updates)
	}
}

func vectorsTreeValidation(t *testing.T, file []byte) {
	type vector struct {
		ofSuite
		Tree        blob
		GroupID     blob   `json:"group_id"`
		Hashes      []blob `json:"tree_hashes"`
		Resolutions [][]uint32
	}
	for _, v := range vectors[vector](t, file, 14) {
		tr, err := parseTree(v.Tree)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "tree", tr.append(nil), v.Tree)
		for x := range uint32(len(tr)) {
			same(t, "tree hash", tr.hash(x, nil), v.Hashes[x])
			if got := tr.resolution(x); !slices.Equal(got, v.Resolutions[x]) {
				t.Errorf("resolution of %d is %v, want %v", x, got, v.Resolutions[x])
			}
		}
		if err := tr.validate(v.GroupID); err != nil {
			t.Error(err)
		}
	}
}

func vectorsTreeKEM(t *testing.T, file []byte) {
	type vector struct {
		ofSuite
		GroupID        blob `json:"group_id"`
		Epoch          uint64
		TranscriptHash blob `json:"confirmed_transcript_hash"`
		Tree           blob `json:"ratchet_tree"`
		Members        []struct {
			Index         uint32
			EncryptionKey blob `json:"encryption_priv"`
			SignatureKey  blob `json:"signature_priv"`
			PathSecrets   []struct {
				Node   uint32
				Secret blob `json:"path_secret"`
			} `json:"path_secrets"`
		} `json:"leaves_private"`
		Paths []struct {
			Sender        uint32
			Path          blob   `json:"update_path"`
			PathSecrets   []blob `json:"path_secrets"`
			CommitSecret  blob   `json:"commit_secret"`
			TreeHashAfter blob   `json:"tree_hash_after"`
		} `json:"update_paths"`
	}
	followed := 0
	for _, v := range vectors[vector](t, file, 11) {
		base, err := parseTree(v.Tree)
		if err != nil {
			t.Fatal(err)
		}
		member := func(i int) *Group {
			m := v.Members[i]
			k, err := parseSignatureKey(m.SignatureKey)
			if err != nil {
				t.Fatal(err)
			}
			g := &Group{
				tree:      slices.Clone(base),
				self:      m.Index,
				signature: k,
				private:   map[uint32]hpke.PrivateKey{2 * m.Index: kemKey(t, m.EncryptionKey)},
				context:   groupContext{groupID: v.GroupID, epoch: v.Epoch, transcriptHash: v.TranscriptHash},
			}
			for _, s := range m.PathSecrets {
				k, _ := nodeKey(s.Secret)
				same(t, "node key", k.PublicKey().Bytes(), base[s.Node].encryptionKey())
				g.private[s.Node] = k
			}
			return g
		}
		for _, p := range v.Paths {
			r := reader{b: p.Path}
			path := r.updatePath()
			if err := r.end(); err != nil {
				t.Fatal(err)
			}
			same(t, "update path", path.append(nil), p.Path)
			for i, m := range v.Members {
				if m.Index == p.Sender {
					continue
				}
				g := member(i)
				commitSecret, err := g.followPath(p.Sender, path, nil)
				if err != nil {
					t.Fatal(err)
				}
				same(t, "commit secret", commitSecret, p.CommitSecret)
				same(t, "tree hash", g.tree.treeHash(), p.TreeHashAfter)
				followed++
			}
		}
		// And a path of our own making, followed by everybody.
		for i, m := range v.Members {
			g := member(i)
			ours, err := g.renewPath(nil, newSeeded(1))
			if err != nil {
				t.Fatal(err)
			}
			for j := range v.Members {
				if i == j {
					continue
				}
				other := member(j)
				commitSecret, err := other.followPath(m.Index, ours.wire, nil)
				if err != nil {
					t.Fatal(err)
				}
				same(t, "commit secret of our path", commitSecret, ours.commitSecret)
			}
		}
	}
	if followed != 328 {
		t.Errorf("%d paths followed, want 328", followed)
	}
}

// The vector comes without the tree: it proves the decryption of both layers.
func vectorsWelcome(t *testing.T, file []byte) {
	type vector struct {
		ofSuite
		InitKey    blob `json:"init_priv"`
		KeyPackage blob `json:"key_package"`
		Signer     blob `json:"signer_pub"`
		Welcome    blob
	}
	for _, v := range vectors[vector](t, file, 1) {
		own := &Invitation{Package: keyPackageMessage(t, v.KeyPackage), initKey: kemKey(t, v.InitKey)}
		w := welcomeMessage(t, v.Welcome)
		same(t, "welcome", w.Append(nil), v.Welcome[4:])
		joiner, _, err := w.groupSecrets(own)
		if err != nil {
			t.Fatal(err)
		}
		info, err := w.groupInfo(deriveSecret(extract(joiner, noSecret), "welcome"))
		if err != nil {
			t.Fatal(err)
		}
		if err := verify(v.Signer, "GroupInfoTBS", info.appendUnsigned(nil), info.signature); err != nil {
			t.Error(err)
		}
		s := joinedEpoch(joiner, noSecret, info.context.append(nil))
		if err := s.confirmed(info.context.transcriptHash, info.confirmationTag); err != nil {
			t.Error(err)
		}
	}
}

// vectorsWelcomes leaves out the four cases with pre-shared keys, which must be
// refused.
func vectorsWelcomes(t *testing.T, file []byte) {
	type vector struct {
		ofSuite
		PSKs          []json.RawMessage `json:"external_psks"`
		KeyPackage    blob              `json:"key_package"`
		SignatureKey  blob              `json:"signature_priv"`
		EncryptionKey blob              `json:"encryption_priv"`
		InitKey       blob              `json:"init_priv"`
		Welcome       blob
		Tree          blob `json:"ratchet_tree"`
		Authenticator blob `json:"initial_epoch_authenticator"`
		Epochs        []json.RawMessage
	}
	joined := 0
	for _, v := range vectors[vector](t, file, 8) {
		k, err := parseSignatureKey(v.SignatureKey)
		if err != nil {
			t.Fatal(err)
		}
		own := &Invitation{
			Package:    keyPackageMessage(t, v.KeyPackage),
			initKey:    kemKey(t, v.InitKey),
			encryption: kemKey(t, v.EncryptionKey),
			signature:  k,
		}
		g, err := welcomeMessage(t, v.Welcome).open(own, v.Tree)
		if len(v.PSKs) > 0 {
			if !errors.Is(err, ErrUnsupported) {
				t.Errorf("welcome with a pre-shared key: %v, want %v", err, ErrUnsupported)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		same(t, "epoch authenticator", g.Authenticator(), v.Authenticator)
		if len(v.Epochs) > 0 {
			t.Errorf("%d epochs that this test does not follow", len(v.Epochs))
		}
		joined++
	}
	if joined != 4 {
		t.Errorf("%d groups joined, want 4", joined)
	}
}

func keyPackageMessage(t *testing.T, b []byte) *KeyPackage {
	t.Helper()
	k, err := ParseKeyPackage(b[4:]) // behind the version and wire format
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Verify(); err != nil {
		t.Fatal(err)
	}
	same(t, "key package", k.Append(nil), b[4:])
	return k
}

func welcomeMessage(t *testing.T, b []byte) *Welcome {
	t.Helper()
	w, err := ParseWelcome(b[4:])
	if err != nil {
		t.Fatal(err)
	}
	return w
}
