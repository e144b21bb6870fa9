package bot

import (
	"context"
	"time"

	"github.com/glyphoxa/glyphoxa/npc"
)

// TakeTime lets the next answer of one NPC, or of whoever answers next if id is
// "", take the deep tier. The NPC's ceiling still holds.
func (t *Table) TakeTime(ctx context.Context, who Person, id string) error {
	if err := dm(who); err != nil {
		return err
	}
	return t.do(ctx, func() error {
		if id != "" && t.card(id) == nil {
			return t.noSuchNPC(id)
		}
		t.unhurried[id] = true
		return nil
	})
}

// hurries reports whether nobody has given the NPC time for this answer. The leave
// is used up by being looked at.
func (t *Table) hurries(id string) bool {
	for _, k := range []string{id, ""} {
		if t.unhurried[k] {
			delete(t.unhurried, k)
			return false
		}
	}
	return true
}

// tier decides how long this turn may wait for its tools.
func (t *Table) tier(a ask, c npc.Character) npc.Choice {
	m := npc.Moment{FirstTurn: !t.met[c.ID], Waiting: len(t.waiting) + 1, Override: t.override.now(a.heard), Lifted: t.lifted[c.ID].now(a.heard), Ceiling: c.Tier}
	if !t.hurries(c.ID) {
		// The DM's leave is not the players' habit: no pause between two of them.
		a.decision.TakeTime = true
		return npc.SelectTier(&a.decision, m)
	}
	if !t.deep.IsZero() {
		m.SinceDeep = time.Since(t.deep)
	}
	if last := t.exchanges[a.line.Speaker.ID]; last.npc == c.ID {
		m.Rapid = a.heard.Sub(last.at) < rapid
	}
	return npc.SelectTier(&a.decision, m)
}

// rapid is the longest pause in a quick exchange.
const rapid = 2 * time.Second
