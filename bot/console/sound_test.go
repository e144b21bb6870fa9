package console_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/bot/console"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
	"github.com/google/go-cmp/cmp"
)

// dial opens a socket, or answers the refusal.
func (v *visitor) dial(path string) (*websocket.Conn, int) {
	v.t.Helper()
	return v.dialFrom(v.base, path)
}

func (v *visitor) dialFrom(origin, path string) (*websocket.Conn, int) {
	v.t.Helper()
	c, res, err := websocket.Dial(v.t.Context(), v.base+path, &websocket.DialOptions{HTTPClient: v.client, HTTPHeader: http.Header{"Origin": {origin}}})
	if res == nil {
		v.t.Fatal(err)
	}
	if err != nil {
		res.Body.Close() // once a socket is open it has no body
		return nil, res.StatusCode
	}
	v.t.Cleanup(func() { c.CloseNow() })
	return c, res.StatusCode
}

func (v *visitor) socket(path string) *websocket.Conn {
	v.t.Helper()
	c, status := v.dial(path)
	if c == nil {
		v.t.Fatalf("%s answered %d", path, status)
	}
	return c
}

func TestSoundReachesThePageAndStopsAtOnce(t *testing.T) {
	h := open(t, newTavern(), console.Options{})
	c := h.guest(console.Spectator, "").socket("/sound")
	until(t, "listening", func() bool { return h.tavern.listeners() == 1 })
	frame := make([]int16, pcm.FrameSize)
	for i := range frame {
		frame[i] = int16(i*37 - 32768)
	}
	h.tavern.play(bot.Sound{NPC: "bartok", Line: "1", Samples: frame})
	h.tavern.play(bot.Sound{NPC: "greymantle", Line: "2", Flush: true})

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, data, err := c.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if data[0] != 1 || string(data[2:2+data[1]]) != "bartok" {
		t.Errorf("head %q", data[:8])
	}
	samples := data[8:] // 2 + len("bartok") is even
	got := make([]int16, len(samples)/2)
	for i := range got {
		got[i] = int16(binary.LittleEndian.Uint16(samples[2*i:]))
	}
	if diff := cmp.Diff(frame, got); diff != "" {
		t.Errorf("samples (-sent +got):\n%s", diff)
	}
	if _, data, err = c.Read(ctx); err != nil || string(data) != "\x02\x0agreymantle" {
		t.Errorf("flush %q, %v", data, err)
	}
}

func TestMicrophoneIsHeardFrameByFrame(t *testing.T) {
	h := open(t, newTavern(), console.Options{})
	for who, v := range map[string]*visitor{"Mira": h.guest(console.Player, "Mira"), "Jonas": h.guest(console.DM, "")} {
		c := v.socket("/microphone?as=Jonas")
		for range 10 {
			if err := c.Write(t.Context(), websocket.MessageBinary, make([]byte, 640)); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Write(t.Context(), websocket.MessageBinary, make([]byte, 3*640)); err != nil {
			t.Fatal(err)
		}
		until(t, who+" heard", func() bool { return h.tavern.frames(who) == 13 })
		c.Close(websocket.StatusNormalClosure, "")
		until(t, who+" ended", func() bool { return strings.Join(h.tavern.done(), "") == who+" was heard" })
	}
}

func TestBrokenMicrophonesAreClosedWithTheReason(t *testing.T) {
	for _, c := range []struct {
		name string
		send func(ctx context.Context, c *websocket.Conn)
		says string
	}{
		{"odd length", func(ctx context.Context, c *websocket.Conn) {
			_ = c.Write(ctx, websocket.MessageBinary, make([]byte, 639))
		}, "no 20 ms frames"},
		{"empty", func(ctx context.Context, c *websocket.Conn) {
			_ = c.Write(ctx, websocket.MessageBinary, nil)
		}, "no 20 ms frames"},
		{"text", func(ctx context.Context, c *websocket.Conn) {
			_ = c.Write(ctx, websocket.MessageText, make([]byte, 640))
		}, "no 20 ms frames"},
		{"too fast", func(ctx context.Context, c *websocket.Conn) {
			for c.Write(ctx, websocket.MessageBinary, make([]byte, 6400)) == nil {
			}
		}, "faster than sound"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := open(t, newTavern(), console.Options{})
			conn := h.guest(console.Player, "Mira").socket("/microphone")
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			go c.send(ctx, conn)
			_, _, err := conn.Read(ctx)
			closed, ok := errors.AsType[websocket.CloseError](err)
			if !ok || closed.Code != websocket.StatusPolicyViolation || !strings.Contains(closed.Reason, c.says) {
				t.Errorf("closed with %v, want the reason %q", err, c.says)
			}
		})
	}
}

