package npc

// A recogniser that has never heard of Greymantle writes "gray mental". Names
// are therefore also compared by sound: letters become a short code of sounds,
// and two codes are compared by what it costs to turn one into the other, where
// sounds that are easily confused cost little.

// maxSounds is the longest code that is compared; longer names are cut.
const maxSounds = 20

// The sounds. Vowels come first.
const (
	sA = iota + 1
	sE
	sI
	sO
	sU
	sP
	sB
	sT
	sD
	sK
	sG
	sF
	sV
	sTH
	sS
	sZ
	sSH
	sCH
	sJ
	sM
	sN
	sL
	sR
	sW
	sY
	sH
	sER // an r after a vowel, which half of all speakers do not say
	sounds
)

// A sounding is a name or a stretch of speech as sounds.
type sounding struct {
	code [maxSounds]byte
	n    int
	// weight is what it would cost to drop all of it.
	weight int
}

// near holds pairs of consonants that recognisers confuse, and how costly the
// change from one to the other is, in tenths of an unrelated sound.
var near = func() (c [sounds][sounds]uint8) {
	for i := range c {
		for j := range c[i] {
			switch {
			case i == j:
			case i <= sU && j <= sU:
				c[i][j] = 3 // unstressed vowels are hardly heard
			case i <= sU || j <= sU:
				c[i][j] = 14
			default:
				c[i][j] = 10
			}
		}
	}
	pair := func(a, b, cost int) { c[a][b], c[b][a] = uint8(cost), uint8(cost) }
	for _, p := range [][3]int{
		{sP, sB, 3}, {sT, sD, 3}, {sK, sG, 3}, {sF, sV, 3}, {sS, sZ, 2}, {sTH, sT, 4}, {sTH, sD, 4}, {sTH, sF, 4}, {sTH, sS, 5}, {sTH, sZ, 5}, {sTH, sV, 5},
		{sSH, sCH, 3}, {sSH, sJ, 4}, {sCH, sJ, 3}, {sSH, sS, 4}, {sZ, sSH, 5}, {sZ, sJ, 5}, {sCH, sS, 6}, {sCH, sT, 5}, {sJ, sD, 5}, {sJ, sG, 5}, {sJ, sY, 5}, {sM, sN, 4}, {sCH, sK, 6},
		{sL, sR, 6}, {sV, sB, 5}, {sV, sW, 4}, {sW, sU, 5}, {sW, sO, 5}, {sY, sI, 3}, {sY, sE, 4}, {sW, sB, 7}, {sB, sD, 7}, {sP, sT, 7}, {sT, sK, 7}, {sP, sK, 7}, {sD, sG, 7}, {sM, sB, 7}, {sN, sL, 7}, {sN, sD, 7}, {sF, sP, 6}, {sH, sF, 7}, {sW, sR, 6}, {sL, sW, 6}, {sA, sU, 2}, {sA, sO, 2}, {sE, sI, 2}, {sA, sE, 2}, {sO, sU, 2}, {sK, sH, 6}, {sER, sR, 1}, {sER, sA, 4}, {sER, sE, 4}, {sER, sO, 5}, {sER, sU, 4}, {sER, sI, 5},
	} {
		pair(p[0], p[1], p[2])
	}
	return c
}()

// drop is what it costs to leave a sound out or to hear one too many.
func drop(s byte) int {
	switch {
	case s <= sU:
		return 5
	case s == sH, s == sER:
		return 3
	case s == sY, s == sW:
		return 5
	case s == sR, s == sL, s == sN:
		return 8
	}
	return 10
}

// sound codes letters, which are folded. Words of a window are given one after
// the other, as if they were one.
func (s *sounding) sound(parts ...[]byte) {
	var buf [48]byte
	n := 0
	for _, p := range parts {
		for _, c := range p {
			if n < len(buf) && 'a' <= c && c <= 'z' {
				buf[n] = c
				n++
			}
		}
	}
	s.spell(buf[:n])
}

