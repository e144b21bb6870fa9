package voice_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/voice"
	"github.com/glyphoxa/glyphoxa/voice/dave"
	"github.com/glyphoxa/glyphoxa/voice/voicetest"
)

// joinWith is join with options of the test's own, and a main gateway that lets
// the user join anew.
func joinWith(t *testing.T, s *voicetest.Server, user uint64, change func(o *voice.Options)) (*voice.Conn, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	o := options(t, s)
	o.Rejoin = func(context.Context) (voice.Server, error) { return admit(s, user), nil }
	if change != nil {
		change(o)
	}
	c, err := voice.Join(ctx, admit(s, user), o)
	if err == nil {
		t.Cleanup(func() { _ = c.Close() })
	}
	return c, err
}

// talking is a call of two, in which the first speaks while the test does
// something to it: all that was said must arrive, but for a gap.
func talking(t *testing.T, s *voicetest.Server, frames, gap int, disturb func(speaker *voice.Conn)) (speaker *voice.Conn) {
	t.Helper()
	a, err := joinWith(t, s, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := joinWith(t, s, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	encrypted(t, a, b)
	atB := listen(t, b)
	var both sync.WaitGroup
	both.Go(func() { play(t, a, 440, frames) })
	eventually(t, "the middle of the speech", func() bool { n, _ := atB.heard(1); return n >= frames/3 })
	disturb(a)
	both.Wait()
	eventually(t, fmt.Sprintf("%d frames", frames-gap), func() bool { n, _ := atB.heard(1); return n >= frames-gap })
	if n, _ := atB.heard(1); n > frames+10 { // a gap may be concealed and heard
		t.Errorf("%d frames heard of %d: something was said twice", n, frames)
	}
	return a
}

func TestCutSocketIsResumedInMidSentence(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	a := talking(t, s, 60, 10, func(*voice.Conn) { s.Cut(channel, 1) })
	if st := a.Status(); st.Resumes != 1 || st.Rejoins != 0 || !st.Live {
		t.Errorf("%+v, want one resume", st)
	}
}

func TestListenerWhoseSocketIsCutHearsOn(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	talking(t, s, 60, 0, func(*voice.Conn) { s.Cut(channel, 2) })
}

func TestMissedMessagesAreHandledOnceAfterAResume(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	a, b := join(t, s, 1), join(t, s, 2)
	encrypted(t, a, b)
	s.Cut(channel, 1)
	c := join(t, s, 3) // proposals and commits go on while user 1 is away
	eventually(t, "resumed", func() bool { return a.Status().Resumes == 1 })
	encrypted(t, a, b, c)
	if st := a.Status(); st.Rejoins != 0 {
		t.Errorf("%+v, want no rejoin", st)
	}
}

func TestForgottenHeartbeatsAreNoticed(t *testing.T) {
	t.Parallel()
	s := newServer(t, &voicetest.Options{Heartbeat: 100 * time.Millisecond})
	a := join(t, s, 1)
	eventually(t, "a heartbeat answered", func() bool { return a.Status().Ping > 0 })
	s.ForgetHeartbeats(channel, 1)
	eventually(t, "a resume", func() bool { return a.Status().Resumes >= 1 })
}

func TestServerMoveInMidSentenceKeepsTheSentence(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	// The new session has another SSRC and new keys; frames that were under way
	// to the old one may be lost, nothing else.
	talking(t, s, 60, 12, func(a *voice.Conn) { a.Move(admit(s, 1)) })
}

func TestMoveToAnotherServer(t *testing.T) {
	t.Parallel()
	// Both servers' certificates must be trusted by one client.
	s, other := newServer(t, nil), newServer(t, nil)
	client := voicetest.Trust(s, other)
	var conns []*voice.Conn
	for user := range uint64(2) {
		c, err := joinWith(t, s, user+1, func(o *voice.Options) { o.HTTP = client })
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
	}
	encrypted(t, conns...)
	atSecond := listen(t, conns[1])
	for i, c := range conns {
		c.Move(admit(other, uint64(i)+1))
	}
	eventually(t, "both on the other server", func() bool {
		return conns[0].Status().Endpoint == other.Endpoint() && conns[1].Status().Endpoint == other.Endpoint()
	})
	encrypted(t, conns...)
	play(t, conns[0], 440, 20)
	eventually(t, "all frames", func() bool { n, _ := atSecond.heard(1); return n == 20 })
	if left := s.Members(channel); len(left) != 0 {
		t.Errorf("still on the old server: %v", left)
	}
}

func TestMoveThatSaysNothingNewDoesNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	at := admit(s, 1)
	c, err := voice.Join(t.Context(), at, options(t, s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	c.Move(at)
	// A move would end the session before the server is asked anything more.
	c.Present(99)
	if st := c.Status(); !st.Live || st.Rejoins+st.Resumes != 0 {
		t.Errorf("%+v", st)
	}
}

// TestEachCloseCodeHasOneConsequence is Discord's "Voice Close Event Codes".
func TestEachCloseCodeHasOneConsequence(t *testing.T) {
	resumes := []int{1006, 4000, 4015, 4999}
	rejoins := []int{4001, 4002, 4003, 4004, 4005, 4006, 4009, 4011, 4012, 4020}
	ends := []int{4016, 4017}
	run := func(code int, check func(t *testing.T, s *voicetest.Server, c *voice.Conn)) {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			t.Parallel()
			s := newServer(t, nil)
			c, err := joinWith(t, s, 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			if code == 1006 {
				s.Cut(channel, 1)
			} else {
				s.CloseWith(channel, 1, code)
			}
			check(t, s, c)
		})
	}
	for _, code := range resumes {
		run(code, func(t *testing.T, _ *voicetest.Server, c *voice.Conn) {
			if code == 4000 || code == 4999 {
				// The server has forgotten the session: resuming fails, and then
				// a new one is made.
				eventually(t, "a rejoin", func() bool { s := c.Status(); return s.Rejoins == 1 && s.Live })
				return
			}
			eventually(t, "a resume", func() bool { return c.Status().Resumes == 1 })
		})
	}
	for _, code := range rejoins {
		run(code, func(t *testing.T, _ *voicetest.Server, c *voice.Conn) {
			eventually(t, "a rejoin", func() bool { s := c.Status(); return s.Rejoins == 1 && s.Live })
			if n := c.Status().Resumes; n != 0 {
				t.Errorf("%d resumes, want none", n)
			}
		})
	}
	for _, code := range ends {
		run(code, func(t *testing.T, _ *voicetest.Server, c *voice.Conn) {
			eventually(t, "the end", func() bool { return c.Err() != nil })
			if e, ok := errors.AsType[*voice.CloseError](c.Err()); !ok || e.Code != code {
				t.Errorf("ended with %v", c.Err())
			}
			if n := c.Status().Rejoins; n != 0 {
				t.Errorf("%d rejoins, want none", n)
			}
		})
	}
	for _, code := range []int{4014, 4021, 4022} {
		run(code, func(t *testing.T, s *voicetest.Server, c *voice.Conn) {
			eventually(t, "the end of the session", func() bool { return !c.Status().Live })
			if c.Err() != nil {
				t.Fatalf("gone at once: %v", c.Err())
			}
			// A move that comes soon is followed.
			c.Move(admit(s, 1))
			eventually(t, "life", func() bool { return c.Status().Live })
			if st := c.Status(); st.Rejoins+st.Resumes != 0 {
				t.Errorf("%+v, want neither resumed nor rejoined", st)
			}
		})
	}
}

func TestKickedBotLeavesAfterFiveSeconds(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	c, err := joinWith(t, s, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	s.CloseWith(channel, 1, 4014)
	<-c.Done()
	if took := time.Since(start); took < 4500*time.Millisecond || took > 7*time.Second {
		t.Errorf("gave up after %v, want 5 s", took)
	}
	if e, ok := errors.AsType[*voice.CloseError](c.Err()); !ok || e.Code != 4014 {
		t.Errorf("ended with %v", c.Err())
	}
	if err := c.Voice(0).Play(t.Context(), nil); !errors.Is(err, voice.ErrLeft) {
		t.Errorf("playing into an ended call: %v", err)
	}
}

func TestRejoinsThreeTimesAMinuteAndNotMore(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	wrong := func() voice.Server {
		at := admit(s, 1)
		at.Token = "stale"
		return at
	}
	asked := 0
	o := options(t, s)
	o.Rejoin = func(context.Context) (voice.Server, error) {
		asked++
		return wrong(), nil
	}
	_, err := voice.Join(t.Context(), wrong(), o)
	if e, ok := errors.AsType[*voice.CloseError](err); !ok || e.Code != 4004 {
		t.Errorf("joined, or failed with %v", err)
	}
	if asked != 3 {
		t.Errorf("asked the main gateway %d times, want 3", asked)
	}
}

func TestCallsThatCannotBeJoinedSayWhy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		options voicetest.Options
		spoil   func(s *voicetest.Server)
		want    string
	}{
		{"unencrypted", voicetest.Options{Plain: true}, nil, "not end-to-end encrypted"},
		{"no mode in common", voicetest.Options{Modes: []string{"xsalsa20_poly1305"}}, nil, "none of our encryption modes"},
		{"UDP blocked", voicetest.Options{}, func(s *voicetest.Server) { s.SilenceUDP(true) }, "allow outgoing UDP"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, &c.options)
			if c.spoil != nil {
				c.spoil(s)
			}
			_, err := joinWith(t, s, 1, func(o *voice.Options) { o.Rejoin = nil })
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want something with %q", err, c.want)
			}
		})
	}
}

