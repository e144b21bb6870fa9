package tts

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// MaxText is the longest text that is spoken at a time, in bytes: some nine
// minutes. Sentences have a hundredth of it.
const MaxText = 8 << 10

// speakable is text without what a synthesiser could take for a command, or "" if
// nothing is left to say.
func speakable(text string) (string, error) {
	if len(text) > MaxText {
		return "", fmt.Errorf("a text of %d bytes: at most %d are spoken at a time; split it into sentences", len(text), MaxText)
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))
	// espeak-ng reads phoneme codes between double brackets.
	for strings.Contains(text, "[[") {
		text = strings.ReplaceAll(text, "[[", "[")
	}
	if !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		return "", nil
	}
	return strings.TrimSpace(text), nil
}

// plain is English text in ASCII, for flite, which spells out everything else.
var plain = strings.NewReplacer("’", "'", "‘", "'", "“", `"`, "”", `"`, "—", ", ", "–", ", ", "…", "...",
	"ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ð", "th", "þ", "th", "ł", "l")

// ascii is text with its accents taken off and without what has no sound.
func ascii(text string) string {
	return strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII {
			return r
		}
		return -1
	}, norm.NFD.String(plain.Replace(text)))
}
