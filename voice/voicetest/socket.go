package voicetest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/glyphoxa/glyphoxa/voice/dave"
	"github.com/glyphoxa/glyphoxa/voice/rtp"
)

// Opcodes besides those of package dave. Discord, "Voice Opcodes".
const (
	opIdentify         = 0
	opSelect           = 1
	opReady            = 2
	opHeartbeat        = 3
	opDescription      = 4
	opSpeaking         = 5
	opHeartbeatAck     = 6
	opResume           = 7
	opHello            = 8
	opResumed          = 9
	opClientsConnect   = 11
	opClientDisconnect = 13
)

// Close codes. Discord, "Voice Close Event Codes".
const (
	closeOpcode        = 4001
	closePayload       = 4002
	closeNotIdentified = 4003
	closeToken         = 4004
	closeTwice         = 4005
	closeSession       = 4006
	closeProtocol      = 4012
	closeMode          = 4016
	closeDAVE          = 4017
)

// outgoing is one message, or the end of a socket.
type outgoing struct {
	op           uint8 // of the message
	text, binary []byte
	code         int // close with it
	cut          bool
}

// A socket is one WebSocket, before and after it belongs to a member.
type socket struct {
	server *Server
	ws     *websocket.Conn
	// out is written by serve's writer. Who does not read is thrown out when it
	// is full.
	out    chan outgoing
	member *member // guarded by server.mu
}

var errFull = errors.New("voicetest: client does not read")

// enqueue sends a message, or ends the socket. The server's mutex is held.
func (k *socket) enqueue(o outgoing) error {
	if s := k.server; o.op == s.cutAt && o.code == 0 && !o.cut && s.cutting {
		s.cutting, o = false, outgoing{cut: true}
	}
	select {
	case k.out <- o:
		return nil
	default:
		k.ws.CloseNow()
		return errFull
	}
}

// serve handles a socket until it ends.
func (k *socket) serve(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var writer sync.WaitGroup
	defer writer.Wait()
	writer.Go(func() { k.write(ctx) })
	defer cancel()
	k.server.mu.Lock()
	_ = k.enqueue(encode(opHello, nil, map[string]any{
		"v": 8, "heartbeat_interval": float64(k.server.opts.Heartbeat) / float64(time.Millisecond),
	}))
	k.server.mu.Unlock()
	err := k.read(ctx)
	k.server.mu.Lock()
	defer k.server.mu.Unlock()
	k.lost(err)
}

func (k *socket) write(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case o := <-k.out:
			ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
			switch {
			case o.cut:
				k.ws.CloseNow()
			case o.code != 0:
				_ = k.ws.Close(websocket.StatusCode(o.code), "")
			case o.binary != nil:
				_ = k.ws.Write(ctx, websocket.MessageBinary, o.binary)
			default:
				_ = k.ws.Write(ctx, websocket.MessageText, o.text)
			}
			cancel()
		}
	}
}

// lost keeps the member for a while if its socket ended without a farewell.
func (k *socket) lost(err error) {
	m := k.member
	if m == nil {
		return
	}
	k.member, m.socket = nil, nil
	code := websocket.CloseStatus(err)
	if code == websocket.StatusNormalClosure || code == websocket.StatusGoingAway || k.server.ctx.Err() != nil {
		m.call.leave(m)
		return
	}
	m.gone = time.AfterFunc(resumeWindow, func() {
		k.server.mu.Lock()
		defer k.server.mu.Unlock()
		if m.socket == nil {
			m.call.leave(m)
		}
	})
}

func (k *socket) read(ctx context.Context) error {
	for {
		kind, b, err := k.ws.Read(ctx)
		if err != nil {
			return err
		}
		k.server.mu.Lock()
		var code int
		if kind == websocket.MessageBinary {
			code = k.binary(b)
		} else {
			code = k.text(b)
		}
		if code != 0 {
			k.server.log.Debug("voicetest: refused", "code", code, "message", string(b[:min(len(b), 60)]))
			_ = k.enqueue(outgoing{code: code})
		}
		k.server.mu.Unlock()
	}
}

// request is what a client may send as JSON, all opcodes together.
type request struct {
	Server  string `json:"server_id"`
	User    string `json:"user_id"`
	Session string `json:"session_id"`
	Token   string `json:"token"`
	DAVE    int    `json:"max_dave_protocol_version"`
	SeqAck  *int   `json:"seq_ack"`

	Protocol string `json:"protocol"`
	Data     struct {
		Mode string `json:"mode"`
	} `json:"data"`

	Time       json.RawMessage `json:"t"`
	Speaking   int             `json:"speaking"`
	SSRC       uint32          `json:"ssrc"`
	Transition uint16          `json:"transition_id"`
}

