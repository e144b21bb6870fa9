package bot

import (
	"context"
	"fmt"
	"strings"

	"github.com/glyphoxa/glyphoxa/engine"
)

// maxListened is how many people's pauses are remembered: more than a voice channel
// holds.
const maxListened = 256

// SetPatience says how long a player may pause before it counts as the end of what
// they say: quick, normal or long. player is a name or an id, or "" for who asks. The DM may set it for everybody and players
// for themselves. It holds until the table closes.
func (t *Table) SetPatience(ctx context.Context, who Person, player, pauses string) error {
	p, err := engine.ParsePatience(pauses)
	if err != nil {
		return err
	}
	if player == "" {
		player = who.ID
	}
	return t.do(ctx, func() error {
		own := player == who.ID || strings.EqualFold(player, who.Name)
		if !who.DM && !own {
			return ErrNotAllowed
		}
		for id, one := range t.listened {
			if id == player || strings.EqualFold(one.name, player) {
				one.pauses.SetPatience(p)
				return nil
			}
		}
		if own {
			t.pausesOf(who).SetPatience(p)
			return nil
		}
		var names []string
		for _, one := range t.listened {
			names = append(names, one.name)
		}
		return fmt.Errorf("nobody called %q has been listened to; there are %s", player, strings.Join(names, ", "))
	})
}

// listened is somebody who has been listened to, and how they pause.
type listened struct {
	name   string
	pauses *engine.Pauses
}

// pausesOf is how somebody pauses. It is kept as long as the table is, so that what
// was learned outlives a microphone that is closed and opened again.
func (t *Table) pausesOf(who Person) *engine.Pauses {
	if one, ok := t.listened[who.ID]; ok {
		return one.pauses
	}
	p := new(engine.Pauses)
	p.SetPatience(t.o.Patience)
	for name, set := range t.o.PatienceOf {
		if name == who.ID || strings.EqualFold(name, who.Name) {
			p.SetPatience(set)
		}
	}
	if t.listened == nil {
		t.listened = map[string]listened{}
	}
	if len(t.listened) < maxListened {
		t.listened[who.ID] = listened{who.Name, p}
	}
	return p
}
