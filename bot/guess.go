package bot

import (
	"errors"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/npc"
)

// maxGuesses is how often an answer to one utterance is prepared before it is sure
// that it has ended: once, and once again. A speaker who pauses more often costs
// nothing more.
const maxGuesses = 2

// errGoesOn ends an answer that was prepared too early.
var errGoesOn = errors.New("the speaker went on")

// guess prepares an answer to what may be all that somebody says. Nothing of it is
// heard and nothing is changed before [Table.hear] takes it as said.
func (t *Table) guess(who Person, u engine.Utterance) {
	if t.guessed != u.ID {
		t.guessed, t.guesses = u.ID, 0
	}
	switch {
	case t.guessing != nil, t.running != nil, len(t.waiting) > 0, t.guesses >= maxGuesses:
		return
	case t.closing, t.stopped != "", t.paused.Load(), len(t.unhurried) > 0:
		return
	}
	s, ok := t.understood(u)
	if !ok {
		return
	}
	d, _ := t.meant(who, s)
	if len(d.To) != 1 || d.XCard || d.Sincere || d.Command.Kind != npc.NoCommand {
		return // who is asked second waits anyway, and orders are carried out, not answered
	}
	a := ask{npc: d.To[0], line: t.lineOf(who, s), decision: d, heard: s.ended, recognised: s.recognised, sound: s.sound}
	c, ok := t.character(a.npc)
	if !ok || len(t.whispers[a.npc]) > 0 || !t.mayAnswer(a) || t.performer(c, a) != nil || t.routes(c, t.brains[c.ID]) {
		return // a whisper is told once, a vendor's session and a routed tool cannot be taken back
	}
	t.guesses++
	t.guessing = t.prepare(a, c, true)
}

// goesOn takes a prepared answer back.
func (t *Table) goesOn(id string) {
	if t.guessing != nil && t.guessing.ask.line.ID == id {
		t.dropGuess(errGoesOn)
	}
}

// dropGuess ends the answer that is being prepared, if there is one.
func (t *Table) dropGuess(why error) {
	if t.guessing != nil {
		t.guessing.cancel(why)
		t.guessing = nil
	}
}

// guessedFor is the prepared answer to a line, if it is to be given as it is: one
// NPC answers exactly these words. Any other is taken back.
func (t *Table) guessedFor(line memory.Line, to []string) *running {
	g := t.guessing
	if g == nil {
		return nil
	}
	if g.ask.line.ID == line.ID && g.ask.line.Text == line.Text && len(to) == 1 && to[0] == g.npc && t.running == nil && len(t.waiting) == 0 {
		t.guessing = nil
		return g
	}
	t.dropGuess(errGoesOn)
	return nil
}
