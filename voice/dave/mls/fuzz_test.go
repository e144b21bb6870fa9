package mls

import (
	"bytes"
	"testing"
)

// Every parser, and the group in the state it has after a few changes, must
// survive whatever arrives; what does parse must come out as it went in.

func seeds(f *testing.F) *room {
	f.Helper()
	r := newFullRoom(f, 1, 4)
	own := r.invitation()
	add, remove := r.add(own), r.remove(2)
	r.propose(add, remove)
	c := r.commit(1)
	info := groupInfo{context: r.members[0].context, extensions: []extension{{extensionRatchetTree, r.members[0].tree.append(nil)}}}
	info.signature = r.members[0].signature.sign("GroupInfoTBS", info.appendUnsigned(nil))
	for _, b := range [][]byte{
		add.Append(nil), remove.Append(nil), c.Message, c.Welcome,
		AppendProposals(nil, add, remove), AppendRefs(nil, add.Ref(), remove.Ref()),
		own.Package.Append(nil), r.external.Sender.Append(nil), r.members[0].tree.append(nil),
		info.append(nil), append(appendVec(nil, noSecret), 0, 0),
	} {
		f.Add(b)
	}
	return r
}

func FuzzParsersReturnWhatTheyRead(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		check := func(what string, again []byte) {
			if !bytes.Equal(again, b) {
				t.Errorf("%s:\nread  %x\nwrote %x", what, b, again)
			}
		}
		if k, err := ParseKeyPackage(b); err == nil {
			check("key package", k.Append(nil))
			_ = k.Verify()
		}
		if m, rest, err := ParsePublicMessage(b); err == nil {
			check("message", append(m.Append(nil), rest...))
			content := m.content
			m.encode()
			if !bytes.Equal(content, m.content) {
				t.Errorf("content %x encoded as %x", content, m.content)
			}
		}
		if w, err := ParseWelcome(b); err == nil {
			check("welcome", w.Append(nil))
		}
		if list, err := ParseProposals(b); err == nil {
			check("proposals", AppendProposals(nil, list...))
		}
		if refs, err := ParseRefs(b); err == nil {
			check("references", AppendRefs(nil, refs...))
		}
		if s, err := ParseExternalSender(b); err == nil {
			check("external sender", s.Append(nil))
		}
		in := newReader(b)
		if info := in.groupInfo(); in.end() == nil {
			check("group info", info.append(nil))
			_, _ = info.tree(nil)
		}
		if joiner, path, err := parseGroupSecrets(b); err == nil {
			again := append(appendVec(nil, joiner), 0)
			if path != nil {
				again = appendVec(append(appendVec(nil, joiner), 1), path)
			}
			check("group secrets", append(again, 0))
		}
		if tr, err := parseTree(b); err == nil {
			check("tree", tr.append(nil))
			_ = tr.validate(roomID)
		}
	})
}

func FuzzGroupSurvivesAnyMessage(f *testing.F) {
	r := seeds(f)
	own := r.invitation()
	f.Fuzz(func(t *testing.T, b []byte) {
		g := r.members[0]
		before := g.Authenticator()
		if next, err := g.Process(b); err == nil && next.Epoch() != g.Epoch()+1 {
			t.Errorf("epoch %d after %d", next.Epoch(), g.Epoch())
		}
		if m, _, err := ParsePublicMessage(b); err == nil {
			_ = g.Propose(m)
		}
		if _, err := Join(b, own, r.external.Sender); err == nil {
			t.Error("joined by a welcome that nobody made")
		}
		if !bytes.Equal(before, g.Authenticator()) {
			t.Error("the group changed in place")
		}
	})
}
