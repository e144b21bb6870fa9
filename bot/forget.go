package bot

import (
	"context"
	"slices"
	"time"

	"github.com/glyphoxa/glyphoxa/memory"
)

// Remember keeps something that was written elsewhere as a line of who wrote it:
// the NPCs who are present know it, and none of them answers.
func (t *Table) Remember(ctx context.Context, who, author Person, text string) error {
	if err := dm(who); err != nil {
		return err
	}
	text, err := written(text)
	if err != nil {
		return err
	}
	now := time.Now()
	return t.do(ctx, func() error {
		line := t.lineOf(author, said{text: text, typed: true, ended: now})
		t.remember(line)
		t.show(Line{ID: line.ID, Speaker: author, Text: text, Final: true, Typed: true, Why: "the DM asked to remember it"})
		return nil
	})
}

// Stored returns once memory has every line that was heard so far.
func (t *Table) Stored(ctx context.Context) error { return t.writer.Flush(ctx) }

// Forget takes somebody's lines off the table and its pages, once everything that
// waited to be stored is. What memory has is [Archive.Forget]'s.
func (t *Table) Forget(ctx context.Context, person string) error {
	if err := t.Stored(ctx); err != nil {
		return err
	}
	return t.do(ctx, func() error {
		t.lines = slices.DeleteFunc(t.lines, func(l memory.Line) bool { return l.Speaker.ID == person })
		t.shown = slices.DeleteFunc(t.shown, func(l Line) bool {
			if l.Speaker.ID != person {
				return false
			}
			// Pages take a final line without words back.
			t.events.add(Event{Line: &Line{ID: l.ID, Speaker: l.Speaker, Final: true}})
			return true
		})
		delete(t.exchanges, person)
		t.events.strike(person)
		return nil
	})
}
