package memory

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// A span is the time for which a question asks; the zero value is any time.
// People tell of something on the day or some days later, so a span ends a
// little after the time that was named.
type span struct {
	year  int // 0 is any year
	month time.Month
	day   int // 0 is the whole month
}

// afterwards is how long after a day people still tell of it.
const afterwards = 10 * 24 * time.Hour

// holds says whether something said at that time may be about the span.
func (s span) holds(at time.Time) bool {
	if s.month == 0 {
		return s.year != 0 && at.Year() == s.year
	}
	year := s.year
	if year == 0 {
		year = at.Year()
		if at.Month() < s.month { // told in January of what was in December
			year--
		}
	}
	from, to := time.Date(year, s.month, 1, 0, 0, 0, 0, at.Location()), time.Date(year, s.month+1, 1, 0, 0, 0, 0, at.Location())
	if s.day > 0 {
		from = time.Date(year, s.month, s.day, 0, 0, 0, 0, at.Location())
		to = from.AddDate(0, 0, 1)
	}
	return !at.Before(from.AddDate(0, 0, -1)) && at.Before(to.Add(afterwards))
}

// monthNames begin with the three letters by which people shorten them.
var monthNames = func() map[string]time.Month {
	m := map[string]time.Month{}
	for i, names := range [...]string{"january jan januar enero", "february feb februar febrero", "march mar marz marzo", "april apr abril", "may mai mayo",
		"june jun juni junio", "july jul juli julio", "august aug agosto", "september sep sept septiembre", "october oct oktober octubre",
		"november nov noviembre", "december dec dezember diciembre"} {
		for name := range strings.FieldsSeq(names) {
			m[name] = time.Month(i + 1)
		}
	}
	return m
}()

// spanOf reads the time that a question names: "8 May 2023", "in July", "in 2022",
// "2023-05-08". The word may alone is no month, nor is march.
func spanOf(words []string) (s span) {
	for i, w := range words {
		if n, err := strconv.Atoi(w); err == nil && n >= 1900 && n < 2200 && len(w) == 4 {
			s.year = n
			if i+2 < len(words) {
				month, merr := strconv.Atoi(words[i+1])
				day, derr := strconv.Atoi(words[i+2])
				if merr == nil && derr == nil && month >= 1 && month <= 12 && day >= 1 && day <= 31 {
					s.month, s.day = time.Month(month), day
				}
			}
			continue
		}
		month, ok := monthNames[w]
		if !ok || s.month != 0 {
			continue
		}
		before, after := "", ""
		if i > 0 {
			before = words[i-1]
		}
		if i+1 < len(words) {
			after = words[i+1]
		}
		day := dayBeside(before, after)
		if day == 0 && (w == "may" || w == "march" || w == "mar") && !slices.Contains([]string{"in", "of", "last", "this", "early", "late", "im", "en"}, before) {
			continue
		}
		s.month, s.day = month, day
	}
	return s
}

// dayBeside is the day of the month that stands before or after its name.
func dayBeside(before, after string) int {
	for _, w := range [...]string{before, after} {
		for _, tail := range [...]string{"st", "nd", "rd", "th"} {
			w = strings.TrimSuffix(w, tail)
		}
		if n, err := strconv.Atoi(w); err == nil && n >= 1 && n <= 31 {
			return n
		}
	}
	return 0
}
