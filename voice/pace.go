package voice

import (
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

const (
	// slots of one millisecond spread the calls of a process over the 20 ms of a
	// frame: measured, 1,000 calls sent all at once are 2 ms late at the median,
	// spread out 0.2 ms.
	slots    = 20
	slotTime = pcm.FrameTime / slots
	// hopeless is how late the pacer may be before it starts a new clock instead
	// of catching up: a burst of old packets helps nobody.
	hopeless = 60 * time.Millisecond
)

// A Pacer sends the packets of all calls of a process when they are due, from one
// thread of its own. It sleeps while nobody speaks.
type Pacer struct {
	mu    sync.Mutex // guards the three below and sender.active
	slots [slots][]*sender
	count int
	now   int // the slot that is next

	// sleep is sleepUntil; in tests, one that knows virtual time.
	sleep func(time.Time)

	wake chan struct{} // a token when the first sender came
	stop chan struct{}
	done sync.WaitGroup
	// lateness is told how late each packet left; nil outside of benchmarks.
	lateness func(time.Duration)
}

// NewPacer starts a pacer. One serves about 1,000 calls.
func NewPacer() *Pacer {
	p := newPacer(sleepUntil)
	p.done.Go(func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		raisePriority()
		p.run()
	})
	return p
}

func newPacer(sleep func(time.Time)) *Pacer {
	return &Pacer{sleep: sleep, wake: make(chan struct{}, 1), stop: make(chan struct{})}
}

// Close ends the thread. Calls must have been left before.
func (p *Pacer) Close() {
	close(p.stop)
	p.done.Wait()
}

// add has the sender's packets sent, the first one within a millisecond. It does
// nothing for a sender that is being served already.
func (p *Pacer) add(s *sender) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.active {
		return
	}
	s.active, s.slot = true, p.now
	p.slots[p.now] = append(p.slots[p.now], s)
	if p.count++; p.count == 1 {
		select {
		case p.wake <- struct{}{}:
		default:
		}
	}
}

// remove takes a sender out; its tick is not running afterwards.
func (p *Pacer) remove(s *sender) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(s)
}

func (p *Pacer) drop(s *sender) {
	if !s.active {
		return
	}
	s.active = false
	p.slots[s.slot] = slices.DeleteFunc(p.slots[s.slot], func(o *sender) bool { return o == s })
	p.count--
}

// run goes round the slots, one a millisecond, by absolute deadlines: a late tick
// does not delay the ones after it.
func (p *Pacer) run() {
	var due time.Time
	for {
		if !p.busy() {
			select {
			case <-p.wake:
			case <-p.stop:
				return
			}
			due = time.Now()
		}
		select {
		case <-p.stop:
			return
		default:
		}
		p.sleep(due)
		now := time.Now()
		if now.Sub(due) > hopeless {
			due = now
		}
		p.serve(now, due)
		due = due.Add(slotTime)
	}
}

func (p *Pacer) busy() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count > 0
}

// serve ticks the senders of the slot that is due. The lock is held over their
// sends, which take microseconds, so that a removed sender is never ticked.
func (p *Pacer) serve(now, due time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	here := p.slots[p.now]
	for i := len(here) - 1; i >= 0; i-- {
		if !here[i].tick(now) {
			p.drop(here[i])
		} else if p.lateness != nil {
			p.lateness(time.Since(due))
		}
	}
	p.now = (p.now + 1) % slots
}
