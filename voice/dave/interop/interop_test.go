//go:build interop

// Package interop lets our members of an encrypted call meet those of davey, the
// library that discord.js uses, built on another implementation of MLS. It needs
// Node and `npm ci` in this folder; run it with `go test -tags interop`.
package interop

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/voice/dave"
	"github.com/glyphoxa/glyphoxa/voice/voicetest"
)

const channel = 927310423890473011

// A member is somebody in the call.
type member interface {
	// begin returns the key package, anew after a reset.
	begin() []byte
	deliver(d voicetest.Delivery, users []uint64) ([]dave.Message, error)
	seal(frame []byte) []byte
	open(from uint64, frame []byte) ([]byte, error)
	state() (code string)
}

// ours is a session of package dave.
type ours struct {
	t   *testing.T
	s   *dave.Session
	now time.Time
}

func newOurs(t *testing.T, user uint64) *ours {
	t.Helper()
	s, err := dave.NewSession(dave.Config{User: user, Channel: channel})
	if err != nil {
		t.Fatal(err)
	}
	return &ours{t, s, time.Now()}
}

func (o *ours) begin() []byte {
	o.t.Helper()
	out, err := o.s.Begin(dave.Version)
	if err != nil {
		o.t.Fatal(err)
	}
	return out[0].Binary
}

func (o *ours) deliver(d voicetest.Delivery, users []uint64) ([]dave.Message, error) {
	if err := o.s.Joined(users...); err != nil {
		return nil, err
	}
	switch d.Op {
	case dave.OpPrepareEpoch:
		return o.s.PrepareEpoch(d.Version, d.Epoch)
	case dave.OpPrepareTransition:
		return o.s.PrepareTransition(d.Transition, d.Version)
	case dave.OpExecuteTransition:
		o.s.ExecuteTransition(d.Transition)
		return nil, nil
	default:
		return o.s.Receive(d.Op, d.Binary, o.now)
	}
}

func (o *ours) seal(frame []byte) []byte {
	o.t.Helper()
	b, err := o.s.Sealer().Seal(nil, frame)
	if err != nil {
		o.t.Fatal(err)
	}
	return b
}

func (o *ours) open(from uint64, frame []byte) ([]byte, error) {
	return o.s.Opener().Open(nil, from, frame, o.now)
}

func (o *ours) state() string { return strings.ReplaceAll(o.s.PrivacyCode(), " ", "") }

// A node is the process that davey runs in.
type node struct {
	t   *testing.T
	in  *json.Encoder
	out *bufio.Scanner
}

func startNode(t *testing.T) *node {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", "peer.mjs")
	cmd.Stderr = t.Output()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	})
	s := bufio.NewScanner(out)
	s.Buffer(nil, 1<<20)
	return &node{t, json.NewEncoder(in), s}
}

type request struct {
	Op      string   `json:"op"`
	User    string   `json:"user"`
	Channel string   `json:"channel,omitempty"`
	From    string   `json:"from,omitempty"`
	Data    string   `json:"data,omitempty"`
	Users   []string `json:"users,omitempty"`
}

type answer struct {
	Data, Code, Error string
}

func (n *node) ask(r request) (answer, error) {
	n.t.Helper()
	if err := n.in.Encode(r); err != nil {
		n.t.Fatal(err)
	}
	if !n.out.Scan() {
		n.t.Fatalf("node ended: %v", n.out.Err())
	}
	var a answer
	if err := json.Unmarshal(n.out.Bytes(), &a); err != nil {
		n.t.Fatal(err)
	}
	if a.Error != "" {
		return a, errors.New("davey: " + a.Error)
	}
	return a, nil
}

// theirs is a session of davey.
type theirs struct {
	*node
	user   uint64
	joined bool
}

func (d *theirs) call(op string, r request) ([]byte, error) {
	d.t.Helper()
	r.Op, r.User = op, strconv.FormatUint(d.user, 10)
	a, err := d.ask(r)
	if err != nil {
		return nil, err
	}
	b, err := base64.StdEncoding.DecodeString(a.Data)
	if err != nil {
		d.t.Fatal(err)
	}
	return b, nil
}

func (d *theirs) begin() []byte {
	d.t.Helper()
	op := "join"
	if d.joined {
		op = "rejoin"
	}
	d.joined = true
	b, err := d.call(op, request{Channel: fmt.Sprint(channel)})
	if err != nil {
		d.t.Fatal(err)
	}
	return b
}

