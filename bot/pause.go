package bot

import (
	"context"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
)

// Pause keeps all NPCs silent and listens to nobody, or lets it go on if on is
// false. Anybody may pause, as anybody may leave a room to talk; only the DM lets
// it go on.
func (t *Table) Pause(ctx context.Context, who Person, on bool) error {
	if !on {
		if err := dm(who); err != nil {
			return err
		}
	}
	return t.do(ctx, func() error {
		if on {
			t.paused.Store(true)
			t.halt("The table is paused: nobody is heard until the DM goes on.")
			return nil
		}
		t.goOn()
		return nil
	})
}

// announceTime bounds how long an announcement may take to be made and spoken.
const announceTime = 30 * time.Second

// Announce says something aloud that is no NPC's line: that the table listens,
// and to whom. It returns when it has been said, or at once if nothing speaks
// here.
func (t *Table) Announce(ctx context.Context, text string) error {
	text, err := written(text)
	if err != nil || t.o.Synth == nil {
		return err
	}
	plan := engine.Plan{Model: recital(text), Synth: t.o.Synth, Watch: func(any) {}}
	if err := t.do(ctx, func() error {
		plan.Voice = engine.Voice{Language: t.campaign.Language}
		plan.Mouth = t.mouthOf("", "notice")
		return nil
	}); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, announceTime)
	defer cancel()
	defer context.AfterFunc(t.ctx, cancel)()
	return engine.Run(ctx, plan).Err
}
