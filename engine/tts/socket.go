package tts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// socketRate is the rate that is asked for: twice fits the table's 48 kHz.
const socketRate = 24000

// said is what one message of a vendor's says.
type said struct {
	sound []byte // 16-bit little-endian samples, cut anywhere
	words []engine.WordTime
	last  bool
}

// utterance is one text over a vendor's socket.
type utterance struct {
	client *http.Client
	url    string
	header http.Header
	gain   float64
	// messages are sent at once; each is a JSON object.
	messages []any
	// read takes a message, binary or not.
	read func(binary bool, message []byte) (said, error)
}

// speak yields the sound as it comes. Words that a vendor reports apart from the
// sound come with the sound that follows.
func (u *utterance) speak(ctx context.Context, yield func(engine.Speech, error) bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	quiet := time.AfterFunc(firstSound, func() { cancel(errQuiet) })
	defer quiet.Stop()
	err := u.run(ctx, quiet, yield)
	if err != nil && !errors.Is(err, errStopped) && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (u *utterance) run(ctx context.Context, quiet *time.Timer, yield func(engine.Speech, error) bool) error {
	c, err := engine.Dial(ctx, u.client, u.url, u.header)
	if err != nil {
		return err
	}
	// The vendor may speak first, so writing and reading must not wait for each
	// other. A writer that fails leaves it to the reader to learn why.
	var writer sync.WaitGroup
	defer writer.Wait()
	defer c.CloseNow()
	writer.Go(func() {
		for _, m := range u.messages {
			if b, err := json.Marshal(m); err != nil || c.Write(ctx, websocket.MessageText, b) != nil {
				return // maps of texts and numbers always encode
			}
		}
	})
	var half []byte // of a sample, left over from the message before
	var words []engine.WordTime
	left, heard := int(maxSound.Seconds()*socketRate), false
	for {
		kind, message, err := c.Read(ctx)
		if err != nil {
			return hungUp(err)
		}
		quiet.Reset(silentFor)
		s, err := u.read(kind == websocket.MessageBinary, message)
		if err != nil {
			return err
		}
		words = append(words, s.words...)
		sound := append(half, s.sound...)
		half = append([]byte(nil), sound[len(sound)&^1:]...)
		chunk := pcm.Chunk{Rate: socketRate, Samples: pcm.Samples(sound)}
		if left -= len(chunk.Samples); left < 0 {
			return fmt.Errorf("over %v of sound for one text", maxSound)
		}
		if len(chunk.Samples) > 0 || s.last && len(words) > 0 {
			heard = heard || len(chunk.Samples) > 0
			amplify(chunk.Samples, u.gain)
			if !yield(engine.Speech{Chunk: chunk, Words: words}, nil) {
				return errStopped
			}
			words = nil
		}
		if s.last && !heard {
			return errors.New("the vendor sent no sound")
		}
		if s.last {
			return nil
		}
	}
}

// hungUp says why a vendor closed the socket, in its own words where it has any.
func hungUp(err error) error {
	e, ok := errors.AsType[websocket.CloseError](err)
	if !ok {
		return err
	}
	if e.Reason == "" {
		return fmt.Errorf("the vendor hung up (code %d)", e.Code)
	}
	return fmt.Errorf("the vendor hung up: %s (code %d)", e.Reason, e.Code)
}

// overSocket is the Speak method of the vendors with sockets: it prepares the text
// and puts the vendor's name before errors.
func overSocket(ctx context.Context, name, text string, yield func(engine.Speech, error) bool, prepare func(text string) (*utterance, error)) {
	text, err := speakable(text)
	if err == nil && text == "" {
		return
	}
	var u *utterance
	if err == nil {
		u, err = prepare(text)
	}
	if err == nil {
		err = u.speak(ctx, yield)
	}
	if err != nil && !errors.Is(err, errStopped) {
		yield(engine.Speech{}, fmt.Errorf("%s: %w", name, err))
	}
}
