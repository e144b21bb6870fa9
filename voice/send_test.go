package voice

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glyphoxa/glyphoxa/voice/dave"
	"github.com/glyphoxa/glyphoxa/voice/opus"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
	"github.com/glyphoxa/glyphoxa/voice/rtp"
)

// A wire is the other end of a line: it opens what is sent.
type wire struct {
	cipher *rtp.Cipher

	mu      sync.Mutex // guards what follows
	headers []rtp.Header
	frames  [][]byte
}

func (w *wire) Write(b []byte) (int, error) {
	h, payload, err := w.cipher.Open(bytes.Clone(b))
	if err != nil {
		return 0, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.headers, w.frames = append(w.headers, h), append(w.frames, payload)
	return len(b), nil
}

func (w *wire) sent() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.headers)
}

// plainKeys is a session whose frames are not encrypted between members, so that
// tests can look into them.
func plainKeys(t testing.TB) *dave.Session {
	t.Helper()
	k, err := dave.NewSession(dave.Config{AllowPlain: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Begin(0); err != nil {
		t.Fatal(err)
	}
	return k
}

func newWire(t testing.TB) (*wire, *line) {
	t.Helper()
	key := make([]byte, 32)
	ours, err := rtp.NewCipher(rtp.ModeAES, key)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := rtp.NewCipher(rtp.ModeAES, key)
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{cipher: theirs}
	return w, newLine(w, ours, 5, plainKeys(t))
}

// newTestSender is a sender whose speaking flags are recorded.
func newTestSender(t testing.TB) (s *sender, flags func() []bool) {
	t.Helper()
	p := newVirtualPacer()
	var mu sync.Mutex
	var list []bool
	s, err := newSender(p, func(on bool) {
		mu.Lock()
		defer mu.Unlock()
		list = append(list, on)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.close()
		p.Close()
	})
	return s, func() []bool {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(list)
	}
}

func waitFor(t testing.TB, what string, holds func() bool) {
	t.Helper()
	limit := time.After(5 * time.Second) // of the test's time
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("never came: %s", what)
		}
	}
}

func TestSpeechIsOneStreamWithSilenceAtItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, flags := newTestSender(t)
		w, l := newWire(t)
		v := s.mix.add(0)
		for range encodeAhead { // all ready before the first leaves: no gap is the encoder's
			playAll(t, v, level(2000))
		}
		waitFor(t, "all encoded", func() bool { return len(s.ready) == encodeAhead })
		s.line.Store(l)
		const first = encodeAhead + trailing
		waitFor(t, "the packets and five of silence", func() bool { return w.sent() == first })
		waitFor(t, "the flag down", func() bool { return slices.Equal(flags(), []bool{true, false}) })
		time.Sleep(100 * time.Millisecond) // a pause of the speaker, which the timestamp must show
		playAll(t, v, level(2000))
		waitFor(t, "the second speech", func() bool { return w.sent() == first+1+trailing })
		w.mu.Lock()
		defer w.mu.Unlock()
		for i := 1; i < len(w.headers); i++ {
			h, before := w.headers[i], w.headers[i-1]
			step := h.Timestamp - before.Timestamp
			if h.Sequence != before.Sequence+1 || h.SSRC != 5 {
				t.Errorf("packet %d has number %d after %d", i, h.Sequence, before.Sequence)
			}
			switch {
			case i == first:
				if step < 5*samplesPerFrame || step > 60*samplesPerFrame || step%samplesPerFrame != 0 {
					t.Errorf("the timestamp moved by %d over a pause of 100 ms", step)
				}
			case step != samplesPerFrame:
				t.Errorf("packet %d: the timestamp moved by %d", i, step)
			}
		}
		for i, f := range w.frames {
			silent := i >= encodeAhead && i != first
			if opus.IsSilence(f) != silent {
				t.Errorf("packet %d is silence: %v", i, !silent)
			}
		}
	})
}

func TestSoundWaitsForALine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := newTestSender(t)
		v := s.mix.add(0)
		played := make(chan int, 20) // room for all that is played
		go func() {
			for i := range 20 {
				if v.Play(t.Context(), level(2000)) != nil {
					return
				}
				played <- i
			}
			close(played)
		}()
		waitFor(t, "the voice to be full", func() bool { return len(played) == queued+encodeAhead })
		w, l := newWire(t)
		s.line.Store(l)
		waitFor(t, "all that was said", func() bool { return len(played) == 20 && v.Pending() == 0 })
		if got := w.sent(); got < 20 {
			t.Errorf("%d packets were sent, want all 20", got)
		}
	})
}

func BenchmarkSoundToPacket(b *testing.B) {
	_, l := newWire(b)
	l.conn = discard{}
	enc, err := opus.NewEncoder(speechCoding)
	if err != nil {
		b.Fatal(err)
	}
	frame, out, packet := tone(), make([]int16, pcm.FrameSize), make([]byte, 1275)
	m := newMixer()
	v := m.add(0)
	b.ReportAllocs()
	for b.Loop() {
		if err := v.Play(b.Context(), frame); err != nil {
			b.Fatal(err)
		}
		of, _ := m.next(out)
		n, err := enc.Encode(out, packet)
		if err != nil || !m.sent(of) {
			b.Fatal(err)
		}
		l.send(packet[:n])
	}
}

// tone is a frame that an encoder has to work for.
func tone() []int16 {
	frame := make([]int16, pcm.FrameSize)
	for i := range frame {
		frame[i] = int16(i * 7919 % 8000)
	}
	return frame
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// BenchmarkLateness is how late packets leave when many calls speak at once.
func BenchmarkLateness(b *testing.B) {
	for _, calls := range []int{1, 100, 1000} {
		b.Run(fmt.Sprint(calls), func(b *testing.B) {
			p := NewPacer()
			var late []time.Duration
			p.mu.Lock()
			p.lateness = func(d time.Duration) { late = append(late, d) }
			p.mu.Unlock()
			var senders []*sender
			for range calls {
				// Encoding is left out: it is done ahead, on other threads.
				s := &sender{
					mix: newMixer(), pacer: p, speaking: func(bool) {},
					ready: make(chan *encoded, encodeAhead), spare: make(chan *encoded, encodeAhead),
				}
				_, l := newWire(b)
				l.conn = discard{}
				s.line.Store(l)
				s.ready <- &encoded{n: 160}
				senders = append(senders, s)
			}
			for b.Loop() {
				for i, s := range senders {
					p.add(s)
					if i%(max(1, calls/20)) == 0 {
						time.Sleep(time.Millisecond) // calls do not begin all at once
					}
				}
				end := time.After(time.Second)
				tick := time.NewTicker(5 * time.Millisecond)
				for done := false; !done; {
					select {
					case <-tick.C:
						for _, s := range senders {
							select {
							case e := <-s.spare:
								s.ready <- e
							default:
							}
						}
					case <-end:
						done = true
					}
				}
				tick.Stop()
				for _, s := range senders {
					p.remove(s)
				}
			}
			p.Close()
			slices.Sort(late)
			if n := len(late); n > 0 {
				b.ReportMetric(late[n/2].Seconds()*1000, "ms-p50")
				b.ReportMetric(late[n*99/100].Seconds()*1000, "ms-p99")
				b.ReportMetric(late[n-1].Seconds()*1000, "ms-max")
			}
		})
	}
}
