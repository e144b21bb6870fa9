package bot

import "time"

// A Snapshot is the whole table at one moment: what a page shows before the
// first event reaches it.
type Snapshot struct {
	// Event is the id of the last event that the snapshot already contains.
	Event    uint64  `json:"event"`
	Campaign string  `json:"campaign"`
	Scene    Scene   `json:"scene"`
	Scenes   []Scene `json:"scenes"` // all that the campaign has
	NPCs     []NPC   `json:"npcs"`
	// Lines, Turns, Tools and Alerts are the last ones, oldest first.
	Lines  []Line  `json:"lines"`
	Turns  []Turn  `json:"turns"`
	Tools  []Tool  `json:"tools"`
	Alerts []Alert `json:"alerts"`
	// Pictures are the last ones, oldest first.
	Pictures []Picture `json:"pictures,omitempty"`
	// Music is what plays in the background.
	Music Music `json:"music"`
	// Cards are the last rules questions that were answered in writing.
	Cards []Card `json:"cards,omitempty"`
	// Questions wait for the DM.
	Questions []Question `json:"questions,omitempty"`
	// Brain, Ear and Mouth say in words what answers, recognises and speaks.
	Brain Part `json:"brain"`
	Ear   Part `json:"ear"`
	Mouth Part `json:"mouth"`
	// Stopped is set while an X-card or a pause keeps all NPCs silent; Why says it.
	Stopped bool   `json:"stopped,omitempty"`
	Why     string `json:"why,omitempty"`
	// Paused tables listen to nobody, besides.
	Paused bool `json:"paused,omitempty"`
	// Session is the running session's id.
	Session string    `json:"session"`
	Started time.Time `json:"started"`
	// Tier is what the DM set for everybody, or nil; Barred are the tools that
	// are switched off.
	Tier   *Granted `json:"tier,omitempty"`
	Barred []string `json:"barred,omitempty"`
	Spent  Spending `json:"spent"`
}

// A Part is something the table runs on.
type Part struct {
	Name string `json:"name"`
	// Note is for people: how good it is, and how to get a better one.
	Note string `json:"note,omitempty"`
	// Basic marks a part that is only there because nothing better was found.
	Basic bool `json:"basic,omitempty"`
	// Missing marks a part that is not there at all.
	Missing bool `json:"missing,omitempty"`
}
