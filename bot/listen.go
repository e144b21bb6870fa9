package bot

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/memory"
)

// ErrNoEar is returned by [Table.Listen] where nothing recognises speech.
var ErrNoEar = errors.New("nothing here can recognise speech: type instead, or see 'Ear' on the page")

// Listen hears one person's open microphone: frames of 320 samples of 16 kHz
// mono, as they come. It returns when frames end and the last words have been
// recognised, or when ctx ends. Talking over an NPC cuts it off.
func (t *Table) Listen(ctx context.Context, who Person, frames iter.Seq[[]int16]) error {
	if t.o.Ear == nil {
		return ErrNoEar
	}
	var hints engine.Hearing
	var pauses *engine.Pauses
	if err := t.do(ctx, func() error {
		hints = engine.Hearing{Language: t.campaign.Language, Terms: t.campaign.Names(), Fresh: t.namesNow}
		pauses = t.pausesOf(who)
		return nil
	}); err != nil {
		return err
	}
	// The microphone may be closed and opened again: ids differ by the start.
	prefix := fmt.Sprintf("%013x-%s-", time.Now().UnixMicro(), who.ID)
	begun := 0
	ear := engine.NewEar(t.o.Ear, prefix, engine.EarOptions{
		Hearing: hints, Pauses: pauses, Keep: t.o.Performer != nil || t.o.Recordings != nil && who.Recorded,
		Began:   func(string) { begun++; t.post(func() { t.hears(1) }) },
		Talking: func(voiced time.Duration) { t.post(func() { t.talks(who, voiced) }) },
		Paused:  func() { t.post(func() { t.pauses(who) }) },
		MayEnd:  func(u engine.Utterance) { t.post(func() { t.guess(who, u) }) },
		GoesOn:  func(id string) { t.post(func() { t.goesOn(id) }) },
		Interim: func(id, text string) { t.post(func() { t.interim(who, id, text) }) },
	})
	ended := 0
	for u, err := range ear.Listen(ctx, frames) {
		ended++
		t.post(func() { t.heard(who, u, err) })
	}
	// What was begun and never finished is not waited for.
	t.post(func() {
		t.hears(ended - begun)
		t.rule(t.floor.Says(who.ID, "", true, false, time.Now()))
		if ended < begun {
			t.dropGuess(context.Cause(ctx))
		}
		t.next()
	})
	return context.Cause(ctx)
}

// hears counts the utterances that are being recognised; the music is turned down
// meanwhile.
func (t *Table) hears(n int) {
	t.hearing += n
	t.band.hush(t.hearing > 0)
}

// interim shows what has been recognised so far.
func (t *Table) interim(who Person, id, text string) {
	t.events.add(Event{Line: &Line{ID: id, Speaker: who, Coming: text}})
	t.rule(t.floor.Says(who.ID, text, false, false, time.Now()))
	// Most likely it is for whoever answered this player last.
	if last := t.exchanges[who.ID].npc; last != "" {
		t.recaller.Anticipate(memory.Viewer{Campaign: t.campaign.ID, Entity: last}, text)
	}
}

// heard takes an utterance into the talk.
func (t *Table) heard(who Person, u engine.Utterance, err error) {
	t.hears(-1)
	defer t.next()
	if err != nil {
		t.alert(Alert{Text: "What " + who.Name + " said was not recognised: " + err.Error(), Bad: true})
	}
	t.chargeEar(u.Began, u.Ended)
	s, ok := t.understood(u)
	if !ok { // a cough: take back what was shown of it
		t.goesOn(u.ID)
		t.rule(t.floor.Says(who.ID, "", true, false, time.Now()))
		t.events.add(Event{Line: &Line{ID: u.ID, Speaker: who, Final: true}})
		return
	}
	t.record(who, u)
	if err := t.hear(who, s); err != nil {
		t.alert(Alert{Text: err.Error()})
	}
}

// understood is an utterance as a line, with names spelt as the campaign does; ok is
// false if there is nothing in it to be heard.
func (t *Table) understood(u engine.Utterance) (s said, ok bool) {
	raw := cutText(clean(u.Text))
	if raw == "" || t.paused.Load() { // it was said before the pause, and is not to be heard any more
		return said{}, false
	}
	s = said{id: u.ID, text: raw, confidence: u.Confidence, began: u.Began, ended: u.Ended, recognised: time.Since(u.Ended), sound: u.Sound}
	if text, fixes := t.glossary.Correct(raw); len(fixes) > 0 {
		s.text, s.raw = text, raw
	}
	return s, true
}
