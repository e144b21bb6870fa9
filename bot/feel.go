package bot

import (
	"time"

	"github.com/glyphoxa/glyphoxa/npc"
)

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

// feel lets what was said to an NPC move it, and shows its mood.
func (t *Table) feel(id string, who Person, text string) {
	c, ok := t.character(id)
	if !ok {
		return
	}
	now := time.Now()
	f := t.feelingsOf(c)
	f.Hear(who.ID, text, now)
	if card := t.card(id); card != nil && card.Mood != f.Mood(now) {
		card.Mood = f.Mood(now)
		t.showCard(card)
	}
}
