package npc

import "slices"

// continues says how likely it is that the line goes on with the exchange that
// the speaker just had with an NPC, without naming it.
func (c *Cast) continues(l *line, fs *founds, u Utterance, last int, ooc float32) call {
	no := func(w why) call { return call{why: w, score: 0.1} }
	// "I ask him about the mill": told of the one who spoke last.
	if p := c.pronoun(l, fs); p && u.Since <= pronounWindow && !u.DM {
		return call{score: 0.75, why: whyPronoun}
	}
	switch {
	case u.DM:
		return no(whyGame) // the game master says "you" to the players
	case u.Since > longerWindow:
		return no(whyLate)
	case l.has.any(set(noise)):
		return no(whyNoise)
	}
	for k := range fs.n {
		f := &fs.list[k]
		if f.who == last && f.form.by == byName {
			return no(whyMention) // spoken of by name: to somebody else
		}
		if f.form.by == byHuman && !f.poss {
			if p := c.place(l, fs, f.lo, f.hi, u); p.score >= 0.5 {
				return no(whyToHuman)
			}
		}
	}
	if passesBy(l, fs) {
		return no(whyParty)
	}
	s, all := l.asked(fs)
	deals := l.has.any(set(deal))
	if l.amongPlayers(all.you) || anybody(l, s.first) || l.is(s.first, aux) && !pastAux(l, s.first) && anybody(l, s.first+1) ||
		s.question && (string(l.full(s.hi-1)) == "again" || l.is(s.first, we) && !all.you && !deals) {
		return no(whyParty)
	}
	if l.exclaims() && !all.you {
		return no(whyParty)
	}
	if ooc > 0.5 || ooc == 0.5 && !(all.you && deals) {
		return no(whyOOC) // "I can pay you back next week" is not
	}
	if l.has.any(set(action)) {
		return no(whyGame)
	}
	if l.asksMaster() && !(deals && all.you) {
		return no(whyGame)
	}
	score, w := 0.2+l.mood(&s, &all, deals), whyContinues
	if l.is(s.lo, answer) || l.is(s.first, answer) {
		whole := l.hasOnly(set(answer, opener, polite, sirs, weak, thanks))
		switch {
		case whole && l.hasOnly(set(weak)):
			score += 0.2
		case whole:
			score += 0.4
		default:
			score += 0.25
		}
		w = whyAnswers
	}
	if l.has.any(set(polite, thanks)) {
		score += 0.2
		if all.mine {
			score += 0.15 // "just water for me, thanks"
		}
	}
	if l.has.has(sirs) {
		score += 0.3
	}
	if u.Asked {
		score += 0.25
		if l.n <= 6 && !all.third && score < sure {
			score += 0.15 // a short line after a question answers it
		}
		w = whyAnswers
	}
	if all.third && !all.you && !deals {
		// "where did he go" asks after somebody else, and so does "he died in the
		// war"; "what is he hiding" is about the NPC.
		switch {
		case s.orders && l.isAny(s.first+1, set(me, we)): // "take us to him"
		case l.isAny(s.first, set(me, we)) && l.tellsOfSelf(s.first): // "we buried him"
		case l.tellsOfOther(s.first), s.orders && l.givesBack(s.first):
		case s.asks && (placeAsks(l, s.first) || pastAsks(l, s.first) || happened(l, s.first) || l.is(s.first, aux) && l.is(s.first+1, third)):
		case l.isAny(s.first, set(third)):
			score -= 0.35
		default:
			score -= 0.15
		}
	}
	if l.is(s.lo, conj) || l.is(0, conj) {
		score += 0.05
	}
	score -= ooc * 0.5
	if u.Since > window && score < 0.7 {
		return no(whyLate)
	}
	if u.Since > window {
		score -= 0.05
	}
	p := call{score: min(score, 0.95), why: w}
	if p.score < sure {
		p.why = whyWeak
	}
	return p
}

