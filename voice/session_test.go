package voice

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/voice/dave"
	"github.com/glyphoxa/glyphoxa/voice/rtp"
)

var at = Server{Guild: 7, Channel: 42, User: 1, Session: "s", Token: "secret-token", Endpoint: "127.0.0.1:1"}

func newTestSession(t testing.TB) *session {
	t.Helper()
	s, err := newSession(at, false)
	if err != nil {
		t.Fatal(err)
	}
	s.opened()
	return s
}

// sent is what a list of actions would send, as opcode and JSON.
func sent(t testing.TB, list []action) (out []string) {
	t.Helper()
	for _, a := range list {
		if m, ok := a.(send); ok {
			b, err := m.bytes()
			if err != nil {
				t.Fatal(err)
			}
			if m.binary != nil {
				b = fmt.Appendf(nil, "binary %d", b[0])
			}
			out = append(out, string(b))
		}
	}
	return out
}

func find[T action](list []action) (found T, ok bool) {
	for _, a := range list {
		if f, is := a.(T); is {
			return f, true
		}
	}
	return found, false
}

func TestHandshakeStepByStep(t *testing.T) {
	s := newTestSession(t)
	list := s.step(hello{Interval: 13750.5}, t0)
	if b, _ := find[beatEvery](list); b.interval != 13750500*time.Microsecond {
		t.Errorf("heartbeat every %v", b.interval)
	}
	want := `{"op":0,"d":{"server_id":"7","user_id":"1","session_id":"s","token":"secret-token","max_dave_protocol_version":1}}`
	if got := sent(t, list); !slices.Equal(got, []string{want}) {
		t.Errorf("identified with %s\nwant %s", got, want)
	}

	list = s.step(ready{SSRC: 5, IP: "127.0.0.1", Port: 9, Modes: []string{"xsalsa20_poly1305", rtp.ModeXChaCha, rtp.ModeAES}}, t0)
	if d, _ := find[discover](list); d != (discover{"127.0.0.1", 9, 5}) {
		t.Errorf("discovers %+v", d)
	}
	list = s.step(discovered{"192.0.2.1", 1234}, t0)
	want = `{"op":1,"d":{"protocol":"udp","data":{"address":"192.0.2.1","port":1234,"mode":"aead_aes256_gcm_rtpsize"}}}`
	if got := sent(t, list); !slices.Equal(got, []string{want}) {
		t.Errorf("selected with %s\nwant %s", got, want)
	}
	list = s.step(description{Mode: rtp.ModeAES, DAVE: 1}, t0)
	if l, _ := find[openLine](list); l.ssrc != 5 || l.mode != rtp.ModeAES {
		t.Errorf("line %+v", l)
	}
	if got := sent(t, list); !slices.Equal(got, []string{"binary 26"}) {
		t.Errorf("after the description: %s, want a key package", got)
	}
	if !s.live {
		t.Error("not live after the handshake")
	}
}

func liveSession(t testing.TB) *session {
	t.Helper()
	s := newTestSession(t)
	s.step(hello{Interval: 1000}, t0)
	s.step(ready{SSRC: 5, IP: "127.0.0.1", Port: 9, Modes: []string{rtp.ModeAES}}, t0)
	s.step(discovered{"127.0.0.1", 1}, t0)
	s.step(description{Mode: rtp.ModeAES, DAVE: 1}, t0)
	return s
}

func TestNewSocketResumesALiveSessionWithItsLastNumber(t *testing.T) {
	s := liveSession(t)
	s.numbered(10)
	s.opened()
	list := s.step(hello{Interval: 1000}, t0)
	want := `{"op":7,"d":{"server_id":"7","session_id":"s","token":"secret-token","seq_ack":10}}`
	if got := sent(t, list); !slices.Equal(got, []string{want}) {
		t.Errorf("resumed with %s\nwant %s", got, want)
	}
	if _, ok := find[lineResumed](s.step(resumed{}, t0)); !ok || s.resuming {
		t.Error("not resumed")
	}
}

func TestSocketThatWasNotLiveIdentifiesAgain(t *testing.T) {
	s := newTestSession(t)
	s.step(hello{Interval: 1000}, t0)
	s.opened()
	if got := sent(t, s.step(hello{Interval: 1000}, t0)); !strings.HasPrefix(got[0], `{"op":0,`) {
		t.Errorf("sent %s", got)
	}
}

func TestTwoUnansweredHeartbeatsReopen(t *testing.T) {
	s := liveSession(t)
	for i := range 10 {
		if _, ok := find[reopen](s.step(beatDue{t0}, t0)); ok {
			t.Fatalf("reopened although heartbeat %d was answered", i)
		}
		s.step(ackBeat{}, t0)
	}
	for i := range 2 {
		list := s.step(beatDue{t0}, t0)
		if _, ok := find[reopen](list); ok || len(sent(t, list)) != 1 {
			t.Errorf("heartbeat %d: %v", i, list)
		}
	}
	if _, ok := find[reopen](s.step(beatDue{t0}, t0)); !ok {
		t.Error("goes on after two unanswered heartbeats")
	}
}