func TestHugeMessageEndsTheMicrophone(t *testing.T) {
	h := open(t, newTavern(), console.Options{})
	conn := h.guest(console.Player, "Mira").socket("/microphone")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	go func() { _ = conn.Write(ctx, websocket.MessageBinary, make([]byte, 1<<20)) }()
	_, _, err := conn.Read(ctx)
	if got := websocket.CloseStatus(err); got != websocket.StatusMessageTooBig {
		t.Errorf("closed with %v", err)
	}
	until(t, "no longer heard", func() bool { return len(h.tavern.done()) == 1 })
}

func TestTableThatCannotHearSaysWhy(t *testing.T) {
	tavern := newTavern()
	tavern.deafness = errors.New("no recogniser was found: install pocketsphinx, or set stt.url to a transcription server, " + strings.Repeat("ü", 200))
	h := open(t, tavern, console.Options{})
	conn := h.guest(console.Player, "Mira").socket("/microphone")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, _, err := conn.Read(ctx)
	closed, ok := errors.AsType[websocket.CloseError](err)
	if !ok || !strings.Contains(closed.Reason, "install pocketsphinx") {
		t.Errorf("closed with %v", err)
	}
}

// The table takes its time over the last words; whoever opens the microphone
// again meanwhile is heard, but not without end.
func TestMicrophoneOpensAgainWhileTheLastWordsAreRecognised(t *testing.T) {
	tavern := newTavern()
	tavern.slow = make(chan struct{})
	h := open(t, tavern, console.Options{})
	t.Cleanup(func() { close(tavern.slow) }) // before the console closes
	v := h.guest(console.Player, "Mira")
	for n := 1; n <= 3; n++ {
		var c *websocket.Conn
		until(t, "opened", func() bool { c, _ = v.dial("/microphone"); return c != nil })
		if err := c.Write(t.Context(), websocket.MessageBinary, make([]byte, 640)); err != nil {
			t.Fatal(err)
		}
		until(t, "heard", func() bool { return tavern.frames("Mira") == n })
		c.CloseNow()
	}
	if _, text := v.get("/microphone"); !strings.Contains(text, "still being recognised") && !strings.Contains(text, "another tab") {
		t.Errorf("the fourth got %q", text)
	}
}

func TestSocketsAreBounded(t *testing.T) {
	h := open(t, newTavern(), console.Options{})
	v := h.guest(console.Player, "Mira")
	mic := v.socket("/microphone")
	if _, status := v.dial("/microphone"); status != http.StatusTooManyRequests {
		t.Errorf("a second microphone got %d", status)
	}
	for range 4 {
		v.socket("/sound")
	}
	if _, status := v.dial("/sound"); status != http.StatusTooManyRequests {
		t.Errorf("the fifth sound got %d", status)
	}
	if _, status := h.guest(console.Spectator, "").dial("/microphone"); status != http.StatusForbidden {
		t.Errorf("a spectator's microphone got %d", status)
	}
	mic.Close(websocket.StatusNormalClosure, "")
	until(t, "the microphone is free again", func() bool {
		c, _ := v.dial("/microphone")
		return c != nil
	})
}

func TestCloseEndsSockets(t *testing.T) {
	h := open(t, newTavern(), console.Options{})
	v := h.guest(console.Player, "Mira")
	mic, sound := v.socket("/microphone"), v.socket("/sound")
	until(t, "listening", func() bool { return h.tavern.listeners() == 1 })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	closing := make(chan struct{})
	go func() { h.console.Close(); close(closing) }()
	for _, c := range []*websocket.Conn{mic, sound} {
		if _, _, err := c.Read(ctx); websocket.CloseStatus(err) != websocket.StatusGoingAway {
			t.Errorf("closed with %v", err)
		}
	}
	<-closing
}
