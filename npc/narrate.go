package npc

// narration finds names that are spoken to in the player's telling: "I ask
// Bartok about the mill", "Mira turns to the barkeep and says". It is a call
// with a score of 0 where there is none.
func (c *Cast) narration(l *line, fs *founds, s *sentence, lo, hi int) call {
	if lo > 0 && l.words[lo-1].stop != 0 {
		return call{} // "I ask you, Bartok"
	}
	subject, past := l.teller(s, fs, lo)
	if subject < 0 {
		return call{}
	}
	if past {
		return call{score: 0.15, why: whyTold}
	}
	if later(l, s, hi) {
		return call{}
	}
	// Where the telling verb stands: right before the name, before it with "to",
	// or after it.
	k := lo - 1
	for k > subject && l.isAny(k, set(det, honor)) {
		k--
	}
	content := l.isAny(hi, set(about, ask)) || hi < s.hi && l.words[hi-1].stop == ',' || hi < l.n && l.words[hi-1].stop == ',' ||
		hi < l.n && l.words[hi].quote || l.is(hi, conj) && l.isAny(hi+1, set(asking, says, say, sayto)) || hi < s.hi && l.isAny(hi, set(me, we, other, third))
	switch {
	case k > subject-1 && l.isAny(k, set(say, says)) && !l.is(k, sayto):
		if content {
			return call{score: 0.85, why: whyNarrated}
		}
		return call{score: 0.56, why: whyNarrated}
	case l.isTo(k):
		j := k - 1
		for j >= subject && j > k-6 && !l.isAny(j, set(sayto, says, turnto)) {
			j--
		}
		if j >= subject && l.isAny(j, set(sayto, says)) {
			if content || l.hasIn(j+1, k, greetings) || j+1 < k {
				return call{score: 0.8, why: whyNarrated}
			}
			if hi >= s.hi && s.hi < l.n {
				return call{score: 0.65, why: whyNarrated} // the words follow
			}
			return call{score: 0.5, why: whyNarrated}
		}
	}
	// "I lean over to Bartok and whisper", "I slide Bartok a coin and ask"
	for i := hi; i < min(s.hi, hi+8); i++ {
		if fs.at(i) != nil {
			break
		}
		if goes(l, i) && l.is(i-1, conj) && l.isAny(i+1, set(opener, ask, you, greeting)) {
			return call{score: 0.8, why: whyNarrated} // "and go, so what's in the basement"
		}
		if l.isAny(i, set(asking, says)) && (l.isAny(i-1, set(conj, will)) || i > 0 && l.words[i-1].stop == ',' || l.is(i-2, conj)) {
			return call{score: 0.8, why: whyNarrated}
		}
	}
	// "I turn to Bartok. What have you heard?"
	if hi >= s.hi && s.hi < l.n && l.hasIn(subject, lo, set(turnto)) {
		if next := l.sentence(s.hi, fs); next.asks || next.you || next.orders {
			return call{score: 0.8, why: whyNarrated}
		}
	}
	// "I slide a coin over to Bartok. Seen any strangers lately?"
	if hi >= s.hi && s.hi < l.n && l.isTo(k) {
		if next := l.sentence(s.hi, fs); next.asks && !next.third {
			return call{score: 0.7, why: whyNarrated}
		}
	}
	// "I order an ale from Bartok"
	if l.isFrom(k) && l.hasIn(subject, lo, set(buy)) {
		return call{score: 0.5, why: whyNarrated}
	}
	return call{}
}

// greetings are words that are said to somebody in a telling: "I say hello to".
const greetings = meaningSet(1<<greeting | 1<<opener)

func (l *line) isTo(i int) bool {
	if i < 0 {
		return false
	}
	switch string(l.full(i)) {
	case "to", "at", "with", "zu", "mit", "a", "al", "con":
		return true
	}
	return false
}

func (l *line) isFrom(i int) bool {
	if i < 0 {
		return false
	}
	switch string(l.full(i)) {
	case "from", "bei", "vom", "von", "off", "al":
		return true
	}
	return false
}

