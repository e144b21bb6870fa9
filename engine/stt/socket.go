package stt

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

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// maxTerms and maxTermBytes bound the names that go into a socket's address, which
// servers cut at 8 KB.
const (
	maxTerms     = 50
	maxTermBytes = 2000
)

// dialog is one utterance over a vendor's socket: sound out as it comes, text back
// as it improves.
type dialog struct {
	client *http.Client
	url    string
	header http.Header
	// frames is how many frames go into one message.
	frames int
	// wrap turns samples into a message; nil sends them as they are, in binary.
	wrap func(sound []byte, last bool) []byte
	// change is asked each second for something to tell the vendor: "" is nothing. Nil
	// never has anything.
	change func() string
	// alive is set once the vendor has said anything about the sound.
	alive bool
	// end is what is sent when the utterance is over; "" for nothing.
	end string
	// patience is how long to wait for the last word after that.
	patience time.Duration
	// read takes a message. It reports whether that was the last word; until then
	// text is what has been heard so far.
	read func(message []byte) (last bool, err error)
	text func() engine.Transcript
}

// errUnanswered is a vendor that says nothing more after the end of the sound.
// Vendors with nothing to add do that too; one that has said nothing at all is dead.
var errUnanswered = errors.New("no last word")

// hold has the conversation. It waits for frames to end, whatever happens.
func (d *dialog) hold(ctx context.Context, frames iter.Seq[[]int16], yield func(engine.Transcript, error) bool) {
	ctx, cancel := context.WithCancelCause(ctx)
	var tasks sync.WaitGroup
	defer tasks.Wait()
	defer cancel(nil)

	socket := make(chan *websocket.Conn, 1) // one, so that whoever dials need not wait
	var sound []byte
	tasks.Go(func() {
		// A frame in hand before the call: an open connection to a vendor costs.
		var c *websocket.Conn
		defer func() {
			if c == nil {
				close(socket)
			}
		}()
		// A socket that cannot be written to is closed, and its reader learns why.
		n, broken := 0, false
		for f := range limited(frames) {
			if broken || ctx.Err() != nil {
				continue // the rest is taken, so that nobody waits
			}
			if c == nil {
				var err error
				if c, err = engine.Dial(ctx, d.client, d.url, d.header); err != nil {
					cancel(err)
					continue
				}
				socket <- c
			}
			for _, s := range f {
				sound = binary.LittleEndian.AppendUint16(sound, uint16(s))
			}
			if n++; n%d.frames == 0 {
				broken = !d.send(ctx, c, &sound, false)
			}
			if d.change != nil && n%ofFrames(time.Second) == 0 {
				if m := d.change(); m != "" {
					broken = broken || c.Write(ctx, websocket.MessageText, []byte(m)) != nil
				}
			}
		}
		if c == nil || broken || ctx.Err() != nil || !d.send(ctx, c, &sound, true) {
			return
		}
		if d.end != "" && c.Write(ctx, websocket.MessageText, []byte(d.end)) != nil {
			return
		}
		patience := time.AfterFunc(d.patience, func() { cancel(errUnanswered) })
		context.AfterFunc(ctx, func() { patience.Stop() })
	})
	c, ok := <-socket
	if !ok {
		// Nothing was said, or nobody answered the call.
		if err := context.Cause(ctx); err != nil {
			yield(engine.Transcript{}, err)
			return
		}
		yield(engine.Transcript{Final: true}, nil)
		return
	}
	defer c.CloseNow()
	before := ""
	for {
		_, message, err := c.Read(ctx)
		if err == nil {
			var last bool
			if last, err = d.read(message); last && err == nil {
				break
			}
		}
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			if errors.Is(err, errUnanswered) && d.alive {
				break
			}
			cancel(err)
			yield(engine.Transcript{}, closed(err))
			return
		}
		if t := d.text(); t.Text != before {
			before = t.Text
			if !yield(t, nil) {
				return
			}
		}
	}
	t := d.text()
	t.Final = true
	yield(t, nil)
}

// send sends the sound that is in hand and reports whether it went.
func (d *dialog) send(ctx context.Context, c *websocket.Conn, sound *[]byte, last bool) bool {
	kind, message := websocket.MessageBinary, *sound
	if d.wrap != nil {
		kind, message = websocket.MessageText, d.wrap(message, last)
	}
	*sound = (*sound)[:0]
	return len(message) == 0 || c.Write(ctx, kind, message) == nil
}

// closed says why a vendor hung up, in its own words where it has any.
func closed(err error) error {
	e, ok := errors.AsType[websocket.CloseError](err)
	if !ok {
		return err
	}
	if e.Reason == "" {
		return fmt.Errorf("the vendor hung up (code %d)", e.Code)
	}
	return fmt.Errorf("the vendor hung up: %s (code %d)", e.Reason, e.Code)
}

// keyTerms are the names that fit into an address, the likeliest first.
func keyTerms(terms []string, longest int) (out []string) {
	bytes := 0
	for _, t := range terms {
		t = strings.TrimSpace(t)
		if bytes += len(t); len(out) == maxTerms || bytes > maxTermBytes {
			break
		}
		if t != "" && len(t) <= longest {
			out = append(out, t)
		}
	}
	return out
}

// ofFrames is how many frames last so long.
func ofFrames(d time.Duration) int { return int(d / pcm.FrameTime) }
