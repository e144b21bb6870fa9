package bot

import (
	"slices"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/npc"
)

// patient is how long an answer may be owed before it is the next whatever else is:
// nobody starves.
const patient = 8 * time.Second

// talks tells the floor that somebody speaks.
func (t *Table) talks(who Person, voiced time.Duration) {
	t.rule(t.floor.Talks(who.ID, voiced, time.Now()))
}

// pauses tells it that they have stopped.
func (t *Table) pauses(who Person) { t.rule(t.floor.Pauses(who.ID, time.Now())) }

// rule does with the voice of the running turn what the floor has decided.
func (t *Table) rule(v engine.Verdict) {
	t.floor.Language = t.campaign.Language
	if t.floorDue != nil {
		t.floorDue.Stop()
	}
	r := t.running
	if r == nil {
		return
	}
	switch v {
	case engine.Go:
		r.rein.Free()
	case engine.Duck:
		r.rein.Duck()
	case engine.Hold:
		r.rein.Hold()
	case engine.Leave:
		r.rein.Leave()
	case engine.Cut:
		t.cut(engine.ErrInterrupted)
	}
	if due := t.floor.Due(); !due.IsZero() {
		t.floorDue = time.AfterFunc(max(0, time.Until(due)), func() {
			t.post(func() { t.rule(t.floor.Passed(time.Now())) })
		})
	}
}

// contest lets a line have its effect on the NPC that answers, and returns who is to
// answer it, with the reason: not those who were only listened to, or told to stop.
func (t *Table) contest(who Person, s said, d npc.Decision, why string) (npc.Decision, string) {
	orders := d.Command.Kind != npc.NoCommand || d.XCard
	told := !orders && t.floor.OnlyStops(s.text)
	switch {
	case t.listensOnly(s):
		d.To, why = nil, "only listens"
	case told:
		d.To, why = nil, "told to stop"
		t.waiting = slices.DeleteFunc(t.waiting, func(a ask) bool { return a.line.Speaker.ID == who.ID })
	}
	dropped := t.interrupts(who, s.text, d.To)
	if !orders && !told && d.OutOfCharacter < aside {
		d.To = t.owes(d.To, dropped)
	}
	return d, why
}

// interrupts lets a line have its effect on the NPC that answers. It returns the
// answer that is not given because of it, if that had not begun: what was asked
// before is still to be answered.
func (t *Table) interrupts(who Person, text string, to []string) (dropped *ask) {
	r := t.running
	if r == nil {
		t.floor.Says(who.ID, text, true, false, time.Now())
		return nil
	}
	v := t.floor.Says(who.ID, text, true, slices.Contains(to, r.npc), time.Now())
	if v == engine.Cut && !r.speaking && r.ask.line.Speaker.ID == who.ID {
		dropped = &r.ask
	}
	t.rule(v)
	return dropped
}

// owes is which NPCs answer a line, given that it took the place of another that had
// not been answered yet. "Bartok, what is in the pot?" and "and a room, please" are
// for Bartok, who answers both at once.
func (t *Table) owes(to []string, dropped *ask) []string {
	if dropped == nil || slices.Contains(to, dropped.npc) {
		return to
	}
	return append([]string{dropped.npc}, to...)
}

// namesOf are the names that an NPC may be told to stop by.
func (t *Table) namesOf(id string) []string {
	c, _ := t.character(id)
	return append(append([]string{c.Name}, c.Aliases...), c.Titles...)
}

// urgent reports whether the DM has asked for an answer.
func (a *ask) urgent() bool { return a.line.ID == "" && a.exact != "" || a.prompt != "" }

// nextAsk is which of the answers that are owed comes next: what the DM asked for,
// else the oldest; but what has waited for long before either.
func (t *Table) nextAsk() int {
	for i, a := range t.waiting {
		if time.Since(a.owed) > patient {
			return i
		}
	}
	return max(0, slices.IndexFunc(t.waiting, func(a ask) bool { return a.urgent() }))
}

// giveWay has an NPC that speaks end its word when the DM has asked for another one.
func (t *Table) giveWay(a ask) {
	if r := t.running; r != nil && a.urgent() && !r.ask.urgent() && r.npc != a.npc {
		r.rein.Leave()
	}
}

// listensOnly reports whether a spoken line is no more than a sign of listening
// while an NPC talks: nobody answers that.
func (t *Table) listensOnly(s said) bool {
	return !s.typed && t.running != nil && t.running.speaking && strings.TrimSpace(s.text) != "" && engine.OnlyListens(s.text, t.campaign.Language)
}
