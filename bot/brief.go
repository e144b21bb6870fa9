package bot

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/npc"
	"github.com/glyphoxa/glyphoxa/npc/spoken"
)

// setting is what stays the same for all briefs of the campaign.
func (t *Table) setting() npc.Setting {
	safety := t.campaign.Safety
	return npc.Setting{
		Campaign: t.campaign.Name, Language: t.campaign.Language,
		Safety: spoken.Safety{Rating: safety.Rating, Lines: safety.Lines, Veils: safety.Veils},
	}
}

// requestOf is a brief as models are asked. What never changes comes first, so
// that a vendor's prompt cache can serve it.
func requestOf(b npc.Brief) engine.Request {
	r := engine.Request{System: b.Stable}
	for _, l := range b.Talk {
		m := engine.Message{Role: engine.User, Name: l.Who, Text: l.Text}
		if l.Who == "" {
			m.Role = engine.Assistant
		}
		r.Messages = append(r.Messages, m)
	}
	return r
}

// situation is this moment as c lives it: only what it witnessed.
func (t *Table) situation(c npc.Character, a ask, tools bool) npc.Situation {
	now := npc.Situation{Scene: t.scene.Name, Text: t.scene.Text, Mood: t.scene.Mood, Tools: tools}
	for _, id := range t.scene.Present {
		if id != c.ID {
			now.Present = append(now.Present, t.person(id).Name)
		}
	}
	for _, l := range t.lines {
		if l.ID == a.line.ID && l.ID != "" {
			break // what is answered comes last
		}
		if s, ok := t.witnessed(c, l); ok {
			now.Talk = append(now.Talk, s)
		}
	}
	now.Feeling = t.feelingsOf(c).Toward(a.line.Speaker.ID, a.line.Speaker.Name, time.Now())
	now.Whisper = t.whispered(c.ID)
	if a.prompt != "" {
		now.Talk = append(now.Talk, npc.Said{Who: gameMaster, Text: a.prompt})
		return now
	}
	now.Talk = append(now.Talk, npc.Said{Who: a.line.Speaker.Name, Text: a.line.Text})
	return now
}

// gameMaster is by what name the DM's directions reach a model: whoever they are
// at the table, in the scene they are nobody.
const gameMaster = "Game master (only you hear this)"

// reminded is what a line brings back to an NPC: what was said before and what it
// knows of what is named. It is read outside of the loop, because memory may be
// slow, and what is late is left out.
func (t *Table) reminded(ctx context.Context, v memory.Viewer, session, said string) []string {
	b := t.recaller.Brief(ctx, v, memory.Moment{Session: session, Said: said})
	for part, err := range b.Missing {
		t.log.Debug("an answer goes without a part of its memory", "npc", v.Entity, "part", part, "error", err)
	}
	var out []string
	for _, e := range b.Mentioned {
		if e.Text != "" {
			out = append(out, e.Name+": "+e.Text)
		}
	}
	for _, k := range b.Known {
		if k.Form == memory.FactForm {
			out = append(out, k.Text+hearsay(k.Told))
		}
	}
	for _, h := range b.Recalled {
		if h.Text == said {
			continue // the line itself may have been written already
		}
		out = append(out, fmt.Sprintf("%s once said: %q%s", h.Speaker.Name, h.Text, hearsay(h.Told)))
	}
	return out
}

// hearsay marks what an NPC has from somebody else.
func hearsay(h *memory.Hearsay) string {
	if h == nil {
		return ""
	}
	return " (hearsay)"
}

// witnessed is one line of the past as c heard or said it.
func (t *Table) witnessed(c npc.Character, l memory.Line) (npc.Said, bool) {
	switch {
	case l.Aside || l.Session != t.session:
		return npc.Said{}, false
	case l.Speaker.ID == c.ID:
		return npc.Said{Text: l.Text, Cut: l.Cut}, true
	case !heardBy(l, c.ID):
		return npc.Said{}, false
	}
	return npc.Said{Who: l.Speaker.Name, Text: l.Text, Cut: l.Cut}, true
}

// heardBy reports whether somebody witnessed a line.
func heardBy(l memory.Line, id string) bool {
	for _, a := range l.Audience {
		if a == id || a == memory.Everyone {
			return true
		}
	}
	return false
}

// recital is a model that says what the DM wrote, word for word.
type recital string

// Name says whose words they are.
func (recital) Name() string { return "the DM's own words" }

// Stream yields the text.
func (r recital) Stream(context.Context, engine.Request) iter.Seq2[engine.Delta, error] {
	return func(yield func(engine.Delta, error) bool) {
		_ = yield(engine.Delta{Text: string(r)}, nil) && yield(engine.Delta{Done: true}, nil)
	}
}