func TestXChaChaIsSpokenToo(t *testing.T) {
	t.Parallel()
	s := newServer(t, &voicetest.Options{Modes: []string{"aead_xchacha20_poly1305_rtpsize"}})
	talking(t, s, 20, 0, func(a *voice.Conn) {
		if m := a.Status().Mode; m != "aead_xchacha20_poly1305_rtpsize" {
			t.Errorf("mode %q", m)
		}
	})
}

func TestSpoiltKeysAreMendedWithinFiveSeconds(t *testing.T) {
	t.Parallel()
	for _, op := range []uint8{dave.OpAnnounceCommit, dave.OpWelcome} {
		t.Run(fmt.Sprint(op), func(t *testing.T) {
			t.Parallel()
			s := newServer(t, nil)
			a, b := join(t, s, 1), join(t, s, 2)
			encrypted(t, a, b)
			if op == dave.OpAnnounceCommit {
				s.Spoil(channel, 1, op)
			} else {
				s.SpoilNext(channel, op)
			}
			c := join(t, s, 3)
			encrypted(t, a, b, c)
			atB, atC := listen(t, b), listen(t, c)
			play(t, a, 440, 60)
			for _, l := range []*listener{atB, atC} {
				// Until all are ready for the new keys, the old ones are used,
				// which the newcomer has not.
				eventually(t, "most frames", func() bool { n, _ := l.heard(1); return n >= 40 })
			}
		})
	}
}

