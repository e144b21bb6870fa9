package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/campaigns"
	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/memory"
)

// ErrNotAllowed is returned to people whose role does not include an action.
var ErrNotAllowed = errors.New("only the DM may do this")

// errSilenced ends a turn that was silenced on purpose.
var errSilenced = fmt.Errorf("silenced: %w", engine.ErrInterrupted)

// dm refuses everybody but the game master.
func dm(who Person) error {
	if !who.DM {
		return ErrNotAllowed
	}
	return nil
}

// Stop silences every NPC at once. What has been said stays said.
func (t *Table) Stop(ctx context.Context, _ Person) error {
	return t.do(ctx, func() error { t.silence(); return nil })
}

// forgo forgets the answers that one NPC owes.
func (t *Table) forgo(id string) {
	t.waiting = slices.DeleteFunc(t.waiting, func(a ask) bool { return a.npc == id })
}

// silence ends the running turn and forgets the answers that are owed.
func (t *Table) silence() {
	t.waiting = nil
	t.cut(errSilenced)
}

// Mute keeps one NPC silent until it is unmuted.
func (t *Table) Mute(ctx context.Context, who Person, id string, on bool) error {
	if err := dm(who); err != nil {
		return err
	}
	return t.do(ctx, func() error {
		if t.card(id) == nil {
			return t.noSuchNPC(id)
		}
		t.mute(id, on)
		return nil
	})
}

func (t *Table) mute(id string, on bool) {
	t.muted[id] = on
	if on && t.running != nil && t.running.npc == id {
		t.cut(errSilenced)
	}
	t.recast()
}

// SetScene moves the table to another scene of the campaign.
func (t *Table) SetScene(ctx context.Context, who Person, id string) error {
	if err := dm(who); err != nil {
		return err
	}
	return t.do(ctx, func() error {
		i := slices.IndexFunc(t.campaign.Scenes, func(s campaigns.Scene) bool { return s.ID == id })
		if i < 0 {
			return Refuse("the campaign has no scene %q", id)
		}
		t.silence()
		t.enter(t.campaign.Scenes[i])
		if t.o.SceneEnded != nil {
			t.o.SceneEnded(t.session)
		}
		return nil
	})
}

// Enter brings an NPC into the scene, or has it leave if on is false.
func (t *Table) Enter(ctx context.Context, who Person, id string, on bool) error {
	if err := dm(who); err != nil {
		return err
	}
	return t.do(ctx, func() error {
		if t.card(id) == nil {
			return t.noSuchNPC(id)
		}
		t.scene.Present = slices.DeleteFunc(slices.Clone(t.scene.Present), func(p string) bool { return p == id })
		if on {
			t.scene.Present = append(t.scene.Present, id)
		} else if t.running != nil && t.running.npc == id {
			t.cut(errSilenced)
		}
		t.recast()
		return nil
	})
}

// Answer has an NPC answer the line of that id, whoever it was for.
func (t *Table) Answer(ctx context.Context, who Person, lineID, id string) error {
	if err := dm(who); err != nil {
		return err
	}
	return t.do(ctx, func() error {
		i := slices.IndexFunc(t.lines, func(l memory.Line) bool { return l.ID == lineID })
		if i < 0 {
			return Refuse("that line is too long ago to be answered")
		}
		return t.direct(ask{npc: id, line: t.lines[i], heard: time.Now()})
	})
}

// SpeakAs has the NPC say text word for word.
func (t *Table) SpeakAs(ctx context.Context, who Person, id, text string) error {
	if err := dm(who); err != nil {
		return err
	}
	if text = clean(text); text == "" {
		return ErrEmpty
	} else if len(text) > MaxLine {
		return ErrTooLong
	}
	return t.do(ctx, func() error { return t.direct(ask{npc: id, exact: text, heard: time.Now()}) })
}

// direct owes an answer that the DM has asked for.
func (t *Table) direct(a ask) error {
	switch {
	case t.card(a.npc) == nil:
		return t.noSuchNPC(a.npc)
	case !slices.Contains(t.scene.Present, a.npc):
		return Refuse("%s is not in this scene: bring it in first", t.person(a.npc).Name)
	case t.muted[a.npc]:
		return Refuse("%s is muted: unmute it first", t.person(a.npc).Name)
	case t.stopped != "":
		return Refuse(t.stopped)
	}
	t.owe(a)
	t.next()
	return nil
}

// XCard stops play at once, or lets it go on if on is false. Anybody may stop;
// only the DM lets it go on. Who played the card is not kept.
func (t *Table) XCard(ctx context.Context, who Person, on bool) error {
	if !on {
		if err := dm(who); err != nil {
			return err
		}
	}
	return t.do(ctx, func() error {
		if on {
			t.playX()
			return nil
		}
		t.goOn()
		return nil
	})
}

// PlayedX is why an X-card keeps the NPCs silent.
const PlayedX = "An X-card was played: the NPCs are silent until the DM goes on."

func (t *Table) playX() {
	t.fadeOut(func(Music, bool) bool { return true })
	t.halt(PlayedX)
	t.alert(Alert{Text: t.stopped, Bad: true})
}

// halt silences everybody until the DM goes on.
func (t *Table) halt(why string) {
	t.stopped = why
	t.silence()
	t.recast()
}

// goOn ends whatever keeps the NPCs silent.
func (t *Table) goOn() {
	t.stopped = ""
	t.paused.Store(false)
	t.recast()
}

// noSuchNPC says who there is instead.
func (t *Table) noSuchNPC(id string) error {
	var names []string
	for _, c := range t.campaign.NPCs {
		names = append(names, c.Name)
	}
	return Refuse("the campaign has no NPC %q; it has %s", id, strings.Join(names, ", "))
}

// Tell shows the DM an alert, once.
func (t *Table) Tell(a Alert) { t.post(func() { t.alert(a) }) }
