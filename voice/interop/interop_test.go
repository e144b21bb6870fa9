//go:build interop

package interop

import (
	"context"
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/voice"
	"github.com/glyphoxa/glyphoxa/voice/opus"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
	"github.com/glyphoxa/glyphoxa/voice/voicetest"
)

const (
	guild   = 81384788765712384
	channel = 927310423890473011
	bot     = 158049329150427136
	limit   = time.Minute // node takes its time on a busy machine
)

// A room is a voice server, our bot in a call and a process for players.
type room struct {
	*node
	server *voicetest.Server
	bot    *voice.Conn

	mu    sync.Mutex         // guards what follows
	heard map[uint64][]int16 // by the bot
	stops map[uint64]int
}

func id(u uint64) string { return strconv.FormatUint(u, 10) }

func newRoom(t *testing.T) *room {
	t.Helper()
	s, err := voicetest.NewServer(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	s.SetFaults(voicetest.Faults{Dress: true})
	r := &room{node: startNode(t, s.Certificate()), server: s, heard: map[uint64][]int16{}, stops: map[uint64]int{}}
	r.joinBot()
	return r
}

func (r *room) joinBot() {
	r.t.Helper()
	at := r.server.Admit(guild, channel, bot)
	ctx, cancel := context.WithTimeout(r.t.Context(), limit)
	defer cancel()
	c, err := voice.Join(ctx, voice.Server{
		Guild: guild, Channel: channel, User: bot, Session: at.Session, Token: at.Token, Endpoint: at.Endpoint,
	}, &voice.Options{HTTP: r.server.HTTP()})
	if err != nil {
		r.t.Fatal(err)
	}
	r.bot = c
	hearing, stop := context.WithCancel(r.t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		for f := range c.Hear(hearing) {
			r.mu.Lock()
			if len(f.Samples) == 0 {
				r.stops[f.User]++
			}
			r.heard[f.User] = append(r.heard[f.User], f.Samples...)
			r.mu.Unlock()
		}
	})
	r.t.Cleanup(func() {
		stop()
		done.Wait()
		if err := c.Close(); err != nil {
			r.t.Error(err)
		}
	})
}

// join brings a player in, and waits until all are in one group.
func (r *room) join(users ...uint64) {
	r.t.Helper()
	for _, u := range users {
		at := r.server.Admit(guild, channel, u)
		r.ask(request{Op: "join", User: id(u), Guild: id(guild), Channel: id(channel), Session: at.Session, Token: at.Token, Endpoint: at.Endpoint})
	}
	for _, u := range users {
		r.event("ready", u)
	}
}

// agree waits until the players and the bot show the same privacy code.
func (r *room) agree(users ...uint64) {
	r.t.Helper()
	r.wait("one privacy code", func() bool {
		want := strings.ReplaceAll(r.bot.Status().PrivacyCode, " ", "")
		if len(want) != 30 {
			return false
		}
		for _, u := range users {
			r.ask(request{Op: "code", User: id(u)})
			if r.event("code", u).Text != want {
				return false
			}
		}
		return true
	})
}

// tone is a sound of some frames as Opus packets.
func tone(t *testing.T, hz float64, frames int) []string {
	t.Helper()
	var samples []int16
	for i := range frames {
		samples = append(samples, wave(hz, i)...)
	}
	return packets(t, samples)
}

// packets encodes sound of 48 kHz, as a client would.
func packets(t *testing.T, samples []int16) (out []string) {
	t.Helper()
	enc, err := opus.NewEncoder(opus.EncoderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 1275)
	for len(samples) >= pcm.FrameSize {
		n, err := enc.Encode(samples[:pcm.FrameSize], b)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, base64.StdEncoding.EncodeToString(b[:n]))
		samples = samples[pcm.FrameSize:]
	}
	return out
}

// wave is frame number i of a tone.
func wave(hz float64, i int) []int16 {
	frame := make([]int16, pcm.FrameSize)
	for j := range frame {
		frame[j] = int16(8000 * math.Sin(2*math.Pi*hz*float64(i*pcm.FrameSize+j)/pcm.Rate))
	}
	return frame
}

// pitch finds the tone in sound.
func pitch(samples []int16, rate int) float64 {
	s := samples[len(samples)/4 : len(samples)*3/4]
	crossings := 0
	for i := 1; i < len(s); i++ {
		if s[i-1] < 0 && s[i] >= 0 {
			crossings++
		}
	}
	return float64(crossings*rate) / float64(len(s))
}

