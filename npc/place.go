package npc

// How a name stands in its sentence tells whether it is spoken to or spoken of.
// To its left there may be nothing, a greeting, a comma, a word that takes the
// name as its object, or something else; likewise to its right.

// A left is what stands before a name.
type left uint8

const (
	atStart    left = iota // nothing, or only "well", "and then"
	greeted                // "hey", "thank you", "good evening"
	afterPause             // a comma
	asObject               // "about", "the", "trust", "did"
	joined                 // "and", "or"
	midway                 // anything else
)

// A right is what stands after a name.
type right uint8

const (
	atEnd     right = iota
	paused          // a comma
	saidTo          // words said to somebody: "can you", "tell me", "what's"
	narrated        // words said of somebody: "says", "is", "looked"
	possessed       // 's
	numbered        // a number and no more: an order of turns
	onward          // anything else
)

// A sentence is what a name stands in.
type sentence struct {
	lo, hi int
	// first is the first word that is no opener and no name.
	first int
	// asks is set for questions, orders for what begins with a verb's plain form.
	asks, orders bool
	// you is set if it says you or your; mine if it says I, we or us.
	you, mine, third bool
	question         bool // it ends in a question mark
}

// sentence finds the sentence around word i.
func (l *line) sentence(i int, fs *founds) sentence {
	s := sentence{lo: i, hi: i + 1}
	for s.lo > 0 && !l.words[s.lo-1].end() {
		s.lo--
	}
	for s.hi < l.n && !l.words[s.hi-1].end() {
		s.hi++
	}
	s.question = l.words[s.hi-1].stop == '?'
	s.first = s.lo
	for s.first < s.hi {
		if f := fs.at(s.first); f != nil {
			s.first = f.hi
			continue
		}
		// "how are you" greets, but it asks as well.
		if !l.isAny(s.first, set(opener, everyone, sirs, thanks)) && !(l.is(s.first, conj) && s.first == s.lo) || l.isAny(s.first, set(ask, aux)) {
			break
		}
		s.first++
	}
	for i := s.lo; i < s.hi; i++ {
		if fs.at(i) != nil {
			continue
		}
		if !l.is(i, thanks) && !l.isAny(i, set(sirs, everyone)) {
			s.you = s.you || l.is(i, you)
		}
		s.mine = s.mine || l.isAny(i, set(me, we)) && !l.isAny(i, set(opener, sirs))
		s.third = s.third || l.is(i, third)
	}
	if s.first < s.hi {
		s.asks = s.question || l.is(s.first, ask) || l.is(s.first, aux) && !l.is(s.first, order)
		s.orders = l.is(s.first, order) && !l.is(s.first, ask)
	} else {
		s.asks = s.question
	}
	return s
}

