package link

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// What a server may do wrong before its connection ends, and how fast it may talk
// unasked.
const (
	maxBroken    = 3
	maxNoise     = 10_000 // lines that are no messages at all
	burst        = 1000
	perSecond    = 200
	writeTimeout = 2 * time.Second // a server that reads nothing for so long is stuck
)

// lines speaks JSON-RPC one message a line, as the protocol's stdio transport asks,
// and forgives what real servers do: print banners and log lines to their standard
// output. It is the SDK's connection for child processes.
type lines struct {
	out io.WriteCloser
	log *slog.Logger

	incoming chan jsonrpc.Message // unbuffered: a slow reader slows the server
	closed   chan struct{}
	closeOne sync.Once
	err      error // why reading ended; set before incoming is closed

	writeMu sync.Mutex // one message at a time
}

func newLines(in io.ReadCloser, out io.WriteCloser, log *slog.Logger) *lines {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	c := &lines{out: out, log: log, incoming: make(chan jsonrpc.Message), closed: make(chan struct{})}
	go c.read(in) // ends when in does: its owner closes it
	return c
}

// read turns lines into messages until in ends or has broken too much.
func (c *lines) read(in io.ReadCloser) {
	defer close(c.incoming)
	defer in.Close()
	r := bufio.NewReaderSize(in, 32<<10)
	broken, noise, dropped := 0, 0, 0
	allowed, at := float64(burst), time.Now()
	for {
		line, tooLong, err := readLine(r)
		if err != nil {
			c.err = err
			return
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 && !tooLong {
			continue
		}
		var msgs []jsonrpc.Message
		switch {
		case tooLong:
			err = fmt.Errorf("a message of more than %d bytes", MaxMessage)
		case line[0] != '{' && line[0] != '[':
			if noise++; noise <= 3 {
				c.log.Info("server printed something that is no message; ignored", "text", string(line[:min(len(line), 200)]))
			}
			if noise > maxNoise {
				c.err = fmt.Errorf("more than %d lines that are no messages", maxNoise)
				return
			}
			continue
		default:
			msgs, err = decode(line)
		}
		if err != nil {
			c.log.Warn("broken message", "err", err)
			if broken++; broken >= maxBroken {
				c.err = fmt.Errorf("%d broken messages, the last: %w", broken, err)
				return
			}
			continue
		}
		for _, m := range msgs {
			if _, response := m.(*jsonrpc.Response); !response {
				now := time.Now()
				allowed = min(burst, allowed+now.Sub(at).Seconds()*perSecond)
				if at = now; allowed < 1 {
					if dropped++; dropped == 1 {
						c.log.Warn("server floods us with messages; some are dropped")
					}
					continue
				}
				allowed--
			}
			select {
			case c.incoming <- m:
			case <-c.closed:
				c.err = io.EOF
				return
			}
		}
	}
}

// readLine returns the next line, or says that it was too long and has been
// skipped. It never holds more than [MaxMessage]. A last line without an end is
// half a message, and dropped.
func readLine(r *bufio.Reader) (line []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil:
			return nil, false, err
		}
		if len(line)+len(part) > MaxMessage {
			line, tooLong = nil, true
		}
		if !tooLong {
			line = append(line, part...)
		}
		if err == nil {
			return line, tooLong, nil
		}
	}
}

// decode reads one message, or a batch of them as version 2025-03-26 allowed.
func decode(line []byte) ([]jsonrpc.Message, error) {
	if line[0] == '{' {
		m, err := jsonrpc.DecodeMessage(line)
		if err != nil {
			return nil, err
		}
		return []jsonrpc.Message{m}, nil
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(line, &raw); err != nil {
		return nil, err
	}
	msgs := make([]jsonrpc.Message, 0, len(raw))
	for _, b := range raw {
		m, err := jsonrpc.DecodeMessage(b)
		if err != nil {
			return nil, err
		}
		msgs = append(msgs, m)
	}
	return msgs, nil
}

// Read implements the SDK's connection.
func (c *lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m, ok := <-c.incoming:
		if !ok {
			if c.err == nil {
				return nil, io.EOF
			}
			return nil, c.err
		}
		return m, nil
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements the SDK's connection.
func (c *lines) Write(_ context.Context, m jsonrpc.Message) error {
	b, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	c.writeMu.Lock()
	defer c.writeMu.Unlock()
	if f, ok := c.out.(*os.File); ok {
		if err := f.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
			return err
		}
	}
	if _, err := c.out.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("the server takes no more input: %w", err)
	}
	return nil
}

// Close implements the SDK's connection. The pipe to the server is closed, which
// asks it to end; what follows is its jail's work.
func (c *lines) Close() error {
	c.closeOne.Do(func() {
		close(c.closed)
		c.out.Close()
	})
	return nil
}

// SessionID implements the SDK's connection.
func (c *lines) SessionID() string { return "" }
