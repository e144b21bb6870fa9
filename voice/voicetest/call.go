package voicetest

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/coder/websocket"
	"github.com/glyphoxa/glyphoxa/voice/dave"
	"github.com/glyphoxa/glyphoxa/voice/rtp"
)

// maxBuffered bounds the messages kept for one who may resume.
const maxBuffered = 2000

// A call is one channel's.
type call struct {
	server  *Server
	channel uint64
	group   *Group
	members map[uint64]*member
	// waiting are transitions that are not executed yet.
	waiting map[uint16]*waiting
	spoil   uint8 // opcode of the next message to be altered
}

// waiting is who has yet to be ready for a transition.
type waiting struct {
	users []uint64
	timer *time.Timer
	late  bool // wait for the timer, whoever is ready
}

// A member is one user's session, which may outlive its socket.
type member struct {
	call    *call
	user    uint64
	session string
	ssrc    uint32
	mode    string
	cipher  *rtp.Cipher
	addr    netip.AddrPort
	spoke   bool // has announced that it speaks
	told    bool // others were told of it
	spoil   uint8
	mute    bool // does not answer heartbeats

	ws     *websocket.Conn
	socket *socket // nil while it is gone
	gone   *time.Timer
	seq    uint16
	sent   []kept
	// packets counts the sound that came from the member.
	packets, unannounced uint64
}

// kept is a message that may have to be sent again.
type kept struct {
	seq uint16
	outgoing
}

func (s *Server) callOf(channel uint64) (*call, error) {
	if c := s.calls[channel]; c != nil {
		return c, nil
	}
	g, err := NewGroup(channel)
	if err != nil {
		return nil, err
	}
	c := &call{server: s, channel: channel, group: g, members: map[uint64]*member{}, waiting: map[uint16]*waiting{}}
	s.calls[channel] = c
	return c, nil
}

func id(v uint64) string { return strconv.FormatUint(v, 10) }

// enter makes a member of a user who has identified.
func (c *call) enter(t ticket, session string, k *socket) *member {
	if old := c.members[t.user]; old != nil {
		c.leave(old)
	}
	m := &member{call: c, user: t.user, session: session, ws: k.ws, socket: k, ssrc: c.server.newSSRC()}
	k.member = m
	c.server.bySSRC[m.ssrc] = m
	udp := c.server.udp.LocalAddr().(interface{ AddrPort() netip.AddrPort }).AddrPort()
	m.unnumbered(opReady, map[string]any{
		"ssrc": m.ssrc, "ip": udp.Addr().String(), "port": udp.Port(), "modes": c.server.opts.Modes,
		"heartbeat_interval": 1, // wrong, as Discord's is
	})
	var present []string
	for _, o := range c.members {
		present = append(present, id(o.user))
		o.numbered(opClientsConnect, map[string]any{"user_ids": []string{id(m.user)}})
	}
	if len(present) > 0 {
		slices.Sort(present)
		m.numbered(opClientsConnect, map[string]any{"user_ids": present})
	}
	for _, o := range c.members {
		if o.told {
			m.numbered(opSpeaking, map[string]any{"user_id": id(o.user), "ssrc": o.ssrc, "speaking": 1})
		}
	}
	c.members[m.user] = m
	return m
}

func (s *Server) newSSRC() uint32 {
	for {
		var b [4]byte
		rand.Read(b[:])
		if v := binary.BigEndian.Uint32(b[:]); v != 0 && s.bySSRC[v] == nil {
			return v
		}
	}
}

// describe answers a selected protocol: the transport's key, and the encryption's
// external sender.
func (m *member) describe(mode string) error {
	key := make([]byte, 32)
	rand.Read(key)
	var err error
	if m.cipher, err = rtp.NewCipher(mode, key); err != nil {
		return err
	}
	m.mode = mode
	numbers := make([]int, len(key)) // bytes would become base64
	for i, b := range key {
		numbers[i] = int(b)
	}
	version := dave.Version
	if m.call.server.opts.Plain {
		version = 0
	}
	m.numbered(opDescription, map[string]any{"mode": mode, "secret_key": numbers, "dave_protocol_version": version})
	if version > 0 {
		m.call.server.deliver(m.call, m.call.group.Connect(m.user))
	}
	return nil
}

