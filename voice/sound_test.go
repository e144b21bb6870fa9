package voice_test

import (
	"context"
	"math"
	"sync"
	"testing"

	"github.com/glyphoxa/glyphoxa/voice"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
	"github.com/glyphoxa/glyphoxa/voice/voicetest"
)

// play sends frames of a tone of hz through a voice of its own.
func play(t *testing.T, c *voice.Conn, hz float64, frames int) {
	t.Helper()
	v := c.Voice(0)
	defer v.Close()
	playTo(t, v, hz, frames)
	// What the voice still holds would be lost by closing it.
	eventually(t, "the last frame sent", func() bool { return v.Pending() == 0 })
}

func playTo(t *testing.T, v *voice.Voice, hz float64, frames int) {
	t.Helper()
	frame := make([]int16, pcm.FrameSize)
	for i := range frames {
		for j := range frame {
			frame[j] = int16(8000 * math.Sin(2*math.Pi*hz*float64(i*pcm.FrameSize+j)/pcm.Rate))
		}
		if err := v.Play(t.Context(), frame); err != nil {
			t.Error(err)
			return
		}
	}
}

// A listener counts what a call hears of each speaker.
type listener struct {
	mu     sync.Mutex
	frames map[uint64]int
	stops  map[uint64]int
	sound  map[uint64][]int16
	done   sync.WaitGroup
}

func listen(t *testing.T, c *voice.Conn) *listener {
	t.Helper()
	l := &listener{frames: map[uint64]int{}, stops: map[uint64]int{}, sound: map[uint64][]int16{}}
	ctx, cancel := context.WithCancel(t.Context())
	l.done.Go(func() {
		for f := range c.Hear(ctx) {
			l.mu.Lock()
			if len(f.Samples) == 0 {
				l.stops[f.User]++
			} else {
				l.frames[f.User]++
				l.sound[f.User] = append(l.sound[f.User], f.Samples...)
			}
			l.mu.Unlock()
		}
	})
	t.Cleanup(func() {
		cancel()
		l.done.Wait()
	})
	return l
}

func (l *listener) heard(user uint64) (frames, stops int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.frames[user], l.stops[user]
}

// pitch finds the tone in what was heard of a speaker.
func (l *listener) pitch(user uint64) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.sound[user]
	s = s[len(s)/4 : len(s)*3/4]
	crossings := 0
	for i := 1; i < len(s); i++ {
		if s[i-1] < 0 && s[i] >= 0 {
			crossings++
		}
	}
	return float64(crossings) * pcm.HearRate / float64(len(s))
}

func TestWhatOneSaysTheOthersHear(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		s := newServer(t, nil)
		s.SetFaults(voicetest.Faults{Dress: true})
		a, b, c := join(t, s, 1), join(t, s, 2), join(t, s, 3)
		encrypted(t, a, b, c)
		atB, atC := listen(t, b), listen(t, c)
		var both sync.WaitGroup
		both.Go(func() { play(t, a, 440, 50) })
		both.Go(func() { play(t, c, 660, 50) })
		both.Wait()
		for _, want := range []struct {
			at   *listener
			user uint64
			hz   float64
		}{{atB, 1, 440}, {atB, 3, 660}, {atC, 1, 440}} {
			eventually(t, "all frames and the end", func() bool { n, stops := want.at.heard(want.user); return n == 50 && stops > 0 })
			if hz := want.at.pitch(want.user); math.Abs(hz-want.hz) > 15 {
				t.Errorf("user %d: a tone of %.0f Hz, want %.0f", want.user, hz, want.hz)
			}
		}
		if frames, _ := atC.heard(3); frames > 0 {
			t.Error("somebody hears themself")
		}
		eventually(t, "50 packets sent, and 5 of silence", func() bool { return a.Stats().Sent >= 55 })
		if st := a.Stats(); st.Sent != 55 || st.Unsent != 0 {
			t.Errorf("%d packets sent, %d not; want 55", st.Sent, st.Unsent)
		}
	})
}

func TestFirstFramesOfAnUnknownSourceAreHeard(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		s := newServer(t, &voicetest.Options{LateSpeaking: true})
		a, b := join(t, s, 1), join(t, s, 2)
		encrypted(t, a, b)
		atB := listen(t, b)
		play(t, a, 440, 20)
		eventually(t, "all frames", func() bool { frames, _ := atB.heard(1); return frames == 20 })
		if st := b.Stats(); st.Found != 1 {
			t.Errorf("%d speakers found by their key, want 1", st.Found)
		}
	})
}

func TestInterruptedVoiceSaysWhatWasNotHeard(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		s := newServer(t, nil)
		a, b := join(t, s, 1), join(t, s, 2)
		encrypted(t, a, b)
		atB := listen(t, b)
		v := a.Voice(0)
		playTo(t, v, 440, 30)
		unheard := v.Flush()
		if unheard < 1 || unheard > 6 {
			t.Errorf("%d frames taken back, want 1 to 6", unheard)
		}
		v.Close()
		eventually(t, "the end of the speech", func() bool { n, stops := atB.heard(1); return n == 30-unheard && stops > 0 })
	})
}
