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
	if l.n == 1 && l.words[0].stop != '?' && l.isAny(0, set(you, me, det, conj, prep)) && !l.isAny(0, set(answer, ask)) {
		return true // "you", "the", "and": what a recogniser hears in breath
	}
	if l.has.has(noise) {
		heard, covered := 0, 0
		for i := range l.n {
			if l.isAny(i, set(noise)) {
				heard++
			}
			if l.isAny(i, set(noise, whole, opener, thanks, prep, det)) {
				covered++
			}
		}
		// One such word among others is somebody's: "stop the music, please".
		return covered*10 >= l.n*8 && heard*2 >= l.n
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
	if l.amongPlayers(false) {
		score += 0.2
	}
	return min(score, 1)
}

// onlyNumbers reports whether the line is a number and words around it such as
// "plus" or "total".
func (l *line) onlyNumbers() bool {
	any := false
	if l.has.any(set(polite, thanks)) {
		return false // "two, please"
	}
	for i := range l.n {
		if l.words[i].number {
			any = true
		} else if !l.isAny(i, set(opener, conj, det, other)) && !sums(l, i) {
			return false
		}
	}
	return any
}

// sums reports whether the word stands between the numbers of a sum.
func sums(l *line, i int) bool {
	switch string(l.full(i)) {
	case "plus", "minus", "is", "equals", "makes", "total", "und", "ist", "macht", "mas", "menos", "son":
		return true
	}
	return false
}
