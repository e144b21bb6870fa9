package bot

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/memory"
)

// Words that the game master says to an NPC and nobody else hears.
const (
	// maxWhispers is how many whispers wait for an NPC's next answer: more would
	// crowd out what was said at the table.
	maxWhispers = 4
	// speakUp is what an NPC is asked that the DM prompts without saying what for.
	speakUp = "Nobody has spoken to you. Speak up by yourself now, in one or two sentences that fit what is going on."
)

// ErrNoWords is returned by [Table.Direct] for an NPC that no model plays.
var ErrNoWords = errors.New("the improviser can only be told what to speak about, such as \"tell them about the mill\": use /npc speak with the words themselves, or set llm: in glyphoxa.yaml to a model")

// A follower is a model that can only follow some directions.
type follower interface{ Follows(direction string) bool }

// Prompt has an NPC speak now, of its own accord.
func (t *Table) Prompt(ctx context.Context, who Person, id string) error {
	return t.prompt(ctx, who, id, speakUp)
}

// Direct has an NPC speak now, by what the game master wants of it: "tell them
// about the cellar". The words are the NPC's own.
func (t *Table) Direct(ctx context.Context, who Person, id, text string) error {
	text, err := written(text)
	if err != nil {
		return err
	}
	return t.prompt(ctx, who, id, text)
}

func (t *Table) prompt(ctx context.Context, who Person, id, text string) error {
	if err := dm(who); err != nil {
		return err
	}
	return t.do(ctx, func() error {
		brain := t.brains[id]
		if f, ok := brain.(follower); ok && text != speakUp && !f.Follows(text) {
			return ErrNoWords
		}
		line := memory.Line{Campaign: t.campaign.ID, Session: t.session, Speaker: memory.Speaker{ID: who.ID, Name: who.Name, Kind: memory.DMSpeaker}}
		return t.direct(ask{npc: id, prompt: text, line: line, heard: time.Now()})
	})
}

// Whisper lets an NPC know something that no player hears: "he is lying". It is
// told with the NPC's next answer, and kept nowhere else.
func (t *Table) Whisper(ctx context.Context, who Person, id, text string) error {
	if err := dm(who); err != nil {
		return err
	}
	text, err := written(text)
	if err != nil {
		return err
	}
	return t.do(ctx, func() error {
		if t.card(id) == nil {
			return t.noSuchNPC(id)
		}
		if t.whispers == nil {
			t.whispers = map[string][]string{}
		}
		t.whispers[id] = keep(append(t.whispers[id], text), maxWhispers)
		return nil
	})
}

// whispered takes what was whispered to an NPC since its last answer.
func (t *Table) whispered(id string) string {
	said := strings.Join(t.whispers[id], " ")
	delete(t.whispers, id)
	return said
}

// written checks what somebody has typed.
func written(text string) (string, error) {
	switch text = clean(text); {
	case text == "":
		return "", ErrEmpty
	case len(text) > MaxLine:
		return "", ErrTooLong
	}
	return text, nil
}
