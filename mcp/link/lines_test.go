package link

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// speak feeds a server's output to a connection and returns the messages it makes
// of it, and why it ended.
func speak(t *testing.T, out io.Reader) (methods []string, err error) {
	t.Helper()
	c := newLines(io.NopCloser(out), nopWriter{}, nil)
	for {
		m, err := c.Read(t.Context())
		if err != nil {
			return methods, err
		}
		if r, ok := m.(*jsonrpc.Request); ok {
			methods = append(methods, r.Method)
		}
	}
}

type nopWriter struct{}

func (nopWriter) Write(p []byte) (int, error) { return len(p), nil }
func (nopWriter) Close() error                { return nil }

const note = `{"jsonrpc":"2.0","method":"notifications/x"}` + "\n"

func TestJunkBetweenMessagesIsSkipped(t *testing.T) {
	got, err := speak(t, strings.NewReader("Welcome!\n\n"+note+"  at line 3\r\n"+"["+strings.TrimSpace(note)+","+strings.TrimSpace(note)+"]\n"+note+`{"jsonrpc":"2.0","meth`))
	if len(got) != 4 || !errors.Is(err, io.EOF) {
		t.Errorf("%d messages, %v; want 4 and EOF", len(got), err)
	}
}

func TestThirdBrokenMessageEndsTheConnection(t *testing.T) {
	long := `{"x":"` + strings.Repeat("x", MaxMessage) + `"}` + "\n"
	got, err := speak(t, strings.NewReader("{broken\n"+note+long+note+"[1]\n"+note))
	if len(got) != 2 || err == nil || errors.Is(err, io.EOF) {
		t.Errorf("%d messages, %v; want 2 and why", len(got), err)
	}
}

func TestFloodIsCut(t *testing.T) {
	got, _ := speak(t, strings.NewReader(strings.Repeat(note, 20*burst)))
	if len(got) < burst || len(got) > 3*burst {
		t.Errorf("%d of %d messages came through, want about %d", len(got), 20*burst, burst)
	}
}

func TestEndlessNoiseEndsTheConnection(t *testing.T) {
	if _, err := speak(t, strings.NewReader(strings.Repeat("y\n", maxNoise+1))); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("err %v, want why", err)
	}
}

func FuzzReadLine(f *testing.F) {
	f.Add([]byte("a\nb\n"), 3)
	f.Fuzz(func(t *testing.T, in []byte, _ int) {
		r := bufio.NewReaderSize(bytes.NewReader(in), 16)
		n := 0
		for {
			line, long, err := readLine(r)
			if err != nil {
				break
			}
			if long || !bytes.HasSuffix(line, []byte("\n")) {
				t.Errorf("%q: %v", line, long)
			}
			n++
		}
		if want := bytes.Count(in, []byte("\n")); n != want {
			t.Errorf("%d lines, want %d", n, want)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(note))
	f.Add([]byte(`[{"jsonrpc":"2.0","id":1,"result":{}}]`))
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) == 0 || in[0] != '{' && in[0] != '[' {
			return
		}
		msgs, err := decode(in)
		if err == nil && in[0] == '{' && len(msgs) != 1 {
			t.Errorf("%q: %d messages", in, len(msgs))
		}
	})
}
