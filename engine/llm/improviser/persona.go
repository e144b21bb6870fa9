package improviser

// A Persona is all that an [Model] knows of the NPC it plays. It holds
// plain values, so that whoever has the campaign can fill it: the NPC's own
// file, and of the world only what this NPC may know.
type Persona struct {
	Name          string
	Aliases       []string // also titles it is addressed by
	Species, Role string
	// Language is a BCP 47 tag; English unless it begins with "de".
	Language string
	// Background is what it has lived through, preferably in its own words.
	Background string
	// Lines are its own words by occasion; missing occasions take stock lines.
	// {total}, {result}, {name} and {player} are filled in.
	Lines map[string][]string
	// Knowledge is what it tells in its own words.
	Knowledge []Lore
	// World is the part of the graph that it knows.
	World []Known
	// Secrets are never said, even if a tool's result should contain them.
	Secrets []string
}

// Lore is something an NPC tells when asked about it.
type Lore struct {
	// About are the words that bring it up.
	About []string
	Text  string
}

// Known is an entity as one NPC knows it.
type Known struct {
	ID, Kind, Name string
	Aliases        []string
	// Text is what is commonly said of it, in the third person.
	Text       string
	Attributes map[string]string
	// Facts are sentences in the third person.
	Facts []string
	Bonds []Bond
}

// A Bond is a relation to another entity.
type Bond struct {
	Kind string // a verb phrase: "lives at"
	To   string // the other's id or name
	Text string // "" or the whole sentence
}
