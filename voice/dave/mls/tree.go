package mls

import (
	"slices"
)

// A parentNode holds a key that every leaf below it knows, but the unmerged ones.
type parentNode struct {
	encryptionKey []byte
	parentHash    []byte
	unmerged      []uint32 // leaves, ascending
}

// A node is a leaf, a parent, or blank when both are nil.
type node struct {
	leaf   *leafNode
	parent *parentNode
}

func (n node) blank() bool { return n.leaf == nil && n.parent == nil }

func (n node) encryptionKey() []byte {
	if n.leaf != nil {
		return n.leaf.encryptionKey
	}
	return n.parent.encryptionKey
}

// A tree is a ratchet tree with 2^d leaves. What its nodes point to is never
// changed in place, so slices.Clone makes an independent copy.
// RFC 9420, "Ratchet Trees".
type tree []node

func (t tree) root() uint32   { return uint32(len(t) / 2) }
func (t tree) leaves() uint32 { return uint32(len(t)+1) / 2 }

func (t tree) leaf(i uint32) *leafNode {
	if i >= t.leaves() {
		return nil
	}
	return t[2*i].leaf
}

// members yields the leaves that are not blank.
func (t tree) members(yield func(uint32, *leafNode) bool) {
	for i := range t.leaves() {
		if l := t[2*i].leaf; l != nil && !yield(i, l) {
			return
		}
	}
}

// ancestors lists the nodes above x, from its parent to the root.
func (t tree) ancestors(x uint32) (list []uint32) {
	for root := t.root(); x != root; {
		x = parentOf(x)
		list = append(list, x)
	}
	return list
}

// resolution is the fewest nodes whose keys together reach every member below x.
// RFC 9420, "Ratchet Tree Nodes".
func (t tree) resolution(x uint32) []uint32 {
	switch n := t[x]; {
	case n.leaf != nil:
		return []uint32{x}
	case n.parent != nil:
		list := []uint32{x}
		for _, leaf := range n.parent.unmerged {
			list = append(list, 2*leaf)
		}
		return list
	case level(x) == 0:
		return nil
	}
	return append(t.resolution(left(x)), t.resolution(right(x))...)
}

// A step of a filtered direct path: a node above the leaf, and its child on the
// other side.
type step struct{ node, sibling uint32 }

// path is the filtered direct path of a leaf: its ancestors but for those whose
// other side is empty, and would hold the same secret as the node below.
func (t tree) path(leaf uint32) (steps []step) {
	x := 2 * leaf
	for root := t.root(); x != root; x = parentOf(x) {
		if sibling := siblingOf(x); len(t.resolution(sibling)) > 0 {
			steps = append(steps, step{parentOf(x), sibling})
		}
	}
	return steps
}

// add puts l into the leftmost blank leaf, doubling the tree if there is none.
// RFC 9420, "Adding and Removing Leaves".
func (t *tree) add(l *leafNode) (uint32, error) {
	var i uint32
	for i < t.leaves() && t.leaf(i) != nil {
		i++
	}
	switch {
	case len(*t) == 0:
		*t = make(tree, 1)
	case i == MaxMembers:
		return 0, refuse(ErrTooBig, "over %d members", MaxMembers)
	case i == t.leaves():
		*t = append(*t, make(tree, len(*t)+1)...)
	}
	for _, x := range t.ancestors(2 * i) {
		if p := (*t)[x].parent; p != nil {
			at, _ := slices.BinarySearch(p.unmerged, i)
			changed := *p
			changed.unmerged = slices.Insert(slices.Clone(p.unmerged), at, i)
			(*t)[x].parent = &changed
		}
	}
	(*t)[2*i] = node{leaf: l}
	return i, nil
}

// remove blanks a leaf and all above it, and halves the tree while its right
// half is empty.
func (t *tree) remove(leaf uint32) error {
	if t.leaf(leaf) == nil {
		return refuse(ErrProposal, "remove of leaf %d, which is blank", leaf)
	}
	(*t)[2*leaf] = node{}
	for _, x := range t.ancestors(2 * leaf) {
		(*t)[x] = node{}
	}
	for len(*t) > 1 && !slices.ContainsFunc((*t)[len(*t)/2:], func(n node) bool { return !n.blank() }) {
		*t = (*t)[:len(*t)/2]
	}
	return nil
}

// append writes the tree as the ratchet_tree extension has it: left to right,
// without the blanks at the end.
func (t tree) append(b []byte) []byte {
	end := len(t)
	for end > 0 && t[end-1].blank() {
		end--
	}
	return appendVecOf(b, func(b []byte) []byte {
		for _, n := range t[:end] {
			switch {
			case n.leaf != nil:
				b = n.leaf.append(append(b, 1, 1))
			case n.parent != nil:
				b = n.parent.append(append(b, 1, 2), nil)
			default:
				b = append(b, 0)
			}
		}
		return b
	})
}

// append leaves the leaves in without out of the list of unmerged leaves.
func (p *parentNode) append(b []byte, without []uint32) []byte {
	b = appendVec(appendVec(b, p.encryptionKey), p.parentHash)
	return appendVecOf(b, func(b []byte) []byte {
		for _, leaf := range p.unmerged {
			if _, out := slices.BinarySearch(without, leaf); !out {
				b = appendUint32(b, leaf)
			}
		}
		return b
	})
}

// parseTree reads a ratchet_tree extension. What it returns may still be
// inconsistent: see [tree.validate].
func parseTree(b []byte) (tree, error) {
	var t tree
	r := newReader(b)
	r.inside(func(r *reader) {
		if len(t) == 2*MaxMembers-1 {
			r.fail(refuse(ErrTooBig, "ratchet tree of over %d leaves", MaxMembers))
			return
		}
		t = append(t, r.node(len(t)%2 == 0))
	})
	if err := r.end(); err != nil {
		return nil, err
	}
	if len(t) == 0 || t[len(t)-1].blank() {
		return nil, refuse(ErrFormat, "ratchet tree ends in a blank")
	}
	full := 1
	for full < len(t) {
		full = 2*full + 1
	}
	return append(t, make(tree, full-len(t))...), nil
}

func (r *reader) node(atLeaf bool) (n node) {
	if !r.optional() {
		return n
	}
	switch kind := r.uint8(); {
	case kind == 1 && atLeaf:
		n.leaf = r.leaf()
	case kind == 2 && !atLeaf:
		p := &parentNode{encryptionKey: r.vec(), parentHash: r.vec()}
		r.inside(func(r *reader) { p.unmerged = append(p.unmerged, r.uint32()) })
		n.parent = p
	default:
		r.fail(refuse(ErrFormat, "tree node of type %d in the wrong place", kind))
	}
	return n
}
