package npc

// What players say to each other right after an NPC spoke looks much like an
// answer to it. What gives it away is here: it speaks of the NPC instead of to
// it, it is led by a player's name, or it weighs what was said.

// passesBy reports whether the line is said past the NPC who spoke last: "pay
// him", "you heard the lady", "Corvin's right", "doesn't Corvin have a key?".
func passesBy(l *line, fs *founds) bool {
	for k := range fs.n {
		f := &fs.list[k]
		if f.form.by != byHuman {
			continue
		}
		s := l.sentence(f.lo, fs)
		// A player's character as subject of the sentence.
		if f.lo == s.lo || f.lo == s.lo+1 && l.isAny(s.lo, set(opener, conj, aux)) || l.is(f.lo-1, aux) && f.lo-2 <= s.lo {
			return true
		}
	}
	for i := range l.n {
		if l.stranger(i, fs) {
			return true
		}
		s := l.sentence(i, fs)
		switch {
		case l.is(i, order) && l.about(i+1) && speaksOf(l, i) && (i == s.first || i == s.lo || negated(l, i-1)):
			return !l.givesBack(i)
		case heardThem(l, i) && (l.about(i+1) || l.is(i+1, third)):
			return true
		}
	}
	return false
}

// about reports whether the words from i on stand for somebody present without a
// name: him, her, the man, this guy.
func (l *line) about(i int) bool {
	if l.isObject(i) && !l.isAny(i+1, set(det)) {
		return true
	}
	if l.isAny(i, set(det, that)) && i+1 < l.n {
		switch string(l.str(i + 1)) {
		case "man", "lady", "woman", "guy", "dude", "girl", "boy", "fellow", "gentleman", "kid", "poor",
			"mann", "frau", "typ", "kerl", "dame", "hombre", "mujer", "tipo", "senor", "senora":
			return true
		}
	}
	return false
}

// speaksOf reports whether the order at i, followed by him or her, is what players
// tell each other to do with an NPC.
func speaksOf(l *line, i int) bool {
	switch string(l.full(i)) {
	case "ask", "tell", "pay", "give", "trust", "follow", "grab", "stop", "kill", "attack", "hit", "thank", "show", "bribe", "distract", "push", "watch", "keep", "help",
		"believe", "call", "answer", "offer", "leave", "hand", "slap", "punch", "threaten", "charm", "persuade", "convince", "search", "question", "interrogate", "tie", "rob", "shoot", "heal", "check", "remind", "warn", "lie", "seduce", "flatter",
		"frag", "frage", "sag", "sage", "zahl", "gib", "pack", "halt", "folg", "toete", "glaub", "pregunta", "preguntale", "dile", "dale", "pagale", "sigue", "mata", "creele":
		return true
	}
	return false
}

// givesBack reports whether the order at i asks the NPC itself to do something for
// a third: "give him back his ring", "let her go", "leave him alone".
func (l *line) givesBack(i int) bool {
	for k := i; k < l.n && k < i+7; k++ {
		switch string(l.full(k)) {
		case "back", "alone", "go", "be", "free", "zuruck", "frei", "libre":
			if k > i {
				return true
			}
		}
		if l.words[k].end() {
			break
		}
	}
	return false
}

func negated(l *line, i int) bool {
	if i < 0 {
		return false
	}
	switch string(l.full(i)) {
	case "don't", "dont", "just", "please", "go", "and", "not", "no", "nicht", "never":
		return true
	}
	return false
}

// heardThem reports whether the word at i is heard or saw after you.
func heardThem(l *line, i int) bool {
	switch string(l.full(i)) {
	case "heard", "saw":
		return l.is(i-1, you)
	}
	return false
}

// hedged reports whether the sentence weighs what was said instead of answering.
func (l *line) hedged(s *sentence) bool {
	for i := s.lo; i < s.hi; i++ {
		switch string(l.full(i)) {
		case "like":
			if i == s.lo || !seems(l, i-1) {
				return true
			}
		case "maybe", "perhaps", "vielleicht", "quiza", "quizas":
			if i <= s.first {
				return true
			}
		case "probably", "obviously", "definitely", "totally", "literally", "apparently", "clearly", "guess", "someone", "somebody", "kinda", "supposedly",
			"wahrscheinlich", "bestimmt", "offensichtlich", "anscheinend", "seguramente", "probablemente", "obviamente", "seguro":
			return true
		}
	}
	return false
}

// tellsOfOther reports whether the words from i on tell what a third did, as
// opposed to how the NPC seems: "he died two winters ago", not "she looked scared".
func (l *line) tellsOfOther(i int) bool {
	if !l.is(i, third) && !theyWord(l, i) || i+1 >= l.n {
		return false
	}
	if v := string(l.full(i + 1)); v == "never" && i+3 < l.n && l.isAny(i+3, set(me, we)) {
		return true // "he never told us that"
	}
	switch v := string(l.full(i + 1)); v {
	case "said", "lied", "looked", "seemed", "sounded", "smiled", "did", "told", "got", "asked", "meant", "wanted", "never", "only", "just", "barely", "owe", "live", "come", "work", "mean":
		return false
	default:
		return pastVerbs[v] || len(v) > 3 && v[len(v)-2:] == "ed" && !l.isAny(i+1, set(aux, be)) || v == "died"
	}
}

func theyWord(l *line, i int) bool {
	if i >= l.n {
		return false
	}
	switch string(l.full(i)) {
	case "they":
		return true
	}
	return false
}

