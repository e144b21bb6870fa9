package voice_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glyphoxa/glyphoxa/voice"
	"github.com/glyphoxa/glyphoxa/voice/voicetest"
)

const (
	guild   = 7
	channel = 42
)

// inVirtualTime runs a test in a bubble: what takes minutes passes at once, and
// nothing depends on how busy the machine is.
func inVirtualTime(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, test)
}

// newServer starts a voice server on a network in memory.
func newServer(t *testing.T, o *voicetest.Options) *voicetest.Server {
	t.Helper()
	if o == nil {
		o = &voicetest.Options{}
	}
	if o.Network == nil {
		o.Network = voicetest.NewNetwork()
	}
	s, err := voicetest.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if n := s.Unsealed(); n > 0 {
			t.Errorf("%d packets were not encrypted between the members", n)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func admit(s *voicetest.Server, user uint64) voice.Server {
	k := s.Admit(guild, channel, user)
	return voice.Server{
		Guild: guild, Channel: channel, User: user,
		Session: k.Session, Token: k.Token, Endpoint: k.Endpoint,
	}
}

// options are those of a call on the server's network, in virtual time.
func options(t *testing.T, s *voicetest.Server) *voice.Options {
	t.Helper()
	o := &voice.Options{HTTP: s.HTTP()}
	t.Cleanup(o.OnNetwork(s.Network().DialUDP).Close)
	if os.Getenv("VOICE_LOG") != "" {
		o.Log = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	return o
}

// join joins a call that is left at the end of the test.
func join(t *testing.T, s *voicetest.Server, user uint64) *voice.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	c, err := voice.Join(ctx, admit(s, user), options(t, s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	return c
}

// eventually waits until something holds, at most 5 s of the test's time.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	eventuallyWithin(t, 5*time.Second, what, holds)
}

func eventuallyWithin(t *testing.T, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("never came: %s", what)
		}
	}
}

func encrypted(t *testing.T, conns ...*voice.Conn) {
	t.Helper()
	eventually(t, "all encrypted with one code", func() bool {
		code := conns[0].Status().PrivacyCode
		for _, c := range conns {
			if s := c.Status(); !s.Encrypted || s.PrivacyCode != code || code == "" {
				return false
			}
		}
		return true
	})
}

func TestMembersOfACallSeeOneCode(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		s := newServer(t, nil)
		a, b := join(t, s, 1), join(t, s, 2)
		encrypted(t, a, b)
		d := join(t, s, 3)
		encrypted(t, a, b, d)
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		eventually(t, "the epoch without the third", func() bool { return s.Epoch(channel) == 3 })
		encrypted(t, a, b)
	})
}