// playerSpeaks lets a player say a tone that the bot must hear whole.
func (r *room) playerSpeaks(user uint64, hz float64, frames int) {
	r.t.Helper()
	r.mu.Lock()
	r.heard[user], r.stops[user] = nil, 0
	r.mu.Unlock()
	r.ask(request{Op: "speak", User: id(user), Packets: tone(r.t, hz, frames)})
	r.wait("the end of the player's speech", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.stops[user] > 0
	})
	r.event("spoken", user)
	r.mu.Lock()
	defer r.mu.Unlock()
	if got := len(r.heard[user]) / pcm.HearSize; got != frames {
		r.t.Errorf("%d frames of player %d heard, want %d", got, user, frames)
	}
	if got := pitch(r.heard[user], pcm.HearRate); math.Abs(got-hz) > 20 {
		r.t.Errorf("player %d: a tone of %.0f Hz, want %.0f", user, got, hz)
	}
}

// botSpeaks lets the bot say a tone that the players must hear and decode.
func (r *room) botSpeaks(hz float64, frames int, users ...uint64) {
	r.t.Helper()
	for _, u := range users {
		r.ask(request{Op: "hear", User: id(u), From: id(bot)})
		r.event("hearing", u)
	}
	v := r.bot.Voice(0)
	defer v.Close()
	for i := range frames {
		if err := v.Play(r.t.Context(), wave(hz, i)); err != nil {
			r.t.Fatal(err)
		}
	}
	for _, u := range users {
		e := r.event("heard", u)
		sound := decoded(r.t, e.Packets, pcm.Rate)
		// discord.js may lose the first frame of a source it has not met.
		if got := len(sound) / pcm.FrameSize; got < frames-2 || got > frames {
			r.t.Errorf("player %d heard %d frames, want %d", u, got, frames)
			continue
		}
		if got := pitch(sound, pcm.Rate); math.Abs(got-hz) > 20 {
			r.t.Errorf("player %d heard a tone of %.0f Hz, want %.0f", u, got, hz)
		}
	}
}

// decoded is the sound of Opus packets.
func decoded(t *testing.T, packets []string, rate int) (sound []int16) {
	t.Helper()
	d, err := opus.NewDecoder(rate)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]int16, 5760)
	for _, p := range packets {
		b, err := base64.StdEncoding.DecodeString(p)
		if err != nil {
			t.Fatal(err)
		}
		if opus.IsSilence(b) {
			continue
		}
		n, err := d.Decode(b, out)
		if err != nil {
			t.Fatal(err)
		}
		sound = append(sound, out[:n]...)
	}
	return sound
}

func TestPlayerSpeaksAndTheBotAnswers(t *testing.T) {
	r := newRoom(t)
	r.join(1001)
	r.agree(1001)
	r.playerSpeaks(1001, 440, 60)
	r.botSpeaks(660, 60, 1001)
	if st := r.bot.Stats(); st.Refused != 0 || st.Lost != 0 {
		t.Errorf("%+v, want nothing lost", st)
	}
}

func TestFivePlayersComeAndGoWhileTheBotSpeaks(t *testing.T) {
	r := newRoom(t)
	r.join(1001, 1002)
	r.agree(1001, 1002)
	var speech sync.WaitGroup
	speech.Go(func() { r.botSpeaks(660, 150, 1001, 1002) })
	r.join(1003)
	r.join(1004, 1005)
	r.ask(request{Op: "leave", User: "1003"})
	speech.Wait()
	r.event("left", 1003)
	r.agree(1001, 1002, 1004, 1005)
	for i, u := range []uint64{1001, 1002, 1004, 1005} {
		r.playerSpeaks(u, 300+float64(100*i), 30)
	}
	r.botSpeaks(880, 40, 1004, 1005)
}

func TestPlayersHearTheBotAfterItsSocketWasCut(t *testing.T) {
	r := newRoom(t)
	r.join(1001)
	r.agree(1001)
	r.server.Cut(channel, bot)
	r.wait("resumed", func() bool { return r.bot.Status().Resumes == 1 })
	r.botSpeaks(660, 40, 1001)
	r.server.Cut(channel, 1001)
	r.event("ready", 1001)
	r.playerSpeaks(1001, 440, 40)
}

func TestTwentyFiveInACall(t *testing.T) {
	r := newRoom(t)
	var users []uint64
	for u := uint64(1001); u <= 1024; u++ {
		users = append(users, u)
	}
	r.join(users...)
	r.agree(users...)
	r.playerSpeaks(1024, 440, 40)
	r.botSpeaks(660, 40, users...)
}
