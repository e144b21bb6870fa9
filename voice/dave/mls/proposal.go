package mls

// The proposals that DAVE allows. RFC 9420, "Proposals".
const (
	proposalAdd    = 1
	proposalRemove = 3
)

// A proposal adds the owner of a key package or, if add is nil, removes a leaf.
type proposal struct {
	add    *KeyPackage
	remove uint32
}

func (p proposal) append(b []byte) []byte {
	if p.add != nil {
		return p.add.Append(appendUint16(b, proposalAdd))
	}
	return appendUint32(appendUint16(b, proposalRemove), p.remove)
}

func (r *reader) proposal() (p proposal) {
	switch kind := r.uint16(); kind {
	case proposalAdd:
		p.add = r.keyPackage()
	case proposalRemove:
		p.remove = r.uint32()
	default:
		r.fail(refuse(ErrUnsupported, "proposal of type %d", kind))
	}
	return p
}

// A commit lists the proposals it turns into the next epoch, by reference, and
// holds the committer's new path through the tree. RFC 9420, "Commit".
type commit struct {
	refs [][]byte
	path *updatePath
}

const byReference = 2 // ProposalOrRefType

func (c *commit) append(b []byte) []byte {
	b = appendVecOf(b, func(b []byte) []byte {
		for _, ref := range c.refs {
			b = appendVec(append(b, byReference), ref)
		}
		return b
	})
	if c.path == nil {
		return append(b, 0)
	}
	return c.path.append(append(b, 1))
}

func (r *reader) commit() *commit {
	c := &commit{}
	r.inside(func(r *reader) {
		if kind := r.uint8(); r.err == nil && kind != byReference {
			r.fail(refuse(ErrUnsupported, "commit with an inline proposal"))
		}
		c.refs = append(c.refs, r.vec())
	})
	if r.optional() {
		c.path = r.updatePath()
	}
	return c
}

// An updatePath is the committer's new leaf and new keys for the nodes above it,
// each with its secret encrypted to those below. RFC 9420, "Update Paths".
type updatePath struct {
	leaf  *leafNode
	nodes []pathNode
}

type pathNode struct {
	encryptionKey []byte
	secrets       []sealed
}

func (p *updatePath) append(b []byte) []byte {
	b = p.leaf.append(b)
	return appendVecOf(b, func(b []byte) []byte {
		for _, n := range p.nodes {
			b = appendVec(b, n.encryptionKey)
			b = appendVecOf(b, func(b []byte) []byte {
				for _, s := range n.secrets {
					b = s.append(b)
				}
				return b
			})
		}
		return b
	})
}

func (r *reader) updatePath() *updatePath {
	p := &updatePath{leaf: r.leaf()}
	r.inside(func(r *reader) {
		n := pathNode{encryptionKey: r.vec()}
		r.inside(func(r *reader) { n.secrets = append(n.secrets, r.sealed()) })
		p.nodes = append(p.nodes, n)
	})
	return p
}
