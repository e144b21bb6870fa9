package npc

import (
	"fmt"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp"
)

const (
	// deepPause is how long after one deep turn the next one is only standard:
	// otherwise one player's habit of saying "think hard" holds up the table.
	deepPause = 30 * time.Second
	// crowded is how many utterances must wait for an answer for turns to be
	// kept fast.
	crowded = 3
)

// A Moment is the state of the table when an utterance is over: all that
// [SelectTier] looks at apart from the utterance.
type Moment struct {
	// FirstTurn is set if the NPC has not yet spoken with this speaker.
	FirstTurn bool
	// Rapid is set if lines follow each other quickly, as in a quarrel.
	Rapid bool
	// Waiting is how many utterances wait for an answer, this one included.
	Waiting int
	// SinceDeep is how long ago the last deep turn was; 0 means never.
	SinceDeep time.Duration
	// Override is the tier that the game master set for the session, or nil. It
	// stays under the NPC's ceiling.
	Override *mcp.Tier
	// Ceiling is the NPC's highest tier; Lifted raises it for as long as the game
	// master said, or is nil.
	Ceiling mcp.Tier
	Lifted  *mcp.Tier
}

// A Choice is the tier of a turn, and why.
type Choice struct {
	Tier mcp.Tier
	// Asked is the tier before the NPC's ceiling.
	Asked mcp.Tier
	why   tierWhy
}

type tierWhy uint8

const (
	tierDefault tierWhy = iota
	tierOverride
	tierLifted
	tierTime
	tierSpam
	tierQueue
	tierRules
	tierRecall
	tierWorld
	tierFirst
	tierRapid
	tierCommand
	tierNobody
)

var tierWords = [...]string{
	tierDefault:  "ordinary talk",
	tierOverride: "the game master set it",
	tierLifted:   "the game master set it for this NPC",
	tierTime:     "it was told to take its time",
	tierSpam:     "it was told to take its time, but the last deep turn is under 30 s ago",
	tierQueue:    "others are waiting",
	tierRules:    "a question about the rules",
	tierRecall:   "a question about what was before",
	tierWorld:    "a question about the world",
	tierFirst:    "the first words with this NPC",
	tierRapid:    "a quick exchange",
	tierCommand:  "the game master's command",
	tierNobody:   "nobody has to answer",
}

// Reason says in words why the tier was chosen.
func (c Choice) Reason() string {
	if c.Tier < c.Asked {
		return fmt.Sprintf("%s: %s, lowered from %s by the NPC's ceiling", c.Tier, tierWords[c.why], c.Asked)
	}
	return c.Tier.String() + ": " + tierWords[c.why]
}

// SelectTier chooses how long the turn that answers d may wait for tools. It is
// a pure function: the first of these that applies decides.
//
//  1. What the game master set: for the session, or for this NPC.
//  2. An NPC told to take its time: deep, but standard if the last deep turn is
//     less than 30 s ago.
//  3. Three or more waiting: fast.
//  4. Questions about rules, the past or the world: standard.
//  5. A quick exchange: fast.
//  6. The first words with an NPC: standard.
//  7. Everything else: fast.
//
// The result is at most the NPC's ceiling.
func SelectTier(d *Decision, m Moment) Choice {
	c := Choice{}
	ceiling := m.Ceiling
	choose := func(t mcp.Tier, w tierWhy) Choice {
		c.Asked, c.Tier, c.why = t, min(t, ceiling), w
		return c
	}
	addressed := len(d.To) > 0
	switch {
	case m.Lifted != nil:
		ceiling = max(ceiling, *m.Lifted)
		return choose(*m.Lifted, tierLifted)
	case m.Override != nil:
		return choose(*m.Override, tierOverride)
	case d.Command.Kind == TakeTime:
		return choose(mcp.Deep, tierCommand)
	case d.Command.Kind == SetTier:
		return choose(d.Command.Tier, tierCommand)
	case d.Command.Kind != NoCommand:
		return choose(mcp.Fast, tierCommand)
	case addressed && d.TakeTime && m.SinceDeep > 0 && m.SinceDeep < deepPause:
		return choose(mcp.Standard, tierSpam)
	case addressed && d.TakeTime:
		return choose(mcp.Deep, tierTime)
	case m.Waiting >= crowded:
		return choose(mcp.Fast, tierQueue)
	case d.Intent == Rules:
		return choose(mcp.Standard, tierRules)
	case !addressed:
		return choose(mcp.Fast, tierNobody)
	case d.Intent == Recall:
		return choose(mcp.Standard, tierRecall)
	case d.Intent == World:
		return choose(mcp.Standard, tierWorld)
	case m.Rapid:
		return choose(mcp.Fast, tierRapid)
	case m.FirstTurn:
		return choose(mcp.Standard, tierFirst)
	}
	return choose(mcp.Fast, tierDefault)
}