// place says how likely it is that the names from lo to hi are spoken to.
func (c *Cast) place(l *line, fs *founds, lo, hi int, u Utterance) call {
	s := l.sentence(lo, fs)
	f := fs.at(lo)
	title := f != nil && f.form.by == byTitle
	common := f != nil && f.form.common && hi == f.hi
	human := f != nil && f.form.human
	le := l.left(&s, fs, lo, title)
	ri := l.right(&s, fs, lo, hi)
	p := call{why: whyMention, score: 0.1}
	if n := c.narration(l, fs, &s, lo, hi); n.score > 0 {
		return n
	}
	to := func(score float32, w why) { p.score, p.why = score, w }
	switch ri {
	case possessed, narrated:
		return p
	case numbered:
		return p
	}
	if f != nil && hi > f.hi {
		// "Bartok or Greymantle" weighs them; "Bartok and Greymantle walk in" tells
		// of them, "Bartok and Greymantle, walk in" does not.
		for i := f.hi; i < hi; i++ {
			if l.is(i, conj) && either(l, i) {
				return p
			}
		}
		if ri == saidTo && !s.you && !s.asks && l.is(hi, order) && !l.isAny(hi+1, set(me, we)) && !l.hasIn(hi, s.hi, set(polite)) {
			return p
		}
	}
	directed := s.asks || s.you || s.orders || l.hasIn(s.lo, s.hi, set(deal, polite, thanks, answer))
	switch le {
	case atStart:
		switch ri {
		case atEnd:
			to(0.9, whyCalled)
			if l.is(s.lo, conj) && s.lo < lo && !l.words[lo-1].end() {
				to(0.5, whyCalled) // "and Bartok"
			}
			if s.question && lo == s.lo && s.hi < l.n {
				// "Bartok? More like Barf-tok."
				if next := l.sentence(s.hi, fs); !next.you && !next.asks && !next.orders && !next.mine {
					to(0.5, whyUnclear)
				}
			}
			if !s.question && lo == s.lo && s.hi < l.n {
				// "Bartok. He knows." answers somebody's question.
				if next := l.sentence(s.hi, fs); next.third && !next.you && !next.asks {
					to(0.3, whyMention)
				}
			}
		case paused:
			to(0.95, whyCalled)
			if !l.toYou(&s, fs, hi) {
				to(0.45, whyAside)
				if s.asks || s.you && !u.DM || l.speech(&s, fs, hi) {
					to(0.85, whyCalled)
				} else if !u.DM && !s.third {
					to(0.75, whyCalled)
				}
			}
		case saidTo:
			to(0.9, whyCalled)
		default:
			switch {
			case s.asks && s.you, l.hasIn(hi, s.hi, set(polite)):
				to(0.75, whyCalled)
			case s.you && !u.DM, s.question && !s.third:
				to(0.65, whyCalled)
			case s.mine && !u.DM && !l.has.has(party):
				to(0.56, whyCalled)
			default:
				to(0.4, whyUnclear)
			}
		}
	case greeted:
		switch ri {
		case atEnd, paused, saidTo:
			to(0.92, whyGreeted)
		default:
			to(0.6, whyGreeted)
			if u.DM {
				to(0.45, whyUnclear)
			}
		}
	case afterPause:
		switch ri {
		case atEnd:
			to(0.9, whyCalled)
			if !directed && (u.DM || s.third) {
				to(0.5, whyUnclear)
			}
		case paused:
			to(0.85, whyCalled)
			if !directed {
				to(0.5, whyUnclear)
			}
		case saidTo:
			to(0.8, whyCalled)
		default:
			if s.asks && s.you {
				to(0.6, whyCalled)
			} else {
				to(0.4, whyUnclear)
			}
		}
	case joined:
		if ri == saidTo || ri == paused && (s.you || s.asks) {
			to(0.62, whyCalled)
		}
	case midway:
		switch ri {
		case atEnd:
			switch {
			case l.lang.tag == "es" && s.asks && l.is(s.first, be) && !s.you:
				// "¿Ha dicho algo Bartok?": Spanish puts the subject last.
			case directed && !(s.third && !s.you):
				to(0.78, whyCalled)
			case s.mine && !u.DM && !s.third && !l.has.any(set(party, action, dmask)):
				to(0.5, whyUnclear)
			}
		case paused:
			if directed {
				to(0.75, whyCalled)
			}
		case saidTo:
			to(0.66, whyCalled)
			if title {
				to(0.4, whyUnclear) // "as the game master I order you"
			}
		default:
			to(0.25, whyMention)
		}
	case asObject:
		// "do you think Bartok", at the end, asks him.
		if ri == atEnd && l.is(lo-1, clause) && s.asks && s.you && whatAsks(l, s.first) && !l.is(lo-1, give) {
			to(0.75, whyCalled)
		}
		if ri == atEnd && l.isAny(lo-1, set(that)) && directed && !title {
			to(0.5, whyUnclear)
			if s.asks && s.you {
				to(0.6, whyCalled) // "did you know about this Bartok"
			}
		}
	}
	// "guard the door", "Will you go first": ordinary words and the names of
	// players need a pause or a greeting around them.
	if (common || human) && p.score > 0 && ri != paused && le != greeted && !(ri == atEnd && (le == afterPause || le == atStart)) {
		p.score -= 0.25
	}
	if title && le != greeted && ri != paused && ri != atEnd && le != afterPause {
		if ri == saidTo && hi < l.n && l.isAny(hi, set(det)) && !l.is(hi, me) {
			p.score -= 0.4
		}
	}
	if human {
		p.score -= 0.25
		if i := c.index(u.Last); i >= 0 && f.who == i && u.Since <= window {
			p.score += 0.2
		} else if p.why == whyCalled {
			p.why = whyHuman
		}
	}
	return p
}

