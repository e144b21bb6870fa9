package improviser

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/glyphoxa/glyphoxa/engine"
)

// boldness is how well knowledge has to fit before it is told.
type boldness struct {
	least, leastExact float64
}

var (
	boldly = boldness{0.42, 0.3} // somebody asked
	surely = boldness{0.75, 0.6} // somebody only talked
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
		for _, w := range t.tongue.content(s) {
			if slices.ContainsFunc(words, func(x string) bool { return x == w || t.tongue.related(x, w) }) {
				n++
			}
		}
		return n
	}
	short := all[0]
	for _, s := range all[1:] {
		if fit(s) > fit(short) {
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
		t.topic = topic{name: s.known.Name, words: t.tongue.content(s.known.Name), entity: s.known, introduced: true}
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
	last := t.lastTopic()
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

// describe says up to two things about an entity that fit the question best and
// were not said yet.
func (t *turn) describe(e *Known, u understanding) string {
	about := t.tongue.content(e.Name)
	var asked []string
	for _, w := range slices.Concat(u.topic.words, u.words) {
		if !slices.Contains(about, w) {
			asked = append(asked, w)
		}
	}
	type statement struct {
		text    string
		score   float64
		answers bool // it has a word that was asked for
		bond    bool
	}
	var all []statement
	withheld := false
	add := func(text string, score float64, bond bool) {
		text = t.inOwnMouth(speakable(text, 2))
		if t.tells(text) {
			withheld = true
			return
		}
		if text == "" || t.stale(text) {
			return
		}
		s := statement{text: text, score: score, bond: bond}
		words := t.tongue.content(text)
		for _, w := range asked {
			switch {
			case slices.Contains(words, w):
				s.score, s.answers = s.score+1, true
			case slices.ContainsFunc(words, func(x string) bool { return t.tongue.related(x, w) }):
				s.score, s.answers = s.score+0.5, true
			}
		}
		if u.where && has(plain(text), t.tongue.wants["place"]) {
			s.score, s.answers = s.score+1.2, true
		}
		all = append(all, s)
	}
	add(e.Text, 0.9, false)
	for _, f := range e.Facts {
		add(f, 0.4, false)
	}
	for _, b := range e.Bonds {
		add(t.bond(e, b), 0.1, true)
	}
	slices.SortStableFunc(all, func(a, b statement) int { return cmp.Compare(b.score, a.score) })
	switch {
	case len(all) == 0 && withheld:
		return t.line("secret", nil)
	case len(all) == 0, !all[0].answers && (len(asked) > 0 || u.where) && slices.Contains(t.used, t.inOwnMouth(speakable(e.Text, 2))):
		return "" // what is left is no answer
	}
	told := all[0].text
	t.use(told)
	// A second statement, if it says something new and is short enough.
	if len(all) > 1 && all[1].score >= 0.4 && !(all[1].bond && all[0].answers) && len(told)+len(all[1].text) < 220 {
		t.use(all[1].text)
		told += " " + all[1].text
	}
	if opening := t.line("telling", nil); opening != "" {
		return opening + " " + told
	}
	return told
}

// stale reports whether text was told lately, if in other words.
func (t *turn) stale(text string) bool {
	if slices.Contains(t.used, text) || t.justSaid(text) {
		return true
	}
	words := t.tongue.content(text)
	for _, u := range t.used[max(0, len(t.used)-12):] {
		before, same := t.tongue.content(u), 0
		for _, w := range words {
			if slices.Contains(before, w) {
				same++
			}
		}
		if len(words) >= 4 && 10*same >= 6*len(words) {
			return true
		}
	}
	return false
}

// bond is a relation as a sentence.
func (t *turn) bond(e *Known, b Bond) string {
	if b.Text != "" {
		return b.Text
	}
	to := strings.ReplaceAll(b.To, "-", " ")
	if other := t.lore.called(b.To); other != nil {
		to = other.Name
	}
	return sentenceCase(e.Name + " " + b.Kind + " " + to)
}

// sentenceCase begins a sentence with a capital and ends it with a full stop.
func sentenceCase(s string) string {
	r := []rune(strings.TrimSpace(s))
	if len(r) == 0 {
		return ""
	}
	s = strings.ToUpper(string(r[:1])) + string(r[1:])
	if !strings.ContainsRune(".!?…", r[len(r)-1]) {
		s += "."
	}
	return s
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
			if words := t.tongue.content(key); len(words) == 1 && slices.Contains(u.words, words[0]) {
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
		n := 1 // any of it answers a question about itself
		for _, w := range t.tongue.content(s) {
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

// fromPast finds what was said before about the topic in the talk itself; asked
// about nothing in particular it names what was talked about.
func (t *turn) fromPast(u understanding) string {
	words := t.tongue.content(strings.Join(t.tongue.bare(u), " "))
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
		score := 0
		for _, w := range t.tongue.content(line) {
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
		words := t.tongue.content(e.Name)
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
		e := t.lore.entity(t.tongue.content(lines[i]))
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
	if words := t.tongue.content(name); ok && len(strings.Fields(name)) <= 3 && len(words) > 0 {
		if t.isSelf(topic{words: words}) || t.lore.entity(words) != nil {
			return sentenceCase(rest)
		}
	}
	return line
}
