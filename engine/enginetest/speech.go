package enginetest

import (
	"math"
	"strings"
	"unicode/utf8"
)

// talkRate is the rate of both speech-to-speech vendors' sound.
const talkRate = 24000

// A heard word is where one is in [Talk]'s sound, in samples.
type heardWord struct {
	text     string
	from, to int
}

// Talk speaks a text as people do: a word lasts 60 ms a letter, with 20 ms between
// words and 300 ms after a sentence. Each word is a tone that tells its place: word i
// sounds at (300 + 25 i) Hz.
func Talk(text string) []int16 {
	sound, _ := talk(text)
	return sound
}

func talk(text string) (sound []int16, words []heardWord) {
	for i, w := range strings.Fields(text) {
		word := heardWord{text: w, from: len(sound)}
		hz := 300 + 25*float64(i)
		n := utf8.RuneCountInString(strings.Trim(w, ".,!?"))
		for k := range talkRate * 60 / 1000 * n {
			sound = append(sound, int16(6000*math.Sin(2*math.Pi*hz*float64(k)/talkRate)))
		}
		word.to = len(sound)
		pause := talkRate / 50
		if strings.ContainsAny(w[len(w)-1:], ".!?") {
			pause = talkRate * 3 / 10
		}
		sound = append(sound, make([]int16, pause)...)
		words = append(words, word)
	}
	return sound, words
}
