package improviser

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/glyphoxa/glyphoxa/engine"
)

// maxNotes bounds what is read of a brief's notes: more than a brief ever holds.
const maxNotes = 64

// The notes of a brief, as package npc writes them before the line that is
// answered. Each stands in brackets on a line of its own.
const (
	hereNote     = "Here with you: "
	memoryNote   = "You remember: "
	foundNote    = "Found out for you: "
	whisperNote  = "The game master lets you know: "
	rememberSaid = " once said: "
)

// notes reads what stands before the last paragraph of a brief. What people said
// is in the last paragraph alone, so that nobody can speak a note.
func (h *hearing) notes(text string) {
	before, _, ok := cutLast(strings.TrimSpace(text), "\n")
	if !ok {
		return
	}
	n := 0
	for line := range strings.Lines(before) {
		line = strings.TrimSpace(line)
		if n++; n > maxNotes || !strings.HasPrefix(line, "[") || !strings.HasSuffix(line, "]") {
			continue
		}
		line = line[1 : len(line)-1]
		if names, ok := strings.CutPrefix(line, hereNote); ok {
			for name := range strings.SplitSeq(strings.TrimSuffix(names, "."), ", ") {
				h.here = append(h.here, strings.TrimSpace(name))
			}
		}
		if m, ok := strings.CutPrefix(line, memoryNote); ok {
			h.memories = append(h.memories, m)
		}
		if w, ok := strings.CutPrefix(line, whisperNote); ok {
			h.whisper = w
		}
		if f, ok := strings.CutPrefix(line, foundNote); ok {
			tool, result, ok := strings.Cut(f, ": ")
			if ok && !strings.Contains(tool, " ") && !strings.Contains(result, "waits for the game master's leave") {
				call := engine.Call{ID: fmt.Sprintf("found-%d", len(h.results)), Name: tool}
				h.results = append(h.results, unbracketed(call, result))
			}
		}
	}
}

// unbracketed is a result as it stands in a brief, where square brackets are round.
func unbracketed(c engine.Call, text string) result {
	if json.Valid([]byte(text)) {
		return result{c, text}
	}
	if square := strings.NewReplacer("(", "[", ")", "]").Replace(text); json.Valid([]byte(square)) {
		return result{c, square}
	}
	return result{c, text}
}

// company names those who are there, for whom asks.
func (t *turn) company() string {
	if len(t.here) == 0 {
		return ""
	}
	return t.line("company", map[string]string{"names": t.enumerate(t.here[:min(len(t.here), 6)])})
}

// fromMemory tells what the brief says that the NPC remembers about a topic: what
// somebody said, if it fits, but no question.
func (t *turn) fromMemory(u understanding) string {
	words := t.lore.content(strings.Join(t.tongue.bare(u), " "))
	best, score := "", 0
	for _, m := range t.memories {
		who, said, ok := strings.Cut(m, rememberSaid)
		if !ok || strings.HasSuffix(strings.Trim(strings.TrimSuffix(said, " (hearsay)"), `"`), "?") {
			continue
		}
		n := 0
		for _, w := range t.lore.content(said) {
			for _, x := range words {
				if w == x || t.tongue.related(x, w) {
					n++
				}
			}
		}
		if strings.EqualFold(who, t.speaker) {
			n++ // what players said themselves is what they ask for
		}
		if n > score && (n > 1 || len(words) == 0) {
			best, score = m, n
		}
	}
	if best == "" {
		return ""
	}
	who, said, _ := strings.Cut(best, rememberSaid)
	return t.quote(who, strings.Trim(strings.TrimSuffix(said, " (hearsay)"), `"`))
}

// directed is what the game master wants to hear about, if the brief says no more
// than that: "tell them about the mill".
func (m *Model) directed(whisper string) string {
	p := plain(whisper)
	for _, opening := range m.tongue.directions {
		if rest, ok := strings.CutPrefix(p, " "+opening+" "); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// Follows reports whether the improviser can do what a game master wants of it: to
// speak about something.
func (m *Model) Follows(direction string) bool { return m.directed(direction) != "" }
