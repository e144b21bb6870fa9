package console

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

const (
	// maxTalk is the most sound in one message from a microphone: 200 ms. Pages
	// send 20 ms; more comes together after a hiccup.
	maxTalk = 10 * pcm.HearSize * 2
	// lead is how far a microphone may be ahead of the clock: what a browser
	// holds back while its machine is busy.
	lead = 2 * pcm.HearRate
	// clockSlack allows for sound cards that run fast.
	clockSlack = 1.05
	// soundLimit ends the sound of a browser that stopped taking it.
	soundLimit = 2 * time.Second
	// farewell is how long a browser may take to answer a goodbye.
	farewell = 500 * time.Millisecond
)

// The first byte of a message to the page says what it is; see appendSound.
const (
	frameOfSound = 1
	fallSilent   = 2
)

// microphone is one browser's open microphone: binary messages of 16-bit little
// endian samples, 16 kHz mono, whole 20 ms frames. The server closes it with the
// reason why; a page that closes it has simply stopped talking.
func (c *Console) microphone(w http.ResponseWriter, r *http.Request) {
	s := who(r)
	release, ok := s.hold("microphone", 1)
	if !ok {
		c.refuse(w, r, http.StatusTooManyRequests, errors.New("the microphone is open in another tab: close it there first"))
		return
	}
	// The last words are recognised after it was closed. It may be opened again
	// meanwhile, but not any number of times.
	closed := sync.OnceFunc(release)
	defer closed()
	understood, ok := s.hold("words", maxWords)
	if !ok {
		c.refuse(w, r, http.StatusTooManyRequests, errors.New("the last words are still being recognised: wait a moment"))
		return
	}
	defer understood()
	conn, err := websocket.Accept(w, r, nil) // checks the origin, answers if it is wrong
	if err != nil {
		c.log.Warn("microphone refused", "err", err)
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(maxTalk)
	ctx, done := c.during(r)
	defer done()

	person := c.speaker(s, r.URL.Query().Get("as"))
	c.log.Info("microphone opened", "name", person.Name)
	var broken error
	// Ending a read's context would cut the connection: say goodbye instead,
	// which ends the read as well.
	defer context.AfterFunc(ctx, func() { goodbye(conn) })()
	err = c.table.Listen(ctx, person, talk(context.WithoutCancel(ctx), conn, &broken, closed))
	switch {
	case broken != nil:
		c.log.Warn("microphone closed", "name", person.Name, "err", broken)
		conn.Close(websocket.StatusPolicyViolation, reason(broken))
	case err != nil && ctx.Err() == nil:
		c.log.Warn("microphone closed", "name", person.Name, "err", err)
		conn.Close(websocket.StatusInternalError, reason(err))
	default:
		conn.Close(websocket.StatusNormalClosure, "")
	}
}

// talk yields the frames that arrive and calls closed after the last. Nothing is queued here: who reads slowly
// makes the browser drop. The frame is the caller's until the next one.
func talk(ctx context.Context, conn *websocket.Conn, broken *error, closed func()) iter.Seq[[]int16] {
	return func(yield func([]int16) bool) {
		defer closed()
		var pace bucket
		frame := make([]int16, pcm.HearSize)
		for {
			kind, data, err := conn.Read(ctx)
			if err != nil {
				if errors.Is(err, websocket.ErrMessageTooBig) {
					*broken = fmt.Errorf("a message from the microphone may have %d bytes", maxTalk)
				}
				return // closed, lost or the table ended: the talk is over
			}
			if kind != websocket.MessageBinary || len(data) == 0 || len(data)%(2*pcm.HearSize) != 0 {
				*broken = fmt.Errorf("the microphone sent %d bytes that are no 20 ms frames: load the page again", len(data))
				return
			}
			if !pace.take(float64(len(data)/2), clockSlack*pcm.HearRate, lead, time.Now()) {
				*broken = errors.New("the microphone sends faster than sound: load the page again")
				return
			}
			for len(data) > 0 {
				for i := range frame {
					frame[i] = int16(binary.LittleEndian.Uint16(data[2*i:]))
				}
				data = data[2*pcm.HearSize:]
				if !yield(frame) {
					return
				}
			}
		}
	}
}

// sound sends what the room hears to one browser.
func (c *Console) sound(w http.ResponseWriter, r *http.Request) {
	s := who(r)
	release, ok := s.hold("sound", maxSounds)
	if !ok {
		c.refuse(w, r, http.StatusTooManyRequests, fmt.Errorf("sound is playing in %d tabs: close one", maxSounds))
		return
	}
	defer release()
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		c.log.Warn("sound refused", "err", err)
		return
	}
	defer conn.CloseNow()
	ctx, done := c.during(r)
	defer done()
	whole := context.WithoutCancel(ctx) // a message is sent to its end
	gone := conn.CloseRead(whole)       // the page only listens
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(gone, cancel)()
	var b []byte
	for f := range c.table.Sound(ctx) {
		b = appendSound(b[:0], f)
		limit, cancel := context.WithTimeout(whole, soundLimit)
		err := conn.Write(limit, websocket.MessageBinary, b)
		cancel()
		if err != nil {
			return
		}
	}
	goodbye(conn)
}

// goodbye closes a socket because the table does. A browser that does not answer
// cannot hold the table up.
func goodbye(conn *websocket.Conn) {
	cut := time.AfterFunc(farewell, func() { conn.CloseNow() })
	defer cut.Stop()
	conn.Close(websocket.StatusGoingAway, errClosed.Error())
}

// appendSound writes one message:
//
//	| kind 1 | n 1 | NPC id n | 0 to make the length even | samples, 16 bit LE |
//
// A message to fall silent has no samples.
func appendSound(b []byte, s bot.Sound) []byte {
	id := s.NPC[:min(len(s.NPC), 255)]
	kind := byte(frameOfSound)
	if s.Flush {
		kind = fallSilent
	}
	b = append(b, kind, byte(len(id)))
	b = append(b, id...)
	if len(b)%2 == 1 {
		b = append(b, 0)
	}
	if s.Flush {
		return b
	}
	for _, v := range s.Samples {
		b = binary.LittleEndian.AppendUint16(b, uint16(v))
	}
	return b
}

// reason is an error short enough to close a socket with: RFC 6455, section 5.5,
// leaves 123 bytes.
func reason(err error) string {
	text := err.Error()
	if len(text) <= 123 {
		return text
	}
	return strings.ToValidUTF8(text[:120], "") + "…"
}
