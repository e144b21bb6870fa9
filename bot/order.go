package bot

import (
	"fmt"
	"time"

	"github.com/glyphoxa/glyphoxa/npc"
)

// order carries out what the DM has said aloud. It takes the same ways as the
// buttons do.
func (t *Table) order(c npc.Command) error {
	targets := c.Targets
	if c.All {
		targets = t.scene.Present
	}
	switch c.Kind {
	case npc.Mute, npc.Unmute:
		for _, id := range targets {
			t.mute(id, c.Kind == npc.Mute)
		}
	case npc.Quiet:
		t.silence()
	case npc.Stop:
		t.halt("The DM stopped the NPCs: they are silent until the DM goes on.")
	case npc.Continue:
		t.goOn()
	case npc.Say:
		for _, id := range targets {
			if err := t.direct(ask{npc: id, exact: c.Words, heard: time.Now()}); err != nil {
				t.alert(Alert{Text: err.Error()})
			}
		}
	case npc.TakeTime:
		t.takeTime = true
	case npc.SetTier:
		t.override = &grant{tier: c.Tier}
		t.alert(Alert{Text: fmt.Sprintf("Every NPC answers at most in the %s tier until the DM says otherwise.", c.Tier)})
	case npc.ReleaseTier:
		t.override = nil
	}
	return nil
}
