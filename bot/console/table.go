package console

import (
	"context"
	"iter"
	"time"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/mcp"
)

// A Table is the running game that a [Console] shows. All methods are safe for
// concurrent use. Every action checks for itself whether who may take it, and
// its error is shown to that person as it is: it says what to do next.
type Table interface {
	// State is the table now.
	State() bot.Snapshot
	// Events yields, in order, every event whose number is above after, first
	// the past ones that are still held and then those to come, until ctx ends.
	// If some are held no more it begins with the oldest that is: the first
	// number then tells. A slow reader loses nothing that is still held and
	// delays nobody.
	Events(ctx context.Context, after uint64) iter.Seq[bot.Event]
	// Sound yields what the room hears from now on, paced to real time, until
	// ctx ends. A reader that falls behind loses frames but never a flush.
	Sound(ctx context.Context) iter.Seq[bot.Sound]

	// Say is a typed line. It returns once the line is part of the talk, which
	// is before it is answered.
	Say(ctx context.Context, who bot.Person, text string) error
	// Listen hears one person's open microphone: frames of 320 samples of 16 kHz
	// mono, as they come. It returns when frames ends or ctx does.
	Listen(ctx context.Context, who bot.Person, frames iter.Seq[[]int16]) error

	// Stop silences every NPC at once. What has been said stays said.
	Stop(ctx context.Context, who bot.Person) error
	// Mute keeps one NPC silent until it is unmuted.
	Mute(ctx context.Context, who bot.Person, npc string, on bool) error
	// SetScene moves the table to another scene of the campaign.
	SetScene(ctx context.Context, who bot.Person, scene string) error
	// Answer has npc answer the line of that id, whoever it was for.
	Answer(ctx context.Context, who bot.Person, line, npc string) error
	// XCard stops play, or lets it go on if on is false. The table does not
	// keep who played the card.
	XCard(ctx context.Context, who bot.Person, on bool) error
}

// What only some tables can do is found out one by one; the page has the buttons
// for what its [Table] has.
type (
	// A speaker can have the NPC say text word for word.
	speaker interface {
		SpeakAs(ctx context.Context, who bot.Person, npc, text string) error
	}
	// A prompter can have the NPC speak now, of its own accord.
	prompter interface {
		Prompt(ctx context.Context, who bot.Person, npc string) error
	}
	// A whisperer tells the NPC something that no player hears: "he is lying".
	whisperer interface {
		Whisper(ctx context.Context, who bot.Person, npc, text string) error
	}
	// An usher brings an NPC into the scene, or has it leave if on is false.
	usher interface {
		Enter(ctx context.Context, who bot.Person, npc string, on bool) error
	}
	// A decider answers what a [bot.Question] asks, once and as it was shown.
	decider interface {
		Decide(ctx context.Context, who bot.Person, id, hash string, yes bool) error
	}
	// A hurrier sets how long answers may take: of one NPC or, with an empty id, of
	// all; for so long or, with zero, for the session.
	hurrier interface {
		SetTier(ctx context.Context, who bot.Person, npc string, tier mcp.Tier, lasting time.Duration) error
		ClearTier(ctx context.Context, who bot.Person, npc string) error
	}
	// A pauser listens to nobody for a while. [Table.XCard] goes on.
	pauser interface {
		Pause(ctx context.Context, who bot.Person, on bool) error
	}
	// A corrector accepts a better spelling of what was heard, and listens for
	// the new names in it from then on.
	corrector interface {
		Correct(ctx context.Context, who bot.Person, line, text string) error
	}
)
