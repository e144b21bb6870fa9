package discord

import (
	"context"

	"github.com/glyphoxa/glyphoxa/bot"
)

// A Place is what a table is set for.
type Place struct {
	Guild string
	// Campaign is the name that [Library.Choose] took last, or "" for the
	// configuration's.
	Campaign string
	// Consent is what is done with what players say there.
	Consent Consent
}

// A Seat is a table with what commands look at besides.
type Seat struct {
	Table   *bot.Table
	Archive *bot.Archive
	Tools   *bot.Workshop
	// Recordings is where sound is kept; nil if none is.
	Recordings *bot.Recordings
	// Roll rolls the session's own dice.
	Roll func(ctx context.Context, r Roll) (string, error)
	// Portrait is an NPC's picture, by its path in the campaign.
	Portrait func(path string) ([]byte, error)
	// Reload reads the campaign's files anew.
	Reload func(ctx context.Context) error
	// Console makes a link that lets the game master of this name into the page of
	// the table, once.
	Console func(name string) string
	// Close ends the table and everything it stands on.
	Close func() error
}

// A Shelf is what one server's campaign remembers, read without a table.
type Shelf struct {
	Archive    *bot.Archive
	Recordings *bot.Recordings
	Close      func() error
}

// A Roll is what somebody wants to roll.
type Roll struct {
	Dice string
	// Advantage is "", "adv" or "dis".
	Advantage string
	// Repeat is how often; zero means once.
	Repeat int
}

// A Story is a campaign that can be played.
type Story struct{ Name, Title, About string }

// A Library is where a server's campaigns are.
type Library interface {
	// Stories lists what the server can play, its own imports included.
	Stories(ctx context.Context, guild string) ([]Story, error)
	// Import reads a file and keeps it as a campaign of the server, or says what is
	// wrong with it. It returns what there is to say about what was read.
	Import(ctx context.Context, p Place, file string, data []byte) (story Story, notes []string, err error)
}

// A Finding is one thing that was checked, for /setup and the doctor.
type Finding struct {
	What string
	// Note is what was found. Err is what is wrong, with the fix; Missing parts are
	// no fault.
	Note    string
	Err     error
	Missing bool
}