func (d *theirs) deliver(m voicetest.Delivery, users []uint64) ([]dave.Message, error) {
	r := request{Data: base64.StdEncoding.EncodeToString(m.Binary)}
	switch m.Op {
	case dave.OpExternalSender:
		_, err := d.call("externalSender", r)
		return nil, err
	case dave.OpProposals:
		for _, u := range users {
			r.Users = append(r.Users, strconv.FormatUint(u, 10))
		}
		b, err := d.call("proposals", r)
		if err != nil || len(b) == 0 {
			return nil, err
		}
		return []dave.Message{{Op: dave.OpCommitWelcome, Binary: b}}, nil
	case dave.OpAnnounceCommit, dave.OpWelcome:
		op := "commit"
		if m.Op == dave.OpWelcome {
			op = "welcome"
		}
		r.Data = base64.StdEncoding.EncodeToString(m.Binary[2:])
		_, err := d.call(op, r)
		return nil, err
	case dave.OpPrepareEpoch:
		return []dave.Message{{Op: dave.OpKeyPackage, Binary: d.begin()}}, nil
	}
	return nil, nil
}

func (d *theirs) seal(frame []byte) []byte {
	d.t.Helper()
	b, err := d.call("seal", request{Data: base64.StdEncoding.EncodeToString(frame)})
	if err != nil {
		d.t.Fatal(err)
	}
	return b
}

func (d *theirs) open(from uint64, frame []byte) ([]byte, error) {
	return d.call("open", request{From: strconv.FormatUint(from, 10), Data: base64.StdEncoding.EncodeToString(frame)})
}

func (d *theirs) state() string {
	d.t.Helper()
	a, err := d.ask(request{Op: "state", User: strconv.FormatUint(d.user, 10)})
	if err != nil {
		d.t.Fatal(err)
	}
	return a.Code
}

// A call holds members of both kinds around the server's state machine.
type call struct {
	t       *testing.T
	node    *node
	server  *voicetest.Group
	choose  *rand.Rand
	members map[uint64]member
	queue   []voicetest.Delivery
	next    uint64
	// came are all who ever joined: messages about one who has just left are
	// still under way.
	came []uint64
	// won counts the commits that the server took, by who made them.
	won map[bool]int
}

func newCall(t *testing.T, seed uint64) *call {
	t.Helper()
	g, err := voicetest.NewGroup(channel)
	if err != nil {
		t.Fatal(err)
	}
	return &call{
		t: t, node: startNode(t), server: g, choose: rand.New(rand.NewPCG(seed, 1)),
		members: map[uint64]member{}, next: 158049329150427136, won: map[bool]int{},
	}
}

// join brings somebody in, on davey or on ours.
func (c *call) join(davey bool) uint64 {
	c.t.Helper()
	user := c.next
	c.next += 1_000_003
	var m member = newOurs(c.t, user)
	if davey {
		m = &theirs{node: c.node, user: user}
	}
	c.members[user] = m
	c.came = append(c.came, user)
	c.queue = append(c.queue, c.server.Connect(user)...)
	c.receive(user, []dave.Message{{Op: dave.OpKeyPackage, Binary: m.begin()}})
	return user
}

func (c *call) leave(user uint64) {
	delete(c.members, user)
	c.queue = append(c.queue, c.server.Leave(user)...)
}

// run delivers what there is to deliver: in order for each member, in any order
// between them, so that all take turns in committing first.
func (c *call) run() {
	c.t.Helper()
	for len(c.queue) > 0 {
		to := c.queue[c.choose.IntN(len(c.queue))].To
		i := slices.IndexFunc(c.queue, func(d voicetest.Delivery) bool { return d.To == to })
		d := c.queue[i]
		c.queue = slices.Delete(c.queue, i, i+1)
		m := c.members[to]
		if m == nil {
			continue
		}
		out, err := m.deliver(d, c.came)
		if err != nil {
			c.t.Fatalf("%T %d, opcode %d: %v", m, to, d.Op, err)
		}
		c.receive(to, out)
	}
}

