package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/glyphoxa/glyphoxa/campaigns"
	"github.com/glyphoxa/glyphoxa/memory"
)

// maxAdditions is how many entities may be added to a campaign at the table. Who
// needs more is writing a campaign, and has a folder for it.
const maxAdditions = 500

// Entities are everybody and everything the campaign knows, by name; added says
// which of them came up at the table. Only the game master sees them all.
func (t *Table) Entities(ctx context.Context, who Person) (all []memory.Entity, added []string, err error) {
	if err := dm(who); err != nil {
		return nil, nil, err
	}
	err = t.do(ctx, func() error {
		all = slices.Clone(t.campaign.Entities)
		for _, e := range t.added {
			added = append(added, e.ID)
		}
		return nil
	})
	return all, added, err
}

// AddEntities adds people, places or things to the campaign's world, for the rest
// of the campaign. One that was added before is replaced; what the campaign's own
// files say is not.
func (t *Table) AddEntities(ctx context.Context, who Person, add ...memory.Entity) error {
	return t.changeWorld(ctx, who, func(own *campaigns.Campaign, added []memory.Entity) ([]memory.Entity, error) {
		for _, e := range add {
			if slices.ContainsFunc(own.Entities, func(o memory.Entity) bool { return o.ID == e.ID }) {
				return nil, Refuse("the campaign has %s already: change it in the campaign's files", e.Name)
			}
			added = append(slices.DeleteFunc(added, func(o memory.Entity) bool { return o.ID == e.ID }), e)
		}
		if len(added) > maxAdditions {
			return nil, Refuse("more than %d entities were added at the table: write them into the campaign's files", maxAdditions)
		}
		return added, nil
	})
}

// RemoveEntity takes back what AddEntities added. What was learned of it stays in
// memory's past.
func (t *Table) RemoveEntity(ctx context.Context, who Person, id string) error {
	return t.changeWorld(ctx, who, func(_ *campaigns.Campaign, added []memory.Entity) ([]memory.Entity, error) {
		left := slices.DeleteFunc(added, func(e memory.Entity) bool { return e.ID == id })
		if len(left) == len(added) {
			return nil, Refuse("only what was added at the table can be removed there: the rest is in the campaign's files")
		}
		return left, nil
	})
}

// changeWorld changes what was added to the world, on disk before in the game.
func (t *Table) changeWorld(ctx context.Context, who Person, change func(own *campaigns.Campaign, added []memory.Entity) ([]memory.Entity, error)) error {
	if err := dm(who); err != nil {
		return err
	}
	t.worldMu.Lock()
	defer t.worldMu.Unlock()
	var own *campaigns.Campaign
	var added []memory.Entity
	if err := t.do(ctx, func() error {
		added, own = slices.Clone(t.added), t.own
		return nil
	}); err != nil {
		return err
	}
	added, err := change(own, added)
	if err != nil {
		return err
	}
	all := slices.Concat(own.Entities, added)
	if err := memory.CheckWorld(all); err != nil {
		return err
	}
	if err := writeAdditions(t.o.Additions, added); err != nil {
		return err
	}
	if err := t.do(ctx, func() error { t.added = added; return nil }); err != nil {
		return err
	}
	return t.Reload(ctx, own)
}

// peopled is a campaign with what was added at the table.
func (t *Table) peopled(c *campaigns.Campaign) *campaigns.Campaign {
	t.own = c
	full := *c
	full.Entities = slices.Clone(c.Entities)
	for _, e := range t.added {
		if !slices.ContainsFunc(c.Entities, func(o memory.Entity) bool { return o.ID == e.ID }) {
			full.Entities = append(full.Entities, e)
		}
	}
	return &full
}

func readAdditions(path string) ([]memory.Entity, error) {
	if path == "" {
		return nil, nil
	}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var added []memory.Entity
	if err == nil {
		err = json.Unmarshal(b, &added)
	}
	if err == nil {
		err = memory.CheckWorld(added)
	}
	if err != nil {
		return nil, fmt.Errorf("read what was added to the world: %w; mend or remove %s", err, path)
	}
	return added, nil
}

func writeAdditions(path string, added []memory.Entity) error {
	if path == "" {
		return nil
	}
	b, err := json.MarshalIndent(added, "", "  ")
	if err != nil {
		return err
	}
	tmp := path + ".new" // a crash leaves the old file or the new one
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		return fmt.Errorf("keep what was added to the world: %w", err)
	}
	if err := os.Rename(tmp, path); err != nil {
		return fmt.Errorf("keep what was added to the world: %w", err)
	}
	return nil
}
