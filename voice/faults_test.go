package voice_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/voice"
	"github.com/glyphoxa/glyphoxa/voice/dave"
	"github.com/glyphoxa/glyphoxa/voice/voicetest"
)

// What can go wrong with a call, what must hold then, and the tests that show it.
// All but the marked ones run in virtual time. R1 to R5 are the main gateway's:
// see package bot/discord.
//
//	R6   socket cut at any moment          resumed within 1 s, the sentence goes on
//	     TestR6...
//	R7   session void, or we spoke wrongly joined anew within 5 s, at most three
//	     TestR7...                         times a minute; our mistakes are logged
//	R8   kicked, rate limited, call over   no joining anew; a move within 5 s is
//	     TestR8...                         followed
//	R9   voice server crashed              resumed, else joined anew within 5 s
//	     TestR9...
//	R10  no cipher or encryption in common no second try, one sentence that says why
//	     TestR10...
//	R11  moved to another server           sound within 3 s, old tickets not used
//	     TestR11..., in move_test.go
//	R12  loss, single and in bursts        in network_test.go
//	R13  reordering, duplicates, jitter    in network_test.go
//	R14  malformed packets, false sources  TestR14..., and in receive_test.go
//	R15  datagrams stop, the socket lives  a new way within 10 s of knowing
//	     TestR15...
//	R16  broken or missing keys            in keys_test.go
//
// Everywhere: nothing is sent that is not encrypted between the members (see
// newServer), and no goroutine is left (a bubble's own rule).

// handshake are the opcodes at which a socket can be lost while a member joins
// two others and the group takes it in.
var handshake = map[string]uint8{
	"hello": 8, "ready": 2, "clients": 11, "description": 4, "external sender": dave.OpExternalSender,
	"proposals": dave.OpProposals, "commit": dave.OpAnnounceCommit, "welcome": dave.OpWelcome,
	"execution": dave.OpExecuteTransition,
}

func TestR6SocketCutAtAnyMomentOfTheHandshakeIsMended(t *testing.T) {
	for name, op := range handshake {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				s := newServer(t, nil)
				a, b := two(t, s)
				s.CutInstead(op)
				start := time.Now()
				c, err := joinWith(t, s, 3, nil)
				if err != nil {
					t.Fatal(err)
				}
				encrypted(t, a, b, c)
				if took := time.Since(start); took > time.Second {
					t.Errorf("mended after %v, want 1 s", took)
				}
				account := listenTo(t, b, 3)
				say(t, c)
				eventually(t, "the whole sentence", func() bool { return account().frames == sentence })
			})
		})
	}
}

func TestR6CutSocketIsResumedInMidSentence(t *testing.T) {
	for user, name := range map[uint64]string{1: "speaker", 2: "listener"} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				s := newServer(t, nil)
				a, b, heard := disturbed(t, s, func(_, _ *voice.Conn) { s.Cut(channel, user) })
				if heard.frames != sentence || heard.repeated > 6 || heard.pause > time.Second {
					t.Errorf("%+v, want all %d frames once and no pause over 1 s", heard, sentence)
				}
				if n := a.Status().Resumes + b.Status().Resumes; n != 1 || a.Status().Rejoins+b.Status().Rejoins != 0 {
					t.Errorf("%+v, %+v, want one resume", a.Status(), b.Status())
				}
			})
		})
	}
}

func TestR6MissedMessagesAreHandledOnceAfterAResume(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		s := newServer(t, nil)
		a, b := two(t, s)
		s.Cut(channel, 1)
		c := join(t, s, 3) // proposals and commits go on while user 1 is away
		eventually(t, "resumed", func() bool { return a.Status().Resumes == 1 })
		encrypted(t, a, b, c)
		if st := a.Status(); st.Rejoins != 0 || st.Epoch != 2 {
			t.Errorf("%+v, want no rejoin, and each change of the group once", st)
		}
	})
}

func TestForgottenHeartbeatsAreNoticedAfterTwo(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		const interval = 10 * time.Second
		s := newServer(t, &voicetest.Options{Heartbeat: interval})
		a := join(t, s, 1)
		time.Sleep(interval + time.Second)
		if a.Status().Resumes > 0 {
			t.Error("resumed although the heartbeats are answered")
		}
		s.ForgetHeartbeats(channel, 1)
		start := time.Now()
		eventuallyWithin(t, time.Minute, "a resume", func() bool { return a.Status().Resumes == 1 })
		if took := time.Since(start); took > 3*interval {
			t.Errorf("noticed after %v, want three intervals of %v", took, interval)
		}
	})
}

// codes are Discord's "Voice Close Event Codes" after which to join anew; true
// for those that tell of a fault of ours.
var codes = map[int]bool{
	4001: true, 4002: true, 4003: true, 4005: true, 4012: true, 4020: true,
	4004: false, 4006: false, 4009: false, 4011: false,
}

