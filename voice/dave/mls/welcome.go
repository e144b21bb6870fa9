package mls

import (
	"bytes"
	"crypto/hpke"
	"slices"
)

// A Welcome lets new members into a group: the state of the group, encrypted
// once, and the key to it, encrypted to each of them.
// RFC 9420, "Joining via Welcome Message".
type Welcome struct {
	secrets []groupSecrets
	info    []byte // encrypted GroupInfo
}

type groupSecrets struct {
	ref    []byte // of the key package it is for
	sealed sealed
}

// ParseWelcome reads a bare Welcome (no MLSMessage around it), as in opcodes 28
// and 30.
func ParseWelcome(b []byte) (*Welcome, error) {
	r := newReader(b)
	w := r.welcome()
	if err := r.end(); err != nil {
		return nil, err
	}
	return w, nil
}

func (r *reader) welcome() *Welcome {
	w := &Welcome{}
	r.expect("cipher suite", cipherSuite)
	r.inside(func(r *reader) {
		w.secrets = append(w.secrets, groupSecrets{r.vec(), r.sealed()})
	})
	w.info = r.vec()
	return w
}

// Append appends the bytes of w to b.
func (w *Welcome) Append(b []byte) []byte {
	b = appendVecOf(appendUint16(b, cipherSuite), func(b []byte) []byte {
		for _, s := range w.secrets {
			b = s.sealed.append(appendVec(b, s.ref))
		}
		return b
	})
	return appendVec(b, w.info)
}

// For is the part of w that is for one key package, nil if there is none. The
// gateway sends nobody more than that.
func (w *Welcome) For(ref []byte) *Welcome {
	for _, s := range w.secrets {
		if bytes.Equal(s.ref, ref) {
			return &Welcome{secrets: []groupSecrets{s}, info: w.info}
		}
	}
	return nil
}

// Len is the number of key packages that w is for.
func (w *Welcome) Len() int { return len(w.secrets) }

// welcome makes the Welcome for the leaves that were added to g by list.
func (g *Group) welcome(list []proposal, added []uint32, path *newPath, confirmationTag []byte) (*Welcome, error) {
	info := groupInfo{
		context:         g.context,
		extensions:      []extension{{extensionRatchetTree, g.tree.append(nil)}},
		confirmationTag: confirmationTag,
		signer:          g.self,
	}
	info.signature = g.signature.sign("GroupInfoTBS", info.appendUnsigned(nil))
	aead, nonce := groupInfoAEAD(g.secrets.welcome)
	w := &Welcome{info: aead.Seal(nil, nonce, info.append(nil), nil)}

	for _, p := range list {
		if p.add == nil {
			continue
		}
		leaf := added[len(w.secrets)]
		b := appendVec(nil, g.secrets.joiner)
		// The path secret of the lowest node that is above both of us.
		if i := slices.IndexFunc(path.steps, func(s step) bool { return under(2*leaf, s.node) }); i >= 0 {
			b = appendVec(append(b, 1), path.secrets[i])
		} else {
			b = append(b, 0)
		}
		b = appendVec(b, nil) // no pre-shared keys
		s, err := encrypt(p.add.initKey, "Welcome", w.info, b)
		if err != nil {
			return nil, err
		}
		w.secrets = append(w.secrets, groupSecrets{p.add.Ref(), s})
	}
	return w, nil
}

// A groupInfo is the state of a group as one member vouches for it.
type groupInfo struct {
	context         groupContext
	extensions      []extension
	confirmationTag []byte
	signer          uint32
	signature       []byte
}

func (i *groupInfo) appendUnsigned(b []byte) []byte {
	b = appendExtensions(i.context.append(b), i.extensions)
	return appendUint32(appendVec(b, i.confirmationTag), i.signer)
}

func (i *groupInfo) append(b []byte) []byte {
	return appendVec(i.appendUnsigned(b), i.signature)
}

func (r *reader) groupInfo() groupInfo {
	return groupInfo{r.groupContext(), r.extensions(), r.vec(), r.uint32(), r.vec()}
}

// Join enters a group by a bare Welcome for own, which is used up by it. The
// group must have external as its one external sender, and nothing but members
// that are Discord users. DAVE, "Welcome Validation".
func Join(welcome []byte, own *Invitation, external ExternalSender) (*Group, error) {
	w, err := ParseWelcome(welcome)
	if err != nil {
		return nil, err
	}
	g, err := w.open(own, nil)
	if err != nil {
		return nil, err
	}
	if err := checkExtensions(g.context.extensions, external); err != nil {
		return nil, err
	}
	if _, err := g.Users(); err != nil {
		return nil, err
	}
	g.external = external
	own.initKey = nil
	return g, nil
}

