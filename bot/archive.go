package bot

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/memory"
)

// An Archive is what a campaign remembers, for people to read and to tend. Whose
// eyes it is read with is said by as: an NPC's id, or "" for the game master.
// Who may do so is the caller's to check.
type Archive struct {
	store    memory.Store
	campaign string
}

// NewArchive opens one campaign's part of a store.
func NewArchive(store memory.Store, campaign string) *Archive {
	return &Archive{store, campaign}
}

// A Topic is somebody or something that a campaign knows.
type Topic struct {
	ID, Name, Kind string
	// Text is what is commonly said of it.
	Text string
}

// A Link is how one topic is related to another.
type Link struct {
	From, Kind, To string
}

// Knowledge is all that somebody knows, as a graph.
type Knowledge struct {
	Topics []Topic
	Links  []Link
	// Cut says that there is more than was asked for.
	Cut bool
}

// Knowledge returns at most limit topics, and how they are related.
func (a *Archive) Knowledge(ctx context.Context, as string, limit int) (Knowledge, error) {
	found, err := a.store.FindEntities(ctx, a.eyes(as), "", "", min(limit, memory.MaxHits))
	if err != nil {
		return Knowledge{}, err
	}
	k := Knowledge{Cut: len(found) == min(limit, memory.MaxHits)}
	known := map[string]bool{}
	for _, e := range found {
		known[e.ID] = true
		k.Topics = append(k.Topics, topic(e))
	}
	for _, e := range found {
		for _, r := range e.Relations {
			if known[r.To] {
				k.Links = append(k.Links, Link{e.ID, r.Kind, r.To})
			}
		}
	}
	return k, nil
}

func topic(e memory.Entity) Topic { return Topic{e.ID, e.Name, string(e.Kind), e.Text} }

func (a *Archive) eyes(as string) memory.Viewer {
	return memory.Viewer{Campaign: a.campaign, Entity: as}
}

// An Entry is all that is known about one topic.
type Entry struct {
	Topic
	Aliases []string
	// Statements are what has been said of it, the newest first, also what no
	// longer holds.
	Statements []Statement
}

// A Statement is one thing that somebody holds to be true.
type Statement struct {
	ID, About, Text string
	// Kind and Object make it a relation of About to another topic.
	Kind, Object string
	// Audience are the ids of who knows it; filled for the game master only. Lie
	// marks what its audience believes wrongly.
	Audience []string
	Lie      bool
	// Since and Until are when it held; zero is always.
	Since, Until time.Time
	// Proof is the id of the line that it rests on, Origin where it came from.
	Proof, Origin string
	// Told is who the reader has it from, if not from its own ears.
	Told string
}

// Entry returns what is known of a topic, or [memory.ErrUnknown].
func (a *Archive) Entry(ctx context.Context, as, id string) (Entry, error) {
	e, err := a.store.Entity(ctx, a.eyes(as), id)
	if err != nil {
		return Entry{}, err
	}
	claims, err := a.store.Claims(ctx, a.eyes(as), memory.ClaimQuery{Subject: id, Ended: true, Limit: 100})
	if err != nil {
		return Entry{}, err
	}
	return Entry{Topic: topic(e), Aliases: e.Aliases, Statements: statements(claims)}, nil
}

func statements(claims []memory.Claim) []Statement {
	var out []Statement
	for _, c := range claims {
		s := Statement{
			ID: c.ID, About: c.Subject, Text: c.Text, Audience: c.Audience, Lie: c.False,
			Since: c.From, Until: c.To, Proof: c.Source, Origin: string(c.Origin),
		}
		switch c.Form {
		case memory.AttributeForm:
			s.Text = c.Predicate + ": " + c.Text
		case memory.RelationForm:
			s.Kind, s.Object = c.Predicate, c.Object
		}
		if c.Told != nil {
			s.Told = cmp.Or(c.Told.By, "somebody")
		}
		out = append(out, s)
	}
	return out
}

