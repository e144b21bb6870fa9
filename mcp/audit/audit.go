// Package audit keeps what tools were asked for: one line of JSON per call or
// decision, in files that are only ever appended to.
//
// By default a line holds the shape of a call's arguments and not their values:
// who asked for what, and how it went, without what was said.
package audit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp"
)

const (
	// maxLog is where a new file is begun; the one before is kept. Together they
	// hold some 100,000 calls, months of play.
	maxLog = 16 << 20
	// maxLine bounds a line when reading: arguments have 64 KiB at most.
	maxLine = 256 << 10
)

// A Log is an open audit log. It is safe for concurrent use.
type Log struct {
	path string
	full bool

	mu   sync.Mutex // guards the rest
	file *os.File
	size int64
	err  error // the first write that failed
}

// Open opens the log for appending. full keeps the values of arguments.
func Open(path string, full bool) (*Log, error) {
	l := &Log{path: path, full: full}
	return l, l.open()
}

// open opens the file. The caller holds mu, or nobody else has l.
func (l *Log) open() error {
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	fi, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	l.file, l.size = f, fi.Size()
	return nil
}

// Append adds one line. It is meant to be a host's OnCall. A failing disk does not
// stop the game; [Log.Err] tells of it.
func (l *Log) Append(r mcp.CallRecord) {
	if !l.full {
		r.Args = shape(r.Args)
	} else if !json.Valid(r.Args) {
		r.Args = nil
	}
	b, err := json.Marshal(r)
	if err != nil {
		return // cannot happen: all fields are plain
	}
	b = append(b, '\n')
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return
	}
	if l.size+int64(len(b)) > maxLog {
		l.note(l.turn())
	}
	n, err := l.file.Write(b)
	l.size += int64(n)
	l.note(err)
}

// turn begins a new file. The caller holds mu.
func (l *Log) turn() error {
	err := errors.Join(l.file.Close(), os.Rename(l.path, old(l.path)))
	return errors.Join(err, l.open())
}

func old(path string) string { return strings.TrimSuffix(path, ".jsonl") + ".1.jsonl" }

func (l *Log) note(err error) {
	if l.err == nil && err != nil {
		l.err = err
	}
}

// Err is the first write that failed, or nil.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Close closes the file. Lines appended later are lost.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}

// A Query selects lines. Empty fields select all.
type Query struct {
	Tool, Server, NPC, Speaker string
	Outcome                    mcp.Outcome
	Since, Until               time.Time
}

func (q Query) wants(r mcp.CallRecord) bool {
	is := func(want, got string) bool { return want == "" || want == got }
	return is(q.Tool, r.Tool) && is(q.Server, r.Server) && is(q.NPC, r.Caller.NPC) && is(q.Speaker, r.Caller.Speaker) &&
		is(string(q.Outcome), string(r.Outcome)) &&
		(q.Since.IsZero() || !r.At.Before(q.Since)) && (q.Until.IsZero() || r.At.Before(q.Until))
}

// Read yields the selected lines of the log at path, oldest first. A line that
// cannot be read, such as the last one after a power cut, is skipped.
func Read(path string, q Query) iter.Seq2[mcp.CallRecord, error] {
	return func(yield func(mcp.CallRecord, error) bool) {
		for _, p := range []string{old(path), path} {
			f, err := os.Open(p)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				yield(mcp.CallRecord{}, err)
				return
			}
			more, err := read(f, q, yield)
			f.Close()
			if err != nil {
				yield(mcp.CallRecord{}, fmt.Errorf("%s: %w", p, err))
				return
			}
			if !more {
				return
			}
		}
	}
}

func read(from io.Reader, q Query, yield func(mcp.CallRecord, error) bool) (more bool, err error) {
	s := bufio.NewScanner(from)
	s.Buffer(nil, maxLine)
	for s.Scan() {
		var r mcp.CallRecord
		if json.Unmarshal(s.Bytes(), &r) != nil || !q.wants(r) {
			continue
		}
		if !yield(r, nil) {
			return false, nil
		}
	}
	return true, s.Err()
}
