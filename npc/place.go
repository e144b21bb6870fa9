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
		s.third = s.third || l.is(i, third) && !l.is(i, answer)
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
		if l.is(hi, be) && !l.isAny(hi+1, set(you, me, we)) {
			return p // "Bartok and Pip are brothers?"
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
			if l.apposed(&s, hi) {
				to(0.2, whyAside)
			} else if !l.toYou(&s, fs, hi) {
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
			if l.excluded(lo) {
				to(0.2, whyMention) // "not you, Bartok"
			} else if !directed && (u.DM || s.third) {
				to(0.5, whyUnclear)
			}
		case paused:
			to(0.85, whyCalled)
			switch {
			case l.excluded(lo):
				to(0.2, whyMention) // "not you, Bartok, I meant him"
			case directed:
			case !u.DM && !(l.predicate(&s, hi) && !l.inverted(&s, fs, hi)) && !l.isAny(hi, set(det)):
				to(0.62, whyCalled) // "we can't stay, Bartok, they are coming"
			default:
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
			case l.lang.tag == "es" && s.asks && !s.you && (l.is(s.first, be) || l.participle(lo-1)):
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
	if (common || human) && p.score > 0 && ri != paused && le != greeted && !(l.is(lo-1, you) && !l.is(lo-1, thanks)) && !(ri == atEnd && (le == afterPause || le == atStart)) {
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

// hasIn reports whether a word from lo to hi has one of the meanings.
func (l *line) hasIn(lo, hi int, s meaningSet) bool {
	for i := lo; i < hi; i++ {
		if l.words[i].means.any(s) {
			return true
		}
	}
	return false
}
