package rules

import "strings"

// sound reduces letters, without spaces, to how they are heard: one sign for
// each group of consonants that recognition confuses, no vowels except at the
// beginning. "eldridge blast" and "eldritch blast" come out the same.
func sound(s string) string {
	var b strings.Builder
	put := func(c byte) {
		if n := b.Len(); n == 0 || b.String()[n-1] != c {
			b.WriteByte(c)
		}
	}
	at := func(i int) byte {
		if i < 0 || i >= len(s) {
			return 0
		}
		return s[i]
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case 'a', 'e', 'i', 'o', 'u', 'y':
			if i == 0 {
				put('A')
			}
		case 'b', 'p':
			if c == 'p' && at(i+1) == 'h' {
				put('F')
				i++
			} else {
				put('P')
			}
		case 'c':
			switch {
			case at(i+1) == 'h':
				put('J')
				i++
			case at(i+1) == 'k':
				put('K')
				i++
			case strings.IndexByte("eiy", at(i+1)) >= 0 && at(i+1) != 0:
				put('S')
			default:
				put('K')
			}
		case 'd', 't':
			switch {
			case strings.HasPrefix(s[i:], "dge"), strings.HasPrefix(s[i:], "tch"):
				put('J')
				i += 2
			case strings.HasPrefix(s[i:], "dg"):
				put('J')
				i++
			case strings.HasPrefix(s[i:], "tion"):
				put('J')
				put('N')
				i += 3
			case c == 't' && at(i+1) == 'h':
				put('T')
				i++
			default:
				put('T')
			}
		case 'f', 'v':
			put('F')
		case 'g':
			switch {
			case at(i+1) == 'h' && i > 0:
				i++
			case at(i+1) == 'n' && i == 0:
			case strings.IndexByte("eiy", at(i+1)) >= 0 && at(i+1) != 0:
				put('J')
			default:
				put('K')
			}
		case 'h':
			// Heard at the beginning only, and lost there often enough that
			// it must not count.
		case 'j':
			put('J')
		case 'k':
			if at(i+1) == 'n' && i == 0 {
				break
			}
			put('K')
		case 'q', 'x':
			put('K')
			if c == 'x' {
				put('S')
			}
		case 'l':
			put('L')
		case 'm', 'n':
			put('N')
		case 'r':
			put('R')
		case 's', 'z':
			if c == 's' && at(i+1) == 'h' {
				put('J')
				i++
			} else {
				put('S')
			}
		case 'w':
			if i == 0 && (at(i+1) == 'r' || strings.HasPrefix(s, "who")) {
				break // write, whole
			}
			put('W')
		default:
			put(c)
		}
	}
	return b.String()
}

// distance is the number of letters to insert, remove, change or swap, or
// limit+1 where it is more than limit.
func distance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	var rows [3][48]uint8
	if len(b) >= len(rows[0]) || len(a) >= len(rows[0]) {
		return limit + 1
	}
	before, last, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		last[j] = uint8(j)
	}
	for i := 1; i <= len(a); i++ {
		row[0] = uint8(i)
		least := row[0]
		for j := 1; j <= len(b); j++ {
			cost := uint8(1)
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if int(least) > limit {
			return limit + 1
		}
		before, last, row = last, row, before
	}
	return int(last[len(b)])
}

// similarity of two joined names, 0 to 1: letters count as much as sounds, and
// neither may be altogether different.
func similarity(a, b string, soundA, soundB string) float64 {
	letters := likeness(a, b)
	if letters == 0 {
		return 0
	}
	heard := likeness(soundA, soundB)
	if heard == 0 {
		return 0
	}
	return (letters + heard) / 2
}

// likeness is the share of letters that agree, 0 where it is below a half.
func likeness(a, b string) float64 {
	longest := max(len(a), len(b))
	limit := longest * 2 / 5
	d := distance(a, b, limit)
	if d > limit {
		return 0
	}
	return 1 - float64(d)/float64(longest)
}
