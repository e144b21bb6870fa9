package bot

import (
	"context"
	"time"
)

// Confide is a typed line that one NPC alone hears, and answers in writing to the
// one who wrote it. Nobody else at the table hears, sees or remembers either; the
// game master sees both.
func (t *Table) Confide(ctx context.Context, who Person, name, text string) error {
	text, err := written(text)
	if err != nil {
		return err
	}
	heard := time.Now()
	return t.do(ctx, func() error {
		c, ok := t.find(name)
		if !ok {
			return t.noSuchNPC(name)
		}
		return t.hear(who, said{text: text, typed: true, ended: heard, to: c.ID, private: true})
	})
}
