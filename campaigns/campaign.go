// Package campaigns reads campaign folders: the YAML in which a game master
// writes down a world and the people who live in it.
//
// A folder holds campaign.yaml and, if one likes, one file for each NPC in
// npcs/ and any number of files with entities in entities/. The commented files
// of the two shipped campaigns show everything that can be written; the JSON
// Schema of [Schema] tells it to an editor.
//
// # Promises
//
//   - A folder is loaded whole or not at all, and all that is wrong with it is
//     told at once, each with file, line, column and what to do.
//   - Nothing outside the folder is read, whatever a link in it points to.
//   - At most 500 files, 16 MiB, 200 NPCs and 5,000 entities are read.
//   - What is not said to be known is known to nobody but the game master.
package campaigns

import (
	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/npc"
)

// A Campaign is a folder that was read without a problem. It is not changed
// after loading and may be shared.
type Campaign struct {
	// ID names the campaign in commands and in memory: lower case and dashes.
	ID   string
	Name string
	// System is the rules in use, such as "dnd5e"; Edition is 2014 or 2024, or
	// zero for systems without editions.
	System  string
	Edition int
	// Language is a BCP 47 tag, "en" if the folder does not say.
	Language string
	// Intro is read to the players when the campaign starts.
	Intro  string
	Scenes []Scene // in the order of the file; the first is where it starts
	Safety Safety
	// Glossary are names that recognition should know, apart from those of NPCs
	// and entities.
	Glossary []Term
	// Phrases are what this table says beyond the language's own tables, by their
	// sections; see npc.CheckPhrases.
	Phrases map[string][]string
	Tables  []Table
	NPCs    []npc.Character // by file name, then in the order of the file
	// Entities include one for each NPC, of the same id.
	Entities []memory.Entity
	// Hash changes when any file of the folder changes.
	Hash string
}

// A Scene is a place and who is there.
type Scene struct {
	ID, Name string
	// Text is what the players see and hear on arriving.
	Text string
	Mood string
	// Location is the id of the entity where it takes place, or "".
	Location string
	// Present are the ids of the NPCs there.
	Present []string
	// Music is a file in the folder or the name of a shipped piece, or "".
	Music string
}

// Safety is what the table agreed on before playing.
type Safety struct {
	// Rating is "everyone", "teen" or "mature".
	Rating string
	// Lines never happen; Veils happen, but are not described.
	Lines, Veils []string
}

// A Term is a name and what recognition makes of it, up to four words each.
type Term struct {
	Name    string
	HeardAs []string
}

// A Table is rolled on: each row is as likely as its weight.
type Table struct {
	ID, Name string
	Rows     []Row
}

// A Row is one outcome of a [Table].
type Row struct {
	Text   string
	Weight int // at least 1
	// Table is the id of another table to roll on as well, or "".
	Table string
}

// Names lists every name that may be said at the table, the NPCs' first.
func (c *Campaign) Names() []string {
	var names []string
	for _, n := range c.NPCs {
		names = append(append(names, n.Name), n.Aliases...)
	}
	for _, e := range c.Entities {
		if e.Kind != memory.NPC || !c.plays(e.ID) {
			names = append(append(names, e.Name), e.Aliases...)
		}
	}
	for _, t := range c.Glossary {
		names = append(names, t.Name)
	}
	return names
}

// plays reports whether id is one of the campaign's own NPCs.
func (c *Campaign) plays(id string) bool {
	for _, n := range c.NPCs {
		if n.ID == id {
			return true
		}
	}
	return false
}
