package mls

import (
	"bytes"
	"errors"
	"testing"
)

func TestProposalsThatAreRefused(t *testing.T) {
	other, err := NewExternalKey(newSeeded(99))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		make func(r *room) *PublicMessage
		want error
	}{
		{"of another server", func(r *room) *PublicMessage {
			return other.ProposeAdd(roomID, 2, r.invitation().Package)
		}, ErrAuth},
		{"for the epoch before", func(r *room) *PublicMessage {
			return r.external.ProposeAdd(roomID, 1, r.invitation().Package)
		}, ErrEpoch},
		{"for another channel", func(r *room) *PublicMessage {
			return r.external.ProposeAdd([]byte{1}, 2, r.invitation().Package)
		}, ErrEpoch},
		{"of a blank leaf", func(r *room) *PublicMessage { return r.remove(3) }, ErrProposal},
		{"of a leaf beyond the tree", func(r *room) *PublicMessage { return r.remove(1 << 31) }, ErrProposal},
		{"from a member", func(r *room) *PublicMessage {
			m := r.remove(1)
			m.external = false
			m.encode()
			m.sign(r.members[0].signature, r.members[0].context.append(nil))
			return m
		}, ErrSender},
		{"from a second external sender", func(r *room) *PublicMessage {
			m := r.remove(1)
			m.sender = 1
			m.encode()
			m.sign(r.external.key, nil)
			return m
		}, ErrSender},
		{"altered on the way", func(r *room) *PublicMessage {
			m := r.remove(1)
			m.content = bytes.Clone(m.content)
			m.content[len(m.content)-1] ^= 3
			return m
		}, ErrAuth},
		{"of a key package nobody signed", func(r *room) *PublicMessage {
			own := r.invitation()
			own.Package.signature[8] ^= 1
			return r.add(own)
		}, ErrAuth},
		{"of a leaf nobody signed", func(r *room) *PublicMessage {
			own := r.invitation()
			p := own.Package
			p.leaf.credential = userCredential(1001)
			p.signature = own.signature.sign("KeyPackageTBS", p.appendUnsigned(nil))
			return r.add(own)
		}, ErrAuth},
		{"of a key package with one key twice", func(r *room) *PublicMessage {
			own := r.invitation()
			p := own.Package
			p.initKey = p.leaf.encryptionKey
			p.signature = own.signature.sign("KeyPackageTBS", p.appendUnsigned(nil))
			return r.add(own)
		}, ErrFormat},
		{"of a key that is no point", func(r *room) *PublicMessage {
			own := r.invitation()
			p := own.Package
			p.initKey = make([]byte, 65)
			p.signature = own.signature.sign("KeyPackageTBS", p.appendUnsigned(nil))
			return r.add(own)
		}, ErrFormat},
		{"of a leaf that is not from a key package", func(r *room) *PublicMessage {
			own := r.invitation()
			own.Package.leaf.source = fromUpdate
			return r.add(own)
		}, ErrFormat},
		{"that is a commit", func(r *room) *PublicMessage {
			m := r.remove(1)
			m.proposal, m.commit = nil, &commit{}
			m.encode()
			m.sign(r.external.key, nil)
			return m
		}, ErrFormat},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newFullRoom(t, 1, 3)
			g := r.members[0]
			if err := g.Propose(c.make(r)); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if g.Proposals() != 0 {
				t.Error("and yet remembered")
			}
		})
	}
}

