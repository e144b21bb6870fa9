package npc

// An Intent is what an utterance is about.
type Intent uint8

// The intents. What a line that is meant for nobody is about is told all the
// same: a rules question becomes a card for the table.
const (
	OutOfCharacter Intent = iota // about the game, or among the players
	Chat                         // ordinary talk
	Rules                        // how a rule of the game goes
	Recall                       // what happened or was said before
	Dice                         // asks for a roll
	World                        // who, what or where something is
	Ordered                      // a command of the game master
)

var intentNames = [...]string{"ooc", "chat", "rules", "memory", "dice", "world", "command"}

// String is the intent's name as glyphoxa explain prints it.
func (i Intent) String() string { return intentNames[i] }

// intent says what the line is about, knowing who is meant by it.
func (l *line) intent(d *Decision) Intent {
	if d.Command.Kind != NoCommand {
		return Ordered
	}
	addressed := len(d.To) > 0
	if l.asksRules() {
		return Rules
	}
	if addressed && l.asksRoll() {
		return Dice
	}
	if !addressed && (d.why == whyNoise || d.OutOfCharacter >= 0.4 || l.has.any(set(party, dmask, action))) {
		return OutOfCharacter
	}
	switch {
	case l.times(memoryask) > 0:
		return Recall
	case l.times(world) > 0:
		return World
	}
	return Chat
}

// asksRules reports whether the line asks how a rule goes.
func (l *line) asksRules() bool {
	if l.times(rulesonly) > 0 {
		return true
	}
	if n := l.times(rules); n == 0 || n < 2 && l.times(rulesask) == 0 {
		return false
	}
	var none founds
	for lo := 0; lo < l.n; {
		s := l.sentence(lo, &none)
		if l.hasIn(s.lo, s.hi, set(rules)) && (l.times(rules) > 1 || l.hasIn(s.lo, s.hi, set(rulesask))) {
			// A question, or a name before one.
			if s.question || s.asks || s.orders {
				return true
			}
			for i := s.lo; i < s.hi; i++ {
				if l.is(i, ask) || l.is(i, aux) && l.isAny(i+1, set(me, we, you, other, det)) {
					return true
				}
			}
		}
		lo = s.hi
	}
	return false
}

// asksRoll reports whether the line asks for dice to be rolled.
func (l *line) asksRoll() bool {
	for i := range l.n {
		if !l.is(i, roll) || i > 0 && l.isAny(i-1, set(roll)) {
			continue
		}
		// "I roll", "when I rolled": told, not asked.
		if l.isAny(i-1, set(me, we, third)) && !l.isAny(i-2, set(order)) {
			continue
		}
		return true
	}
	for i := range l.n {
		if l.words[i].die && (i == 0 || !l.isAny(i-1, set(me, det))) {
			return l.has.has(order)
		}
	}
	return false
}

// asksTime reports whether the line grants an NPC time to think or asks for what
// only slow tools can give, as opposed to speaking about that.
func (l *line) asksTime() bool {
	for i := range l.n {
		if l.is(i, deep) && !(i > 0 && l.is(i-1, deep)) && !l.denied(i) {
			return true
		}
	}
	return false
}

// denied reports whether the words before i take back what follows: "no need to
// take your time", "I always think carefully".
func (l *line) denied(i int) bool {
	for k := i - 1; k >= 0 && k >= i-4; k-- {
		if l.words[k].stop != 0 {
			return false
		}
		if l.is(k, deepnot) {
			return true
		}
	}
	return false
}

// question reports whether the line asks something or tells somebody to tell.
func (l *line) question() bool {
	for i := range l.n {
		if l.words[i].stop == '?' || l.is(i, ask) {
			return true
		}
	}
	return l.is(0, order) && l.isAny(1, set(me, we))
}
