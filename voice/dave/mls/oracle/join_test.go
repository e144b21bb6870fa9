package oracle

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"log/slog"
	"testing"

	"github.com/glyphoxa/glyphoxa/voice/dave/mls"
	mlsgo "github.com/thomas-vilte/mls-go"
	"github.com/thomas-vilte/mls-go/ciphersuite"
)

// Both implementations in one group: each commits adds and removes of members
// of both kinds, and all must hold the same secrets after every commit.

var groupID = []byte{12, 222, 119, 234, 220, 130, 48, 51}

// A member is somebody in the group, of either implementation.
type member interface {
	propose(t *testing.T, m *mls.PublicMessage)
	commit(t *testing.T) (commit, welcome []byte)
	follow(t *testing.T, commit []byte)
	join(t *testing.T, welcome []byte)
	secret(t *testing.T) []byte // what all must agree on
}

type ours struct {
	own      *mls.Invitation
	external mls.ExternalSender
	group    *mls.Group
	pending  *mls.PendingCommit
}

func newOurs(t *testing.T, user uint64, external mls.ExternalSender) *ours {
	t.Helper()
	k, err := mls.NewSignatureKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	own, err := mls.NewInvitation(user, k, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &ours{own: own, external: external}
}

func (o *ours) propose(t *testing.T, m *mls.PublicMessage) {
	t.Helper()
	if err := o.group.Propose(m); err != nil {
		t.Fatal(err)
	}
}

func (o *ours) commit(t *testing.T) (commit, welcome []byte) {
	t.Helper()
	c, err := o.group.Commit(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	o.pending = c
	return c.Message, c.Welcome
}

func (o *ours) follow(t *testing.T, commit []byte) {
	t.Helper()
	if o.pending != nil && bytes.Equal(o.pending.Message, commit) {
		o.group, o.pending = o.pending.Next, nil
		return
	}
	next, err := o.group.Process(commit)
	if err != nil {
		t.Fatal(err)
	}
	o.group = next
}

func (o *ours) join(t *testing.T, welcome []byte) {
	t.Helper()
	g, err := mls.Join(welcome, o.own, o.external)
	if err != nil {
		t.Fatal(err)
	}
	o.group = g
}

func (o *ours) secret(*testing.T) []byte {
	return append(o.group.Export("Discord Secure Frames v0", []byte("x"), 16), o.group.Authenticator()...)
}

type theirs struct {
	client     *mlsgo.Client
	keyPackage []byte
	staged     *mlsgo.PendingCommitHandle
}

func newTheirs(t *testing.T, user uint64) *theirs {
	t.Helper()
	c, err := mlsgo.NewClient(binary.BigEndian.AppendUint64(nil, user), ciphersuite.MLS128DHKEMP256,
		mlsgo.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	k, err := c.FreshKeyPackageBytes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &theirs{client: c, keyPackage: k}
}

func (o *theirs) propose(t *testing.T, m *mls.PublicMessage) {
	t.Helper()
	if err := o.client.ProcessPublicMessage(t.Context(), groupID, m.Append(nil)); err != nil {
		t.Fatal(err)
	}
}

func (o *theirs) commit(t *testing.T) (commit, welcome []byte) {
	t.Helper()
	h, err := o.client.CommitPendingProposalsStaged(t.Context(), groupID)
	if err != nil {
		t.Fatal(err)
	}
	o.staged = h
	welcome, err = o.client.ConfirmPendingCommit(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	if len(welcome) > 0 {
		welcome = welcome[4:] // DAVE has it without version and wire format
	}
	return h.CommitBytes(), welcome
}

func (o *theirs) follow(t *testing.T, commit []byte) {
	t.Helper()
	if o.staged != nil && bytes.Equal(o.staged.CommitBytes(), commit) {
		o.staged = nil
		return
	}
	if err := o.client.ProcessCommit(t.Context(), groupID, commit); err != nil {
		t.Fatal(err)
	}
}

func (o *theirs) join(t *testing.T, welcome []byte) {
	t.Helper()
	if _, err := o.client.JoinGroup(t.Context(), welcome); err != nil {
		t.Fatal(err)
	}
}

func (o *theirs) secret(t *testing.T) []byte {
	t.Helper()
	exported, err := o.client.Export(t.Context(), groupID, "Discord Secure Frames v0", []byte("x"), 16)
	if err != nil {
		t.Fatal(err)
	}
	authenticator, err := o.client.EpochAuthenticator(t.Context(), groupID)
	if err != nil {
		t.Fatal(err)
	}
	return append(exported, authenticator...)
}

func TestBothImplementationsKeepOneGroup(t *testing.T) {
	external, err := mls.NewExternalKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	first := newOurs(t, 1, external.Sender)
	if first.group, err = mls.NewGroup(groupID, first.own, external.Sender, rand.Reader); err != nil {
		t.Fatal(err)
	}
	members := []member{first} // by leaf
	epoch, user := uint64(0), uint64(1)

	// change removes one leaf (if not negative), adds newcomers ('o' ours, 't'
	// theirs) and lets the member at leaf by commit.
	change := func(by, remove int, add string) {
		t.Helper()
		var newcomers []member
		var list []*mls.PublicMessage
		if remove >= 0 {
			list = append(list, external.ProposeRemove(groupID, epoch, uint32(remove)))
		}
		for _, kind := range add {
			user++
			if kind == 'o' {
				o := newOurs(t, user, external.Sender)
				newcomers = append(newcomers, o)
				list = append(list, external.ProposeAdd(groupID, epoch, o.own.Package))
				continue
			}
			o := newTheirs(t, user)
			k, err := mls.ParseKeyPackage(o.keyPackage)
			if err != nil {
				t.Fatal(err)
			}
			newcomers = append(newcomers, o)
			list = append(list, external.ProposeAdd(groupID, epoch, k))
		}
		for i, m := range members {
			if m == nil || i == remove {
				continue
			}
			for _, p := range list {
				m.propose(t, p)
			}
		}
		commit, welcome := members[by].commit(t)
		if remove >= 0 {
			members[remove] = nil
		}
		for _, m := range members {
			if m != nil {
				m.follow(t, commit)
			}
		}
		epoch++
		for _, n := range newcomers {
			n.join(t, welcome)
			at := 0
			for at < len(members) && members[at] != nil {
				at++
			}
			if at == len(members) {
				members = append(members, nil)
			}
			members[at] = n
		}
		for i, m := range members {
			if m != nil && !bytes.Equal(m.secret(t), members[by].secret(t)) {
				t.Fatalf("epoch %d: member %d disagrees with the committer %d", epoch, i, by)
			}
		}
	}

	change(0, -1, "t")
	change(1, -1, "o") // they add one of ours
	change(0, -1, "ttoo")
	change(2, 1, "")   // we remove one of theirs, with a path
	change(3, 2, "")   // they remove one of ours
	change(0, -1, "t") // into a blank leaf, unmerged above
	change(5, 4, "to") // remove and add in one
	change(3, 6, "")
	change(1, 0, "o") // the founder leaves
	change(5, -1, "tttooo")
	change(4, 3, "")
}