func TestChangesThatCannotBeCommitted(t *testing.T) {
	for _, c := range []struct {
		name    string
		propose func(r *room)
		want    error
	}{
		{"our own removal", func(r *room) { r.propose(r.remove(0)) }, ErrProposal},
		{"one leaf removed twice", func(r *room) {
			p := r.remove(2)
			p.data = []byte("again")
			p.encode()
			p.sign(r.external.key, nil)
			r.propose(r.remove(2), p)
		}, ErrProposal},
		{"a user who is here already", func(r *room) {
			r.next = 1001
			r.propose(r.add(r.invitation()))
		}, ErrTree},
		{"one newcomer twice", func(r *room) {
			a := r.invitation()
			r.next--
			r.propose(r.add(a), r.add(r.invitation()))
		}, ErrTree},
		{"a newcomer with the signature key of a member", func(r *room) {
			own, err := NewInvitation(7, r.members[1].signature, r.random)
			if err != nil {
				r.t.Fatal(err)
			}
			r.propose(r.add(own))
		}, ErrTree},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newFullRoom(t, 1, 3)
			c.propose(r)
			if _, err := r.members[0].Commit(r.random); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

// forge takes a good commit apart, lets alter change it and signs it again as
// the committer could, so that only the check in question can refuse it.
func (r *room) forge(by int, c *PendingCommit, alter func(m *PublicMessage)) []byte {
	r.t.Helper()
	m, _, err := ParsePublicMessage(c.Message)
	if err != nil {
		r.t.Fatal(err)
	}
	g := r.members[by]
	alter(m)
	m.encode()
	m.sign(g.signature, g.context.append(nil))
	m.membershipTag = m.tag(g.secrets.membership, g.context.append(nil))
	return m.Append(nil)
}

func TestCommitsThatAreRefused(t *testing.T) {
	resign := func(r *room, l *leafNode) { l.sign(r.members[1].signature, roomID, 1) }
	for _, c := range []struct {
		name string
		make func(r *room, c *PendingCommit) []byte
		want error
	}{
		{"signature of another", func(r *room, c *PendingCommit) []byte {
			m, _, _ := ParsePublicMessage(c.Message)
			context := r.members[1].context.append(nil)
			m.sign(r.members[2].signature, context)
			m.membershipTag = m.tag(r.members[1].secrets.membership, context)
			return m.Append(nil)
		}, ErrAuth},
		{"membership tag", func(_ *room, c *PendingCommit) []byte {
			b := bytes.Clone(c.Message)
			b[len(b)-1] ^= 1
			return b
		}, ErrAuth},
		{"confirmation tag", func(r *room, c *PendingCommit) []byte {
			return r.forge(1, c, func(m *PublicMessage) { m.confirmationTag = make([]byte, 32) })
		}, ErrAuth},
		{"from outside", func(r *room, c *PendingCommit) []byte {
			m, _, _ := ParsePublicMessage(c.Message)
			m.external, m.sender = true, 0
			m.encode()
			m.sign(r.external.key, nil)
			return m.Append(nil)
		}, ErrSender},
		{"in our name", func(r *room, c *PendingCommit) []byte {
			return r.forge(1, c, func(m *PublicMessage) { m.sender = 0 })
		}, ErrSender},
		{"from a blank leaf", func(r *room, c *PendingCommit) []byte {
			return r.forge(1, c, func(m *PublicMessage) { m.sender = 6 })
		}, ErrSender},
		{"from a leaf beyond the tree", func(r *room, c *PendingCommit) []byte {
			return r.forge(1, c, func(m *PublicMessage) { m.sender = 1<<32 - 1 })
		}, ErrSender},
		{"another epoch", func(r *room, c *PendingCommit) []byte {
			return r.forge(1, c, func(m *PublicMessage) { m.epoch++ })
		}, ErrEpoch},
		{"another group", func(r *room, c *PendingCommit) []byte {
			return r.forge(1, c, func(m *PublicMessage) { m.groupID = []byte{7} })
		}, ErrEpoch},
		{"an unknown proposal", func(r *room, c *PendingCommit) []byte {
			return r.forge(1, c, func(m *PublicMessage) { m.commit.refs[0] = make([]byte, 32) })
		}, ErrProposal},
		{"one proposal twice", func(r *room, c *PendingCommit) []byte {
			return r.forge(1, c, func(m *PublicMessage) { m.commit.refs = append(m.commit.refs, m.commit.refs[0]) })
		}, ErrProposal},
		{"a remove and no path", func(r *room, c *PendingCommit) []byte {
			return r.forge(1, c, func(m *PublicMessage) { m.commit.path = nil })
		}, ErrTree},
		{"a path too short", func(r *room, c *PendingCommit) []byte {
			return r.forge(1, c, func(m *PublicMessage) { m.commit.path.nodes = m.commit.path.nodes[1:] })
		}, ErrTree},
		{"a path with a secret too few", func(r *room, c *PendingCommit) []byte {
			return r.forge(1, c, func(m *PublicMessage) { m.commit.path.nodes[0].secrets = nil })
		}, ErrTree},
		{"a path with a key in use", func(r *room, c *PendingCommit) []byte {
			return r.forge(1, c, func(m *PublicMessage) {
				m.commit.path.nodes[0].encryptionKey = r.members[0].tree[0].leaf.encryptionKey
			})
		}, ErrTree},
		{"a path with a key that is no point", func(r *room, c *PendingCommit) []byte {
			return r.forge(1, c, func(m *PublicMessage) { m.commit.path.nodes[0].encryptionKey = []byte{4} })
		}, ErrFormat},
		{"a path with the wrong secrets", func(r *room, c *PendingCommit) []byte {
			return r.forge(1, c, func(m *PublicMessage) {
				for _, n := range m.commit.path.nodes {
					for _, s := range n.secrets {
						s.ciphertext[0] ^= 1
					}
				}
			})
		}, ErrAuth},
		{"a path of which a key is swapped", func(r *room, c *PendingCommit) []byte {
			return r.forge(1, c, func(m *PublicMessage) {
				k, err := newKEMKey(r.random)
				if err != nil {
					r.t.Fatal(err)
				}
				m.commit.path.nodes[1].encryptionKey = k.PublicKey().Bytes()
			})
		}, ErrTree},
		{"a leaf that keeps its key", func(r *room, c *PendingCommit) []byte {
			return r.forge(1, c, func(m *PublicMessage) {
				m.commit.path.leaf.encryptionKey = r.members[0].tree[2].leaf.encryptionKey
				resign(r, m.commit.path.leaf)
			})
		}, ErrTree},
		{"a leaf that changes its name", func(r *room, c *PendingCommit) []byte {
			return r.forge(1, c, func(m *PublicMessage) {
				m.commit.path.leaf.credential = userCredential(1)
				resign(r, m.commit.path.leaf)
			})
		}, ErrSender},
		{"a leaf that changes its signature key", func(r *room, c *PendingCommit) []byte {
			return r.forge(1, c, func(m *PublicMessage) { m.commit.path.leaf.signatureKey = r.members[2].signature.public })
		}, ErrSender},
		{"a leaf from a key package", func(r *room, c *PendingCommit) []byte {
			return r.forge(1, c, func(m *PublicMessage) {
				m.commit.path.leaf.source = fromKeyPackage
				resign(r, m.commit.path.leaf)
			})
		}, ErrTree},
		{"a leaf nobody signed", func(r *room, c *PendingCommit) []byte {
			return r.forge(1, c, func(m *PublicMessage) { m.commit.path.leaf.notAfter++; m.commit.path.leaf.parentHash = nil })
		}, ErrAuth},
		{"a leaf with the wrong parent hash", func(r *room, c *PendingCommit) []byte {
			return r.forge(1, c, func(m *PublicMessage) {
				m.commit.path.leaf.parentHash = make([]byte, 32)
				resign(r, m.commit.path.leaf)
			})
		}, ErrTree},
		{"a proposal in its place", func(r *room, _ *PendingCommit) []byte {
			return r.remove(2).Append(nil)
		}, ErrFormat},
		{"more after it", func(_ *room, c *PendingCommit) []byte {
			return append(bytes.Clone(c.Message), 0)
		}, ErrFormat},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newFullRoom(t, 1, 5)
			r.change(0, 0, 3) // a blank leaf, and keys on the path above the first
			r.propose(r.remove(2))
			good := r.commit(1)
			g := r.members[0]
			before := g.Authenticator()
			if _, err := g.Process(c.make(r, good)); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if !bytes.Equal(before, g.Authenticator()) {
				t.Error("the refusal changed the group")
			}
			if _, err := g.Process(good.Message); err != nil {
				t.Errorf("the good commit is refused after it: %v", err)
			}
		})
	}
}