func TestR7VoidSessionIsJoinedAnewInMidSentence(t *testing.T) {
	for code := range codes {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				s := newServer(t, nil)
				var before string
				a, b, heard := disturbed(t, s, func(a, _ *voice.Conn) {
					before = a.Status().PrivacyCode
					s.CloseWith(channel, 1, code)
				})
				if heard.frames != sentence || heard.repeated > 6 || heard.pause > 5*time.Second {
					t.Errorf("%+v, want all %d frames once and no pause over 5 s", heard, sentence)
				}
				encrypted(t, a, b)
				if st := a.Status(); st.Rejoins != 1 || st.Resumes != 0 || st.PrivacyCode == before {
					t.Errorf("%+v, want one rejoin with new keys", st)
				}
			})
		})
	}
}

func TestR7FaultOfOurOwnIsAnErrorInTheLog(t *testing.T) {
	for code, ours := range codes {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				s := newServer(t, nil)
				var log bytes.Buffer // read when the call is over
				a, err := joinWith(t, s, 1, func(o *voice.Options) {
					o.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelError}))
				})
				if err != nil {
					t.Fatal(err)
				}
				s.CloseWith(channel, 1, code)
				eventually(t, "a rejoin", func() bool { st := a.Status(); return st.Rejoins == 1 && st.Live })
				if err := a.Close(); err != nil {
					t.Fatal(err)
				}
				if got := strings.Count(log.String(), "\n"); (got == 1) != ours || got > 1 {
					t.Errorf("%d errors in the log, want one: %v\n%s", got, ours, log.String())
				}
			})
		})
	}
}

func TestR7JoinsAnewThreeTimesAMinuteAndNotMore(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
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
		if _, err := voice.Join(t.Context(), wrong(), o); !closedWith(err, 4004) {
			t.Errorf("joined, or failed with %v", err)
		}
		if asked != 3 {
			t.Errorf("asked the main gateway %d times, want 3", asked)
		}
	})
}

func TestR7LastingCallMayJoinAnewEveryMinute(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		s := newServer(t, nil)
		a, err := joinWith(t, s, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 10 {
			s.CloseWith(channel, 1, 4009)
			eventually(t, "a rejoin", func() bool { st := a.Status(); return st.Rejoins == n+1 && st.Live })
			time.Sleep(21 * time.Second)
		}
	})
}

func TestR8KickedBotStaysAway(t *testing.T) {
	for _, code := range []int{4014, 4021, 4022} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				s := newServer(t, nil)
				c, err := joinWith(t, s, 1, nil)
				if err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				s.CloseWith(channel, 1, code)
				<-c.Done()
				if took := time.Since(start); took != 5*time.Second {
					t.Errorf("waited %v for a move, want 5 s", took)
				}
				if !closedWith(c.Err(), code) || c.Status().Rejoins != 0 {
					t.Errorf("ended with %v after %d rejoins", c.Err(), c.Status().Rejoins)
				}
				if err := c.Voice(0).Play(t.Context(), nil); !errors.Is(err, voice.ErrLeft) {
					t.Errorf("playing into an ended call: %v", err)
				}
			})
		})
	}
}

func TestR8MoveThatComesSoonIsFollowed(t *testing.T) {
	for _, code := range []int{4014, 4021, 4022} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				s := newServer(t, nil)
				a, _, heard := disturbed(t, s, func(a, _ *voice.Conn) {
					s.CloseWith(channel, 1, code)
					time.Sleep(4 * time.Second)
					a.Move(admit(s, 1))
				})
				if heard.frames != sentence || heard.repeated > 6 {
					t.Errorf("%+v, want all %d frames once", heard, sentence)
				}
				if st := a.Status(); st.Rejoins+st.Resumes != 0 || !st.Live {
					t.Errorf("%+v, want neither resumed nor rejoined", st)
				}
			})
		})
	}
}

func TestR9CrashedServerIsResumedElseJoinedAnew(t *testing.T) {
	for _, forgetful := range []bool{false, true} {
		t.Run(fmt.Sprintf("forgetful=%v", forgetful), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				s := newServer(t, nil)
				a, _, heard := disturbed(t, s, func(_, _ *voice.Conn) {
					s.CloseWith(channel, 1, 4015)
					if forgetful {
						s.Forget(channel, 1)
					}
				})
				if heard.frames != sentence || heard.repeated > 6 || heard.pause > 5*time.Second {
					t.Errorf("%+v, want all %d frames once and no pause over 5 s", heard, sentence)
				}
				st := a.Status()
				if forgetful && (st.Rejoins != 1 || st.Resumes != 0) || !forgetful && (st.Rejoins != 0 || st.Resumes != 1) {
					t.Errorf("%+v", st)
				}
			})
		})
	}
}