// either reports whether the word is "or".
func either(l *line, i int) bool {
	switch string(l.full(i)) {
	case "or", "oder", "o", "u":
		return true
	}
	return false
}

// hasIn reports whether a word from lo to hi has one of the meanings.
func (l *line) hasIn(lo, hi int, s meaningSet) bool {
	for i := lo; i < hi; i++ {
		if l.words[i].means.any(s) {
			return true
		}
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
	if w.stop == ',' || l.words[min(k+1, l.n-1)].quote {
		return afterPause
	}
	switch {
	case l.is(k, greeting) && (k == s.lo || l.words[k-1].stop != 0):
		return greeted
	case l.is(k, stranded):
		return midway
	case l.is(k, conj):
		if l.isAny(k-1, set(me, we, you, third, other)) {
			return asObject // "me and Bartok go way back"
		}
		return joined
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
	if l.predicate(s, hi) {
		return narrated
	}
	return onward
}

// speech reports whether the words from i on are said to somebody, judging by
// how they begin.
func (l *line) speech(s *sentence, fs *founds, i int) bool {
	for i < s.hi && l.isAny(i, set(opener, sirs, honor)) && !l.isAny(i, set(ask, aux, order, me)) {
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
		if relative(l, i) && !s.question && (l.predicate(s, i+1)) {
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
	case m.any(set(answer)):
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
			return s.hi-i == 4 && quality(l, s.hi-1) || l.words[i-1].stop == ',' && s.question
		}
		return s.question || l.is(i, order) || s.hi-i > 4
	}
	if l.is(i, order) { // don't, have, can you
		return !l.isAny(j, set(will, does))
	}
	return s.question && l.is(i, be)
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

// misheard looks for a name that the recogniser did not know, where a name
// would stand if somebody were spoken to.
func (c *Cast) misheard(l *line, fs *founds, u Utterance) (best call, who found, ok bool) {
	if len(c.heard) == 0 {
		return best, who, false
	}
	try := func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if i < 0 || i >= l.n || fs.at(i) != nil {
				return
			}
		}
		f, found := c.guess(l, lo, hi)
		if !found {
			return
		}
		with := *fs
		with.add(f)
		p := c.place(l, &with, lo, hi, u)
		// What sounds less alike needs a clearer place.
		p.score -= (1 - f.alike) * 0.5
		if p.score > best.score && p.score >= sure || ok && p.score >= sure && f.alike > who.alike+0.08 && p.score > best.score-0.1 {
			p.lo, p.hi, p.alike = lo, hi, f.alike
			if p.why == whyCalled || p.why == whyGreeted {
				p.why = whyMisheard
			}
			best, who, ok = p, f, true
		}
	}
	for i := range l.n {
		opens := i == 0 || l.words[i-1].stop != 0 || l.isAny(i-1, set(opener, greeting, asking, honor, sayto))
		for n := 1; n <= 3 && i+n <= l.n; n++ {
			closes := i+n == l.n || l.words[i+n-1].stop != 0
			if opens && (closes || n <= 3) || closes && n <= 3 && i > 0 {
				try(i, i+n)
			}
			if l.words[i+n-1].stop != 0 {
				break
			}
		}
	}
	return best, who, ok
}