func TestWelcomesThatAreRefused(t *testing.T) {
	other, err := NewExternalKey(newSeeded(99))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		alter func(w *Welcome, own *Invitation)
		want  error
	}{
		{"for somebody else", func(w *Welcome, _ *Invitation) { w.secrets[0].ref = make([]byte, 32) }, ErrNotForUs},
		{"secrets altered", func(w *Welcome, _ *Invitation) { w.secrets[0].sealed.ciphertext[3] ^= 1 }, ErrAuth},
		{"encapsulated key too short", func(w *Welcome, _ *Invitation) { w.secrets[0].sealed.encapsulated = []byte{4} }, ErrFormat},
		{"encapsulated key no point", func(w *Welcome, _ *Invitation) { w.secrets[0].sealed.encapsulated = make([]byte, 65) }, ErrAuth},
		{"group info altered", func(w *Welcome, _ *Invitation) { w.info[0] ^= 1 }, ErrAuth},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newFullRoom(t, 1, 3)
			own := r.invitation()
			r.propose(r.add(own))
			w, err := ParseWelcome(r.commit(0).Welcome)
			if err != nil {
				t.Fatal(err)
			}
			c.alter(w, own)
			if _, err := Join(w.Append(nil), own, r.external.Sender); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
	t.Run("of a group that another server may change", func(t *testing.T) {
		r := newFullRoom(t, 1, 3)
		own := r.invitation()
		r.propose(r.add(own))
		if _, err := Join(r.commit(0).Welcome, own, other.Sender); !errors.Is(err, ErrSender) {
			t.Errorf("got %v, want %v", err, ErrSender)
		}
	})
}

