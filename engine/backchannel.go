package engine

import (
	"slices"
	"strings"
)

// OnlyListens reports whether text is what somebody says who listens: "mm-hm",
// "yeah, okay", laughter, or nothing that is a word. Nobody means to interrupt with
// it. language is a BCP 47 tag.
func OnlyListens(text, language string) bool {
	g := grammarOf(language)
	words := wordsOf(text)
	const most = 5 // "yeah, yeah, okay, I see" has five; what is longer says something
	if len(words) > most {
		return false
	}
	for len(words) > 0 {
		n := min(2, len(words))
		for n > 0 && !g.agrees[strings.Join(words[:n], " ")] && !laughs(words[0]) {
			n--
		}
		if n == 0 {
			return false
		}
		words = words[n:]
	}
	return true
}

// laughs reports whether a word is laughter, however long it is written: "hahahaha".
func laughs(w string) bool {
	const sounds = "hajeiog"
	return len(w) >= 4 && strings.Trim(w, sounds) == "" && (strings.Count(w, "h") >= 2 || strings.Count(w, "j") >= 2)
}

// saysStop reports whether text tells whoever speaks to stop: a phrase such as
// "wait", alone or before a pause, with or without the name of who is spoken to.
// "Wait for us at the gate" does not.
func saysStop(text, language string, names []string) bool {
	stops := func(s string) bool { return isStop(s, language, names) }
	if stops(text) {
		return true
	}
	// "Bartok, wait! Who is that?": up to the second pause.
	for i, pauses := 0, 0; i < len(text) && pauses < 2; i++ {
		if strings.IndexByte(",.!;", text[i]) >= 0 {
			if pauses++; stops(text[:i]) {
				return true
			}
		}
	}
	return false
}

// isStop reports whether text is nothing but a phrase that means stop.
func isStop(text, language string, names []string) bool {
	g := grammarOf(language)
	words := slices.DeleteFunc(wordsOf(text), func(w string) bool { return slices.Contains(names, w) || g.polite[w] })
	return g.stops[strings.Join(words, " ")]
}
