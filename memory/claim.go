package memory

import (
	"errors"
	"fmt"
	"time"
)

// A Form is what sort of statement a claim makes.
type Form string

// The forms of a claim.
const (
	TextForm      Form = "text"      // what is commonly said of an entity; knowing it is knowing the entity
	FactForm      Form = "fact"      // a sentence about an entity
	AttributeForm Form = "attribute" // a named value
	RelationForm  Form = "relation"  // an edge to another entity
)

// An Origin is where a claim came from.
type Origin string

// The origins of a claim.
const (
	FromCampaign Origin = "campaign"  // the campaign's folder says so
	Stated       Origin = "stated"    // somebody said so at the table
	Inferred     Origin = "inferred"  // a model or a rule concluded it
	Confirmed    Origin = "confirmed" // the game master says so
)

// A Status is whether a claim counts.
type Status string

// The states of a claim. Only accepted ones are seen by NPCs.
const (
	Accepted Status = "accepted"
	Proposed Status = "proposed" // waits for the game master
	Rejected Status = "rejected"
)

// A Claim is one statement about an entity: who believes it, since when it has
// held, and which line it rests on.
type Claim struct {
	// ID is unique among the claims that hold; "" lets the store derive one from
	// what is claimed.
	ID      string `json:"id"`
	Form    Form   `json:"form"`
	Subject string `json:"subject"`
	// Predicate is an attribute's name or a relation's kind, Object the entity
	// at a relation's other end.
	Predicate string `json:"predicate,omitempty"`
	Object    string `json:"object,omitempty"`
	Text      string `json:"text,omitempty"`
	// Audience is who knows; reads fill it for the game master only.
	Audience Audience `json:"audience,omitempty"`
	// False marks a lie or an error that its audience believes. Only the game
	// master is told.
	False bool `json:"false,omitempty"`
	// Confidence is from 0 to 1; zero means 1.
	Confidence float64 `json:"confidence,omitempty"`
	// Source is the id of the line that proves it.
	Source string `json:"source,omitempty"`
	Origin Origin `json:"origin"`
	Status Status `json:"status"`
	// From and To are when it held. Zero From is always, zero To is still.
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
	// Replaces is the id of a claim that ends where this one begins.
	Replaces string `json:"replaces,omitempty"`
	// Told is set by reads when the viewer has it from somebody else.
	Told *Hearsay `json:"told,omitempty"`
}

// Check says what is wrong with a claim that cannot be stored.
func (c Claim) Check() error {
	err := c.check()
	if err != nil {
		err = fmt.Errorf("memory: claim %.60q about %.60q: %w", c.ID, c.Subject, err)
	}
	return err
}

func (c Claim) check() error {
	switch {
	case c.Subject == "":
		return errors.New("its subject is missing")
	case c.Form != FactForm && c.Form != AttributeForm && c.Form != RelationForm:
		return fmt.Errorf("unknown form %q", c.Form)
	case c.Form == RelationForm && (c.Object == "" || c.Predicate == ""):
		return errors.New("a relation needs a predicate and an object")
	case c.Form == AttributeForm && c.Predicate == "":
		return errors.New("an attribute needs a name")
	case c.Form != RelationForm && c.Text == "":
		return errors.New("its text is missing")
	case c.Confidence < 0 || c.Confidence > 1:
		return fmt.Errorf("confidence %v, want 0 to 1", c.Confidence)
	case len(c.Audience) > MaxAudience:
		return fmt.Errorf("an audience of %d, the most is %d", len(c.Audience), MaxAudience)
	case !c.To.IsZero() && c.To.Before(c.From):
		return errors.New("it ends before it begins")
	}
	for _, s := range append([]string{c.ID, c.Subject, c.Predicate, c.Object, c.Source, c.Replaces}, c.Audience...) {
		if err := checkID(s); err != nil {
			return err
		}
	}
	return checkText(c.Text)
}

// A ClaimQuery asks for claims. The zero value asks for the latest of all.
type ClaimQuery struct {
	// Text is words to search for, as in [Query].
	Text string
	// ID, Subject (or object), Form, Status and Source narrow it; "" is any, but
	// an empty Status is [Accepted].
	ID, Subject string
	Form        Form
	Status      Status
	Source      string
	// Ended asks for claims that no longer hold as well.
	Ended bool
	// Limit is how many; zero means 20, and the most is [MaxHits].
	Limit int
}

// A Telling is somebody passing on a line or a claim.
type Telling struct {
	Campaign string
	// From is who tells; "" is the game master, who may reveal anything.
	From string
	// To are those who listen.
	To []string
	// Line or Claim is the id of what is told.
	Line, Claim string
	At          time.Time
}
