package improviser

import (
	"cmp"
	"slices"
	"strings"
)

// describe says up to two things about an entity that fit the question best and
// were not said yet.
func (t *turn) describe(e *Known, u understanding) string {
	about := t.lore.content(e.Name)
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
		words := t.lore.content(text)
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
	if len(all) > 1 && all[1].score >= 0.4 && (!all[1].bond || !all[0].answers) && len(told)+len(all[1].text) < 220 {
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
	words := t.lore.content(text)
	for _, u := range t.used[max(0, len(t.used)-12):] {
		before, same := t.lore.content(u), 0
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
