package memory

// Bounds on walks through the graph. They keep an answer readable, and a walk
// from a famous place as cheap as one from a hut.
const (
	MaxEdges = 32   // of one entity, in a neighbourhood
	MaxNodes = 200  // in a neighbourhood
	MaxDepth = 4    // steps from the middle of a neighbourhood
	MaxPath  = 6    // steps between two entities
	MaxWalk  = 2000 // entities looked at for a path
)

// A Graph is a part of what a viewer knows: entities and how they are related.
type Graph struct {
	Entities []Entity `json:"entities"`
	Edges    []Edge   `json:"edges"`
	// Cut says that there was more than the bounds allow.
	Cut bool `json:"cut,omitempty"`
}

// An Edge is a relation with both of its ends.
type Edge struct {
	From string `json:"from"`
	Kind string `json:"kind"`
	To   string `json:"to"`
	Text string `json:"text,omitempty"`
}