// teller finds who tells, before word lo: a player as "I" or "we", or a player's
// character by name. It is -1 if nobody does, or if it is only a plan. past is
// set if what is told was done before.
func (l *line) teller(s *sentence, fs *founds, lo int) (at int, past bool) {
	at = -1
	for i := s.lo; i < lo; i++ {
		switch {
		case l.isSubject(i):
			at = i
		case l.is(i, character):
			at = i
		case fs.at(i) != nil && fs.at(i).form.by == byHuman && !fs.at(i).poss:
			at = fs.at(i).hi - 1
			// "Mira, I ask Bartok" is I; "Mira asks Bartok" is Mira.
			if !l.isAny(at+1, set(says, will, character)) && !l.turnsTo(at+1) {
				at = -1
			}
		default:
			continue
		}
		if at >= 0 {
			break
		}
	}
	if at < 0 {
		return at, false
	}
	// "did I ask", "should we ask", "if I ask", "why don't I ask", "let me ask"
	for i := s.lo; i < at; i++ {
		if l.is(i, aux) && !l.isAny(i, set(opener)) {
			if can(l, i) && i == at-1 {
				continue // "can I ask Bartok if": asking leave to ask is asking
			}
			return -1, false
		}
		if l.isAny(i, set(you, party)) && !l.is(i, opener) || l.is(i, prep) || l.is(i, ask) {
			return -1, false
		}
	}
	if l.hasIn(at, lo, set(party)) {
		return -1, false
	}
	for i := at + 1; i < lo; i++ {
		if l.isAny(i, set(say, says, sayto, turnto, asking, buy, will, det, honor, prep, conj, character, opener)) || l.is(i, greeting) {
			continue
		}
		if toldBefore(l, i) {
			return at, true
		}
		if l.is(i, aux) && !can(l, i) {
			return -1, false // "I don't ask Bartok", "we should ask"
		}
	}
	return at, false
}

// can reports whether the word asks leave: can, could, may.
func can(l *line, i int) bool {
	switch string(l.full(i)) {
	case "can", "could", "may", "kann", "konnte", "darf", "puedo", "podria":
		return true
	}
	return false
}

// isSubject reports whether the word is I or we, not me or us.
func (l *line) isSubject(i int) bool {
	switch string(l.full(i)) {
	case "i", "we", "i'm", "we're", "i'd", "we'd", "i'll", "we'll", "im", "ich", "wir", "yo", "le", "les":
		return true
	}
	// Spanish says it with the verb alone.
	return l.lang.tag == "es" && l.isAny(i, set(say, sayto)) && !l.is(i, order)
}

// turnsTo reports whether a third person's telling verb follows: "walks up to".
func (l *line) turnsTo(i int) bool {
	if i >= l.n {
		return false
	}
	t := l.full(i)
	return len(t) > 3 && t[len(t)-1] == 's' && t[len(t)-2] != 's'
}

// toldBefore reports whether the word is a telling verb's past.
func toldBefore(l *line, i int) bool {
	switch string(l.full(i)) {
	case "told", "said", "spoke", "asked", "talked", "whispered", "mentioned", "shouted", "greeted", "questioned", "thanked", "warned", "promised", "informed", "begged", "explained", "lied", "apologized",
		"gefragt", "gesagt", "erzahlt", "gesprochen", "fragte", "sagte", "pregunte", "dije", "hable", "preguntado", "dicho", "hablado":
		return true
	}
	return false
}

// later reports whether what is told is put off: "I'll ask Bartok tomorrow".
func later(l *line, s *sentence, hi int) bool {
	for i := hi; i < s.hi; i++ {
		switch string(l.full(i)) {
		case "later", "tomorrow", "afterwards", "eventually", "sometime", "spater", "morgen", "nachher", "luego", "despues", "manana":
			return i+1 >= s.hi || l.words[i].stop != 0 || i == hi
		}
	}
	return false
}

// goes reports whether the word is what young people say for "says".
func goes(l *line, i int) bool {
	switch string(l.full(i)) {
	case "go", "goes", "like":
		return true
	}
	return false
}