// leave takes a member out for good.
func (c *call) leave(m *member) {
	if c.members[m.user] != m {
		return
	}
	s := c.server
	m.stopTimers()
	delete(c.members, m.user)
	delete(s.bySSRC, m.ssrc)
	delete(s.byAddr, m.addr)
	if k := m.socket; k != nil {
		m.socket, k.member = nil, nil
		_ = k.enqueue(outgoing{code: 4006})
	}
	for _, o := range c.members {
		o.numbered(opClientDisconnect, map[string]any{"user_id": id(m.user)})
	}
	s.deliver(c, c.group.Leave(m.user))
	for t := range c.waiting {
		c.ready(m.user, t)
	}
}

// committed passes a commit on and waits for all to be ready.
func (c *call) committed(user uint64, b []byte) error {
	out, t, err := c.group.Commit(user, b)
	if err != nil {
		return err
	}
	c.server.deliver(c, out)
	if t != 0 {
		after := cmp.Or(c.server.delay, executeAfter)
		if after < 0 {
			return nil
		}
		w := &waiting{users: c.group.Members(), late: after != executeAfter}
		w.timer = time.AfterFunc(after, func() {
			c.server.mu.Lock()
			defer c.server.mu.Unlock()
			c.execute(t)
		})
		c.waiting[t] = w
	}
	return nil
}

// ready notes that a member is ready for a transition, or is not waited for.
func (c *call) ready(user uint64, t uint16) {
	w := c.waiting[t]
	if w == nil {
		return
	}
	w.users = slices.DeleteFunc(w.users, func(u uint64) bool { return u == user })
	if len(w.users) == 0 && !w.late {
		c.execute(t)
	}
}

func (c *call) execute(t uint16) {
	if w := c.waiting[t]; w != nil {
		w.timer.Stop()
		delete(c.waiting, t)
		c.server.deliver(c, c.group.Execute(t))
	}
}

func (m *member) stopTimers() {
	if m.gone != nil {
		m.gone.Stop()
	}
}

// unnumbered sends JSON that a resumption does not repeat.
func (m *member) unnumbered(op uint8, d any) { m.push(encode(op, nil, d)) }

// numbered sends JSON that does.
func (m *member) numbered(op uint8, d any) {
	m.seq++
	seq := m.seq
	m.keep(encode(op, &seq, d))
}

// binary sends a binary message, which is always numbered.
func (m *member) binary(op uint8, payload []byte) {
	m.seq++
	b := append(binary.BigEndian.AppendUint16(nil, m.seq), op)
	m.keep(outgoing{op: op, binary: append(b, payload...)})
}

func (m *member) keep(o outgoing) {
	if m.sent = append(m.sent, kept{m.seq, o}); len(m.sent) > maxBuffered {
		m.sent = m.sent[1:]
	}
	m.push(o)
}

func (m *member) push(o outgoing) {
	if m.socket != nil {
		_ = m.socket.enqueue(o)
	}
}

// acknowledged forgets what the client has.
func (m *member) acknowledged(seq int) {
	m.sent = slices.DeleteFunc(m.sent, func(k kept) bool { return seq >= 0 && int16(k.seq-uint16(seq)) <= 0 })
}

func encode(op uint8, seq *uint16, d any) outgoing {
	b, err := json.Marshal(struct {
		Op   uint8   `json:"op"`
		Data any     `json:"d"`
		Seq  *uint16 `json:"seq,omitempty"`
	}{op, d, seq})
	if err != nil {
		panic(err) // maps of strings and numbers
	}
	return outgoing{op: op, text: b}
}
