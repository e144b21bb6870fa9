package voice_test

import (
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/voice"
	"github.com/glyphoxa/glyphoxa/voice/voicetest"
)

func TestR11MoveInMidSentenceKeepsTheSentence(t *testing.T) {
	for _, where := range []string{"same server", "another server"} {
		t.Run(where, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				s := newServer(t, nil)
				to := s
				if where == "another server" {
					to = newServer(t, &voicetest.Options{Network: s.Network()})
				}
				a, b, heard := disturbed(t, s, func(a, b *voice.Conn) {
					a.Move(admit(to, 1))
					if to != s { // a channel moves as a whole
						b.Move(admit(to, 2))
					}
				})
				if heard.frames != sentence || heard.repeated > 6 || heard.pause > 3*time.Second {
					t.Errorf("%+v, want all %d frames once and no pause over 3 s", heard, sentence)
				}
				encrypted(t, a, b)
				if st := a.Status(); st.Rejoins+st.Resumes != 0 || st.Endpoint != to.Endpoint() {
					t.Errorf("%+v, want to be at %s", st, to.Endpoint())
				}
				if left := s.Members(channel); to != s && len(left) != 0 {
					t.Errorf("still on the old server: %v", left)
				}
			})
		})
	}
}

func TestR11OldTicketIsNotUsedAgain(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		s := newServer(t, nil)
		old := s.Admit(guild, channel, 1)
		c, err := voice.Join(t.Context(), voice.Server{
			Guild: guild, Channel: channel, User: 1, Session: old.Session, Token: old.Token, Endpoint: old.Endpoint,
		}, options(t, s))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		s.Revoke(old)
		c.Move(admit(s, 1))
		time.Sleep(time.Second)
		s.Cut(channel, 1) // and not for resuming, either
		eventually(t, "a resume", func() bool { return c.Status().Resumes == 1 })
	})
}

func TestMoveThatSaysNothingNewDoesNothing(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		s := newServer(t, nil)
		at := admit(s, 1)
		c, err := voice.Join(t.Context(), at, options(t, s))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		epoch := c.Status()
		c.Move(at)
		time.Sleep(time.Second)
		if st := c.Status(); st != epoch {
			t.Errorf("%+v, want still %+v", st, epoch)
		}
	})
}
