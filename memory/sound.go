package memory

import "strings"

// Sound writes a name as it sounds in English: letters that are said alike
// become one, silent ones go, a run of vowels is one 'a'. Words are joined, as
// recognisers split and join unknown names at will: "Bar tock" sounds like
// "Bartok". It is a coarse key for finding names, not for deciding.
func Sound(name string) string {
	var b []byte
	for _, w := range words(name) {
		b = append(b, w...)
	}
	return string(sound(nil, b))
}

// sound appends the [Sound] of folded letters without spaces to out, which is
// empty.
func sound(out, w []byte) []byte {
	put := func(c byte) {
		if len(out) == 0 || out[len(out)-1] != c {
			out = append(out, c)
		}
	}
	at := func(i int) byte {
		if i < 0 || i >= len(w) {
			return 0
		}
		return w[i]
	}
	for i := 0; i < len(w); i++ {
		c, next := w[i], at(i+1)
		switch c {
		case 'a', 'e', 'i', 'o', 'u':
			if c == 'e' && i == len(w)-1 && i > 1 && !vowel(w[i-1]) {
				continue // silent: Grave
			}
			put('a')
		case 'y':
			if vowel(next) && !vowel(at(i-1)) {
				put('y')
			} else {
				put('a')
			}
		case 'b':
			if !(i == len(w)-1 && at(i-1) == 'm') { // lamb
				put('b')
			}
		case 'c':
			switch {
			case next == 'h' && at(i-1) != 's':
				put('x') // as in church; Christ differs, and names rarely do
				i++
			case next == 'k':
				put('k')
				i++
			case next == 'e' || next == 'i' || next == 'y':
				put('s')
			default:
				put('k')
			}
		case 'd':
			if next == 'g' && (at(i+2) == 'e' || at(i+2) == 'i') {
				put('j')
				i++
			} else {
				put('d')
			}
		case 'g':
			switch {
			case next == 'h' && i > 0:
				if !vowel(at(i + 2)) {
					put('f') // rough; in night it is silent, but it marks the place
					out = out[:len(out)-1]
				} else {
					put('g')
				}
				i++
			case next == 'n' && i == 0: // gnome
			case next == 'e' || next == 'i' || next == 'y':
				put('j')
			default:
				put('g')
			}
		case 'h':
			if vowel(next) && (i == 0 || vowel(at(i-1))) {
				put('h')
			}
		case 'k':
			if !(i == 0 && next == 'n') { // knight
				put('k')
			}
		case 'p':
			if next == 'h' {
				put('f')
				i++
			} else if !(i == 0 && (next == 's' || next == 'n')) {
				put('p')
			}
		case 'q':
			put('k')
			if next == 'u' {
				i++
			}
		case 's':
			switch {
			case next == 'h':
				put('x')
				i++
			case next == 'c' && at(i+2) == 'h':
				put('x')
				i += 2
			default:
				put('s')
			}
		case 't':
			switch {
			case next == 'h':
				put('t')
				i++
			case next == 'i' && (at(i+2) == 'o' || at(i+2) == 'a'):
				put('x')
			default:
				put('t')
			}
		case 'v':
			put('f')
		case 'w':
			switch {
			case i == 0 && next == 'r': // wraith
			case vowel(next) || next == 'h' && vowel(at(i+2)):
				put('w')
			}
		case 'x':
			if i == 0 {
				put('s')
			} else {
				put('k')
				put('s')
			}
		case 'z':
			put('s')
		default: // f, j, l, m, n, r, digits, other scripts
			put(c)
		}
	}
	return out
}

func vowel(c byte) bool { return strings.IndexByte("aeiouy", c) >= 0 && c != 0 }
