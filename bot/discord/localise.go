package discord

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/bwmarrin/discordgo"

	"github.com/glyphoxa/glyphoxa/bot"
)

// tongue is a language that people are answered in. What has no translation is
// told in English.
type tongue string

const (
	english tongue = "en"
	german  tongue = "de"
	spanish tongue = "es"
)

// words are the translations, by the English text: files that a translator can
// edit without knowing the program. Names of commands stand there as "/name" and
// those of options as ":name".
//
//go:embed words
var words embed.FS

var dictionary = sync.OnceValue(func() map[tongue]map[string]string {
	all := map[tongue]map[string]string{}
	for _, l := range []tongue{german, spanish} {
		b, err := words.ReadFile("words/" + string(l) + ".json")
		var list map[string]string
		if err == nil {
			err = json.Unmarshal(b, &list)
		}
		if err != nil {
			panic(err) // they are part of the program, and a test reads them
		}
		all[l] = list
	}
	return all
})

// tongueOf is the language of a Discord locale.
func tongueOf(l discordgo.Locale) tongue {
	switch {
	case strings.HasPrefix(string(l), "de"):
		return german
	case strings.HasPrefix(string(l), "es"):
		return spanish
	}
	return english
}

// say is a text in this language. The English text is the key.
func (l tongue) say(text string, args ...any) string {
	if t, ok := dictionary()[l][text]; ok {
		text = t
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}

// fault is an error as a sentence for a person.
func (l tongue) fault(err error) string {
	if r, ok := errors.AsType[*bot.Refusal](err); ok {
		return sentence(l.say(r.Format, r.Args...))
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if t, ok := dictionary()[l][e.Error()]; ok {
			return sentence(t)
		}
	}
	return sentence(err.Error())
}

// sentence begins with a capital letter and ends with a full stop.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		s = "that did not work"
	}
	r, n := utf8.DecodeRuneInString(s)
	s = string(unicode.ToUpper(r)) + s[n:]
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, "?") || strings.HasSuffix(s, "!") {
		return s
	}
	return s + "."
}

// locales are Discord's names of our languages.
var locales = map[tongue][]discordgo.Locale{
	german:  {discordgo.German},
	spanish: {discordgo.SpanishES, discordgo.SpanishLATAM},
}

// localised are the translations of a key for Discord's own menus.
func localised(key string) map[discordgo.Locale]string {
	out := map[discordgo.Locale]string{}
	for l, ids := range locales {
		if t, ok := dictionary()[l][key]; ok {
			for _, id := range ids {
				out[id] = t
			}
		}
	}
	return out
}
