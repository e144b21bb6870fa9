package link

import (
	"io"
	"strings"
	"sync"
)

// A tail keeps the last of what a server says on its standard error: why it ended
// is usually there.
type tail struct {
	also io.Writer // or nil

	mu  sync.Mutex // guards buf
	buf []byte
}

// maxTail is enough for the last lines of a stack trace.
const maxTail = 1 << 10

// Write implements [io.Writer]. It never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	t.buf = append(t.buf, p[max(0, len(p)-maxTail):]...)
	t.buf = t.buf[max(0, len(t.buf)-maxTail):]
	t.mu.Unlock()
	if t.also != nil {
		_, _ = t.also.Write(p) // its own troubles are not the server's
	}
	return len(p), nil
}

// String returns the last lines on one.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.FieldsFunc(strings.ToValidUTF8(string(t.buf), "?"), func(r rune) bool { return r == '\n' || r == '\r' })
	return strings.Join(lines[max(0, len(lines)-5):], " | ")
}
