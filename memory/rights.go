package memory

import "time"

// Forgotten says what was erased.
type Forgotten struct {
	Lines  int `json:"lines"`
	Claims int `json:"claims"`
}

// Retention says how long things are kept. Zero is for ever.
type Retention struct {
	// Lines are the words that were said. Claims that rest on them stay, without
	// their source.
	Lines time.Duration
	// Claims are those that ended so long ago.
	Claims time.Duration
}

// Stats says how much a campaign remembers.
type Stats struct {
	Campaign string    `json:"campaign"`
	Sessions int       `json:"sessions"`
	Lines    int       `json:"lines"`
	Entities int       `json:"entities"`
	Claims   int       `json:"claims"`
	Proposed int       `json:"proposed"`
	First    time.Time `json:"first,omitzero"`
	Last     time.Time `json:"last,omitzero"`
	// Bytes is what the whole store takes, with all of its campaigns.
	Bytes int64 `json:"bytes"`
}

// A Record is one line of an export, which is a file of JSON objects. Exactly
// one of its fields is set. An export begins with the campaign's name; it can be
// imported into any store.
type Record struct {
	Campaign string       `json:"campaign,omitempty"`
	OptOut   string       `json:"opt_out,omitempty"`
	Session  *Session     `json:"session,omitempty"`
	Line     *Line        `json:"line,omitempty"`
	Told     *ToldRecord  `json:"told,omitempty"`
	Entity   *Entity      `json:"entity,omitempty"`
	Claim    *ClaimRecord `json:"claim,omitempty"`
	Recap    *Recap       `json:"recap,omitempty"`
}

// A ToldRecord is a [Telling] of a line to one listener.
type ToldRecord struct {
	Line string    `json:"line"`
	To   string    `json:"to"`
	By   string    `json:"by,omitempty"`
	At   time.Time `json:"at"`
}

// A ClaimRecord is a claim and how each of those who know it came to know.
type ClaimRecord struct {
	Claim
	Knowers []Knower `json:"knowers,omitempty"`
}

// A Knower is somebody who knows a claim.
type Knower struct {
	Who   string    `json:"who"`
	Since time.Time `json:"since,omitzero"`
	// How is "" for what the campaign's folder says, "witnessed" or "told".
	How string `json:"how,omitempty"`
	By  string `json:"by,omitempty"`
}
