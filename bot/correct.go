package bot

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/glyphoxa/glyphoxa/campaigns"
	"github.com/glyphoxa/glyphoxa/memory"
)

const (
	// maxTaught is how many corrected names are listened for, the latest.
	maxTaught = 200
	// maxMisheard is the most words that one name is heard as: recognisers break
	// names into two or three.
	maxMisheard = 3
)

// A lesson is a name and what recognition made of it.
type lesson struct{ heard, name string }

// Correct replaces what was heard by a better spelling, on the pages and in what
// NPCs are reminded of. Names that were misheard are recognised from then on.
// What memory has stored already keeps its words.
func (t *Table) Correct(ctx context.Context, who Person, lineID, text string) error {
	if err := dm(who); err != nil {
		return err
	}
	text, err := written(text)
	if err != nil {
		return err
	}
	return t.do(ctx, func() error {
		i := slices.IndexFunc(t.lines, func(l memory.Line) bool { return l.ID == lineID })
		j := slices.IndexFunc(t.shown, func(l Line) bool { return l.ID == lineID })
		if i < 0 || j < 0 {
			return Refuse("that line is too long ago to be corrected")
		}
		old := t.lines[i]
		if old.Speaker.Kind == memory.NPCSpeaker {
			return Refuse("an NPC's own words were not misheard")
		}
		t.lines[i].Text = text
		if old.Raw == "" {
			t.lines[i].Raw = old.Text
		}
		line := t.shown[j]
		line.Text = text
		t.show(line)
		for _, l := range lessons(old.Text, text) {
			t.taught = keep(append(t.taught, l), maxTaught)
		}
		t.glossary = t.listenFor(t.campaign)
		return nil
	})
}

// listenFor is a campaign's glossary with what was learned at the table.
func (t *Table) listenFor(c *campaigns.Campaign) *memory.Glossary {
	g := glossaryOf(c)
	for _, l := range t.taught {
		g.Teach(l.heard, l.name)
	}
	return g
}

// lessons are the names in a correction: words that were replaced by others of
// which at least one begins with a capital letter, and not only because a
// sentence does.
func lessons(heard, meant string) []lesson {
	a, b := strings.Fields(heard), strings.Fields(meant)
	var out []lesson
	for len(a) > 0 && len(b) > 0 {
		if bare(a[0]) == bare(b[0]) {
			a, b = a[1:], b[1:]
			continue
		}
		m, n := differ(a, b)
		if l, ok := named(a[:m], b[:n], len(b) == len(strings.Fields(meant))); ok {
			out = append(out, l)
		}
		a, b = a[m:], b[n:]
	}
	return out
}

// differ finds how many words on each side pass until both go on alike.
func differ(a, b []string) (m, n int) {
	for sum := 1; sum <= 2*maxMisheard+1; sum++ {
		for m = range min(sum, len(a)) + 1 {
			if n = sum - m; n > len(b) {
				continue
			}
			if (m == len(a)) == (n == len(b)) && (m == len(a) || bare(a[m]) == bare(b[n])) {
				return m, n
			}
		}
	}
	return len(a), len(b)
}

// named takes replaced words for a name if one of the new ones has a capital
// letter. The first word of a line always has one, so there it must sound like
// what was heard as well: "Wear" may be Weir, and is not There.
func named(heard, meant []string, first bool) (lesson, bool) {
	if len(heard) == 0 || len(meant) == 0 || len(heard) > maxMisheard || len(meant) > maxMisheard {
		return lesson{}, false
	}
	l := lesson{words(heard), words(meant)}
	capital := slices.ContainsFunc(meant, func(w string) bool {
		r, _ := utf8.DecodeRuneInString(bare(w))
		return unicode.IsUpper(r)
	})
	alike := memory.Sound(l.heard) == memory.Sound(l.name)
	return l, capital && (alike || !first) && !strings.EqualFold(l.heard, l.name)
}

func words(list []string) string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = bare(w)
	}
	return strings.Join(out, " ")
}

// bare is a word without what stands around it.
func bare(w string) string {
	return strings.TrimFunc(w, func(r rune) bool { return unicode.IsPunct(r) })
}