func TestWhoCannotOpenFramesIsLetInAnew(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	a, b := join(t, s, 1), join(t, s, 2)
	encrypted(t, a, b)
	s.Garbage(channel, 2, 500) // of which two in seven come from nobody in the call
	eventually(t, "user 2 removed and added", func() bool { return s.Epoch(channel) >= 2 })
	encrypted(t, a, b)
	atB := listen(t, b)
	play(t, a, 440, 30)
	eventually(t, "sound", func() bool { n, _ := atB.heard(1); return n >= 20 })
}

func TestLeavingEndsEverythingAtOnce(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	a, err := joinWith(t, s, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	v := a.Voice(0)
	failed := make(chan error)
	go func() {
		for {
			if err := v.Play(context.Background(), nil); err != nil {
				failed <- err
				return
			}
		}
	}()
	start := time.Now()
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("leaving took %v", took)
	}
	if err := <-failed; !errors.Is(err, voice.ErrLeft) {
		t.Errorf("the voice ended with %v", err)
	}
	eventually(t, "an empty call", func() bool { return len(s.Members(channel)) == 0 })
}

func TestJoinGivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	s.SilenceUDP(true)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := voice.Join(ctx, admit(s, 1), options(t, s)); !errors.Is(err, voice.ErrTimeout) {
		t.Errorf("%v, want %v", err, voice.ErrTimeout)
	}
}
