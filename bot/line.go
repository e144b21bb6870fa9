package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/npc"
)

// MaxLine is the longest line that may be typed, in bytes: two minutes of fast
// speech. Recognised speech is cut there.
const MaxLine = 2000

// Errors of [Table.Say].
var (
	ErrEmpty   = errors.New("there is nothing to say: write a line first")
	ErrTooLong = fmt.Errorf("a line may have at most %d characters: please say it in two", MaxLine)
)

// Say is a typed line. It returns once the line is part of the talk, which is
// before it is answered.
func (t *Table) Say(ctx context.Context, who Person, text string) error {
	text = clean(text)
	switch {
	case text == "":
		return ErrEmpty
	case len(text) > MaxLine:
		return ErrTooLong
	}
	heard := time.Now()
	return t.do(ctx, func() error { return t.hear(who, said{text: text, typed: true, ended: heard}) })
}

// SayTo is a typed line for one NPC, by name or id, whatever its words say.
func (t *Table) SayTo(ctx context.Context, who Person, name, text string) error {
	if text = clean(text); text == "" {
		return ErrEmpty
	} else if len(text) > MaxLine {
		return ErrTooLong
	}
	heard := time.Now()
	return t.do(ctx, func() error {
		c, ok := t.find(name)
		if !ok {
			return t.noSuchNPC(name)
		}
		return t.hear(who, said{text: text, typed: true, ended: heard, to: c.ID})
	})
}

// find looks an NPC up by id, name, first name or alias.
func (t *Table) find(name string) (npc.Character, bool) {
	for _, c := range t.campaign.NPCs {
		first, _, _ := strings.Cut(c.Name, " ")
		for _, n := range append([]string{c.ID, c.Name, first}, c.Aliases...) {
			if strings.EqualFold(n, name) {
				return c, true
			}
		}
	}
	return npc.Character{}, false
}

// said is a line before the table knows whom it is for.
type said struct {
	id         string // "" for a new one
	text, raw  string
	confidence float64
	typed      bool
	to         string    // the NPC it was addressed to by other means than words
	private    bool      // only that NPC hears it
	began      time.Time // zero: at ended
	ended      time.Time
	recognised time.Duration // after ended; zero for typed lines
	sound      []int16       // 16 kHz mono; nil for typed lines, and where nobody wants it
}

// clean makes one line of text: valid UTF-8, no control characters, no runs of
// white space.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "")
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case r < ' ' || r == 0x7f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
			return -1 // control characters, and those that turn text around
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// hear takes a line into the talk: it interrupts, is remembered, and is answered
// by whom it was meant for.
func (t *Table) hear(who Person, s said) error {
	if t.closing {
		return ErrClosed
	}
	t.meet(who)
	line := t.lineOf(who, s)
	d, why := t.meant(who, s)
	if s.private {
		line.Audience, line.Whisper = memory.Audience{s.to}, true
	} else {
		d, why = t.contest(who, s, d, why)
	}
	line.To, line.Aside = d.To, d.OutOfCharacter >= aside && len(d.To) == 0
	t.remember(line)
	t.show(Line{ID: line.ID, Speaker: who, Text: line.Text, Final: true, To: d.To, Why: why, Offer: d.Offer, Typed: s.typed, Private: s.private})
	if d.XCard {
		t.dropGuess(errSilenced)
		t.playX()
		return nil
	}
	if d.Command.Kind != npc.NoCommand {
		return t.order(d.Command)
	}
	t.answerRule(line.ID, line.Text, d)
	guess := t.guessedFor(line, d.To)
	for _, id := range d.To {
		t.feel(id, who, line.Text)
		if guess != nil {
			t.play(guess)
			continue
		}
		if c, ok := t.character(id); ok && d.Sincere {
			t.owe(ask{npc: id, line: line, exact: t.confession(c), decision: d, heard: s.ended, recognised: s.recognised})
			continue
		}
		t.owe(ask{npc: id, line: line, decision: d, heard: s.ended, recognised: s.recognised, sound: s.sound})
	}
	t.next()
	return nil
}

// aside is how sure addressing must be that a line is talk about the game for no
// NPC to remember it.
const aside = 0.7

// meant says who a line is for, and why.
func (t *Table) meant(who Person, s said) (d npc.Decision, why string) {
	if s.to != "" {
		d.To, d.Score = []string{s.to}, 1
		return d, "chosen by the speaker"
	}
	last := t.exchanges[who.ID]
	u := npc.Utterance{Text: s.text, DM: who.DM, Last: last.npc, Asked: last.asked}
	if last.npc != "" {
		u.Since = time.Since(last.at)
	}
	d = t.cast.Address(u)
	return d, d.Reason()
}

// An exchange is the last words between one person and an NPC.
type exchange struct {
	npc   string
	at    time.Time
	asked bool // the NPC's words ended in a question
}

func (t *Table) mutedIDs() []string {
	if t.stopped != "" {
		return t.scene.Present
	}
	var ids []string
	for id, on := range t.muted {
		if on {
			ids = append(ids, id)
		}
	}
	return ids
}

func (t *Table) lineOf(who Person, s said) memory.Line {
	if s.began.IsZero() {
		s.began = s.ended
	}
	kind := memory.PlayerSpeaker
	if who.DM {
		kind = memory.DMSpeaker
	}
	if s.id == "" {
		s.id = t.newLineID(s.began)
	}
	return memory.Line{
		ID: s.id, Campaign: t.campaign.ID, Session: t.session, Scene: t.scene.ID,
		Speaker: memory.Speaker{ID: who.ID, Name: who.Name, Kind: kind},
		At:      s.began, Duration: s.ended.Sub(s.began), Text: s.text, Raw: s.raw, Confidence: s.confidence,
		Audience: memory.Audience(slices.Clone(t.scene.Present)),
	}
}

// newLineID makes ids that sort by time and are unique in the campaign.
func (t *Table) newLineID(at time.Time) string {
	t.lineID++
	return fmt.Sprintf("%013x-%04x", at.UnixMicro(), t.lineID&0xffff)
}

// remember keeps a line for briefs and has it written. The writer's queue is
// bounded and spills to disk; nobody waits for it here.
func (t *Table) remember(l memory.Line) {
	t.lines = keep(append(t.lines, l), tail)
	if t.o.Forgetful {
		return
	}
	if err := t.writer.Write(l); err != nil {
		t.alert(Alert{Text: "A line will not be remembered: " + err.Error(), Bad: true})
	}
}

// show adds or replaces a line on the pages.
func (t *Table) show(l Line) {
	if i := slices.IndexFunc(t.shown, func(o Line) bool { return o.ID == l.ID }); i >= 0 {
		t.shown[i] = l
	} else {
		t.shown = keep(append(t.shown, l), tail)
	}
	t.events.add(Event{Line: &l})
}

// cut ends the running turn.
func (t *Table) cut(cause error) {
	if t.running != nil {
		t.running.cancel(cause)
	}
}

// owe queues an answer.
func (t *Table) owe(a ask) {
	if len(t.waiting) >= maxWaiting {
		t.alert(Alert{Text: fmt.Sprintf("More than %d lines wait for an answer: the newest are not answered.", maxWaiting), Bad: true})
		return
	}
	a.owed = time.Now()
	t.waiting = append(t.waiting, a)
	t.giveWay(a)
}

// cutText shortens recognised speech to a line's limit, at a whole character.
func cutText(s string) string {
	if len(s) <= MaxLine {
		return s
	}
	for i := MaxLine; i > 0; i-- {
		if utf8.RuneStart(s[i]) {
			return s[:i]
		}
	}
	return ""
}
