package npc

import "strings"

// participle reports whether the word is what a Spanish perfect ends in: "dicho".
func (l *line) participle(i int) bool {
	if i < 1 || !l.isAny(i-1, set(be, aux)) {
		return false
	}
	w := string(l.full(i))
	return strings.HasSuffix(w, "ado") || strings.HasSuffix(w, "ido") || strings.HasSuffix(w, "cho") || strings.HasSuffix(w, "sto")
}

// either reports whether the word is "or".
func either(l *line, i int) bool {
	switch string(l.full(i)) {
	case "or", "oder", "o", "u":
		return true
	}
	return false
}

// right says what stands after the words up to hi.
func (l *line) right(s *sentence, fs *founds, lo, hi int) right {
	if f := fs.at(hi - 1); f != nil && f.poss {
		return possessed
	}
	if hi >= s.hi {
		return atEnd
	}
	if l.words[hi-1].stop == ',' {
		if l.words[hi].number && (hi+1 == s.hi || l.words[hi].stop == ',') {
			return numbered
		}
		return paused
	}
	if l.words[hi].quote {
		return narrated // Bartok: "..." is somebody reading a part
	}
	if l.is(hi, conj) {
		// "Bartok and I", "Bartok and the guard"
		if l.speech(s, fs, hi+1) && !l.isAny(hi+1, set(me, we, det, other, third)) {
			return saidTo
		}
		return narrated
	}
	if l.words[hi].number {
		for i := hi; i < s.hi; i++ {
			if !l.words[i].number && fs.at(i) == nil {
				if l.words[hi].stop != 0 {
					return numbered
				}
				return saidTo // "two ales please"
			}
		}
		return numbered
	}
	if l.speech(s, fs, hi) {
		return saidTo
	}
	if f := fs.at(hi); f != nil && f.form.by == byHuman && !f.poss && f.hi < s.hi {
		return saidTo // "Bartok Mira here needs a room"
	}
	if hi+1 < s.hi && l.is(hi+1, det) && string(l.full(hi)) == "just" {
		return saidTo // "ah Bartok just the man I wanted to see"
	}
	if l.predicate(s, hi) {
		return narrated
	}
	return onward
}

// speech reports whether the words from i on are said to somebody, judging by
// how they begin.
func (l *line) speech(s *sentence, fs *founds, i int) bool {
	for i < s.hi && l.isAny(i, set(opener, sirs, honor)) && !l.isAny(i, set(ask, aux, order, me)) {
		if l.lang.tag == "es" && l.words[i].stop == 0 && l.isAny(i+1, set(be, aux)) {
			return false // "Pip no es de fiar"
		}
		if l.isAny(i, set(polite, thanks, answer)) || l.words[i].stop == ',' {
			return true
		}
		i++
	}
	if i >= s.hi {
		return i > 0 && l.isAny(i-1, set(greeting, sirs, thanks, answer, polite))
	}
	w := &l.words[i]
	switch m := w.means; {
	case m.any(set(polite, thanks)):
		return true
	case m.has(clause) && m.has(prep): // "Bartok if you lie to me"
		return s.you || s.mine && s.question
	case m.has(ask):
		// "Bartok who keeps the inn": a clause about him.
		if relative(l, i) && !s.question && l.predicate(s, i+1) && l.hasIn(i+2, s.hi, set(be, aux, does, says)) {
			return false
		}
		return true
	case m.has(you):
		return true
	case m.has(aux):
		return l.inverted(s, fs, i)
	case m.any(set(deal)):
		return true
	case m.any(set(me, we)):
		return true
	case m.has(order) && !m.has(does):
		return true
	case m.any(set(answer)) && w.stop == 0 && (m.has(does) || l.isAny(i+1, set(be, aux)) && l.lang.tag == "es"):
		return false // "Bartok never charges us", "Bartok no es de fiar"
	case m.any(set(answer)):
		return true
	case l.bids(i):
		return true
	case m.has(other):
		return i+1 < s.hi
	case m.has(third):
		return i+1 < s.hi && (s.question || s.you)
	case w.number:
		return true
	}
	return false
}

// bids reports whether a verb that no table has stands at i before its object, with
// nobody who does it: "spit it out".
func (l *line) bids(i int) bool {
	w := l.full(i)
	if i+1 >= l.n || l.words[i].stop != 0 || l.words[i].means.any(set(aux, be, does, det, prep, conj, third)) || len(w) < 2 || w[len(w)-1] == 's' || len(w) > 3 && string(w[len(w)-2:]) == "ed" {
		return false
	}
	switch string(l.full(i + 1)) {
	case "it", "me", "us", "them", "that", "this":
		return true
	}
	return false
}

// relative reports whether the question word at i may also begin a clause.
func relative(l *line, i int) bool {
	switch string(l.str(i)) {
	case "who", "which", "that", "whose", "der", "die", "das", "quien":
		return true
	}
	return false
}