// asked is the sentence of the line that wants an answer, its first question or
// else its first sentence that says something, and all of them taken together.
func (l *line) asked(fs *founds) (s, all sentence) {
	s = l.sentence(0, fs)
	for s.hi < l.n && s.first >= s.hi {
		s = l.sentence(s.hi, fs) // "Hm. And where is it?"
	}
	all = s
	for hi := s.hi; hi < l.n; {
		t := l.sentence(hi, fs)
		hi = t.hi
		all.you = all.you || t.you
		all.asks = all.asks || t.asks
		all.question = all.question || t.question
		all.mine = all.mine || t.mine
		all.third = all.third || t.third
		if t.asks && !s.asks {
			s = t
		}
	}
	return s, all
}

// mood scores how the line speaks: who asks, orders, bargains or answers wants to
// be heard by whoever spoke last.
func (l *line) mood(s, all *sentence, deals bool) float32 {
	first := s.first
	switch {
	case l.hasOnly(set(opener, weak, whole, react)) && !s.question:
		return 0 // "oh", "hmm", "oh come on"
	case s.asks && l.is(first, aux) && !s.question && l.lang.tag == "en" && !subjectAfter(l, first):
		return 0 // "could be useful"
	case s.asks && all.you:
		return 0.5
	case s.asks && l.is(first, ask):
		score := float32(0.42)
		if l.isAny(first+1, set(aux)) && l.isAny(first+2, set(me, we)) && !deals {
			score -= 0.3 // "what do I see"
			if l.is(first+2, we) && wayAsks(l, first) {
				score += 0.25 // "how do we get past the guards"
			}
		}
		if s.hi-first <= 2 && l.is(first, weak) && !s.question {
			score -= 0.3
		}
		return score
	case s.asks && l.is(first, aux):
		if l.isAny(first+1, set(me, we)) && !deals {
			return 0.05 // "can I reach it": for the game master
		}
		return 0.4
	case s.orders && (all.mine || all.you) && !all.third, s.orders && l.isAny(first+1, set(me, we)) && !l.isSubject(first+1):
		return 0.45
	case deals:
		return 0.42
	case all.you:
		return 0.38
	case s.orders && l.givesBack(first):
		return 0.45
	case s.orders && all.third:
		return 0.2
	case s.orders:
		return 0.37
	case s.question:
		return 0.37 // "the old mill?", "two gold?"
	case l.is(first, musing):
		return 0
	case l.tellsOfOther(first):
		return 0.36 // "he died two winters ago"
	case all.mine && l.isAny(first, set(me, we)):
		if l.n >= 3 && l.tellsOfSelf(first) {
			return 0.36 // "my father died in that war"
		}
		return 0
	case all.third:
		return 0
	case l.hedged(s):
		return 0.1 // "probably a trap"
	case s.hi-s.lo <= maxAnswer:
		return 0.36 // "three days ago", "the bridge is gone"
	}
	return 0
}

// maxAnswer is the most words of a plain statement that is taken as the answer to
// what an NPC just said; longer ones are somebody's tale.
const maxAnswer = 12

// anybody reports whether the word asks the people around: anyone, somebody.
func anybody(l *line, i int) bool {
	if i >= l.n {
		return false
	}
	switch string(l.full(i)) {
	case "anyone", "anybody", "someone", "somebody", "jemand", "alguien":
		return true
	}
	return false
}

// pastAsks reports whether the helping verb at i asks of the past: did, was.
func pastAsks(l *line, i int) bool {
	if i+1 >= l.n {
		return false
	}
	switch string(l.full(i)) {
	case "did", "was", "had", "were", "would", "will":
		return l.is(i+1, third) && string(l.full(min(i+2, l.n-1))) != "just"
	}
	return false
}

// pastAux reports whether the helping verb at i asks what was.
func pastAux(l *line, i int) bool {
	switch string(l.full(i)) {
	case "did", "was", "had", "were", "has", "have", "hat", "war", "habt", "ha", "han":
		return true
	}
	return false
}

// tellsOfSelf reports whether the words from i on tell something of the speaker
// to somebody who asked: "my father died", "we found the map", "I'm no thief".
// "I keep my hand on my sword" is told to the game master instead.
func (l *line) tellsOfSelf(i int) bool {
	if !l.isAny(i, set(me, we)) {
		return l.is(i, other) || l.is(i, be)
	}
	w := l.full(i)
	if slices.Contains(w, '\'') {
		return !l.doing(i + 1) // I'm, we've, I'd
	}
	if !l.isSubject(i) {
		return true // my, our
	}
	if i+1 >= l.n {
		return false
	}
	v := l.full(i + 1)
	return l.isAny(i+1, set(aux, be)) || l.lang.tag != "en" || len(v) > 3 && v[len(v)-1] == 'd' && v[len(v)-2] == 'e' || pastVerbs[string(v)]
}

