package improviser

import (
	"slices"
	"strings"

	"github.com/glyphoxa/glyphoxa/engine"
)

// withoutNames takes the NPC's own name off the ends of a line, where it only
// says who is meant. Elsewhere it is what the line is about.
func (t *turn) withoutNames(p string) string {
	words := strings.Fields(p)
	var names [][]string
	for _, n := range append([]string{t.persona.Name}, t.persona.Aliases...) {
		if w := strings.Fields(plain(n)); len(w) > 0 {
			names = append(names, w)
		}
	}
	slices.SortStableFunc(names, func(a, b []string) int { return len(b) - len(a) })
	same := func(a, b []string) bool { return slices.EqualFunc(a, b, alike) }
	first := 0 // behind "hey", "so", "good evening"
	for first < len(words) && t.tongue.fillers[words[first]] {
		first++
	}
	for _, n := range names {
		if k := first + len(n); len(words) >= k && same(words[first:k], n) {
			words = slices.Delete(words, first, k)
			break
		}
	}
	for _, n := range names {
		if k := len(words) - len(n); k >= 0 && same(words[k:], n) && !t.aboutEndsAt(words, k) {
			words = words[:k]
			break
		}
	}
	return " " + strings.Join(words, " ") + " "
}

// aboutEndsAt reports whether what stands before the name makes it the topic:
// "who is Bartok", "tell me about Bartok".
func (t *turn) aboutEndsAt(words []string, i int) bool {
	before := " " + strings.Join(words[:i], " ") + " "
	for _, p := range append(slices.Clone(t.tongue.about), t.tongue.wants["takes name"]...) {
		if strings.HasSuffix(before, " "+p+" ") {
			return true
		}
	}
	return false
}

// subject is what a line is about: what follows "tell me about", or else its
// content; and the last topic where it only says "he" or "there".
func (t *turn) subject(u understanding) topic {
	g := t.tongue
	head, introduced := after(u.plain, g.about)
	if words := strings.Fields(head); len(words) > 0 && (words[0] == g.your || words[len(words)-1] == g.you) {
		introduced = false // asked about the NPC itself
	}
	if introduced {
		head = g.head(head)
	} else {
		head = u.plain
	}
	words := t.lore.content(head)
	if introduced && len(words) == 0 {
		words = u.words
	}
	e := t.lore.entity(words)
	if e == nil && !introduced {
		e = t.lore.entity(u.words)
	}
	if (e == nil || !person(e)) && t.pointsBack(u, words, e != nil) {
		last := t.lastTopic(u.plain)
		last.words = slices.Clone(last.words)
		for _, w := range words {
			if !slices.Contains(last.words, w) {
				last.words = append(last.words, w)
			}
		}
		last.introduced = introduced || last.entity != nil
		return last
	}
	name := tidyName(head, g)
	switch {
	case e != nil:
		name = e.Name
		words = u.words
	case !introduced:
		words = u.words
	}
	return topic{name: name, words: words, entity: e, introduced: introduced || e != nil}
}

// pointsBack reports whether the line says "she" or "there" for what was talked
// about before. "it" gives way to words that the NPC knows something about.
// Where the line names something else, only a person is pointed back to.
func (t *turn) pointsBack(u understanding, words []string, named bool) bool {
	g := t.tongue
	last := t.lastTopic(u.plain)
	if len(last.words) == 0 || len(words) > 2 {
		return false
	}
	all := strings.Fields(u.plain)
	for i, w := range all {
		switch {
		case g.persons[w]:
			return last.entity == nil || person(last.entity)
		case named:
		case g.pronouns[w]:
			_, known := t.bestLore(words)
			return !known
		case g.demonstratives[w] && (len(words) == 0 || w == g.there && i == len(all)-1):
			_, known := t.bestLore(words)
			return !known
		}
	}
	return false
}

// person reports whether an entity is one that "she" or "they" can stand for.
func person(e *Known) bool {
	return e.Kind == "npc" || e.Kind == "player" || e.Kind == "faction" || e.Kind == ""
}

// head is the beginning of what follows "tell me about", up to the word that
// begins to say more about it: "a temple in town" is about a temple.
func (g *tongue) head(rest string) string {
	words := strings.Fields(rest)
	seen := false
	for i, w := range words {
		if seen && g.joins[w] {
			return strings.Join(words[:i], " ")
		}
		seen = seen || !g.stop[w]
	}
	return strings.Join(words, " ")
}

// lastTopic is what was talked about before, from memory or from the talk, and
// fits the pronouns of the line.
func (t *turn) lastTopic(line string) topic {
	if len(t.topic.words) > 0 && t.fits(line, t.topic.entity) {
		return t.topic
	}
	const back = 8 // messages; what is longer ago is not "it" any more
	for i := len(t.past) - 1; i >= max(0, len(t.past)-back); i-- {
		who, said := lastParagraph(t.past[i])
		if t.past[i].Role == engine.User && t.speaker != "" && who != "" && !strings.EqualFold(who, t.speaker) {
			continue // what others talk of is not what this one means
		}
		e := t.lore.entity(t.lore.content(t.withoutVocative(said)))
		if e != nil && t.fits(line, e) && !t.isSelf(topic{entity: e}) {
			return topic{name: e.Name, words: t.lore.content(e.Name), entity: e, introduced: true}
		}
	}
	return topic{}
}

// fits reports whether "he" or "she" in a line can be an entity. Players say
// both of those who are neither.
func (t *turn) fits(line string, e *Known) bool {
	if e == nil {
		return true
	}
	its := strings.ToLower(e.Attributes["pronouns"])
	for of, others := range t.tongue.notFor {
		if strings.HasPrefix(its, of+"/") && has(line, others) {
			return false
		}
	}
	return true
}

// tidyName makes of what a player said something that can be said back, or
// nothing if it is not a name.
func tidyName(name string, g *tongue) string {
	words := strings.Fields(name)
	for len(words) > 0 && g.stop[words[0]] && words[0] != "the" && words[0] != "der" && words[0] != "die" && words[0] != "das" {
		words = words[1:]
	}
	for len(words) > 0 && g.stop[words[len(words)-1]] {
		words = words[:len(words)-1]
	}
	if len(words) == 0 || len(words) > 4 || len(strings.Join(words, " ")) > 40 {
		return ""
	}
	for i, w := range words {
		if !g.stop[w] {
			r := []rune(w)
			words[i] = strings.ToUpper(string(r[:1])) + string(r[1:])
		}
	}
	return strings.Join(words, " ")
}
