package bot

import (
	"fmt"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/npc"
)

// order carries out what the DM has said aloud. It takes the same ways as the
// buttons do. That it was the DM is known from who spoke, never from the words.
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
		t.hush(c.Targets, c.All)
	case npc.Stop:
		if c.All {
			t.halt("The DM stopped the NPCs: they are silent until the DM goes on.")
			break
		}
		t.hush(c.Targets, false)
		for _, id := range targets {
			t.mute(id, true)
		}
	case npc.Continue:
		if c.All || len(targets) == 0 {
			t.goOn()
		}
		for _, id := range targets {
			t.mute(id, false)
		}
	case npc.Say:
		for _, id := range targets {
			if err := t.direct(ask{npc: id, exact: c.Words, heard: time.Now()}); err != nil {
				t.alert(Alert{Text: err.Error()})
			}
		}
	case npc.TakeTime:
		for _, id := range c.Targets {
			t.unhurried[id] = true
		}
		if c.All || len(c.Targets) == 0 {
			t.unhurried[""] = true
		}
	case npc.SetTier:
		t.orderTier(c.Targets, &c.Tier)
	case npc.ReleaseTier:
		t.orderTier(c.Targets, nil)
	}
	return nil
}

const (
	// spokenGrant is how long one NPC keeps a tier that the DM gave it in words: a
	// scene's length.
	spokenGrant = 10 * time.Minute
	// spokenForAll is how long a tier for all NPCs holds that was set in words, so
	// that one which was forgotten does not slow the whole evening.
	spokenForAll = time.Hour
)

// orderTier sets or releases the tier of some NPCs, or of all if none is named.
func (t *Table) orderTier(ids []string, tier *mcp.Tier) {
	if len(ids) == 0 {
		if tier == nil {
			t.override, t.lifted = nil, nil
			t.alert(Alert{Text: "The tier is chosen for each line again."})
			return
		}
		t.override = &grant{*tier, time.Now().Add(spokenForAll)}
		t.alert(Alert{Text: fmt.Sprintf("Every NPC answers at most in the %s tier for an hour, or until the DM says otherwise.", *tier)})
		return
	}
	if t.lifted == nil {
		t.lifted = map[string]*grant{}
	}
	var names []string
	for _, id := range ids {
		delete(t.lifted, id)
		if tier != nil {
			t.lifted[id] = &grant{*tier, time.Now().Add(spokenGrant)}
		}
		names = append(names, t.person(id).Name)
	}
	who := strings.Join(names, " and ")
	if tier == nil {
		t.alert(Alert{Text: "The tier of " + who + " is chosen for each line again."})
		return
	}
	t.alert(Alert{Text: fmt.Sprintf("%s may answer in the %s tier for %d minutes.", who, *tier, int(spokenGrant.Minutes()))})
}

// hush breaks off what some NPCs, or all, are saying, and forgets what they owe.
// The others speak on.
func (t *Table) hush(ids []string, all bool) {
	if all || len(ids) == 0 {
		t.silence()
		return
	}
	for _, id := range ids {
		t.forgo(id)
		if t.running != nil && t.running.npc == id {
			t.cut(errSilenced)
		}
	}
}
