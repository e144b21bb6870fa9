package improviser

import (
	"cmp"
	"slices"
	"strings"
)

// boldness is how well knowledge has to fit before it is told.
type boldness struct {
	least, leastExact float64
}

var (
	boldly = boldness{0.42, 0.3} // somebody asked
	surely = boldness{0.75, 0.6} // somebody only talked
	hinted = boldness{0.45, 0.4} // somebody said "I am starving"
)

func (b boldness) accepts(f find) bool {
	return f.score >= b.least || f.exact && f.score >= b.leastExact
}

// recall tells what the NPC knows about the topic, or nothing.
func (t *turn) recall(u understanding, bold boldness) string {
	words := u.topic.words
	if len(words) == 0 {
		words = u.words
	}
	if told, ok := t.fromLore(words, u.topic.entity, bold, u.where); ok {
		return told
	}
	e := u.topic.entity
	if e == nil {
		e = t.mentioning(words)
	}
	if e == nil || bold != boldly {
		return ""
	}
	return t.describe(e, u)
}

// mentioning is what the NPC knows of the world that best fits words which name
// nothing in it: the wheel is the old mill's. It is nil if nothing fits.
func (t *turn) mentioning(words []string) *Known {
	if f := t.lore.find(t.lore.world, words); len(f) > 0 && f[0].score >= 0.5 {
		return f[0].shelf.known
	}
	return nil
}

// fitting is the NPC's own knowledge that fits the words, best first. If they
// name something in the world, it is only what is about that, and if that is
// somebody whose whereabouts are asked for, only what names a place.
func (t *turn) fitting(words []string, about *Known, bold boldness, where bool) []find {
	var fits []find
	for _, f := range t.lore.find(t.lore.lore, words) {
		if about != nil && (!t.lore.covers(f.shelf, about, words) || where && about.Kind == "npc" && !has(plain(f.shelf.lore.Text), t.tongue.wants["place"])) {
			continue
		}
		if bold.accepts(f) && f.score >= 0.6*cmp.Or(best(fits), f.score) {
			fits = append(fits, f)
		}
	}
	return fits
}

// fromLore tells the best of the NPC's own knowledge that it has not told yet.
// If all that fits has been told, it repeats the sentence that fits best.
func (t *turn) fromLore(words []string, about *Known, bold boldness, where bool) (string, bool) {
	fits := t.fitting(words, about, bold, where)
	if len(fits) == 0 {
		return "", false
	}
	for _, f := range fits {
		text := f.shelf.lore.Text
		if !slices.Contains(t.used, text) && !t.justSaid(text) {
			t.use(text)
			t.about(f.shelf)
			return text, true
		}
	}
	text := fits[0].shelf.lore.Text
	if lastIndex(t.used, text) < len(t.used)-8 { // long ago
		t.use(text)
		return text, true
	}
	// The sentence that fits best, if it was not the last thing repeated.
	all := sentences(text)
	fit := func(s string) (n int) {
		for _, w := range t.lore.content(s) {
			if slices.ContainsFunc(words, func(x string) bool { return x == w || t.tongue.related(x, w) }) {
				n++
			}
		}
		return n
	}
	short := ""
	for _, s := range all {
		if short == "" || !strings.HasSuffix(s, "?") && (fit(s) > fit(short) || strings.HasSuffix(short, "?")) {
			short = s
		}
	}
	again := t.line("again", nil)
	if len(all) == 1 || t.justSaid(short) && t.justSaid(again) {
		return again, true
	}
	return again + " " + short, true
}

// about notes what the talk is about now.
func (t *turn) about(s *shelf) {
	if s.known != nil {
		t.topic = topic{name: s.known.Name, words: t.lore.content(s.known.Name), entity: s.known, introduced: true}
	}
}

func best(fits []find) float64 {
	if len(fits) == 0 {
		return 0
	}
	return fits[0].score
}

// more tells something else about what was talked about.
func (t *turn) more() string {
	last := t.lastTopic("")
	if len(last.words) == 0 {
		return t.line("more", nil)
	}
	for _, f := range t.fitting(last.words, last.entity, boldly, false) {
		if text := f.shelf.lore.Text; !slices.Contains(t.used, text) {
			t.use(text)
			return text
		}
	}
	e := last.entity
	if e == nil {
		e = t.lore.entity(last.words)
	}
	if e != nil {
		if told := t.describe(e, understanding{topic: last}); told != "" {
			return told
		}
	}
	return t.line("more", nil)
}

// price answers from attributes what something costs.
func (t *turn) price(u understanding) string {
	if e := u.topic.entity; e != nil {
		if p := e.Attributes["price"]; p != "" {
			return sentenceCase(e.Name + " " + t.tongue.is + " " + p)
		}
	}
	if _, ok := t.bestLore(u.words); ok {
		return "" // the NPC has words of its own
	}
	for _, e := range t.persona.World {
		for key, value := range e.Attributes {
			if words := t.lore.content(key); len(words) == 1 && slices.Contains(u.words, words[0]) {
				return sentenceCase(key + " " + t.tongue.is + " " + value)
			}
		}
	}
	return ""
}

func (t *turn) bestLore(words []string) (find, bool) {
	fits := t.lore.find(t.lore.lore, words)
	if len(fits) == 0 || !boldly.accepts(fits[0]) {
		return find{}, false
	}
	return fits[0], true
}

// ownLife answers a question about the NPC itself from its background.
func (t *turn) ownLife(u understanding) string {
	if has(u.plain, t.tongue.wants[wantsFavor]) || !strings.Contains(u.plain, " "+t.tongue.you+" ") && !strings.Contains(u.plain, " "+t.tongue.your+" ") {
		return ""
	}
	best, score := "", 0
	for _, s := range sentences(t.persona.Background) {
		n := 0
		if has(u.plain, t.tongue.wants["own life"]) {
			n = 1 // any of it answers
		}
		for _, w := range t.lore.content(s) {
			if slices.Contains(u.words, w) || slices.ContainsFunc(u.words, func(x string) bool { return t.tongue.related(x, w) }) {
				n++
			}
		}
		if n > score && !slices.Contains(t.used, s) {
			best, score = s, n
		}
	}
	if best == "" {
		return ""
	}
	t.use(best)
	return t.inOwnMouth(best)
}
