package bot

import (
	"context"
	"slices"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/npc"
)

// MaxGrant is the longest that a tier may be set for: an evening. Without a
// duration it holds until the session ends.
const MaxGrant = 12 * time.Hour

// A grant is a tier that the DM has set.
type grant struct {
	tier  mcp.Tier
	until time.Time // zero: until it is taken back
}

// now is the tier if it holds at that moment, or nil.
func (g *grant) now(at time.Time) *mcp.Tier {
	if g == nil || !g.until.IsZero() && at.After(g.until) {
		return nil
	}
	return &g.tier
}

// Granted is a tier that the DM has set. Until is zero if it holds until it is
// taken back.
type Granted struct {
	Tier  mcp.Tier  `json:"tier"`
	Until time.Time `json:"until,omitzero"`
}

func (g *grant) shown(at time.Time) *Granted {
	if g.now(at) == nil {
		return nil
	}
	return &Granted{g.tier, g.until}
}

// SetTier sets the tier of every answer from the next line on, for so long, or
// until it is cleared if lasting is zero. It stays under each NPC's ceiling. With
// an NPC's id it is that NPC's alone, and lifts its ceiling.
func (t *Table) SetTier(ctx context.Context, who Person, id string, tier mcp.Tier, lasting time.Duration) error {
	if err := dm(who); err != nil {
		return err
	}
	if lasting < 0 || lasting > MaxGrant {
		return Refuse("a tier may be set for at most %v", MaxGrant)
	}
	g := &grant{tier: tier}
	if lasting > 0 {
		g.until = time.Now().Add(lasting)
	}
	return t.setGrant(ctx, id, g)
}

// ClearTier lets the tier be chosen for each line again: of one NPC, or of all.
func (t *Table) ClearTier(ctx context.Context, who Person, id string) error {
	if err := dm(who); err != nil {
		return err
	}
	return t.setGrant(ctx, id, nil)
}

func (t *Table) setGrant(ctx context.Context, id string, g *grant) error {
	return t.do(ctx, func() error {
		if id == "" {
			t.override = g
			if g == nil {
				t.lifted = nil
			}
			return nil
		}
		if t.card(id) == nil {
			return t.noSuchNPC(id)
		}
		if t.lifted == nil {
			t.lifted = map[string]*grant{}
		}
		t.lifted[id] = g
		return nil
	})
}

// AllowTool switches a tool off for every NPC of this table, or on again. What an
// NPC was never granted stays so.
func (t *Table) AllowTool(ctx context.Context, who Person, tool string, on bool) error {
	if err := dm(who); err != nil {
		return err
	}
	return t.do(ctx, func() error {
		if !slices.ContainsFunc(t.o.Tools.Tools(), func(have mcp.Tool) bool { return have.Name == tool }) {
			return Refuse("there is no tool %.100q: /tools list shows them", tool)
		}
		t.barred = slices.DeleteFunc(slices.Clone(t.barred), func(b string) bool { return b == tool })
		if !on {
			t.barred = append(t.barred, tool)
		}
		return nil
	})
}

// granted is an NPC's whitelist without what is switched off.
func (t *Table) granted(c npc.Character) []string {
	if len(t.barred) == 0 {
		return c.Tools
	}
	return slices.DeleteFunc(slices.Clone(c.Tools), func(tool string) bool { return slices.Contains(t.barred, tool) })
}

// offFor is what an NPC lacks because it is switched off.
func (t *Table) offFor(c npc.Character) []Hidden {
	var out []Hidden
	for _, tool := range t.barred {
		if slices.Contains(c.Tools, tool) {
			out = append(out, Hidden{Name: tool, Reason: "the DM switched it off"})
		}
	}
	return out
}
