package memory

// An Audience is who may know something: entity ids, or [Everyone]. An empty
// audience is the game master alone: what nobody was told, nobody knows.
type Audience []string

// Everyone in an audience means common knowledge.
const Everyone = "everyone"

// A Kind is what sort of thing an entity is.
type Kind string

// The kinds of entity a campaign may hold.
const (
	NPC      Kind = "npc"
	Player   Kind = "player"
	Location Kind = "location"
	Item     Kind = "item"
	Faction  Kind = "faction"
	Event    Kind = "event"
	Quest    Kind = "quest"
	Concept  Kind = "concept"
)

// Kinds lists every [Kind], in the order in which a campaign book would.
var Kinds = []Kind{NPC, Player, Location, Item, Faction, Event, Quest, Concept}

// An Entity is a node of a campaign's knowledge graph.
type Entity struct {
	// ID is unique in its campaign: lower case, digits and dashes.
	ID   string
	Kind Kind
	Name string
	// Aliases are other names that people say.
	Aliases []string
	// Text is what is commonly said of it, in one or two sentences.
	Text string
	// Attributes are short typed facts: "price": "5 cp".
	Attributes map[string]string
	// Audience is who knows that the entity exists and what Text says.
	Audience  Audience
	Facts     []Fact
	Relations []Relation
}

// A Fact is a sentence about an entity that only its audience knows.
type Fact struct {
	// ID is unique in its campaign; "" lets the store derive one.
	ID       string
	Text     string
	Audience Audience
	// False marks a lie or an error that its audience believes.
	False bool
}

// A Relation is an edge from the entity that holds it.
type Relation struct {
	// Kind is a verb phrase: "works for", "brother of", "is in".
	Kind string
	// To is the other entity's id.
	To       string
	Text     string
	Audience Audience
}
