package npc

// excluded reports whether "not you" stands before the name at lo.
func (l *line) excluded(lo int) bool {
	if lo < 2 || !l.is(lo-1, you) {
		return false
	}
	switch string(l.full(lo - 2)) {
	case "not", "nicht", "no":
		return true
	}
	return false
}

// left says what stands before word lo.
func (l *line) left(s *sentence, fs *founds, lo int, title bool) left {
	k := lo - 1
	// "my good barkeep", "dear old Bartok"
	for k >= s.lo && l.is(k, honor) && l.words[k].stop == 0 && k > lo-4 {
		if l.covered(k, k+1) {
			return asObject // "good old Bartok"
		}
		k--
	}
	if k < lo-1 && k >= s.lo && l.is(k, asObjectWord(title)) {
		k = lo - 1 // "I met my old captain": the honour belongs to a thing
	}
	if k < s.lo {
		return atStart
	}
	w := &l.words[k]
	if title && k == lo-1 && l.is(k, det) && w.stop == 0 {
		return asObject
	}
	// "you there, barkeep", "you, barkeep"
	opens := true
	for i := s.lo; i <= k; i++ {
		if !l.isAny(i, set(opener, greeting, everyone, sirs)) && fs.at(i) == nil && !(i == s.lo && l.is(i, you) && l.words[i].stop == ',') {
			opens = false
			break
		}
	}
	if opens {
		if l.is(k, greeting) && !l.is(s.lo, aux) {
			return greeted
		}
		if fs.at(k) == nil {
			return atStart
		}
	}
	if w.base != w.hi && l.isAny(s.first, set(ask)) && w.stop == 0 && !s.you {
		return asObject // "which one's Bartok?"
	}
	if w.stop == ',' || l.words[min(k+1, l.n-1)].quote {
		return afterPause
	}
	switch {
	case k == s.lo && l.isAny(k, set(conj, clause)) && !l.isAny(k, set(order, ask, aux, opener)) && ordered(l, s, fs.at(lo)):
		// "if Bartok roll the dice for me": a condition would be that he rolls. The
		// recogniser has heard a word in somebody's breath.
		return atStart
	case l.is(k, greeting) && (k == s.lo || l.words[k-1].stop != 0):
		return greeted
	case l.is(k, stranded):
		return midway
	case l.is(k, conj):
		if l.isAny(k-1, set(me, we, you, third, other)) {
			return asObject // "me and Bartok go way back"
		}
		return joined
	case k == s.lo+1 && l.is(s.lo, you) && string(l.full(k)) == "see" && l.isAny(fs.at(lo).hi, set(me, we)):
		return afterPause // "you see Bartok we found your axe"
	case l.is(k, clause) && l.right(s, fs, lo, fs.at(lo).hi) != atEnd:
		return asObject // "do you think Bartok is": the one the clause is about
	case l.isAny(k, set(det, prep, that)):
		return asObject
	case l.is(k, verb) && l.isAny(k-1, set(det, you)) && l.words[k-1].stop == 0 && !l.isSubject(k-1) && !isYou(l, k-1):
		return midway // "your hand, Bartok": a thing, not what is done
	case l.is(k, verb):
		// "what do you want Bartok": the verb has its object already.
		if l.is(s.first, ask) && l.isAny(s.first+1, set(aux)) && l.isAny(s.first+2, set(you, me, we)) && !l.is(k, give) && s.first+2 < k && whatAsks(l, s.first) {
			return midway
		}
		if k == s.first && l.isAny(k, set(thanks)) {
			return greeted
		}
		return asObject
	case l.is(k, aux) && l.is(k, you):
		return midway // "qué tal estás Bartok"
	case l.isAny(k, set(aux, be, does, say, says, sayto)):
		return asObject
	}
	return midway
}

// isYou reports whether the word is you itself, which may do what follows, and
// not your.
func isYou(l *line, i int) bool {
	switch string(l.full(i)) {
	case "you", "ya", "thou", "du", "ihr", "tu", "usted", "you'll", "you'd", "you've", "you're":
		return true
	}
	return false
}

// asObjectWord is the meaning of words after which an honour is part of a thing.
func asObjectWord(title bool) meaning {
	if title {
		return det
	}
	return prep
}

// whatAsks reports whether the question word at i stands for the verb's object,
// as in "what do you want", not "why do you want".
func whatAsks(l *line, i int) bool {
	switch string(l.str(i)) {
	case "what", "which", "was", "welche", "welches", "welchen", "que", "cual":
		return true
	}
	return false
}

// ordered reports whether the name at f is told to do something for who speaks:
// "Bartok roll the dice for me".
func ordered(l *line, s *sentence, f *found) bool {
	return f != nil && l.is(f.hi, order) && l.isAny(s.hi-1, set(me, we, polite))
}
