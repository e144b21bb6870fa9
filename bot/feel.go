package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/npc"
)

// A Bond is what an NPC thinks of one person, for the DM to see and to change.
type Bond struct {
	// Person is the id of the one it thinks of.
	Person string `json:"person"`
	Name   string `json:"name"`
	// Value is from -100, hatred, to 100, devotion; Words says it.
	Value int    `json:"value"`
	Words string `json:"words"`
}

// feelingsOf are an NPC's feelings; they begin with its usual mood.
func (t *Table) feelingsOf(c npc.Character) *npc.Feelings {
	if t.feelings == nil {
		t.feelings = map[string]*npc.Feelings{}
	}
	f := t.feelings[c.ID]
	if f == nil {
		f = npc.NewFeelings(c.Moods)
		t.feelings[c.ID] = f
	}
	f.Allow(c.Moods) // the campaign may have been edited
	return f
}

// feel lets what was said to an NPC move it, and shows it.
func (t *Table) feel(id string, who Person, text string) {
	c, ok := t.character(id)
	if !ok {
		return
	}
	f := t.feelingsOf(c)
	f.Hear(who.ID, text, time.Now())
	t.showFeelings(id, f)
}

// showFeelings puts an NPC's mood and opinions on its card, if they have changed.
func (t *Table) showFeelings(id string, f *npc.Feelings) {
	card := t.card(id)
	if card == nil {
		return
	}
	mood, bonds := f.Mood(time.Now()), t.bondsOf(f)
	if card.Mood == mood && slices.Equal(card.Bonds, bonds) {
		return
	}
	card.Mood, card.Bonds = mood, bonds
	t.showCard(card)
}

func (t *Table) bondsOf(f *npc.Feelings) []Bond {
	var out []Bond
	for who, v := range f.Bonds() {
		name := t.people[who]
		if name == "" {
			continue // somebody of an earlier session
		}
		out = append(out, Bond{Person: who, Name: name, Value: v, Words: npc.BondWords(v)})
	}
	return out
}

// SetMood puts an NPC into one of the moods that its campaign allows. It passes as
// a mood does that an event caused.
func (t *Table) SetMood(ctx context.Context, who Person, id, mood string) error {
	if err := dm(who); err != nil {
		return err
	}
	return t.do(ctx, func() error {
		c, ok := t.character(id)
		if !ok {
			return t.noSuchNPC(id)
		}
		f := t.feelingsOf(c)
		if !f.Set(mood, time.Now()) {
			return fmt.Errorf("%s has no mood %q; its campaign allows %s", c.Name, mood, strings.Join(c.Moods, ", "))
		}
		t.showFeelings(id, f)
		return nil
	})
}

// SetBond says what an NPC thinks of a person who has been at the table, from -100
// to 100. Values beyond are cut.
func (t *Table) SetBond(ctx context.Context, who Person, id, person string, value int) error {
	if err := dm(who); err != nil {
		return err
	}
	return t.do(ctx, func() error {
		c, ok := t.character(id)
		if !ok {
			return t.noSuchNPC(id)
		}
		if t.people[person] == "" {
			return fmt.Errorf("nobody of the id %q has been at this table", person)
		}
		f := t.feelingsOf(c)
		f.SetBond(person, value)
		t.showFeelings(id, f)
		return nil
	})
}
