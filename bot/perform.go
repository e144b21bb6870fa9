package bot

import (
	"context"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/npc"
)

// A Performer is one NPC's conversation with a model that hears and speaks by
// itself.
type Performer interface {
	// Name is for the console.
	Name() string
	// Perform plays one turn like [engine.Run]. sound is what was said to the NPC, 16
	// kHz mono, or nil if it was written. What it cannot do itself it plays with the
	// plan's own model and synthesiser.
	Perform(ctx context.Context, p engine.Plan, sound []int16) engine.Outcome
	// Warm opens the session ahead of the first turn, for a brief that begins so. It
	// may take a few seconds, and ends when Close is called.
	Warm(system string)
	// Close ends the conversation; it may wait for a turn that is being performed.
	Close()
}

// performer plays the NPC's turn, if it has one. What the DM has an NPC say word for
// word is not for a model.
func (t *Table) performer(c npc.Character, a ask) Performer {
	if t.o.Performer == nil || a.exact != "" || t.broke.Load() {
		return nil
	}
	p, ok := t.performers[c.ID]
	if !ok {
		if t.performers == nil {
			t.performers = map[string]Performer{}
		}
		p = t.o.Performer(c)
		t.performers[c.ID] = p
	}
	return p
}

// warm opens the sessions of the NPCs who are here, before anybody speaks to them.
func (t *Table) warm() {
	if t.o.Synth == nil {
		return
	}
	for _, id := range t.scene.Present {
		c, ok := t.character(id)
		if !ok {
			continue
		}
		if p := t.performer(c, ask{npc: id}); p != nil {
			brief := npc.NewBrief(c, t.setting(), npc.Situation{})
			t.tasks.Go(func() { p.Warm(brief.Stable) })
		}
	}
}

// dismiss ends all such conversations: the table closes, or the NPCs have changed.
func (t *Table) dismiss() {
	for _, p := range t.performers {
		if p != nil {
			t.tasks.Go(p.Close)
		}
	}
	t.performers = nil
}

// perform plays a turn, by whoever plays this NPC.
func perform(ctx context.Context, p Performer, plan engine.Plan, a ask) engine.Outcome {
	if p == nil || plan.Mouth == nil {
		return engine.Run(ctx, plan)
	}
	return p.Perform(ctx, plan, a.sound)
}