func TestHeartbeatAcknowledgesTheLastNumber(t *testing.T) {
	s := liveSession(t)
	for _, c := range []struct {
		seq   int
		fresh bool
		ack   int
	}{
		{-1, true, -1}, {0, true, 0}, {1, true, 1}, {1, false, 1}, {0, false, 1}, {9, true, 9},
		{32000, true, 32000}, {64000, true, 64000}, {65535, true, 65535}, {0, true, 0}, {65535, false, 0}, {2, true, 2},
	} {
		if got := s.numbered(c.seq); got != c.fresh {
			t.Errorf("number %d is fresh: %v", c.seq, got)
		}
		got := sent(t, s.step(beatDue{time.UnixMilli(5)}, t0))[0]
		s.step(ackBeat{}, t0)
		if want := fmt.Sprintf(`{"op":3,"d":{"t":5,"seq_ack":%d}}`, c.ack); got != want {
			t.Errorf("after number %d: %s, want %s", c.seq, got, want)
		}
	}
}

func TestHeartbeatIntervalsWithinReason(t *testing.T) {
	for in, want := range map[float64]time.Duration{
		0: 100 * time.Millisecond, -5: 100 * time.Millisecond, 1e300: time.Minute, 41250: 41250 * time.Millisecond,
	} {
		if got := (hello{Interval: in}).beatInterval(); got != want {
			t.Errorf("%v ms: %v, want %v", in, got, want)
		}
	}
}

func TestSessionsThatAreRefused(t *testing.T) {
	modes := ready{SSRC: 5, IP: "127.0.0.1", Port: 9, Modes: []string{rtp.ModeAES}}
	for _, c := range []struct {
		name   string
		events []any
		want   error
	}{
		{"no mode in common", []any{ready{Modes: []string{"xsalsa20_poly1305_lite"}}}, errRefused},
		{"no end-to-end encryption", []any{modes, description{Mode: rtp.ModeAES}}, dave.ErrUnencrypted},
		{"another mode than asked for", []any{modes, description{Mode: rtp.ModeXChaCha, DAVE: 1}}, errStuck},
		{"a description first", []any{description{Mode: rtp.ModeAES, DAVE: 1}}, errStuck},
		{"a downgrade", []any{modes, description{Mode: rtp.ModeAES, DAVE: 1}, prepareTransition{ID: 3}}, dave.ErrUnencrypted},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newTestSession(t)
			var last []action
			for _, ev := range c.events {
				last = s.step(ev, t0)
			}
			f, ok := find[fail](last)
			if !ok || !errors.Is(f.err, c.want) {
				t.Errorf("%v, want an end with %v", last, c.want)
			}
			if len(sent(t, last)) > 0 {
				t.Errorf("and yet it sends %s", sent(t, last))
			}
		})
	}
}

func TestMessagesOfTheServerAreUnderstood(t *testing.T) {
	for _, c := range []struct {
		text string
		want any
		seq  int
	}{
		{`{"op":8,"d":{"v":8,"heartbeat_interval":13750.0}}`, hello{13750}, -1},
		{`{"op":2,"d":{"ssrc":1,"ip":"127.0.0.1","port":1234,"modes":["a"],"heartbeat_interval":1}}`, ready{1, "127.0.0.1", 1234, []string{"a"}}, -1},
		{`{"op":5,"d":{"speaking":1,"ssrc":3,"user_id":"9"},"seq":4}`, speaking{9, 3, 1}, 4},
		{`{"op":6,"d":{"t":5}}`, ackBeat{}, -1},
		{`{"op":9,"d":null}`, resumed{}, -1},
		{`{"op":11,"d":{"user_ids":["18446744073709551615"]},"seq":65535}`, joined{[]snowflake{1<<64 - 1}}, 65535},
		{`{"op":13,"d":{"user_id":"9"}}`, left{9}, -1},
		{`{"op":21,"d":{"transition_id":65535,"protocol_version":0}}`, prepareTransition{65535, 0}, -1},
		{`{"op":22,"d":{"transition_id":1}}`, executeTransition{1}, -1},
		{`{"op":24,"d":{"protocol_version":1,"epoch":1}}`, prepareEpoch{1, 1}, -1},
		{`{"op":18,"d":{"flags":3},"seq":8}`, nil, 8},
		{`{"op":200,"d":[1,2]}`, nil, -1},
	} {
		got, err := parseText([]byte(c.text))
		if err != nil || got.seq != c.seq || !reflect.DeepEqual(got.ev, c.want) {
			t.Errorf("%s: %+v, %v; want %+v, number %d", c.text, got, err, c.want, c.seq)
		}
	}
	for _, bad := range []string{
		``, `[]`, `{}`, `{"op":-1}`, `{"op":300}`, `{"op":8,"d":5}`, `{"op":11,"d":{"user_ids":[5]}}`,
		`{"op":13,"d":{"user_id":"-1"}}`, `{"op":4,"d":{"secret_key":[256]}}`, `{"op":6,"seq":70000}`, `{"op":2,"d":{"port":70000}}`,
	} {
		if got, err := parseText([]byte(bad)); !errors.Is(err, errMessage) {
			t.Errorf("%s: %+v, %v; want %v", bad, got, err, errMessage)
		}
	}
	if got, err := parseBinary([]byte{1, 2, 27, 9}); err != nil || got.seq != 258 || got.op != 27 {
		t.Errorf("binary: %+v, %v", got, err)
	}
	if _, err := parseBinary([]byte{1, 2}); !errors.Is(err, errMessage) {
		t.Errorf("short binary: %v", err)
	}
}