// spell codes one word.
func (s *sounding) spell(w []byte) {
	s.n, s.weight = 0, 0
	at := func(i int) byte {
		if i < 0 || i >= len(w) {
			return 0
		}
		return w[i]
	}
	for i := 0; i < len(w) && s.n < maxSounds-1; {
		c, next, i0 := w[i], at(i+1), i
		i++
		switch c {
		case 'a', 'e', 'i', 'o', 'u', 'y':
			if c == 'y' && vowel(next) && (i0 == 0 || !vowel(at(i0-1))) {
				s.add(sY)
				continue
			}
			if c == 'e' && i0 == len(w)-1 && s.n > 1 && !vowel(at(i0-1)) {
				if at(i0-1) == 'l' && !vowel(at(i0-2)) && s.n > 2 {
					// mantle: the l is a syllable, said as in mental.
					s.n--
					s.weight -= drop(sL)
					s.add(sE)
					s.add(sL)
				}
				continue // silent
			}
			j := i
			for vowel(at(j)) && !(at(j) == 'y' && vowel(at(j+1))) {
				j++
			}
			s.add(vowels(w[i0:j]))
			// talk, walk; calm, palm
			if c == 'a' && j == i && next == 'l' && (at(i+1) == 'k' || at(i+1) == 'm') {
				j++
			}
			// bough, high: silent between a vowel and what follows
			if at(j) == 'g' && at(j+1) == 'h' {
				j += 2
			}
			i = j
		case 'b':
			if !(i0 > 0 && at(i0-1) == 'm' && i == len(w)) {
				s.add(sB)
			}
		case 'c':
			switch {
			case next == 'h':
				s.add(sCH)
				i++
			case next == 'k':
				s.add(sK)
				i++
			case next == 'e' || next == 'i' || next == 'y':
				s.add(sS)
			default:
				s.add(sK)
			}
		case 'd':
			if next == 'g' && (at(i+1) == 'e' || at(i+1) == 'i') {
				s.add(sJ)
				i++
			} else {
				s.add(sD)
			}
		case 'f':
			s.add(sF)
		case 'g':
			switch {
			case next == 'h':
				s.add(sG)
				i++
			case next == 'n' && i0 == 0:
			case next == 'e' || next == 'i' || next == 'y':
				if i0 == 0 {
					s.add(sG) // names: Gilda, Gerd; near enough to Gerald
				} else {
					s.add(sJ)
				}
			default:
				s.add(sG)
			}
		case 'h':
			if vowel(next) {
				s.add(sH)
			}
		case 'j':
			s.add(sJ)
		case 'k':
			if !(next == 'n' && i0 == 0) {
				s.add(sK)
			}
			if next == 'h' {
				i++
			}
		case 'l':
			s.add(sL)
		case 'm':
			s.add(sM)
		case 'n':
			s.add(sN)
		case 'p':
			if next == 'h' {
				s.add(sF)
				i++
			} else if !(i0 == 0 && (next == 's' || next == 't')) {
				s.add(sP)
			}
		case 'q':
			s.add(sK)
			if next == 'u' {
				if vowel(at(i + 1)) {
					s.add(sW)
				}
				i++
			}
		case 'r':
			if i0 > 0 && vowel(at(i0-1)) && next != 'r' && !vowel(next) {
				s.add(sER)
			} else {
				s.add(sR)
			}
			if next == 'h' {
				i++
			}
		case 's':
			switch {
			case next == 'h':
				s.add(sSH)
				i++
			case next == 'c' && at(i+1) == 'h':
				s.add(sSH)
				i += 2
			default:
				s.add(sS)
			}
		case 't':
			switch {
			case next == 'h':
				s.add(sTH)
				i++
			case next == 'c' && at(i+1) == 'h':
				s.add(sCH)
				i += 2
			case next == 'i' && (at(i+1) == 'o' || at(i+1) == 'a'):
				s.add(sSH)
				i++
			default:
				s.add(sT)
			}
		case 'v':
			s.add(sV)
		case 'w':
			switch {
			case next == 'r' && i0 == 0:
			case next == 'h':
				s.add(sW)
				i++
			case vowel(next):
				s.add(sW)
			}
		case 'x':
			if i0 == 0 {
				s.add(sZ)
			} else {
				s.add(sK)
				s.add(sS)
			}
		case 'z':
			if next == 'h' {
				s.add(sSH)
				i++
			} else {
				s.add(sZ)
			}
		}
	}
}