// text handles JSON and returns the code to close with, 0 to go on.
func (k *socket) text(b []byte) int {
	var in struct {
		Op   int             `json:"op"`
		Data json.RawMessage `json:"d"`
	}
	var d request
	if json.Unmarshal(b, &in) != nil || len(in.Data) > 0 && in.Op != opHeartbeat && json.Unmarshal(in.Data, &d) != nil {
		return closePayload
	}
	k.server.log.Debug("voicetest: received", "op", in.Op)
	m := k.member
	switch in.Op {
	case opIdentify:
		return k.identify(d)
	case opResume:
		return k.resume(d)
	case opHeartbeat:
		return k.heartbeat(in.Data)
	}
	if m == nil {
		return closeNotIdentified
	}
	switch in.Op {
	case opSelect:
		switch {
		case d.Protocol != "udp":
			return closeProtocol
		case !slices.Contains(k.server.opts.Modes, d.Data.Mode) || !slices.Contains(rtp.Modes[:], d.Data.Mode):
			return closeMode
		case m.describe(d.Data.Mode) != nil:
			return closeMode
		}
	case opSpeaking:
		m.speak(d.Speaking)
	case dave.OpTransitionReady:
		m.call.ready(m.user, d.Transition)
	case dave.OpInvalidCommit:
		k.server.deliver(m.call, m.call.group.Invalid(m.user))
	default:
		return closeOpcode
	}
	return 0
}

func (k *socket) identify(d request) int {
	t, known := k.server.tickets[d.Session]
	switch {
	case k.member != nil:
		return closeTwice
	case !known || d.Server != id(t.guild) || d.User != id(t.user):
		return closeSession
	case d.Token != t.token:
		return closeToken
	case d.DAVE < dave.Version && !k.server.opts.Plain:
		return closeDAVE
	}
	c, err := k.server.callOf(t.channel)
	if err != nil || len(c.members) >= maxMembers {
		return closeSession
	}
	c.enter(t, d.Session, k)
	return 0
}

func (k *socket) resume(d request) int {
	t, known := k.server.tickets[d.Session]
	if !known || d.Token != t.token || d.Server != id(t.guild) {
		return closeSession
	}
	c := k.server.calls[t.channel]
	if c == nil || c.members[t.user] == nil || c.members[t.user].session != d.Session {
		return closeSession
	}
	m := c.members[t.user]
	m.stopTimers()
	if m.socket != nil {
		m.socket.member = nil
		m.ws.CloseNow()
	}
	m.ws, m.socket, k.member = k.ws, k, m
	m.spoke = false // must be announced anew
	m.unnumbered(opResumed, nil)
	if d.SeqAck != nil {
		m.acknowledged(*d.SeqAck)
	}
	for _, o := range m.sent {
		_ = k.enqueue(o.outgoing)
	}
	return 0
}

func (k *socket) heartbeat(data json.RawMessage) int {
	var beat struct {
		Time   json.RawMessage `json:"t"`
		SeqAck *int            `json:"seq_ack"`
	}
	if json.Unmarshal(data, &beat) != nil {
		return closePayload
	}
	if m := k.member; m != nil {
		if m.mute {
			return 0
		}
		if beat.SeqAck != nil {
			m.acknowledged(*beat.SeqAck)
		}
	}
	_ = k.enqueue(encode(opHeartbeatAck, nil, map[string]any{"t": beat.Time}))
	return 0
}

// binary handles what clients send about the encryption.
func (k *socket) binary(b []byte) int {
	m := k.member
	if m == nil {
		return closeNotIdentified
	}
	if len(b) == 0 {
		return closePayload
	}
	k.server.log.Debug("voicetest: received", "op", b[0], "user", strconv.FormatUint(m.user, 10), "bytes", len(b))
	var err error
	switch b[0] {
	case dave.OpKeyPackage:
		var out []Delivery
		if out, err = m.call.group.KeyPackage(m.user, b[1:]); err == nil {
			k.server.deliver(m.call, out)
		}
	case dave.OpCommitWelcome:
		if err = m.call.committed(m.user, b[1:]); errors.Is(err, ErrRefused) {
			k.server.log.Debug("voicetest: commit dropped", "error", err)
			err = nil // somebody else was first
		}
	default:
		return closeOpcode
	}
	if err != nil {
		return closePayload
	}
	return 0
}

// speak notes that a member speaks, and tells the others.
func (m *member) speak(bits int) {
	if bits == 0 {
		return
	}
	m.spoke, m.unannounced = true, 0
	if !m.call.server.opts.LateSpeaking {
		m.tell()
	}
}

func (m *member) tell() {
	m.told = true
	for _, o := range m.call.members {
		if o != m {
			o.numbered(opSpeaking, map[string]any{"user_id": id(m.user), "ssrc": m.ssrc, "speaking": 1})
		}
	}
}
