package improviser

import (
	"fmt"
	"slices"
	"strings"

	"github.com/glyphoxa/glyphoxa/engine"
)

// fromPast finds what was said before about the topic in the talk itself; asked
// about nothing in particular it names what was talked about.
func (t *turn) fromPast(u understanding) string {
	words := t.lore.content(strings.Join(t.tongue.bare(u), " "))
	if len(words) == 0 {
		var lines []string
		for _, msg := range t.past {
			if msg.Role != engine.ToolRole {
				_, line := lastParagraph(msg)
				lines = append(lines, line)
			}
		}
		return t.topicsOf(lines)
	}
	best, bestScore := -1, 1
	for i, msg := range t.past {
		if msg.Role == engine.ToolRole || len(msg.Calls) > 0 {
			continue
		}
		_, line := lastParagraph(msg)
		if has(plain(line), t.tongue.wants[wantsMemory]) {
			continue // that somebody asked for a memory is none
		}
		score := 0
		for _, w := range t.lore.content(line) {
			if slices.Contains(words, w) {
				score += 2
			}
		}
		if score > 0 && msg.Role == engine.User {
			score++ // what players said is what they ask for
		}
		if score > bestScore {
			best, bestScore = i, score
		}
	}
	if best < 0 {
		return ""
	}
	speaker, line := lastParagraph(t.past[best])
	if t.past[best].Role == engine.Assistant {
		speaker = t.persona.Name
	}
	return t.quote(speaker, line)
}

// topicsLeft names up to three things of the world that the NPC still has words
// of its own for.
func (t *turn) topicsLeft() string {
	var names []string
	for i := range t.persona.World {
		e := &t.persona.World[i]
		if t.isSelf(topic{entity: e}) {
			continue
		}
		words := t.lore.content(e.Name)
		if slices.ContainsFunc(t.fitting(words, e, boldly, false), func(f find) bool { return !slices.Contains(t.used, f.shelf.lore.Text) }) {
			names = append(names, e.Name)
		}
	}
	t.dice.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return t.enumerate(names[:min(3, len(names))])
}

// enumerate is "a, b and c".
func (t *turn) enumerate(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " " + t.tongue.and + " " + names[last]
}

// topicsOf names the last three things of the world that lines are about, or
// says nothing if there are fewer than two.
func (t *turn) topicsOf(lines []string) string {
	var names []string
	for i := len(lines) - 1; i >= 0 && len(names) < 3; i-- {
		e := t.lore.entity(t.lore.content(lines[i]))
		if e != nil && !slices.Contains(names, e.Name) && !t.isSelf(topic{entity: e}) {
			names = append(names, e.Name)
		}
	}
	if len(names) < 2 {
		return ""
	}
	slices.Reverse(names)
	told := fmt.Sprintf(t.tongue.spoke, t.enumerate(names))
	return strings.TrimSpace(t.line("memory", nil) + " " + told)
}

// quote tells what somebody said, with the NPC's words for remembering.
func (t *turn) quote(speaker, line string) string {
	said := speakable(t.withoutVocative(line), 2)
	if said == "" || t.tells(said) && !strings.EqualFold(speaker, t.speaker) {
		return t.line("memory_unknown", nil)
	}
	g := t.tongue
	who := g.somebody
	switch {
	case strings.EqualFold(speaker, t.persona.Name) || slices.ContainsFunc(t.persona.Aliases, func(a string) bool { return strings.EqualFold(a, speaker) }):
		who = g.i
	case speaker != "" && strings.EqualFold(speaker, t.speaker):
		who = g.you
	case speaker != "":
		who = speakable(speaker, 1)
	}
	verb := g.said
	if strings.HasSuffix(said, "?") {
		verb = g.asked
	}
	text := sentenceCase(who + " " + verb + ", " + inside(said, g))
	if opening := t.line("memory", nil); opening != "" {
		text = opening + " " + text
	}
	return text
}

// inside makes a sentence go on within another: its first letter is small if it
// is that of a common word.
func inside(s string, g *tongue) string {
	first, rest, _ := strings.Cut(s, " ")
	if low := strings.ToLower(first); low != "i" && !strings.HasPrefix(low, "i'") && g.stop[low] {
		return strings.TrimSpace(low + " " + rest)
	}
	return s
}

// withoutVocative takes off the name with which a line called somebody.
func (t *turn) withoutVocative(line string) string {
	name, rest, ok := strings.Cut(line, ", ")
	if words := t.lore.content(name); ok && len(strings.Fields(name)) <= 3 && len(words) > 0 {
		if t.isSelf(topic{words: words}) || t.lore.entity(words) != nil {
			return sentenceCase(rest)
		}
	}
	return line
}