// inverted reports whether the helping verb at i stands before its subject, as
// in "can you" and "is there", so that what stood before it was not its subject.
func (l *line) inverted(s *sentence, fs *founds, i int) bool {
	j := i + 1
	if j >= s.hi || !l.is(i, aux) {
		return false
	}
	if l.isAny(j, set(you, me, we)) {
		return true
	}
	if l.isAny(j, set(third, other)) || l.isAny(j, set(that)) {
		// "Bartok is that way" against "Bartok, is that true?"
		return !l.is(i, be) || s.question || l.isAny(j+1, set(aux, verb, det, other)) || j+1 < s.hi
	}
	if l.is(j, det) || fs.at(j) != nil {
		// "Bartok, does the road ..." and "is the road safe" against "Bartok is the
		// killer" and "Bartok does the cooking".
		if l.is(i, be) {
			return s.hi-i >= 4 && s.hi-i <= 6 && quality(l, s.hi-1) || l.words[i-1].stop == ',' && s.question
		}
		return s.question || l.is(i, order) || s.hi-i > 4
	}
	if l.is(i, order) { // don't, have, can you
		return !l.isAny(j, set(will, does))
	}
	if l.isAny(j, set(does, polite)) || l.tagged(s) || string(l.full(j)) == "definitely" {
		return false // "Bartok is definitely human, yeah?"
	}
	return s.question && l.is(i, be)
}

// tagged reports whether the question is a statement with "right?" after it.
func (l *line) tagged(s *sentence) bool {
	if !s.question || s.hi-s.lo < 3 || l.words[s.hi-2].stop != ',' {
		return false
	}
	switch string(l.full(s.hi - 1)) {
	case "yeah", "right", "no", "yes", "eh", "huh", "innit", "or", "correct", "oder", "ne", "nicht", "verdad":
		return true
	}
	return false
}

// quality reports whether the word says how something is.
func quality(l *line, i int) bool {
	switch string(l.full(i)) {
	case "ready", "free", "open", "closed", "safe", "fresh", "hot", "cold", "good", "far", "near", "available", "haunted", "locked", "cursed", "dangerous", "alive", "dead", "here", "there", "done", "real", "true", "full", "empty", "clean", "new", "old", "hurt", "broken", "mended", "fixed", "sharp", "cheap", "expensive", "busy", "clear", "still", "awake", "asleep", "home", "back", "gone", "warm":
		return true
	}
	return false
}

// predicate reports whether the words from i on say something of what stands
// before them.
func (l *line) predicate(s *sentence, i int) bool {
	if i >= s.hi {
		return false
	}
	w := &l.words[i]
	if w.means.any(set(aux, be, does, says)) {
		return true
	}
	if w.means.any(set(prep)) {
		return true // "Bartok with his ladle"
	}
	if w.known || w.number {
		return false
	}
	// A verb by its ending: grumbles, wandered, running. German and Spanish
	// verbs are in their tables.
	t := l.full(i)
	n := len(t)
	if l.lang.tag != "en" || n < 4 {
		return false
	}
	switch {
	case t[n-1] == 's' && t[n-2] != 's' && t[n-2] != 'u' && t[n-2] != '\'':
		return true
	case t[n-1] == 'd' && t[n-2] == 'e':
		return true
	case n > 5 && t[n-1] == 'g' && t[n-2] == 'n' && t[n-3] == 'i':
		return true
	case n > 4 && t[n-1] == 'y' && t[n-2] == 'l':
		return true
	}
	return false
}

// toYou reports whether what follows a name and a comma is said to its bearer,
// not of him: "Bartok, still smiling, nods".
func (l *line) toYou(s *sentence, fs *founds, hi int) bool {
	if l.predicate(s, hi) && !l.inverted(s, fs, hi) {
		return false
	}
	if l.apposed(s, hi) {
		return false
	}
	if l.isAny(hi, set(det)) && !s.question {
		// "Bartok, the keeper, waves": a second comma and no you.
		for i := hi; i < s.hi-1; i++ {
			if l.words[i].stop == ',' {
				return s.you
			}
		}
		return true
	}
	if relative(l, hi) && l.is(hi, ask) && !s.question && l.predicate(s, hi+1) {
		return false
	}
	return true
}

// apposed reports whether the words from hi to the next pause only say who the
// name before them is: "Bartok, the barkeep, sold us bad ale".
func (l *line) apposed(s *sentence, hi int) bool {
	if !l.is(hi, det) {
		return false
	}
	for i := hi; i < s.hi-1 && i < hi+6; i++ {
		if l.words[i].stop == ',' {
			return !l.hasIn(hi, i+1, set(be, aux, you)) && !l.is(i+2, you) && !l.isSubject(i+2) && (l.predicate(s, i+1) && !l.isAny(i+1, set(you, order)) || l.is(i+1, does))
		}
	}
	return false
}