// TestDishonestMemberCannotWelcomeIntoABrokenGroup: the committer signs the
// group info, so every lie in it must be found by what it contradicts.
func TestDishonestMemberCannotWelcomeIntoABrokenGroup(t *testing.T) {
	for _, c := range []struct {
		name  string
		alter func(i *groupInfo, t tree)
		want  error
	}{
		{"another tree", func(i *groupInfo, t tree) {
			t[0].leaf.extensions = []extension{{9, nil}}
			i.extensions = []extension{{extensionRatchetTree, t.append(nil)}}
		}, ErrTree},
		{"a leaf nobody signed", func(i *groupInfo, t tree) {
			t[4].leaf.credential = userCredential(5)
			i.context.treeHash = t.treeHash()
			i.extensions = []extension{{extensionRatchetTree, t.append(nil)}}
		}, ErrAuth},
		{"a parent that no leaf vouches for", func(i *groupInfo, t tree) {
			t[1].parent = &parentNode{encryptionKey: must(newKEMKey(newSeeded(3))).PublicKey().Bytes()}
			i.context.treeHash = t.treeHash()
			i.extensions = []extension{{extensionRatchetTree, t.append(nil)}}
		}, ErrTree},
		{"an unmerged leaf that is blank", func(i *groupInfo, t tree) {
			t[1].parent = &parentNode{encryptionKey: must(newKEMKey(newSeeded(3))).PublicKey().Bytes(), unmerged: []uint32{9}}
			i.context.treeHash = t.treeHash()
			i.extensions = []extension{{extensionRatchetTree, t.append(nil)}}
		}, ErrTree},
		{"one key at two nodes", func(i *groupInfo, t tree) {
			t[1].parent = &parentNode{encryptionKey: t[0].leaf.encryptionKey}
			i.context.treeHash = t.treeHash()
			i.extensions = []extension{{extensionRatchetTree, t.append(nil)}}
		}, ErrTree},
		{"no tree", func(i *groupInfo, _ tree) { i.extensions = nil }, ErrTree},
		{"a signer who is not there", func(i *groupInfo, _ tree) { i.signer = 99 }, ErrSender},
		{"another signer", func(i *groupInfo, _ tree) { i.signer = 2 }, ErrAuth},
		{"another epoch than the secrets are of", func(i *groupInfo, _ tree) { i.context.epoch++ }, ErrAuth},
		{"a confirmation tag of nobody", func(i *groupInfo, _ tree) { i.confirmationTag = nil }, ErrAuth},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newFullRoom(t, 1, 3)
			own := r.invitation()
			r.propose(r.add(own))
			w, err := ParseWelcome(r.commit(1).Welcome)
			if err != nil {
				t.Fatal(err)
			}
			joiner, _, err := w.groupSecrets(own)
			if err != nil {
				t.Fatal(err)
			}
			secret := deriveSecret(extract(joiner, noSecret), "welcome")
			info, err := w.groupInfo(secret)
			if err != nil {
				t.Fatal(err)
			}
			tr, err := parseTree(info.extensions[0].data)
			if err != nil {
				t.Fatal(err)
			}
			c.alter(info, tr)
			info.signature = r.members[1].signature.sign("GroupInfoTBS", info.appendUnsigned(nil))
			aead, nonce := groupInfoAEAD(secret)
			w.info = aead.Seal(nil, nonce, info.append(nil), nil)
			// The HPKE ciphertext is bound to the group info: seal it anew.
			s, err := encrypt(own.Package.initKey, "Welcome", w.info, appendVec(append(appendVec(nil, joiner), 0), nil))
			if err != nil {
				t.Fatal(err)
			}
			w.secrets[0].sealed = s
			if _, err := Join(w.Append(nil), own, r.external.Sender); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}