// Proposed returns what came up at the table and waits for the game master to
// make it canon.
func (a *Archive) Proposed(ctx context.Context) ([]Statement, error) {
	claims, err := a.store.Claims(ctx, a.eyes(""), memory.ClaimQuery{Status: memory.Proposed, Limit: 50})
	return statements(claims), err
}

// Judge makes a proposed statement canon, or rejects it.
func (a *Archive) Judge(ctx context.Context, id string, canon bool) error {
	status := memory.Rejected
	if canon {
		status = memory.Accepted
	}
	return a.store.Judge(ctx, a.campaign, id, status)
}

// A Sitting is one evening at the table.
type Sitting struct {
	ID, Title      string
	Started, Ended time.Time // Ended is zero while it goes on
	Lines          int
}

// Sittings returns the latest evenings, the newest first.
func (a *Archive) Sittings(ctx context.Context) ([]Sitting, error) {
	sessions, err := a.store.Sessions(ctx, a.campaign, 50)
	var out []Sitting
	for _, s := range sessions {
		out = append(out, Sitting{s.ID, s.Title, s.Started, s.Ended, s.Lines})
	}
	return out, err
}

// Recap retells an evening: length is "short", "medium" or "long". Each line of it
// has the ids of the lines that prove it, and is by the model that wrote it or by
// whoever said it. For the players, nothing is in it that not everybody heard.
func (a *Archive) Recap(ctx context.Context, sitting, length string, players bool) ([]Line, error) {
	n, err := memory.LengthOf(length)
	if err != nil {
		return nil, err
	}
	r, err := memory.RecapOf(ctx, a.store, a.eyes(""), sitting, n, players)
	if err != nil {
		return nil, err
	}
	var out []Line
	for _, s := range r.Sentences {
		by, text := r.Author, s.Text
		if by == "" { // it is a line, with who said it
			by, text, _ = strings.Cut(s.Text, ": ")
		}
		out = append(out, Line{ID: strings.Join(s.Proof, ", "), Speaker: Person{Name: by}, Text: text, Final: true})
	}
	return out, nil
}

func speaker(s memory.Speaker) Person {
	return Person{ID: s.ID, Name: s.Name, NPC: s.Kind == memory.NPCSpeaker, DM: s.Kind == memory.DMSpeaker}
}

// Holdings are how much is kept, and of whom.
type Holdings struct {
	Sittings, Lines, Topics, Statements int
	First, Last                         time.Time
	Bytes                               int64
	// People are the players whose words are among the latest that are kept.
	People []Person
}

// Holdings counts what is kept.
func (a *Archive) Holdings(ctx context.Context) (Holdings, error) {
	s, err := a.store.Stats(ctx, a.campaign)
	if err != nil {
		return Holdings{}, err
	}
	h := Holdings{Sittings: s.Sessions, Lines: s.Lines, Topics: s.Entities, Statements: s.Claims, First: s.First, Last: s.Last, Bytes: s.Bytes}
	lines, err := a.store.Recent(ctx, a.eyes(""), memory.Window{Limit: memory.MaxHits})
	for _, l := range lines {
		p := speaker(l.Speaker)
		if !p.NPC && !slices.ContainsFunc(h.People, func(q Person) bool { return q.ID == p.ID }) {
			h.People = append(h.People, p)
		}
	}
	return h, err
}

// Export writes what is kept as JSON lines: of one player, or of the whole
// campaign if player is "".
func (a *Archive) Export(ctx context.Context, w io.Writer, player string) error {
	return a.store.Export(ctx, w, a.campaign, player)
}

// Forget erases a player's words and what rests on them, and says how many lines
// that were.
func (a *Archive) Forget(ctx context.Context, player string) (lines int, err error) {
	f, err := a.store.Forget(ctx, a.campaign, player)
	return f.Lines, err
}

// OptOut sets whether a player's words are dropped instead of kept.
func (a *Archive) OptOut(ctx context.Context, player string, out bool) error {
	return a.store.OptOut(ctx, a.campaign, player, out)
}
