package voice

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/glyphoxa/glyphoxa/voice/dave"
)

// gatewayVersion is the version of the voice gateway spoken here: the first with
// numbered messages, which resuming needs.
const gatewayVersion = 8

// Opcodes of the voice gateway besides those of package dave. Discord, "Voice
// Opcodes".
const (
	opIdentify      = 0
	opSelect        = 1
	opReady         = 2
	opHeartbeat     = 3
	opDescription   = 4
	opSpeaking      = 5
	opHeartbeatAck  = 6
	opResume        = 7
	opHello         = 8
	opResumed       = 9
	opClientsJoined = 11
	opClientLeft    = 13
)

// speakingMicrophone is the bit of opcode 5 that says: sound, from a microphone.
const speakingMicrophone = 1

// A snowflake is an id that is a number to us and a string in JSON.
type snowflake uint64

func (s snowflake) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, strconv.FormatUint(uint64(s), 10)), nil
}

func (s *snowflake) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return fmt.Errorf("id %.30q", text)
	}
	*s = snowflake(v)
	return nil
}

// What the server may send. A message that is none of these is ignored: real
// servers send some that are not documented.
type (
	hello struct {
		// Interval is in milliseconds and may have a fraction.
		Interval float64 `json:"heartbeat_interval"`
	}
	ready struct {
		SSRC  uint32   `json:"ssrc"`
		IP    string   `json:"ip"`
		Port  uint16   `json:"port"`
		Modes []string `json:"modes"`
	}
	description struct {
		Mode string   `json:"mode"`
		Key  [32]byte `json:"secret_key"`
		DAVE int      `json:"dave_protocol_version"`
	}
	speaking struct {
		User snowflake `json:"user_id"`
		SSRC uint32    `json:"ssrc"`
		Bits int       `json:"speaking"`
	}
	ackBeat struct{}
	resumed struct{}
	joined  struct {
		Users []snowflake `json:"user_ids"`
	}
	left struct {
		User snowflake `json:"user_id"`
	}
	prepareTransition struct {
		ID      uint16 `json:"transition_id"`
		Version int    `json:"protocol_version"`
	}
	executeTransition struct {
		ID uint16 `json:"transition_id"`
	}
	prepareEpoch struct {
		Version int    `json:"protocol_version"`
		Epoch   uint64 `json:"epoch"`
	}
	binaryMessage struct {
		op      uint8
		payload []byte
	}
)

// A received is one message: what it says, and its number if it has one.
type received struct {
	op  uint8
	seq int // -1 for none
	ev  any // nil for what is ignored
}

var errMessage = errors.New("voice: malformed message")

// parseText reads a JSON message.
func parseText(b []byte) (received, error) {
	var m struct {
		Op   *uint8
		Seq  *uint16
		Data json.RawMessage `json:"d"`
	}
	if err := json.Unmarshal(b, &m); err != nil || m.Op == nil {
		return received{}, fmt.Errorf("%w: %.60q", errMessage, b)
	}
	r := received{op: *m.Op, seq: -1}
	if m.Seq != nil {
		r.seq = int(*m.Seq)
	}
	var err error
	switch r.op {
	case opHello:
		r.ev, err = decode[hello](m.Data)
	case opReady:
		r.ev, err = decode[ready](m.Data)
	case opDescription:
		r.ev, err = decode[description](m.Data)
	case opSpeaking:
		r.ev, err = decode[speaking](m.Data)
	case opHeartbeatAck:
		r.ev = ackBeat{}
	case opResumed:
		r.ev = resumed{}
	case opClientsJoined:
		r.ev, err = decode[joined](m.Data)
	case opClientLeft:
		r.ev, err = decode[left](m.Data)
	case dave.OpPrepareTransition:
		r.ev, err = decode[prepareTransition](m.Data)
	case dave.OpExecuteTransition:
		r.ev, err = decode[executeTransition](m.Data)
	case dave.OpPrepareEpoch:
		r.ev, err = decode[prepareEpoch](m.Data)
	}
	if err != nil {
		return received{}, fmt.Errorf("%w: opcode %d: %w", errMessage, r.op, err)
	}
	return r, nil
}

func decode[T any](b []byte) (any, error) {
	var v T
	err := json.Unmarshal(b, &v)
	return v, err
}

// parseBinary reads a binary message.
//
//	bytes 0-1  sequence
//	byte 2     opcode
//	           payload
func parseBinary(b []byte) (received, error) {
	if len(b) < 3 {
		return received{}, fmt.Errorf("%w: binary, of %d bytes", errMessage, len(b))
	}
	return received{op: b[2], seq: int(binary.BigEndian.Uint16(b)), ev: binaryMessage{b[2], b[3:]}}, nil
}

// What we send.
type (
	identify struct {
		Server  snowflake `json:"server_id"`
		User    snowflake `json:"user_id"`
		Session string    `json:"session_id"`
		Token   string    `json:"token"`
		DAVE    int       `json:"max_dave_protocol_version"`
	}
	resumption struct {
		Server  snowflake `json:"server_id"`
		Session string    `json:"session_id"`
		Token   string    `json:"token"`
		SeqAck  int       `json:"seq_ack"`
	}
	heartbeat struct {
		Time   int64 `json:"t"`
		SeqAck int   `json:"seq_ack"`
	}
	selection struct {
		Protocol string        `json:"protocol"`
		Data     selectionData `json:"data"`
	}
	selectionData struct {
		Address string `json:"address"`
		Port    uint16 `json:"port"`
		Mode    string `json:"mode"`
	}
	speakingFlag struct {
		Bits  int    `json:"speaking"`
		Delay int    `json:"delay"`
		SSRC  uint32 `json:"ssrc"`
	}
	transitionID struct {
		ID uint16 `json:"transition_id"`
	}
)

// A message is one to send: JSON of data, or binary.
type message struct {
	op     uint8
	data   any
	binary []byte // not nil if it is binary
}

// bytes is the message as it goes on the wire.
func (m message) bytes() ([]byte, error) {
	if m.binary != nil {
		return slices.Concat([]byte{m.op}, m.binary), nil
	}
	return json.Marshal(struct {
		Op   uint8 `json:"op"`
		Data any   `json:"d"`
	}{m.op, m.data})
}

// fromDAVE turns what package dave wants to send into messages.
func fromDAVE(list []dave.Message) (out []action) {
	for _, m := range list {
		if m.Binary != nil {
			out = append(out, send{message{op: m.Op, binary: m.Binary}})
		} else {
			out = append(out, send{message{op: m.Op, data: transitionID{m.Transition}}})
		}
	}
	return out
}

// beatInterval reads the interval of a hello, within reason: a server that
// asked for none would make us send without pause, or never.
func (h hello) beatInterval() time.Duration {
	ms := min(max(h.Interval, 100), 60_000)
	return time.Duration(ms * float64(time.Millisecond))
}