func TestCloseCodesOfTheFutureAreResumed(t *testing.T) {
	for _, code := range []int{4000, 4999} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				s := newServer(t, nil)
				c, err := joinWith(t, s, 1, nil)
				if err != nil {
					t.Fatal(err)
				}
				// The server forgets the session with these: resuming fails, and
				// then a new one is made.
				s.CloseWith(channel, 1, code)
				eventually(t, "a rejoin", func() bool { st := c.Status(); return st.Rejoins == 1 && st.Live })
			})
		})
	}
}

func TestR10RefusalIsNotTriedAgain(t *testing.T) {
	for _, code := range []int{4016, 4017} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				s := newServer(t, nil)
				c, err := joinWith(t, s, 1, nil)
				if err != nil {
					t.Fatal(err)
				}
				s.CloseWith(channel, 1, code)
				<-c.Done()
				if !closedWith(c.Err(), code) || !strings.Contains(c.Err().Error(), "update the bot") {
					t.Errorf("ended with %v", c.Err())
				}
				if n := c.Status().Rejoins; n != 0 {
					t.Errorf("%d rejoins, want none", n)
				}
			})
		})
	}
}

func TestR10CallsThatCannotBeJoinedSayWhy(t *testing.T) {
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
			inVirtualTime(t, func(t *testing.T) {
				s := newServer(t, &c.options)
				if c.spoil != nil {
					c.spoil(s)
				}
				_, err := joinWith(t, s, 1, func(o *voice.Options) { o.Rejoin = nil })
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want something with %q", err, c.want)
				}
			})
		})
	}
}

// TestR14 in receive_test.go counts and measures; this one goes all the way.
func TestR14GarbageHarmsNobodyInACall(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		s := newServer(t, nil)
		_, b, heard := disturbed(t, s, func(_, _ *voice.Conn) { s.Garbage(channel, 2, 10_000) })
		if heard.frames != sentence || !b.Status().Live {
			t.Errorf("%+v, %+v, want all %d frames", heard, b.Status(), sentence)
		}
	})
}

// keptAlive counts the datagrams that keep a way open.
type keptAlive struct {
	net.Conn
	count *atomic.Int64
}

func (k keptAlive) Write(b []byte) (int, error) {
	if len(b) == 8 {
		k.count.Add(1)
	}
	return k.Conn.Write(b)
}

func TestR15DeadWayIsNoticedAndANewOneFound(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		s := newServer(t, nil)
		var alive atomic.Int64
		c, err := joinWith(t, s, 1, func(o *voice.Options) {
			o.OnNetwork(func(to netip.AddrPort) (net.Conn, error) {
				udp, err := s.Network().DialUDP(to)
				return keptAlive{udp, &alive}, err
			})
			t.Cleanup(o.Pacer.Close)
		})
		if err != nil {
			t.Fatal(err)
		}
		s.SilenceUDP(true)
		start := time.Now()
		eventuallyWithin(t, time.Hour, "a rejoin", func() bool { return c.Status().Rejoins == 1 })
		if took := time.Since(start); took < 30*time.Second || took > 40*time.Second {
			t.Errorf("noticed after %v, want within 10 s of half a minute", took)
		}
		if n := alive.Load(); n < 6 {
			t.Errorf("%d datagrams kept the way open, want one every 5 s", n)
		}
		s.SilenceUDP(false)
		eventually(t, "life", func() bool { return c.Status().Live })
	})
}

func TestR15QuietRoomIsLeftInPeace(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		s := newServer(t, nil)
		c, err := joinWith(t, s, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if st := c.Status(); !st.Live || st.Rejoins+st.Resumes != 0 {
			t.Errorf("%+v, want a call without a break", st)
		}
	})
}

func TestXChaChaIsSpokenToo(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		s := newServer(t, &voicetest.Options{Modes: []string{"aead_xchacha20_poly1305_rtpsize"}})
		a, _, heard := disturbed(t, s, func(_, _ *voice.Conn) {})
		if m := a.Status().Mode; m != "aead_xchacha20_poly1305_rtpsize" || heard.frames != sentence {
			t.Errorf("mode %q, %d frames", m, heard.frames)
		}
	})
}

func TestLeavingEndsEverythingAtOnce(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
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
	})
}

func TestJoinGivesUpWithItsContext(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		s := newServer(t, nil)
		s.SilenceUDP(true)
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		if _, err := voice.Join(ctx, admit(s, 1), options(t, s)); !errors.Is(err, voice.ErrTimeout) {
			t.Errorf("%v, want %v", err, voice.ErrTimeout)
		}
	})
}