func FuzzSessionSurvivesAnyMessageInAnyState(f *testing.F) {
	f.Add([]byte(`{"op":8,"d":{"heartbeat_interval":1}}`), false)
	f.Add([]byte(`{"op":2,"d":{"ssrc":1,"ip":"x","port":1,"modes":["aead_aes256_gcm_rtpsize"]}}`), false)
	f.Add([]byte(`{"op":4,"d":{"mode":"aead_aes256_gcm_rtpsize","secret_key":[1],"dave_protocol_version":1}}`), false)
	f.Add([]byte(`{"op":24,"d":{"protocol_version":0,"epoch":1}}`), false)
	f.Add([]byte{0, 1, 27, 0, 0}, true)
	f.Add([]byte{0, 1, 30, 0, 1, 0, 2, 0}, true)
	f.Fuzz(func(t *testing.T, b []byte, binary bool) {
		parse := parseText
		if binary {
			parse = parseBinary
		}
		m, err := parse(b)
		if err != nil || m.ev == nil {
			return
		}
		for _, state := range []func(testing.TB) *session{newTestSession, liveSession} {
			s := state(t)
			for range 2 {
				if s.numbered(m.seq) {
					sent(t, s.step(m.ev, t0))
				}
			}
			if s.keys.Sealer().Ready() {
				t.Errorf("%q made us ready to send", b)
			}
		}
	})
}

func TestDiscoveryAnswersThatCountAsOne(t *testing.T) {
	good := func() []byte {
		b := appendDiscovery(nil, 5)
		b[1] = 2
		copy(b[8:], "203.0.113.9")
		b[72], b[73] = 0x12, 0x34
		return b
	}
	if d, ok := parseDiscovery(good(), 5); !ok || d != (discovered{"203.0.113.9", 0x1234}) {
		t.Errorf("%+v, %v", d, ok)
	}
	for name, spoil := range map[string]func(b []byte) []byte{
		"too short":       func(b []byte) []byte { return b[:73] },
		"too long":        func(b []byte) []byte { return append(b, 0) },
		"a request":       func(b []byte) []byte { b[1] = 1; return b },
		"another length":  func(b []byte) []byte { b[3]++; return b },
		"another source":  func(b []byte) []byte { b[7]++; return b },
		"no address":      func(b []byte) []byte { b[8] = 0; return b },
		"a strange one":   func(b []byte) []byte { copy(b[8:], "localhost\x00\x00\x00"); return b },
		"an endless name": func(b []byte) []byte { copy(b[8:72], strings.Repeat("1", 64)); return b },
	} {
		if d, ok := parseDiscovery(spoil(good()), 5); ok {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestWatchdogAsksBeforeItBarks(t *testing.T) {
	w := watchdog{heard: t0}
	asked := 0
	for at := time.Duration(0); ; at += 100 * time.Millisecond {
		ask, dead := w.look(t0.Add(at))
		if ask {
			if asked++; at < quietLimit {
				t.Errorf("asked after %v", at)
			}
		}
		if dead {
			if at != quietLimit+discoveryLimit {
				t.Errorf("barked after %v", at)
			}
			break
		}
	}
	if asked != 10 {
		t.Errorf("asked %d times, want 10", asked)
	}
}

func TestSecretsAreNotInErrorsOrStatus(t *testing.T) {
	s := newTestSession(t)
	list := s.step(description{Mode: "another"}, t0)
	b, err := json.Marshal(Status{Endpoint: at.Endpoint})
	if err != nil {
		t.Fatal(err)
	}
	f, _ := find[fail](list)
	for _, text := range []string{fmt.Sprint(f.err), string(b)} {
		if strings.Contains(text, at.Token) {
			t.Errorf("the token is in %q", text)
		}
	}
}
