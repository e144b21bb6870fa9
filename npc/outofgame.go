package npc

// empty reports whether nothing was said: no words, or only what recognisers
// make up when they hear breath, laughter or dice.
func (l *line) empty() bool {
	if l.n == 0 {
		return true
	}
	letters := false
	for i := range l.n {
		if l.words[i].lo < l.words[i].hi {
			letters = true
		}
	}
	if !letters {
		return true
	}
	if l.has.has(noise) {
		covered := 0
		for i := range l.n {
			if l.isAny(i, set(noise, whole, opener, thanks, prep, det)) {
				covered++
			}
		}
		return covered*10 >= l.n*8
	}
	// The same short word again and again is a recogniser in a loop.
	if l.n >= 6 {
		same := 0
		for i := 1; i < l.n; i++ {
			if string(l.full(i)) == string(l.full(i-1)) {
				same++
			}
		}
		return same >= l.n-2
	}
	return false
}

// outOfCharacter says how much the line is about the game instead of in it. Each
// topic of a table counts; a second mention makes it surer.
func (l *line) outOfCharacter() float32 {
	score := float32(0)
	for _, t := range []struct {
		m    meaning
		each float32
	}{
		{dice, 0.55}, {health, 0.55}, {turn, 0.55}, {app, 0.5}, {food, 0.5}, {clock, 0.5}, {meta, 0.5}, {noise, 0.6},
	} {
		if n := l.times(t.m); n > 0 {
			score += t.each + 0.15*float32(min(n-1, 3))
		}
	}
	for i := range l.n {
		if l.words[i].die {
			score += 0.5
			break
		}
	}
	if l.onlyNumbers() {
		score += 0.6 // "seventeen": what the die showed
	}
	if l.has.has(party) {
		score += 0.2
	}
	return min(score, 1)
}

// onlyNumbers reports whether the line is a number and words around it such as
// "plus" or "total".
func (l *line) onlyNumbers() bool {
	any := false
	for i := range l.n {
		if l.words[i].number {
			any = true
		} else if !l.isAny(i, set(opener, conj, det, other)) && string(l.full(i)) != "plus" && string(l.full(i)) != "minus" {
			return false
		}
	}
	return any
}
