package bot

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/glyphoxa/glyphoxa/voice"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// ears is how much sound a listener may be behind before it loses the oldest:
// two seconds. It bounds what a dead browser tab can hold.
const ears = 100

// late is when a speaker that was held up stops catching up and starts a new
// clock: a burst of old sound helps nobody.
const late = 60 * time.Millisecond

// room is where NPCs are heard when there is no voice call: it paces their sound
// to real time and hands it to every listener.
type room struct {
	mu        sync.Mutex // guards the two below
	listeners []chan Sound
	spoke     time.Time // when the last frame of a voice was sent
	// Fast rooms do not wait for the clock: sound that goes to a file.
	fast bool
}

// listen registers a listener until stop is called.
func (r *room) listen() (sounds <-chan Sound, stop func()) {
	// A full channel drops the newest frame for this listener only.
	c := make(chan Sound, ears)
	r.mu.Lock()
	r.listeners = append(r.listeners, c)
	r.mu.Unlock()
	return c, func() {
		r.mu.Lock()
		r.listeners = slices.DeleteFunc(r.listeners, func(l chan Sound) bool { return l == c })
		r.mu.Unlock()
	}
}

func (r *room) send(s Sound) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.Samples != nil && s.NPC != Background {
		r.spoke = time.Now()
	}
	for _, l := range r.listeners {
		select {
		case l <- s:
		default:
			if s.Flush { // must arrive: what is queued is to be dropped anyway
				drain(l)
				l <- s
			}
		}
	}
}

// keepUp waits until no listener is far behind, in a room that has no clock: a file
// is to have all of an answer, however busy the machine is. One that takes nothing for
// two seconds is not waited for.
func (r *room) keepUp(ctx context.Context) error {
	for range 2000 {
		r.mu.Lock()
		behind := slices.ContainsFunc(r.listeners, func(l chan Sound) bool { return len(l) > ears/2 })
		r.mu.Unlock()
		if !behind {
			break
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
	}
	return context.Cause(ctx)
}

// speaking reports whether an NPC is heard in the room.
func (r *room) speaking(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return now.Sub(r.spoke) < spokenFor
}

func drain(c chan Sound) {
	for {
		select {
		case <-c:
		default:
			return
		}
	}
}

// mouth is one NPC speaking one line in the room.
type mouth struct {
	room      *room
	npc, line string
	due       time.Time // of the next frame; zero before the first
}

// relay is a mouth in a voice call, which has a clock of its own. Whoever watches
// the page hears it too.
type relay struct {
	room      *room
	npc, line string
	voice     *voice.Voice
}

// Play gives the frame to the call.
func (m *relay) Play(ctx context.Context, frame []int16) error {
	if err := m.voice.Play(ctx, frame); err != nil {
		return err
	}
	m.room.send(Sound{NPC: m.npc, Line: m.line, Samples: slices.Clone(frame)})
	return nil
}

// Flush takes back what the call has not sent yet.
func (m *relay) Flush() int { return m.voice.Flush() }

// Play sends the frame when its time has come. The first leaves at once.
func (m *mouth) Play(ctx context.Context, frame []int16) error {
	if err := m.wait(ctx); err != nil {
		return err
	}
	m.room.send(Sound{NPC: m.npc, Line: m.line, Samples: slices.Clone(frame)})
	return nil
}

func (m *mouth) wait(ctx context.Context) error {
	if m.room.fast {
		return m.room.keepUp(ctx)
	}
	now := time.Now()
	if m.due.IsZero() || now.Sub(m.due) > late {
		m.due = now
	}
	if d := m.due.Sub(now); d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	m.due = m.due.Add(pcm.FrameTime)
	return nil
}

// Flush has nothing to take back: frames leave one by one.
func (m *mouth) Flush() int { return 0 }