// doing reports whether the words from i on tell what the speaker is just doing,
// which is for the table: "I'm writing this down", "I'm drawing my sword".
func (l *line) doing(i int) bool {
	for l.is(i, will) || l.is(i, does) {
		i++
	}
	if i >= l.n || l.is(i, other) {
		return false
	}
	w := l.full(i)
	if len(w) < 5 || string(w[len(w)-3:]) != "ing" {
		return false
	}
	switch string(w) {
	case "looking", "searching", "telling", "asking", "saying", "paying", "talking", "begging", "warning", "hoping", "offering", "working", "travelling", "traveling", "staying",
		"hunting", "passing", "running", "listening", "seeking", "serving", "suggesting", "wondering", "nothing", "counting", "losing", "leaving", "coming", "waiting", "investigating", "heading":
		return string(l.full(min(i+1, l.n-1))) == "it" || string(l.full(min(i+1, l.n-1))) == "this"
	}
	return !l.has.has(you)
}

// pastVerbs are irregular past forms that people tell of themselves with.
var pastVerbs = map[string]bool{
	"found": true, "came": true, "saw": true, "went": true, "heard": true, "met": true, "lost": true, "took": true, "brought": true, "fought": true, "killed": true,
	"got": true, "had": true, "left": true, "made": true, "paid": true, "said": true, "told": true, "sold": true, "stole": true, "swore": true, "knew": true, "grew": true, "won": true,
	"wrote": true, "read": true, "gave": true, "bought": true, "spoke": true, "ran": true, "broke": true, "kept": true, "held": true, "slept": true, "sent": true, "never": true, "only": true, "barely": true,
	"owe": true, "live": true, "come": true, "work": true, "serve": true, "mean": true, "speak": true, "represent": true, "belong": true, "seek": true, "accept": true, "refuse": true, "agree": true, "disagree": true,
	"want": true, "need": true, "know": true, "believe": true, "doubt": true, "insist": true, "demand": true, "trust": true, "fear": true, "understand": true, "remember": true, "care": true, "prefer": true, "expect": true, "did": true, "could": true, "forgive": true, "deserve": true, "regret": true,
}

// placeAsks reports whether the question word at i asks where, when or who.
func placeAsks(l *line, i int) bool {
	if i >= l.n {
		return false
	}
	switch string(l.full(i)) {
	case "where", "where's", "where'd", "when", "who", "who's", "which", "wo", "wohin", "wann", "wer", "donde", "adonde", "cuando", "quien":
		return true
	}
	return false
}

// hasOnly reports whether every word has one of the meanings.
func (l *line) hasOnly(s meaningSet) bool {
	for i := range l.n {
		if !l.words[i].means.any(s) {
			return false
		}
	}
	return true
}

// pronoun reports whether the player tells of speaking to him or her.
func (c *Cast) pronoun(l *line, fs *founds) bool {
	for i := range l.n {
		if !l.isObject(i) {
			continue
		}
		s := l.sentence(i, fs)
		subject, past := l.teller(&s, fs, i)
		if subject < 0 || past {
			continue
		}
		if l.isAny(i-1, set(say)) && i-1 > subject-1 && (l.isAny(i+1, set(about, ask, conj)) || l.words[i].stop == ',' || i+1 < s.hi && l.words[i+1].quote) {
			return true
		}
		if l.isTo(i-1) && l.isAny(i-2, set(sayto)) {
			return true
		}
		for j := i + 1; j < min(s.hi, i+6); j++ {
			if l.is(j, asking) && l.is(j-1, conj) {
				return true
			}
		}
	}
	return false
}

// isObject reports whether the word is him, her or them.
func (l *line) isObject(i int) bool {
	switch string(l.full(i)) {
	case "him", "her", "them", "ihn", "ihm", "ihr", "sie", "le", "les":
		return true
	}
	return false
}
