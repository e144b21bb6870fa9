package voice

import (
	"context"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/voice/voicetest"
)

// joinQuietly joins a call that takes half a second of silence for normal.
func joinQuietly(t *testing.T, s *voicetest.Server) *Conn {
	t.Helper()
	admit := func(context.Context) (Server, error) {
		k := s.Admit(7, 42, 1)
		return Server{Guild: 7, Channel: 42, User: 1, Session: k.Session, Token: k.Token, Endpoint: k.Endpoint}, nil
	}
	first, _ := admit(t.Context())
	c, err := Join(t.Context(), first, &Options{HTTP: s.HTTP(), Rejoin: admit, quiet: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestDeadWayIsNoticedAndANewOneFound(t *testing.T) {
	t.Parallel()
	s, err := voicetest.NewServer(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	c := joinQuietly(t, s)
	s.SilenceUDP(true)
	limit := time.After(10 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for c.Status().Rejoins == 0 {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("not noticed: %+v", c.Status())
		}
	}
	s.SilenceUDP(false)
	for !c.Status().Live {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("no new way: %+v, %v", c.Status(), c.Err())
		}
	}
}

func TestQuietRoomIsLeftInPeace(t *testing.T) {
	t.Parallel()
	s, err := voicetest.NewServer(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	c := joinQuietly(t, s)
	select {
	case <-time.After(6 * time.Second): // longer than silence and questions together
	case <-c.Done():
	}
	if st := c.Status(); !st.Live || st.Rejoins != 0 {
		t.Errorf("%+v, want a call without a break", st)
	}
}
