package bot

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/voice"
)

const (
	// talkers is how many people are listened to at once.
	talkers = 16
	// backlog is how many frames of one of them may wait: two seconds. A full one
	// loses the newest, and nobody else waits.
	backlog = 100
	// npcPriority turns music down while an NPC speaks.
	npcPriority = 10
)

// ErrAttending means that a table is in a call already.
var ErrAttending = errors.New("the table is in a voice call already: stop that session first")

// Attend lets the table hear and speak in a voice call until ctx or the call
// ends. person says who a user is; for users who have not agreed to be heard it
// returns false, and their sound is dropped before anything looks at it. So is
// everybody's while the table is paused.
func (t *Table) Attend(ctx context.Context, call *voice.Conn, person func(user uint64) (Person, bool)) error {
	if err := t.do(ctx, func() error {
		if t.call != nil {
			return ErrAttending
		}
		t.call, t.voices = call, map[string]*voice.Voice{}
		t.band.move(call.Voice(musicPriority))
		return nil
	}); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var tasks sync.WaitGroup
	mics := map[uint64]chan []int16{}
	for f := range call.Hear(ctx) {
		who, agreed := person(f.User)
		if !agreed || t.o.Ear == nil || t.paused.Load() {
			continue
		}
		mic := mics[f.User]
		if mic == nil {
			if len(mics) >= talkers {
				continue
			}
			mic = make(chan []int16, backlog)
			mics[f.User] = mic
			tasks.Go(func() { t.attendTo(ctx, who, mic) })
		}
		select {
		case mic <- append([]int16(nil), f.Samples...):
		default:
		}
	}
	cancel(call.Err())
	tasks.Wait()
	return t.do(context.WithoutCancel(ctx), func() error {
		t.cut(errSilenced)
		for _, v := range t.voices {
			v.Close()
		}
		t.call, t.voices = nil, nil
		t.band.move(nil)
		return nil
	})
}

// attendTo listens to one person in the call.
func (t *Table) attendTo(ctx context.Context, who Person, mic <-chan []int16) {
	if err := t.Listen(ctx, who, received(ctx, mic)); err != nil && ctx.Err() == nil {
		t.Tell(Alert{Text: who.Name + " is not heard: " + err.Error(), Bad: true})
	}
}

// received yields the frames that come until ctx ends.
func received(ctx context.Context, mic <-chan []int16) iter.Seq[[]int16] {
	return func(yield func([]int16) bool) {
		for {
			select {
			case f := <-mic:
				if !yield(f) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

// mouthOf is where an NPC's line is spoken: the call, or the room.
func (t *Table) mouthOf(npc, line string) engine.Mouth {
	if t.call == nil {
		return &mouth{room: &t.room, npc: npc, line: line}
	}
	v := t.voices[npc]
	if v == nil {
		v = t.call.Voice(npcPriority)
		t.voices[npc] = v
	}
	return &relay{room: &t.room, npc: npc, line: line, voice: v}
}
