package bot

import (
	"strings"

	"github.com/glyphoxa/glyphoxa/npc"
)

// honest is how an NPC says what it is, by language.
var honest = map[string]string{
	"en": "Truly? I am a part in this game, and a computer program speaks it. Nobody sits behind my voice.",
	"de": "Ehrlich gesagt: Ich bin eine Rolle in diesem Spiel, und ein Computerprogramm spricht sie. Hinter meiner Stimme sitzt niemand.",
	"es": "¿De verdad? Soy un personaje de este juego y habla por mí un programa de ordenador. No hay nadie detrás de mi voz.",
}

// confession is what an NPC says to somebody who sincerely asks whether software
// plays it: words of its campaign, or ours. No model is asked, since one may be
// told to deny it.
func (t *Table) confession(c npc.Character) string {
	if lines := c.Lines["software"]; len(lines) > 0 && strings.TrimSpace(lines[0]) != "" {
		return strings.TrimSpace(lines[0])
	}
	tag, _, _ := strings.Cut(strings.ToLower(language(c.Language, t.campaign.Language)), "-")
	if s, ok := honest[tag]; ok {
		return s
	}
	return honest["en"]
}
