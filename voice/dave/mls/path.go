package mls

import (
	"bytes"
	"crypto/hpke"
	"io"
	"slices"
)

// A newPath is a path of our own making.
type newPath struct {
	wire         *updatePath // nil for a commit without a path
	steps        []step
	secrets      [][]byte // path_secret of each step
	commitSecret []byte
}

// nodeKey is the key pair of the node that has this path secret, and next the
// path secret of the one above. RFC 9420, "Path Secrets".
func nodeKey(pathSecret []byte) (k hpke.PrivateKey, next []byte) {
	return must(kem().DeriveKeyPair(deriveSecret(pathSecret, "node"))), deriveSecret(pathSecret, "path")
}

// recipients lists, for each step, the nodes that its path secret is encrypted
// to: those on the other side, without the leaves this commit adds, who get it
// in their welcome. RFC 9420, "Update Paths".
func (t tree) recipients(steps []step, added []uint32) [][]uint32 {
	lists := make([][]uint32, len(steps))
	for i, s := range steps {
		lists[i] = slices.DeleteFunc(t.resolution(s.sibling), func(x uint32) bool {
			return level(x) == 0 && slices.Contains(added, x/2)
		})
	}
	return lists
}

// renewPath puts fresh keys on our leaf and all above it.
func (g *Group) renewPath(added []uint32, random io.Reader) (*newPath, error) {
	leafKey, err := newKEMKey(random)
	if err != nil {
		return nil, err
	}
	secret, err := randomSecret(random)
	if err != nil {
		return nil, err
	}
	p := &newPath{steps: g.tree.path(g.self)}
	recipients := g.tree.recipients(p.steps, added)
	g.forgetAbove(g.self)
	g.private[2*g.self] = leafKey
	var keys [][]byte
	for _, s := range p.steps {
		k, next := nodeKey(secret)
		g.private[s.node] = k
		keys = append(keys, k.PublicKey().Bytes())
		p.secrets = append(p.secrets, secret)
		secret = next
	}
	p.commitSecret = secret

	// Everything but the encryption key stays: the gateway and all members
	// insist on it. DAVE, "Commit Validation".
	leaf := *g.tree.leaf(g.self)
	leaf.source = fromCommit
	leaf.encryptionKey = leafKey.PublicKey().Bytes()
	leaf.parentHash = g.tree.merge(g.self, p.steps, keys)
	leaf.sign(g.signature, g.context.groupID, g.self)
	g.tree[2*g.self] = node{leaf: &leaf}

	g.context.treeHash = g.tree.treeHash()
	context := g.context.append(nil) // new epoch and tree, transcript of before
	p.wire = &updatePath{leaf: &leaf}
	for i, list := range recipients {
		wire := pathNode{encryptionKey: keys[i]}
		for _, x := range list {
			s, err := encrypt(g.tree[x].encryptionKey(), "UpdatePathNode", context, p.secrets[i])
			if err != nil {
				return nil, err
			}
			wire.secrets = append(wire.secrets, s)
		}
		p.wire.nodes = append(p.wire.nodes, wire)
	}
	return p, nil
}

// followPath applies a path that another member made and returns the secret at
// its end. RFC 9420, "Update Paths" and "Processing a Commit".
func (g *Group) followPath(sender uint32, path *updatePath, added []uint32) ([]byte, error) {
	if err := g.checkPathLeaf(sender, path.leaf); err != nil {
		return nil, err
	}
	keys, err := g.pathKeys(path)
	if err != nil {
		return nil, err
	}
	steps := g.tree.path(sender)
	if len(keys) != len(steps) {
		return nil, refuse(ErrTree, "path of %d nodes, want %d", len(keys), len(steps))
	}
	recipients := g.tree.recipients(steps, added)
	for i, list := range recipients {
		if got := len(path.nodes[i].secrets); got != len(list) {
			return nil, refuse(ErrTree, "path node with %d secrets, want %d", got, len(list))
		}
	}
	g.forgetAbove(sender)
	if parentHash := g.tree.merge(sender, steps, keys); !bytes.Equal(parentHash, path.leaf.parentHash) {
		return nil, refuse(ErrTree, "parent hash of the path's leaf")
	}
	g.tree[2*sender] = node{leaf: path.leaf}
	g.context.treeHash = g.tree.treeHash()
	context := g.context.append(nil) // new epoch and tree, transcript of before

	i := slices.IndexFunc(steps, func(s step) bool { return under(2*g.self, s.sibling) })
	if i < 0 {
		return nil, refuse(ErrTree, "a path that does not meet ours")
	}
	// Which node to decrypt for is decided by the keys we hold, not by what
	// lies above us: for a node that we are an unmerged leaf of we have none.
	for j, x := range recipients[i] {
		if k := g.private[x]; k != nil {
			secret, err := decrypt(k, "UpdatePathNode", context, path.nodes[i].secrets[j])
			if err != nil {
				return nil, err
			}
			return g.installPath(secret, steps[i:])
		}
	}
	return nil, refuse(ErrTree, "a path without a secret for us")
}

// checkPathLeaf checks the committer's new leaf. DAVE, "Commit Validation": who
// it is must not change.
func (g *Group) checkPathLeaf(sender uint32, leaf *leafNode) error {
	old := g.tree.leaf(sender)
	switch {
	case leaf.source != fromCommit:
		return refuse(ErrTree, "a path with a leaf of source %d", leaf.source)
	case !bytes.Equal(leaf.signatureKey, old.signatureKey),
		!bytes.Equal(leaf.credential.identity, old.credential.identity):
		return refuse(ErrSender, "a committer who changes identity")
	}
	return leaf.verify(g.context.groupID, sender)
}

// pathKeys lists the new keys of a path: good ones, and none that is in use.
func (g *Group) pathKeys(path *updatePath) ([][]byte, error) {
	used := map[string]bool{}
	for _, x := range g.tree {
		if !x.blank() {
			used[string(x.encryptionKey())] = true
		}
	}
	var keys [][]byte
	for _, p := range path.nodes {
		keys = append(keys, p.encryptionKey)
	}
	for _, k := range append(keys[:len(keys):len(keys)], path.leaf.encryptionKey) {
		if used[string(k)] {
			return nil, refuse(ErrTree, "a path with a key that is in use")
		}
		if err := checkKEMKey("key in a path", k); err != nil {
			return nil, err
		}
		used[string(k)] = true
	}
	return keys, nil
}

// installPath derives the keys of steps upwards from secret, checks them against
// the public ones in the tree, and returns the commit secret.
func (g *Group) installPath(secret []byte, steps []step) ([]byte, error) {
	if len(secret) != secretSize {
		return nil, refuse(ErrFormat, "path secret of %d bytes", len(secret))
	}
	for _, s := range steps {
		k, next := nodeKey(secret)
		if !bytes.Equal(k.PublicKey().Bytes(), g.tree[s.node].encryptionKey()) {
			return nil, refuse(ErrTree, "path secret that does not fit node %d", s.node)
		}
		g.private[s.node] = k
		secret = next
	}
	return secret, nil
}

// forgetAbove drops the private keys of all nodes above a leaf, which a path is
// about to replace.
func (g *Group) forgetAbove(leaf uint32) {
	for _, x := range g.tree.ancestors(2 * leaf) {
		delete(g.private, x)
	}
}
