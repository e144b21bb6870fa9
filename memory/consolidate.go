package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Bounds on what one session may propose. A game master who has to judge more
// than this judges none of it.
const (
	maxProposals  = 100
	maxPredicate  = 5   // words between two entities that make a relation
	maxStatement  = 240 // bytes of a sentence that states something
	statementSure = 0.5 // how sure a rule is of a plain statement
	relationSure  = 0.6 // and of one that ties two entities together
)

// Consolidate looks through a session for sentences that state something about
// an entity of the campaign, and proposes them as claims. An author reads it too,
// if there is one; rules need none. Every proposal quotes its line, is known to
// those who heard it, and waits for the game master. It returns how many there
// are; a second run proposes nothing twice. What rules found counts also when the
// author fails.
func Consolidate(ctx context.Context, s Store, a Author, campaign, session string) (int, error) {
	lines, err := Transcript(ctx, s, Viewer{Campaign: campaign}, session)
	if err != nil {
		return 0, err
	}
	return consolidate(ctx, s, a, campaign, lines)
}

func consolidate(ctx context.Context, s Store, a Author, campaign string, lines []Line) (int, error) {
	v := Viewer{Campaign: campaign}
	known, err := s.FindEntities(ctx, v, "", "", MaxHits)
	if err != nil {
		return 0, err
	}
	claims := Extract(lines, known)
	var failed error
	if a != nil {
		var more []Claim
		more, failed = ExtractWith(ctx, a, lines, known)
		claims = append(claims, more...)
	}
	if len(claims) == 0 {
		return 0, failed
	}
	var fresh []Claim
	for _, c := range claims {
		// What was judged before, either way, is not asked again.
		asked := false
		for _, status := range []Status{Accepted, Proposed, Rejected} {
			have, err := s.Claims(ctx, v, ClaimQuery{ID: c.ID, Status: status, Ended: true, Limit: 1})
			if err != nil {
				return 0, err
			}
			asked = asked || len(have) > 0
		}
		if !asked && !slices.ContainsFunc(fresh, func(f Claim) bool { return f.ID == c.ID }) {
			fresh = append(fresh, c)
		}
	}
	return len(fresh), errors.Join(s.Learn(ctx, campaign, fresh...), failed)
}

// Extract finds sentences that state something about one of the entities.
func Extract(lines []Line, entities []Entity) []Claim {
	n := newNamer(entities)
	var out []Claim
	seen := map[string]bool{}
	for _, l := range lines {
		if l.Aside || l.Cut {
			continue
		}
		for _, sentence := range sentences(l.Text) {
			c, ok := n.claim(sentence)
			if !ok || seen[c.ID] || len(out) == maxProposals {
				continue
			}
			seen[c.ID] = true
			c.Source, c.From, c.Origin, c.Status, c.Audience = l.ID, l.At, Stated, Proposed, heardBy(l)
			out = append(out, c)
		}
	}
	return out
}

// sentences splits a text at its full stops. Questions and exclamations state
// nothing, nor does what is too long to be one statement.
func sentences(text string) []string {
	var out []string
	start := 0
	for i, r := range text {
		if r != '.' && r != '!' && r != '?' && r != ';' && r != '\n' {
			continue
		}
		if s := strings.TrimSpace(text[start:i]); r != '?' && s != "" && len(s) <= maxStatement {
			out = append(out, s)
		}
		start = i + 1
	}
	if s := strings.TrimSpace(text[start:]); s != "" && len(s) <= maxStatement {
		out = append(out, s)
	}
	return out
}

// A namer finds entities by their names within sentences.
type namer struct {
	byName map[string]string // folded name to id
	longer int               // words of the longest name
}

func newNamer(entities []Entity) namer {
	n := namer{byName: map[string]string{}}
	for _, e := range entities {
		for _, name := range append([]string{e.Name}, e.Aliases...) {
			ws := words(name)
			if len(ws) == 0 || len(ws) == 1 && !content(ws[0]) {
				continue
			}
			n.byName[strings.Join(ws, " ")] = e.ID
			n.longer = max(n.longer, len(ws))
		}
	}
	return n
}

// at returns the entity named at the beginning of ws, and by how many words.
func (n namer) at(ws []string) (id string, used int) {
	if len(ws) > 0 && ws[0] == "the" {
		id, used = n.at(ws[1:])
		if used > 0 {
			return id, used + 1
		}
	}
	for used = min(n.longer, len(ws)); used > 0; used-- {
		if id, ok := n.byName[strings.Join(ws[:used], " ")]; ok {
			return id, used
		}
	}
	return "", 0
}

// claim reads a sentence that begins with an entity and goes on with what it is
// or does.
func (n namer) claim(sentence string) (Claim, bool) {
	ws := words(sentence)
	subject, used := n.at(ws)
	rest := ws[used:]
	if used == 0 || len(rest) < 2 || len(ws) > 30 || !states(rest[0]) {
		return Claim{}, false
	}
	c := Claim{Form: FactForm, Subject: subject, Text: sentence + ".", Confidence: statementSure}
	for i := 1; i <= min(maxPredicate, len(rest)-1); i++ {
		object, length := n.at(rest[i:])
		if length > 0 && object != subject {
			if i+length == len(rest) { // nothing is said beyond the two
				c = Claim{Form: RelationForm, Subject: subject, Predicate: strings.Join(rest[:i], " "), Object: object, Text: sentence + ".", Confidence: relationSure}
			}
			break
		}
	}
	c.ID = claimID(subject, ws)
	return c, true
}

// claimID is the same for the same words about the same entity, so that nothing
// is proposed twice.
func claimID(subject string, ws []string) string {
	id := fmt.Sprintf("heard:%s:%s", subject, strings.Join(ws, "-"))
	return strings.ToValidUTF8(id[:min(len(id), MaxID)], "")
}

// heardBy is who knows what a line says.
func heardBy(l Line) Audience {
	a := slices.Clone(l.Audience)
	if l.Speaker.ID != "" && !slices.Contains(a, l.Speaker.ID) {
		a = append(a, l.Speaker.ID)
	}
	return a
}

// states says whether a word after a name makes a statement: a verb of being,
// having or doing. Wishes and possibilities state nothing.
func states(w string) bool {
	if verbs[w] {
		return true
	}
	base, odd := irregular[w]
	return odd && base != w && !plurals[w] || len(w) > 4 && (strings.HasSuffix(w, "ed") || strings.HasSuffix(w, "es") || strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss"))
}

var verbs = set(`is was has had owes owns lives works hates loves fears knows keeps hides wants needs sells buys
serves rules leads hunts guards stole killed died married betrayed lied left came went comes goes belongs stands lies`)

var plurals = set(`dwarves elves children people men women wolves thieves knives leaves wives mice geese feet teeth halves shelves lives`)
