package link

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// behave is a server over pipes that greets, and then does as it is told with the
// first call. It returns the connection to it.
func behave(ctx context.Context, t *testing.T, call func(out io.WriteCloser)) *Link {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	go func() {
		lines := bufio.NewScanner(in)
		for lines.Scan() {
			var m struct {
				ID     json.RawMessage
				Method string
			}
			if json.Unmarshal(lines.Bytes(), &m) != nil {
				continue
			}
			switch m.Method {
			case "initialize":
				fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}}`+"\n", m.ID)
			case "tools/call":
				call(out)
			}
		}
	}()
	l, err := open(ctx, &lineTransport{newLines(fromServer, toServer, nil)}, legacy, Options{}, func() {
		in.Close()
		out.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// R26: the caller is back at its limit, whether the server thinks, or does not
// even read that it need not think any longer.
func TestCallEndsAtItsLimitWhateverTheServerDoes(t *testing.T) {
	const limit = 500 * time.Millisecond
	for name, call := range map[string]func(quit chan struct{}) func(io.WriteCloser){
		"hangs":         func(chan struct{}) func(io.WriteCloser) { return func(io.WriteCloser) {} },
		"reads no more": func(quit chan struct{}) func(io.WriteCloser) { return func(io.WriteCloser) { <-quit } },
		"says half of it": func(chan struct{}) func(io.WriteCloser) {
			return func(out io.WriteCloser) { _, _ = io.WriteString(out, `{"jsonrpc":"2.0","id":2,"res`) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				quit := make(chan struct{})
				l := behave(t.Context(), t, call(quit))
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				began := time.Now()
				_, err := l.Call(ctx, "think", json.RawMessage(`{}`))
				if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != limit {
					t.Errorf("%v after %v, want the deadline after %v", err, took, limit)
				}
				close(quit)
				l.Close()
			})
		})
	}
}

// R25: a server that ends in a call is noticed at once, not at the call's limit.
func TestCallEndsWithTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := behave(t.Context(), t, func(out io.WriteCloser) {
			time.Sleep(time.Second)
			out.Close()
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began := time.Now()
		_, err := l.Call(ctx, "think", json.RawMessage(`{}`))
		if took := time.Since(began); !errors.Is(err, ErrGone) || took != time.Second {
			t.Errorf("%v after %v, want ErrGone after 1s", err, took)
		}
		<-l.Done()
		l.Close()
	})
}
