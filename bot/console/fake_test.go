package console_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// tavern is a table with two NPCs on which a test decides what happens. What
// people do to it is written down in deeds.
type tavern struct {
	mu       sync.Mutex // guards all below
	state    bot.Snapshot
	log      []bot.Event
	dropped  uint64 // events that are held no more
	changed  chan struct{}
	sounds   map[chan bot.Sound]bool
	deeds    []string
	heard    map[string]int // frames of microphones by name
	readers  int
	fail     error         // what every action answers
	slow     chan struct{} // if set, Listen waits for it after the last frame
	deafness error         // what Listen answers
}

func newTavern() *tavern {
	return &tavern{
		changed: make(chan struct{}), sounds: map[chan bot.Sound]bool{}, heard: map[string]int{},
		state: bot.Snapshot{
			Campaign: "The Gilded Flagon",
			Scene:    bot.Scene{ID: "taproom", Name: "The taproom", Text: "Rain on the shutters.", Mood: "cosy"},
			Scenes:   []bot.Scene{{ID: "taproom", Name: "The taproom"}, {ID: "cellar", Name: "The cellar"}},
			NPCs: []bot.NPC{
				{ID: "bartok", Name: "Bartok the Barkeep", State: bot.Listening, Ceiling: mcp.Standard,
					Tools: []string{"roll"}, Hidden: []bot.Hidden{{Name: "search_rules", Reason: "slower than fast"}}},
				{ID: "greymantle", Name: "Greymantle the Sage", State: bot.Listening, Ceiling: mcp.Deep},
			},
			Brain: bot.Part{Name: "improviser", Basic: true, Note: "point me at Ollama"},
		},
	}
}

// happen adds an event to the log and returns its number.
func (t *tavern) happen(e bot.Event) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	e.ID = t.dropped + uint64(len(t.log)) + 1
	t.state.Event = e.ID
	t.log = append(t.log, e)
	close(t.changed)
	t.changed = make(chan struct{})
	return e.ID
}

// says has somebody say a whole line.
func (t *tavern) says(id, name, text string) uint64 {
	return t.happen(bot.Event{Line: &bot.Line{ID: id, Speaker: bot.Person{ID: name, Name: name}, Text: text, Final: true}})
}

// forget drops the oldest events.
func (t *tavern) forget(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.log = slices.Clone(t.log[n:])
	t.dropped += uint64(n)
}

func (t *tavern) State() bot.Snapshot {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.state
	s.NPCs, s.Lines = slices.Clone(s.NPCs), slices.Clone(s.Lines)
	return s
}

func (t *tavern) Events(ctx context.Context, after uint64) iter.Seq[bot.Event] {
	return func(yield func(bot.Event) bool) {
		t.count(1)
		defer t.count(-1)
		for ctx.Err() == nil {
			t.mu.Lock()
			var next []bot.Event
			if skip := int(max(after, t.dropped) - t.dropped); skip < len(t.log) {
				next = slices.Clone(t.log[skip:])
			}
			changed := t.changed
			t.mu.Unlock()
			for _, e := range next {
				if !yield(e) {
					return
				}
				after = e.ID
			}
			if len(next) > 0 {
				continue
			}
			select {
			case <-changed:
			case <-ctx.Done():
			}
		}
	}
}

func (t *tavern) count(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.readers += n
}

func (t *tavern) Sound(ctx context.Context) iter.Seq[bot.Sound] {
	return func(yield func(bot.Sound) bool) {
		c := make(chan bot.Sound, 100) // more than any test plays ahead
		t.mu.Lock()
		t.sounds[c] = true
		t.mu.Unlock()
		defer func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			delete(t.sounds, c)
		}()
		for {
			select {
			case s := <-c:
				if !yield(s) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

// play lets the room hear a frame.
func (t *tavern) play(s bot.Sound) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for c := range t.sounds {
		c <- s
	}
}

func (t *tavern) listeners() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.sounds)
}

func (t *tavern) did(format string, args ...any) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.deeds = append(t.deeds, fmt.Sprintf(format, args...))
	return t.fail
}

// done is what has been done since the last call.
func (t *tavern) done() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	d := t.deeds
	t.deeds = nil
	return d
}

func (t *tavern) Say(_ context.Context, who bot.Person, text string) error {
	return t.did("%s (%s) says %s", who.Name, who.ID, text)
}

func (t *tavern) Listen(_ context.Context, who bot.Person, frames iter.Seq[[]int16]) error {
	if t.deafness != nil {
		return t.deafness
	}
	for f := range frames {
		if len(f) != pcm.HearSize {
			return fmt.Errorf("a frame of %d samples", len(f))
		}
		t.mu.Lock()
		t.heard[who.Name]++
		t.mu.Unlock()
	}
	if t.slow != nil {
		<-t.slow
	}
	return t.did("%s was heard", who.Name)
}

func (t *tavern) frames(name string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.heard[name]
}

func (t *tavern) Stop(_ context.Context, who bot.Person) error {
	return t.did("%s stops all", who.Name)
}

func (t *tavern) Mute(_ context.Context, who bot.Person, npc string, on bool) error {
	return t.did("%s mutes %s: %t", who.Name, npc, on)
}

func (t *tavern) SetScene(_ context.Context, who bot.Person, scene string) error {
	return t.did("%s goes to %s", who.Name, scene)
}

func (t *tavern) Answer(_ context.Context, who bot.Person, line, npc string) error {
	return t.did("%s has %s answer %s", who.Name, npc, line)
}

func (t *tavern) XCard(_ context.Context, _ bot.Person, on bool) error {
	return t.did("X-card: %t", on)
}

func (t *tavern) SpeakAs(_ context.Context, who bot.Person, npc, text string) error {
	return t.did("%s as %s: %s", who.Name, npc, text)
}

func (t *tavern) Prompt(_ context.Context, who bot.Person, npc string) error {
	return t.did("%s prompts %s", who.Name, npc)
}

func (t *tavern) Whisper(_ context.Context, who bot.Person, npc, text string) error {
	return t.did("%s to %s: %s", who.Name, npc, text)
}

func (t *tavern) Enter(_ context.Context, who bot.Person, npc string, on bool) error {
	return t.did("%s lets %s enter: %t", who.Name, npc, on)
}

func (t *tavern) Correct(_ context.Context, who bot.Person, line, text string) error {
	return t.did("%s corrects %s: %s", who.Name, line, text)
}

func (t *tavern) reading() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.readers
}

func (t *tavern) Decide(_ context.Context, who bot.Person, id, hash string, yes bool) error {
	return t.did("%s decides %s %s: %v", who.Name, id, hash, yes)
}

func (t *tavern) SetTier(_ context.Context, who bot.Person, npc string, tier mcp.Tier, _ time.Duration) error {
	return t.did("%s sets %q to %v", who.Name, npc, tier)
}

func (t *tavern) ClearTier(_ context.Context, who bot.Person, npc string) error {
	return t.did("%s clears %q", who.Name, npc)
}

func (t *tavern) Pause(_ context.Context, who bot.Person, on bool) error {
	return t.did("%s pauses: %v", who.Name, on)
}
