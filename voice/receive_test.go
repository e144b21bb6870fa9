package voice

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/voice/opus"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
	"github.com/glyphoxa/glyphoxa/voice/rtp"
)

// plainE2E stands for the end-to-end layer: a frame is its speaker's id and then
// the packet.
type plainE2E struct{}

func (plainE2E) Open(dst []byte, user uint64, frame []byte, _ time.Time) ([]byte, error) {
	if len(frame) == 0 || uint64(frame[0]) != user {
		return nil, errors.New("not this user's key")
	}
	return append(dst, frame[1:]...), nil
}

func (plainE2E) Find(dst, frame []byte, _ time.Time) (uint64, []byte, error) {
	if len(frame) == 0 || frame[0] == 0 || frame[0] > maxSpeakers+10 {
		return 0, nil, errors.New("nobody's key")
	}
	return uint64(frame[0]), append(dst, frame[1:]...), nil
}

// talker makes datagrams as a client would.
type talker struct {
	t      testing.TB
	cipher *rtp.Cipher
	enc    *opus.Encoder
	user   byte
	h      rtp.Header
}

// call is a server's cipher on the other side and a receiver with its frames.
type call struct {
	cipher *rtp.Cipher
	r      *receiver
	now    time.Time
	heard  map[uint64]int // frames
	stops  map[uint64]int
}

func newCall(t testing.TB) (*call, func(user byte) *talker) {
	t.Helper()
	key := make([]byte, 32)
	server, err := rtp.NewCipher(rtp.ModeAES, key)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := rtp.NewCipher(rtp.ModeAES, key)
	if err != nil {
		t.Fatal(err)
	}
	c := &call{cipher: ours, now: t0, heard: map[uint64]int{}, stops: map[uint64]int{}}
	c.r = newReceiver(func(f Frame) {
		if len(f.Samples) == 0 {
			c.stops[f.User]++
		} else {
			c.heard[f.User]++
		}
	})
	return c, func(user byte) *talker {
		enc, err := opus.NewEncoder(opus.EncoderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return &talker{t: t, cipher: server, enc: enc, user: user, h: rtp.Header{Sequence: 65500, Timestamp: 7, SSRC: 100 + uint32(user)}}
	}
}

// next is the next 20 ms of the talker.
func (k *talker) next() []byte { return k.seal(k.payload()) }

// payload is 20 ms of noise, encoded.
func (k *talker) payload() []byte {
	k.t.Helper()
	frame := make([]int16, pcm.FrameSize)
	for i := range frame {
		frame[i] = int16(rand.IntN(8000) - 4000)
	}
	p := make([]byte, 1275)
	n, err := k.enc.Encode(frame, p)
	if err != nil {
		k.t.Fatal(err)
	}
	return append([]byte{k.user}, p[:n]...)
}

func (k *talker) seal(payload []byte) []byte {
	d := k.cipher.Seal(nil, k.h, payload)
	k.h.Sequence++
	k.h.Timestamp += samplesPerFrame
	return d
}

func (c *call) take(d []byte) outcome { return c.r.take(c.cipher, plainE2E{}, d, c.now) }

// pass lets time pass in steps of 20 ms.
func (c *call) pass(d time.Duration) {
	for end := c.now.Add(d); c.now.Before(end); c.now = c.now.Add(20 * time.Millisecond) {
		c.r.idle(c.now)
	}
}

func TestUnknownSpeakerIsFoundAndLosesNoFrame(t *testing.T) {
	c, talk := newCall(t)
	mira := talk(1)
	for range 50 {
		c.take(mira.next())
		c.pass(20 * time.Millisecond)
	}
	if got := c.heard[1]; got != 50 {
		t.Errorf("heard %d frames, want all 50", got)
	}
	if user, ok := c.r.userOf(101); !ok || user != 1 {
		t.Errorf("the SSRC belongs to %d, want 1", user)
	}
}

func TestSilenceFramesSayThatTheSpeakerStopped(t *testing.T) {
	c, talk := newCall(t)
	mira := talk(1)
	for range 10 {
		c.take(mira.next())
	}
	for n := range 5 {
		c.take(mira.seal(opus.Silence))
		if want := min(1, n); c.stops[1] != want {
			t.Errorf("after %d silence frames there were %d stops, want %d", n+1, c.stops[1], want)
		}
	}
	c.pass(time.Second)
	if c.stops[1] != 1 {
		t.Errorf("told %d times, want once", c.stops[1])
	}
}

func TestSpeakerWhoJustStopsIsNoticed(t *testing.T) {
	c, talk := newCall(t)
	mira := talk(1)
	for range 10 {
		c.take(mira.next())
	}
	c.pass(stopAfter - 20*time.Millisecond)
	if c.stops[1] != 0 {
		t.Error("told too early")
	}
	c.pass(60 * time.Millisecond)
	if c.stops[1] != 1 {
		t.Errorf("told %d times, want once", c.stops[1])
	}
}

func TestLostPacketsAreMadeUpForAndTimeIsKept(t *testing.T) {
	t.Parallel()
	for _, loss := range []float64{0.01, 0.05, 0.10, 0.20} {
		c, talk := newCall(t)
		mira := talk(1)
		random := rand.New(rand.NewPCG(1, 2))
		const frames = 500 // 10 s
		for n := range frames {
			d := mira.next()
			if n < 10 || n > frames-10 || random.Float64() >= loss {
				c.take(d)
			}
			c.pass(20 * time.Millisecond)
		}
		// At most 20 ms a minute may be missing or too much.
		if got := c.heard[1]; got < frames-1 || got > frames+1 {
			t.Errorf("%.0f %% loss: heard %d frames of %d", 100*loss, got, frames)
		}
	}
}

func TestReorderedPacketsAreHeardOnce(t *testing.T) {
	c, talk := newCall(t)
	mira := talk(1)
	for range 100 {
		a, b := mira.next(), mira.next()
		twice := append([]byte(nil), b...)
		c.take(b)
		c.take(a)
		c.take(twice)
		c.pass(40 * time.Millisecond)
	}
	if got := c.heard[1]; got < 199 || got > 200 {
		t.Errorf("heard %d frames, want 200 (the very first pair may lose one)", got)
	}
}

// R14: in ten thousand each of noise, and of packets from sources that nobody has
// met, a good speaker loses nothing, and what is held stays small. It is not
// parallel, for it measures the heap.
func TestR14GarbageAndRandomSpeakersHarmNobody(t *testing.T) {
	c, talk := newCall(t)
	good, liar := talk(1), talk(2)
	lie := liar.payload()
	random := rand.New(rand.NewPCG(3, 4))
	before := heap()
	for n := range 10000 {
		junk := make([]byte, random.IntN(300))
		for i := range junk {
			junk[i] = byte(random.Uint32())
		}
		if len(junk) > 2 && n%2 == 0 { // as if it were sound, with any header
			junk[0], junk[1] = 0x80|junk[0]&0x3f, 0x78
		}
		c.take(junk)
		liar.h.SSRC = random.Uint32()
		c.take(liar.seal(lie))
		if n%20 == 0 {
			c.take(good.next())
			c.now = c.now.Add(20 * time.Millisecond)
		}
	}
	if got := c.heard[1]; got != 500 {
		t.Errorf("the good speaker was heard for %d frames, want all 500", got)
	}
	if len(c.r.streams) > maxSpeakers || len(c.r.users) > maxSpeakers {
		t.Errorf("%d streams and %d users are held, want at most %d", len(c.r.streams), len(c.r.users), maxSpeakers)
	}
	if grown := heap() - before; grown > 8<<20 {
		t.Errorf("%d bytes more are held", grown)
	}
	runtime.KeepAlive(c)
}

// heap is how much memory is in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestFloodOfOneSpeakerIsBounded(t *testing.T) {
	c, talk := newCall(t)
	loud := talk(1)
	for range 1000 { // all at one moment
		c.take(loud.next())
	}
	if got := c.heard[1]; got > burst {
		t.Errorf("%d frames of a flood were decoded, want at most %d", got, burst)
	}
}