// add appends a sound; the same consonant twice is one.
func (s *sounding) add(c byte) {
	if s.n == maxSounds || s.n > 0 && (s.code[s.n-1] == c || c > sU && near[s.code[s.n-1]][c] <= 3 && s.code[s.n-1] > sU && c < sF) {
		return // and of "bard talk" only one of d and t is heard
	}
	s.code[s.n] = c
	s.n++
	s.weight += drop(c)
}

func vowel(c byte) bool {
	return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u' || c == 'y'
}

// vowels is how a run of vowel letters sounds, roughly.
func vowels(v []byte) byte {
	switch string(v) {
	case "a", "au", "aa", "aia":
		return sA
	case "ai", "ay", "ei", "ey", "ae", "eye":
		return sE
	case "ea", "ee", "ie", "i", "y", "iy":
		return sI
	case "oo", "ou", "ue", "ui", "eu", "uu":
		return sU
	case "oa", "oe", "o", "oi", "oy":
		return sO
	}
	switch v[0] {
	case 'a':
		return sA
	case 'e':
		return sE
	case 'o':
		return sO
	case 'u':
		return sU
	}
	return sI
}

// ends is what it costs to lose the i-th sound: less for a consonant at the end,
// which is often only closed lips.
func ends(s *sounding, i int) int {
	d := drop(s.code[i-1])
	if i == s.n && s.n > 3 && s.code[i-1] > sU {
		return min(d, 6)
	}
	return d
}

// cluster reports whether s begins as o does but for a consonant before its r, l or
// w, which is easily lost at the start of a breath: Brunna, "runna".
func (s *sounding) cluster(o *sounding) bool {
	if s.n < 3 || s.code[0] <= sU || s.code[1] != o.code[0] {
		return false
	}
	return s.code[1] == sR || s.code[1] == sL || s.code[1] == sW
}

// alike says how much s and o sound the same, from 0 to 1. What is below least may
// be told as 0, which is much quicker.
func (s *sounding) alike(o *sounding, least float32) float32 {
	if s.n == 0 || o.n == 0 {
		return 0
	}
	norm := max(s.weight, o.weight)
	// More than this apart is of no interest; stop early.
	limit := int(float32(norm)*(1-least)) + 1
	// What is lost at either end costs less than it weighs.
	if d := s.weight - o.weight; d > limit+9 || -d > limit+9 {
		return 0
	}
	// Recognisers seldom get the first consonant of a name quite wrong.
	if near[s.code[0]][o.code[0]] >= 10 && drop(s.code[0]) > 5 && drop(o.code[0]) > 5 && !s.cluster(o) && !o.cluster(s) {
		return 0
	}
	var rows [2][maxSounds + 1]int
	prev, row := &rows[0], &rows[1]
	for j := 1; j <= o.n; j++ {
		prev[j] = prev[j-1] + drop(o.code[j-1])
		if j == 1 && o.cluster(s) {
			prev[j] = 5
		}
	}
	for i := 1; i <= s.n; i++ {
		a := s.code[i-1]
		da := drop(a)
		if i == 1 && s.cluster(o) {
			da = 5
		}
		if i == s.n {
			da = ends(s, i)
		}
		row[0] = prev[0] + da
		lowest := row[0]
		for j := 1; j <= o.n; j++ {
			b := o.code[j-1]
			v := min(prev[j-1]+int(near[a][b]), prev[j]+da, row[j-1]+ends(o, j))
			row[j] = v
			lowest = min(lowest, v)
		}
		if lowest > limit {
			return 0
		}
		prev, row = row, prev
	}
	return max(0, 1-float32(prev[o.n])/float32(norm))
}
