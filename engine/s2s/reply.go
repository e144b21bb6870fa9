package s2s

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
)

const (
	// firstSound is how long a vendor may take to begin an answer.
	firstSound = 2500 * time.Millisecond
	// gap is how long it may fall silent within one.
	gap = 2 * time.Second
	// late is how long words may take after the last sound.
	late = 600 * time.Millisecond
	// maxSound bounds one answer, in samples: two minutes, like a turn.
	maxSound = 2 * 60 * replyRate
	// replyRate is the rate of both vendors' sound.
	replyRate = 24000
)

// errSilent is a vendor that says nothing though its connection stands.
var errSilent = errors.New("nothing came")

// A reply is one answer while it comes: words and sound, each at their own pace.
type reply struct {
	turn int // of its line; set before the first event

	mu      sync.Mutex    // guards what follows
	changed chan struct{} // closed and replaced at each change
	text    strings.Builder
	sound   []int16
	done    bool
	err     error     // why it ended, if not by itself
	moved   time.Time // when something last came, or was asked for
	begun   bool      // something has come since it was asked for
	open    int       // tool calls without a result
	over    bool      // nobody waits for it any more
}

func newReply() *reply { return &reply{changed: make(chan struct{}), moved: time.Now()} }

// change runs f under the lock and wakes those who wait.
func (r *reply) change(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	f()
	close(r.changed)
	r.changed = make(chan struct{})
}

// hear takes an event of the session's.
func (r *reply) hear(ev any) {
	r.change(func() {
		r.moved = time.Now()
		switch ev := ev.(type) {
		case evWords:
			if r.text.Len() < engine.MaxReply {
				r.text.WriteString(ev.text)
			}
			r.begun = true
		case evSound:
			if len(r.sound)+len(ev.samples) > maxSound {
				r.end(errors.New("an answer of over two minutes"))
				return
			}
			r.sound = append(r.sound, ev.samples...)
			r.begun = true
		}
	})
}

// end is called under the lock.
func (r *reply) end(err error) {
	if !r.done {
		r.done, r.err = true, err
	}
}

// fail ends the reply.
func (r *reply) fail(err error) { r.change(func() { r.end(err) }) }

// asked says that the vendor is to go on.
func (r *reply) asked() { r.change(func() { r.moved, r.begun = time.Now(), false }) }

// broken is why the reply ended, if not by itself.
func (r *reply) broken() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// words are those that have come.
func (r *reply) words() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// leave makes whatever still comes nobody's.
func (r *reply) leave() {
	r.change(func() { r.end(errors.New("left")) })
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
}

// wait waits until look, called under the lock, returns true or an error, ctx ends or
// the vendor is silent for too long.
func (r *reply) wait(ctx context.Context, look func() (bool, error)) error {
	for {
		r.mu.Lock()
		ok, err := look()
		changed, limit := r.changed, gap
		if !r.begun {
			limit = firstSound
		}
		left, patient := time.Until(r.moved.Add(limit)), r.open > 0 || r.done
		r.mu.Unlock()
		if ok || err != nil {
			return err
		}
		if !patient && left <= 0 {
			err := fmt.Errorf("%w for %v", errSilent, limit)
			r.fail(err)
			return err
		}
		if patient {
			left = gap // only to look again; tools have limits of their own
		}
		t := time.NewTimer(left)
		select {
		case <-changed:
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return context.Cause(ctx)
		}
		t.Stop()
	}
}