func TestWhoLeavesIsForgotten(t *testing.T) {
	c, talk := newCall(t)
	c.take(talk(1).next())
	c.r.part(1)
	if _, ok := c.r.userOf(101); ok {
		t.Error("somebody who left is still known")
	}
	c.pass(forgetAfter + time.Second)
	if len(c.r.streams) != 0 {
		t.Errorf("%d streams are held after a minute of silence", len(c.r.streams))
	}
}

func BenchmarkPacketInToPCM(b *testing.B) {
	c, talk := newCall(b)
	mira := talk(1)
	packets := make([][]byte, 1000)
	for i := range packets {
		packets[i] = mira.next()
	}
	buf := make([]byte, 1500)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if n == len(packets) {
			n = 0
			c.r.streams[101].queue.clear()
		}
		c.now = c.now.Add(20 * time.Millisecond)
		c.take(buf[:copy(buf, packets[n])])
		n++
	}
}

// BenchmarkDecodedStreams is how many speakers, each of 50 packets a second, one
// core can decrypt, order and decode.
func BenchmarkDecodedStreams(b *testing.B) {
	c, talk := newCall(b)
	var talkers []*talker
	for user := range byte(25) {
		talkers = append(talkers, talk(user+1))
	}
	const length = 50 // packets of each
	packets := make([][]byte, 0, len(talkers)*length)
	for range length {
		for _, k := range talkers {
			packets = append(packets, k.next())
		}
	}
	buf := make([]byte, 1500)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if n == len(packets) {
			n = 0
			for _, s := range c.r.streams {
				s.queue.clear()
			}
		}
		if n%len(talkers) == 0 {
			c.now = c.now.Add(20 * time.Millisecond)
		}
		c.take(buf[:copy(buf, packets[n])])
		n++
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/50, "streams/core")
}
