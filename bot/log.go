package bot

import (
	"context"
	"iter"
	"sync"
	"time"
)

// logSize is how many events are kept for pages that reconnect: several minutes
// of lively talk. A page that missed more takes a new [Snapshot].
const logSize = 4096

// eventLog numbers what happens and lets many readers follow it, each at its own
// pace. A slow reader loses the oldest events, and nobody waits for it.
type eventLog struct {
	mu      sync.Mutex // guards all below
	events  []Event    // a ring: the event with id n is at (n-1) % logSize
	last    uint64
	changed chan struct{} // closed and replaced with every event
}

func newEventLog() *eventLog { return &eventLog{changed: make(chan struct{})} }

// add numbers an event and wakes the readers.
func (l *eventLog) add(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	e.ID, e.At = l.last, time.Now()
	if len(l.events) < logSize {
		l.events = append(l.events, e)
	} else {
		l.events[(e.ID-1)%logSize] = e
	}
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *eventLog) lastID() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// follow yields the events after the given id, for ever, until ctx ends. If some
// of them are already gone, it goes on with the oldest there is.
func (l *eventLog) follow(ctx context.Context, after uint64) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		for {
			batch, changed := l.since(after)
			for _, e := range batch {
				if !yield(e) {
					return
				}
				after = e.ID
			}
			if len(batch) > 0 {
				continue
			}
			select {
			case <-ctx.Done():
				return
			case <-changed:
			}
		}
	}
}

// since copies the events after id, and returns what is closed by the next one.
func (l *eventLog) since(id uint64) ([]Event, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	oldest := l.last - uint64(len(l.events))
	if id > l.last { // from another run of the program
		id = oldest
	}
	var out []Event
	for n := max(id, oldest); n < l.last; n++ {
		out = append(out, l.events[n%logSize])
	}
	return out, l.changed
}

// strike empties the events with somebody's words, so that a page that reconnects
// is not told them again.
func (l *eventLog) strike(person string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, e := range l.events {
		if e.Line != nil && e.Line.Speaker.ID == person {
			l.events[i].Line = &Line{ID: e.Line.ID, Speaker: e.Line.Speaker, Final: true}
		}
	}
}
