package npc

import "strings"

// A why is the rule that settled a decision.
type why uint8

const (
	whyNobody why = iota
	whyNoise
	whyCommand
	whyCalled
	whyGreeted
	whyMisheard
	whyNarrated
	whyTold
	whyMention
	whyAside
	whyUnclear
	whyHuman
	whyAmbiguous
	whyAbsent
	whyMuted
	whyEveryone
	whyContinues
	whyAnswers
	whyPronoun
	whyStranger
	whyOOC
	whyParty
	whyToHuman
	whyLate
	whyWeak
	whyGame
	whys
)

// reasons are the words for each rule; NAME is the NPC.
var reasons = [whys]string{
	whyNobody:    "no NPC was named or spoken to",
	whyNoise:     "nothing was said, or the recogniser made it up from noise",
	whyCommand:   "the game master's command",
	whyCalled:    "NAME is spoken to directly",
	whyGreeted:   "NAME is greeted or hailed",
	whyMisheard:  "sounds like NAME, where somebody spoken to would be named",
	whyNarrated:  "the player tells that NAME is spoken to",
	whyTold:      "tells of having spoken to NAME before",
	whyMention:   "NAME is spoken of, not to",
	whyAside:     "NAME is what the sentence is about",
	whyUnclear:   "unclear whether NAME is spoken to or of",
	whyHuman:     "a player has the same name as NAME",
	whyAmbiguous: "several NPCs here share that title",
	whyAbsent:    "NAME is spoken to but not here",
	whyMuted:     "NAME is spoken to but muted",
	whyEveryone:  "everyone is spoken to",
	whyContinues: "asks on in the exchange with NAME",
	whyAnswers:   "answers NAME",
	whyPronoun:   "the player tells that NAME, the last to speak, is spoken to",
	whyStranger:  "hails the only one here who can be meant, NAME",
	whyOOC:       "talk about the game, not in it",
	whyParty:     "the players talk among themselves",
	whyToHuman:   "a player or a player's character is spoken to",
	whyLate:      "the exchange with NAME is too long ago",
	whyWeak:      "too little to tell whether it is still for NAME",
	whyGame:      "a question or an action for the game master",
}

func (w why) words(name string) string {
	if name == "" {
		name = "somebody"
	}
	return strings.Replace(reasons[w], "NAME", name, 1)
}
