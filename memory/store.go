package memory

import (
	"context"
	"errors"
	"io"
	"time"
)

// Bounds on reads, so that no question costs more than a few milliseconds and no
// answer fills a model's context.
const (
	MaxHits  = 200  // lines, claims or entities in one answer
	MaxQuery = 4096 // bytes of a search text that are looked at
)

// What can go wrong with a store, whichever it is. Test with errors.Is; the
// wrapping text says what to do next.
var (
	// ErrUnknown means that the viewer knows of no such thing. Whether it exists
	// is not said.
	ErrUnknown = errors.New("not known")
	// ErrDiskFull means that nothing can be written until there is space again.
	ErrDiskFull = errors.New("the disk is full")
	// ErrLocked means that another process holds the database.
	ErrLocked = errors.New("the database is locked by another process")
	// ErrCorrupt means that the file is damaged, or is no database.
	ErrCorrupt = errors.New("the database is damaged")
	// ErrReadOnly means that the file or its folder may not be written.
	ErrReadOnly = errors.New("the database cannot be written")
	// ErrAway means that the database server cannot be reached.
	ErrAway = errors.New("the database server cannot be reached")
	// ErrClosed means that the store or writer has been closed.
	ErrClosed = errors.New("memory is closed")
)

// A Store keeps one or more campaigns. It is safe for concurrent use. Every read
// takes a [Viewer] and returns only what that viewer knows.
type Store interface {
	// Append writes lines and returns once they are durable. Lines whose id is
	// already there are left as they are. Either all are written or none.
	Append(ctx context.Context, lines ...Line) error
	// Recent returns the latest lines the viewer heard, oldest first.
	Recent(ctx context.Context, v Viewer, w Window) ([]Line, error)
	// Search returns the lines that answer a query, best first. A query without
	// words returns the latest lines that pass its filters.
	Search(ctx context.Context, v Viewer, q Query) ([]Hit, error)

	// StartSession begins a session, or goes on with one that has this id.
	StartSession(ctx context.Context, s Session) error
	// EndSession marks a session as properly ended.
	EndSession(ctx context.Context, campaign, id string, at time.Time) error
	// Sessions returns the latest sessions of a campaign, newest first.
	Sessions(ctx context.Context, campaign string, limit int) ([]Session, error)

	// PutWorld makes a campaign's entities equal to those given. What has changed
	// since the last call ends now and its successor begins; what was learned at
	// the table stays.
	PutWorld(ctx context.Context, campaign string, world []Entity) error
	// Entity returns what the viewer knows of an entity, or [ErrUnknown].
	Entity(ctx context.Context, v Viewer, id string) (Entity, error)
	// FindEntities returns the entities that the viewer knows by a name, or one
	// that looks or sounds like it, best first. An empty name or kind is any.
	FindEntities(ctx context.Context, v Viewer, name string, kind Kind, limit int) ([]Entity, error)

	// Neighbours returns the part of the graph around an entity, at most depth
	// steps away and bounded by [MaxEdges] and [MaxNodes].
	Neighbours(ctx context.Context, v Viewer, id string, depth int) (Graph, error)
	// Path returns the shortest chain of relations between two entities, in
	// either direction, or [ErrUnknown] if the viewer knows of none.
	Path(ctx context.Context, v Viewer, from, to string) ([]Edge, error)

	// Learn writes claims that came up at the table. A claim that already holds
	// gains its audience.
	Learn(ctx context.Context, campaign string, claims ...Claim) error
	// Claims returns what the viewer knows, newest first, or best first when
	// words are searched for.
	Claims(ctx context.Context, v Viewer, q ClaimQuery) ([]Claim, error)
	// Judge sets whether a claim counts.
	Judge(ctx context.Context, campaign, id string, status Status) error
	// Tell passes on a line or a claim, or is [ErrUnknown] if the teller does not
	// know it. The listeners know it from then on, as hearsay.
	Tell(ctx context.Context, t Telling) error

	// PutRecaps keeps recaps, each in the place of one of the same session, length
	// and readers.
	PutRecaps(ctx context.Context, campaign string, recaps ...Recap) error
	// Recaps returns those of a session that still has the lines it had then. Only
	// the game master may read them: they are written from what everybody heard.
	Recaps(ctx context.Context, v Viewer, session string) ([]Recap, error)

	// Pending returns passages that have no vector of a model yet. A passage is
	// ready when its lines have all been said, or its session has ended.
	Pending(ctx context.Context, model string, n int) ([]Passage, error)
	// PutVectors keeps vectors of passages.
	PutVectors(ctx context.Context, model string, vectors ...Vector) error

	// OptOut sets whether somebody's lines are to be dropped instead of stored.
	OptOut(ctx context.Context, campaign, player string, out bool) error
	// OptedOut returns the ids of those whose lines are dropped.
	OptedOut(ctx context.Context, campaign string) ([]string, error)
	// Forget erases a player's lines, the claims that rest on them or are about
	// the player, and the player's id, so that the bytes are gone from the
	// store's files. Backups keep theirs.
	Forget(ctx context.Context, campaign, player string) (Forgotten, error)
	// Retain erases what is older than it may get, seen from now.
	Retain(ctx context.Context, campaign string, r Retention, now time.Time) (Forgotten, error)

	// Campaigns lists the campaigns there are.
	Campaigns(ctx context.Context) ([]string, error)
	// Stats says how much a campaign remembers.
	Stats(ctx context.Context, campaign string) (Stats, error)
	// Export writes a campaign as JSON lines; with a player, only what that
	// player said and what is known because of it.
	Export(ctx context.Context, w io.Writer, campaign, player string) error
	// Import reads an export. What is there already is left as it is.
	Import(ctx context.Context, r io.Reader) error

	// Close releases the database.
	Close() error
}

// A Query is a search in the transcript.
type Query struct {
	// Text is a question or some words in any language. "Double quotes" ask for
	// a phrase, a* for words that begin with a.
	Text string
	// Session, Scene, Speaker (an id) and the times narrow it; zero is any. From is
	// the first moment, To the first one that is too late.
	Session, Scene, Speaker string
	From, To                time.Time
	// NPC narrows it to what was said by the NPC with this id, or to it.
	NPC string
	// Limit is how many hits; zero means 10, and the most is [MaxHits].
	Limit int
	// Vector is what Model made of Text; nil searches by words alone.
	Vector []float32
	Model  string
}

// A Hit is a line that a search found.
type Hit struct {
	Line
	// Score orders the hits of one search; it means nothing between searches.
	Score float64 `json:"score"`
}
