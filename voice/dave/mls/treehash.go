package mls

import (
	"bytes"
	"slices"
)

// hash is the tree hash of the part of the tree below x, as it was before the
// leaves in without were added. RFC 9420, "Tree Hashes" and "Parent Hashes".
func (t tree) hash(x uint32, without []uint32) []byte {
	n := t[x]
	if level(x) == 0 {
		b := appendUint32([]byte{1}, x/2)
		if _, out := slices.BinarySearch(without, x/2); n.leaf == nil || out {
			return hash(append(b, 0))
		}
		return hash(n.leaf.append(append(b, 1)))
	}
	b := []byte{2, 0}
	if n.parent != nil {
		b = n.parent.append([]byte{2, 1}, without)
	}
	b = appendVec(b, t.hash(left(x), without))
	return hash(appendVec(b, t.hash(right(x), without)))
}

func (t tree) treeHash() []byte { return t.hash(t.root(), nil) }

// parentHash is what the next node below parent must hold, where sibling is the
// child on the other side. RFC 9420, "Parent Hashes".
func (t tree) parentHash(parent, sibling uint32) []byte {
	p := t[parent].parent
	b := appendVec(appendVec(nil, p.encryptionKey), p.parentHash)
	return hash(appendVec(b, t.hash(sibling, p.unmerged)))
}

// merge puts new keys on the path above a leaf, blanks the rest of what is above
// it, and returns the parent hash that the leaf must hold.
// RFC 9420, "Update Paths".
func (t tree) merge(leaf uint32, steps []step, keys [][]byte) []byte {
	for _, x := range t.ancestors(2 * leaf) {
		t[x] = node{}
	}
	above := []byte{} // the root has none
	for i, s := range slices.Backward(steps) {
		t[s.node] = node{parent: &parentNode{encryptionKey: keys[i], parentHash: above}}
		above = t.parentHash(s.node, s.sibling)
	}
	return above
}

// validate checks a tree that somebody else sent.
// RFC 9420, "Joining via Welcome Message", on verifying the ratchet tree.
func (t tree) validate(groupID []byte) error {
	seen := map[string]bool{}
	for x, n := range t {
		if n.blank() {
			continue
		}
		if seen[string(n.encryptionKey())] {
			return refuse(ErrTree, "one encryption key at two nodes")
		}
		seen[string(n.encryptionKey())] = true
		if err := checkKEMKey("key in the tree", n.encryptionKey()); err != nil {
			return err
		}
		if n.parent != nil {
			if err := t.validateParent(uint32(x)); err != nil {
				return err
			}
		}
	}
	for i, l := range t.members {
		if err := l.verify(groupID, i); err != nil {
			return err
		}
	}
	return t.validateMembers()
}

// validateMembers checks that no two members share a key or a name.
// RFC 9420, "Proposal List Validation".
func (t tree) validateMembers() error {
	keys, names := map[string]bool{}, map[string]bool{}
	for i, l := range t.members {
		for _, k := range [][]byte{l.encryptionKey, l.signatureKey} {
			if keys[string(k)] {
				return refuse(ErrTree, "leaf %d has the key of another", i)
			}
			keys[string(k)] = true
		}
		if names[string(l.credential.identity)] {
			return refuse(ErrTree, "leaf %d has the identity of another", i)
		}
		names[string(l.credential.identity)] = true
	}
	return nil
}

// validateParent checks the unmerged leaves and the parent hash of one node.
func (t tree) validateParent(x uint32) error {
	unmerged := t[x].parent.unmerged
	for i, leaf := range unmerged {
		if i > 0 && leaf <= unmerged[i-1] || t.leaf(leaf) == nil || !under(2*leaf, x) {
			return refuse(ErrTree, "unmerged leaf %d of node %d", leaf, x)
		}
		for y := parentOf(2 * leaf); y != x; y = parentOf(y) {
			if p := t[y].parent; p != nil && !slices.Contains(p.unmerged, leaf) {
				return refuse(ErrTree, "leaf %d is unmerged at node %d and not below, at %d", leaf, x, y)
			}
		}
	}
	l, r := left(x), right(x)
	if !t.linked(x, l, r) && !t.linked(x, r, l) {
		return refuse(ErrTree, "parent hash of node %d", x)
	}
	return nil
}

// linked says whether some node that child stands for holds the parent hash of
// x, and every other node it stands for was added to x later.
// RFC 9420, "Verifying Parent Hashes".
func (t tree) linked(x, child, sibling uint32) bool {
	want := t.parentHash(x, sibling)
	var added []uint32
	for _, leaf := range t[x].parent.unmerged {
		if under(2*leaf, child) {
			added = append(added, 2*leaf)
		}
	}
	nodes := t.resolution(child)
	for i, y := range nodes {
		var got []byte
		switch n := t[y]; {
		case n.parent != nil:
			got = n.parent.parentHash
		case n.leaf.source == fromCommit:
			got = n.leaf.parentHash
		}
		// The RFC allows a blank child: its resolution is what lies below it.
		if bytes.Equal(got, want) && slices.Equal(slices.Delete(slices.Clone(nodes), i, i+1), added) {
			return true
		}
	}
	return false
}