// subjectAfter reports whether a subject follows the helping verb at i, so that
// it asks: "could you", "is the road", not "could be".
func subjectAfter(l *line, i int) bool {
	if i+1 >= l.n {
		return false
	}
	return l.isAny(i+1, set(you, me, we, third, other, det, that, number)) || !l.words[i+1].known
}

// wayAsks reports whether the question word at i asks for a way to do something.
func wayAsks(l *line, i int) bool {
	switch string(l.full(i)) {
	case "how", "where", "when", "why", "wie", "wo", "wann", "warum", "como", "donde", "cuando":
		return true
	}
	return false
}

// happened reports whether the question at i asks what became of somebody.
func happened(l *line, i int) bool {
	if i+1 >= l.n {
		return false
	}
	switch string(l.full(i + 1)) {
	case "happened", "became", "killed", "took", "passierte", "geschah", "paso", "ocurrio":
		return true
	}
	return false
}

// stranger reports whether word i calls somebody whom nobody has introduced: a name
// with a capital that no language knows, after a pause at the end or before one at
// the beginning. "Take your time, Odo" is for Odo, whoever that is.
func (l *line) stranger(i int, fs *founds) bool {
	w := &l.words[i]
	if !w.upper || w.known || w.number || fs.at(i) != nil || w.base != w.hi || l.lang.common[string(l.str(i))] {
		return false
	}
	last := i == l.n-1 || w.end()
	switch {
	case i > 0 && l.words[i-1].stop == ',' && last:
		return l.isAny(0, set(order, ask, aux, you, opener, we, me)) && l.lang.tag != "de" // every German noun has a capital
	case i == 0 && w.stop == ',' && l.n > 2:
		return l.isAny(1, set(order, you, ask, aux))
	}
	return false
}

// seems reports whether the word is one that "like" belongs to.
func seems(l *line, i int) bool {
	switch string(l.full(i)) {
	case "sounds", "looks", "seems", "feels", "smells", "tastes", "sound", "look", "seem", "feel", "nothing", "something", "anything", "more", "just", "much":
		return true
	}
	return false
}

// amongPlayers reports whether the players talk to each other. "Should we" is
// theirs, but "should we trust you" is not.
func (l *line) amongPlayers(toYou bool) bool {
	if !l.has.has(party) {
		return false
	}
	for i := 0; i < l.n; {
		if !l.is(i, party) {
			i++
			continue
		}
		lo, ours := i, false
		for ; l.is(i, party); i++ {
			ours = ours || l.is(i, we)
		}
		if l.subordinate(lo) || l.is(lo, deal) && l.is(i-1, deal) && l.is(i, deal) {
			toYou = toYou || !l.elsewhere(lo, i)
			continue // "does that mean we can go", "are we free to go"
		}
		if !ours {
			return true
		}
	}
	if !toYou {
		return true
	}
	for i := range l.n {
		if l.is(i, party) && !l.subordinate(i) && !l.is(i, deal) && !l.is(i-1, party) {
			for k := range l.n {
				if l.is(k, you) && !l.isAny(k, set(party, thanks)) {
					return false
				}
			}
			return true
		}
	}
	return false
}

// asksMaster reports whether the line asks the game master what the player could
// do or see. A longer phrase of bargaining wins: "can we see it", "are we free".
func (l *line) asksMaster() bool {
	for i := 0; i < l.n; {
		if !l.is(i, dmask) {
			i++
			continue
		}
		lo := i
		for l.is(i, dmask) {
			i++
		}
		if lo > 0 && l.is(lo+1, we) && l.is(lo-1, ask) && wayAsks(l, lo-1) {
			continue // "where do we find her"
		}
		if !(l.is(lo, deal) && l.is(i-1, deal) && l.is(i, deal)) && !l.asksPast(lo) {
			return true
		}
	}
	return false
}

// exclaims reports whether the line comments on what just happened. Bargaining
// that begins alike is none: "what if we paid double".
func (l *line) exclaims() bool {
	for i := 0; i < l.n; {
		if !l.is(i, react) {
			i++
			continue
		}
		lo := i
		for l.is(i, react) {
			i++
		}
		if !(l.is(lo, deal) && l.is(i, deal)) {
			return true
		}
	}
	return false
}

// asksPast reports whether the question at i is about what was: "how many of them
// were there". The game master is asked what is.
func (l *line) asksPast(i int) bool {
	if !l.is(i, ask) {
		return false
	}
	for k := i + 1; k < l.n && !l.words[k-1].end(); k++ {
		switch string(l.full(k)) {
		case "were", "was", "did", "had", "waren", "war", "hatte", "hatten", "eran", "habia", "hubo", "estaban":
			return !l.isAny(k+1, set(me, we)) && l.words[k-1].stop == 0
		}
	}
	return false
}

// subordinate reports whether the words from i on depend on what stands before
// them: "if we should", "they let you go", "anything else we should know".
func (l *line) subordinate(i int) bool {
	if i == 0 || l.words[i-1].stop != 0 || l.isAny(i-1, set(opener)) {
		return false
	}
	if l.isAny(i-1, set(clause, prep, other, ask)) && l.isAny(i, set(we, you)) {
		return true
	}
	switch string(l.full(i - 1)) {
	case "let", "else", "make", "made", "help", "before", "after", "until":
		return true
	}
	return false
}

// elsewhere reports whether the line has words for the players outside those from
// lo to hi.
func (l *line) elsewhere(lo, hi int) bool {
	for i := range l.n {
		if (i < lo || i >= hi) && l.is(i, party) {
			return true
		}
	}
	return false
}
