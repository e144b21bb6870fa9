package llm

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
)

const (
	// maxLine bounds one line of a stream: a tool call's arguments in one piece are
	// the longest.
	maxLine = 1 << 20
	// maxStream bounds a whole answer on the wire. Each token of four letters comes
	// in some 250 bytes; this is 60,000 of them.
	maxStream = 16 << 20
)

// event is one server-sent event.
type event struct {
	name string
	data []byte // valid until the next one
}

// events reads server-sent events as the HTML standard has them, leniently: byte
// order marks, any line end, comments, and a last event that the connection's end
// cut short of its empty line.
func events(r io.Reader) iter.Seq2[event, error] {
	return func(yield func(event, error) bool) {
		limited := &io.LimitedReader{R: r, N: maxStream}
		lines := bufio.NewScanner(limited)
		lines.Buffer(make([]byte, 0, 8<<10), maxLine)
		var e event
		var data []byte
		flush := func() bool {
			if data == nil {
				e.name = ""
				return true
			}
			e.data = data
			ok := yield(e, nil)
			e, data = event{}, nil
			return ok
		}
		for first := true; lines.Scan(); first = false {
			line := bytes.TrimSuffix(lines.Bytes(), []byte("\r"))
			if first {
				line = bytes.TrimPrefix(line, []byte("\ufeff"))
			}
			if len(line) == 0 {
				if !flush() {
					return
				}
				continue
			}
			field, value, _ := bytes.Cut(line, []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			switch string(field) {
			case "event":
				e.name = string(value)
			case "data":
				if data != nil {
					data = append(data, '\n')
				}
				data = append(data, value...)
				if data == nil {
					data = []byte{}
				}
			}
			if len(data) > maxLine {
				yield(event{}, fmt.Errorf("an event of over %d KB", maxLine>>10))
				return
			}
		}
		switch err := lines.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			yield(event{}, fmt.Errorf("a line of over %d KB", maxLine>>10))
		case err != nil:
			yield(event{}, err)
		case limited.N <= 0:
			yield(event{}, fmt.Errorf("an answer of over %d MB", maxStream>>20))
		default:
			flush()
		}
	}
}