// open does what RFC 9420 asks of one who joins. The tree comes from the
// welcome, or from elsewhere if outside is not nil.
func (w *Welcome) open(own *Invitation, outside []byte) (*Group, error) {
	joiner, pathSecret, err := w.groupSecrets(own)
	if err != nil {
		return nil, err
	}
	welcomeSecret := deriveSecret(extract(joiner, noSecret), "welcome")
	info, err := w.groupInfo(welcomeSecret)
	if err != nil {
		return nil, err
	}
	g := &Group{
		context:   info.context,
		signature: own.signature,
		private:   map[uint32]hpke.PrivateKey{},
	}
	if g.tree, err = info.tree(outside); err != nil {
		return nil, err
	}
	if g.self, err = g.tree.find(own.Package.leaf); err != nil {
		return nil, err
	}
	g.private[2*g.self] = own.encryption
	if pathSecret != nil {
		if _, err := g.installPath(pathSecret, g.shared(info.signer)); err != nil {
			return nil, err
		}
	}
	g.secrets = joinedEpoch(joiner, noSecret, g.context.append(nil))
	g.secrets.forgetJoiner()
	if err := g.secrets.confirmed(g.context.transcriptHash, info.confirmationTag); err != nil {
		return nil, err
	}
	g.interim = interimTranscript(g.context.transcriptHash, info.confirmationTag)
	return g, nil
}

// groupSecrets decrypts what the welcome holds for own.
func (w *Welcome) groupSecrets(own *Invitation) (joiner, pathSecret []byte, err error) {
	mine := w.For(own.Package.Ref())
	if mine == nil {
		return nil, nil, ErrNotForUs
	}
	if own.initKey == nil {
		return nil, nil, refuse(ErrNotForUs, "this key package was used before")
	}
	b, err := decrypt(own.initKey, "Welcome", w.info, mine.secrets[0].sealed)
	if err != nil {
		return nil, nil, err
	}
	return parseGroupSecrets(b)
}

func parseGroupSecrets(b []byte) (joiner, pathSecret []byte, err error) {
	r := newReader(b)
	joiner = r.vec()
	if r.optional() {
		pathSecret = r.vec()
	}
	if psks := r.vec(); len(psks) > 0 {
		r.fail(refuse(ErrUnsupported, "a welcome with pre-shared keys"))
	}
	return joiner, pathSecret, r.end()
}

func (w *Welcome) groupInfo(welcomeSecret []byte) (*groupInfo, error) {
	aead, nonce := groupInfoAEAD(welcomeSecret)
	b, err := aead.Open(nil, nonce, w.info, nil)
	if err != nil {
		return nil, refuse(ErrAuth, "group info does not decrypt")
	}
	r := newReader(b)
	info := r.groupInfo()
	return &info, r.end()
}

// tree takes the ratchet tree out of a group info and checks both.
func (i *groupInfo) tree(outside []byte) (tree, error) {
	b := outside
	for _, e := range i.extensions {
		if e.kind == extensionRatchetTree {
			b = e.data
		}
	}
	if b == nil {
		return nil, refuse(ErrTree, "a welcome without the ratchet tree")
	}
	t, err := parseTree(b)
	if err != nil {
		return nil, err
	}
	signer := t.leaf(i.signer)
	if signer == nil {
		return nil, refuse(ErrSender, "group info signed by leaf %d, which is blank", i.signer)
	}
	if err := verify(signer.signatureKey, "GroupInfoTBS", i.appendUnsigned(nil), i.signature); err != nil {
		return nil, err
	}
	if !bytes.Equal(t.treeHash(), i.context.treeHash) {
		return nil, refuse(ErrTree, "tree hash")
	}
	return t, t.validate(i.context.groupID)
}

// find returns the place of a leaf in the tree.
func (t tree) find(leaf *leafNode) (uint32, error) {
	for i, l := range t.members {
		if l.equal(leaf) {
			return i, nil
		}
	}
	return 0, refuse(ErrTree, "our own leaf is not in it")
}

// shared lists the nodes above both us and another leaf, from the bottom.
func (g *Group) shared(leaf uint32) (steps []step) {
	for _, x := range g.tree.ancestors(2 * leaf) {
		if under(2*g.self, x) && g.tree[x].parent != nil {
			steps = append(steps, step{node: x})
		}
	}
	return steps
}