func (c *call) receive(from uint64, list []dave.Message) {
	c.t.Helper()
	for _, m := range list {
		var out []voicetest.Delivery
		var err error
		switch m.Op {
		case dave.OpKeyPackage:
			out, err = c.server.KeyPackage(from, m.Binary)
		case dave.OpCommitWelcome:
			var id uint16
			out, id, err = c.server.Commit(from, m.Binary)
			if errors.Is(err, voicetest.ErrRefused) {
				continue // somebody else was first
			}
			_, davey := c.members[from].(*theirs)
			c.won[davey]++
			if id != 0 {
				out = append(out, c.server.Execute(id)...)
			}
		case dave.OpInvalidCommit:
			c.t.Errorf("user %d finds transition %d invalid", from, m.Transition)
		}
		if err != nil {
			c.t.Fatal(err)
		}
		c.queue = append(c.queue, out...)
	}
}

// talk lets everybody say something to everybody.
func (c *call) talk() {
	c.t.Helper()
	code := ""
	if len(c.server.Members()) != len(c.members) {
		c.t.Errorf("%d in the group, %d in the call", len(c.server.Members()), len(c.members))
	}
	for from, m := range c.members {
		if got := m.state(); code == "" {
			code = got
		} else if got != code || len(code) != 30 {
			c.t.Errorf("privacy codes %q and %q", got, code)
		}
		for i := range 3 {
			said := bytes.Repeat([]byte{byte(from), byte(i), 7}, 7+20*i)
			sealed := m.seal(said)
			for to, o := range c.members {
				if to == from {
					continue
				}
				heard, err := o.open(from, sealed)
				if err != nil || !bytes.Equal(heard, said) {
					c.t.Fatalf("%T does not hear %T: %v", o, m, err)
				}
			}
		}
	}
}

func TestGroupsOfBothLibrariesTalk(t *testing.T) {
	for _, size := range []int{2, 5, 25} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			c := newCall(t, uint64(size))
			for i := range size {
				c.join(i%2 == 0)
			}
			c.run()
			c.talk()
		})
	}
}

func TestMembersComeAndGoAndBothLibrariesCommit(t *testing.T) {
	davey, ours := 0, 0
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := newCall(t, seed)
			// One of ours always stays: davey's second commit of an epoch lacks
			// the welcome of those whom an earlier message proposed to add, so a
			// group of davey alone can wait for ever.
			stays := c.join(false)
			c.join(true)
			c.run()
			c.talk()
			for range 40 {
				for range c.choose.IntN(3) {
					if len(c.members) < 12 {
						c.join(c.choose.IntN(2) == 0)
					}
				}
				for range c.choose.IntN(3) {
					users := slices.Sorted(maps.Keys(c.members))
					if u := users[c.choose.IntN(len(users))]; u != stays && len(users) > 2 {
						c.leave(u)
					}
				}
				c.run()
				c.talk()
			}
			davey += c.won[true]
			ours += c.won[false]
		})
	}
	t.Logf("commits taken: %d of davey's, %d of ours", davey, ours)
	if davey < 10 || ours < 10 {
		t.Error("one library hardly ever committed first")
	}
}

func TestLastMemberStartsAnewWithTheOtherLibrary(t *testing.T) {
	for _, davey := range []bool{true, false} {
		c := newCall(t, 1)
		stays := c.join(davey)
		gone := c.join(!davey)
		c.run()
		c.leave(gone)
		c.run()
		c.join(!davey)
		c.run()
		c.talk()
		if c.members[stays] == nil {
			t.Fatal("the wrong one left")
		}
	}
}

func TestNeitherLibraryOpensAltered(t *testing.T) {
	c := newCall(t, 1)
	a, b := c.join(true), c.join(false)
	c.run()
	for from, to := range map[uint64]uint64{a: b, b: a} {
		said := bytes.Repeat([]byte{3}, 50)
		sealed := c.members[from].seal(said)
		altered := bytes.Clone(sealed)
		altered[3] ^= 1
		if _, err := c.members[to].open(from, altered); err == nil {
			t.Errorf("%T opened an altered frame", c.members[to])
		}
		if _, err := c.members[to].open(from, sealed); err != nil {
			t.Errorf("%T: the good frame after it: %v", c.members[to], err)
		}
		if _, err := c.members[to].open(from, sealed); err == nil {
			t.Errorf("%T opened a frame twice", c.members[to])
		}
	}
}
